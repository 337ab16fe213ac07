package proxy_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// The keys with the most statements, as text and prepared, and those with the most rows are found, and shown to those only who may see or pin them.
func TestHotKeys(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		rule := "schema_list:\n  - {user: ks, nodes: [n1, n2], default: n1}\n  - {user: ops, nodes: [n1, n2], default: n1}\n  - {user: look, nodes: [n1, n2], default: n1}\n  - {user: root, nodes: [n1, n2], default: n1, shard: [" +
			"{db: " + database + ", table: hot, key: id, nodes: [n1, n2], type: hash, locations: [2, 2], pin: {42: n1}}, {db: " + database + ", table: names, key: [name, n], nodes: [n1, n2], type: slots, strings: utf8mb4_general_ci_v1}, " +
			"{db: " + database + ", table: whole, type: reference, nodes: [n1]}]}\n"
		text := configText([]node{{name: "n1", master: server.Addr, conns: 6}, {name: "n2", master: server.Addr, conns: 6}})
		text = strings.Replace(text[:strings.Index(text, "schema_list:")]+rule, "user_list:\n", "user_list:\n  - {user: ops, password: ops, rights: operate}\n  - {user: look, password: look, rights: read}\n", 1)
		p := startProxy(t, text)
		c := p.client(database)
		must(t, c, "CREATE TABLE hot (id INT, v INT, KEY (id))")
		must(t, c, "CREATE TABLE names (name VARCHAR(20) COLLATE utf8mb4_general_ci, n INT)")
		must(t, c, "INSERT INTO hot VALUES (42, 1), (42, 2), (1, 1), (2, 1), (3, 1)")
		must(t, c, "INSERT INTO names VALUES ('Arger', 5)")
		must(t, c, "INSERT INTO hot VALUES (7, 0)"+strings.Repeat(", (7, 1)", 49))
		must(t, c, "KS RESET KEYS")
		st, err := c.Prepare("SELECT v FROM hot WHERE id = ?")
		if err != nil {
			t.Fatal(err)
		}
		for k := range 2500 {
			must(t, c, "SELECT v FROM hot WHERE id = 42")
			if k%5 == 0 {
				must(t, c, fmt.Sprintf("SELECT v FROM hot WHERE id = %d", 1000+k))
			}
			if k%2 == 0 {
				continue
			}
			if _, err := st.Execute(43); err != nil {
				t.Fatal(err)
			}
			must(t, c, "SELECT 1 FROM names WHERE n = 5 AND name = '"+[]string{"Ärger", "arger"}[k/2%2]+"'")
		}
		shows := func(c *mysqltest.RawClient, text string, want ...string) {
			t.Helper()
			r := must(t, c, text)
			for k, w := range want {
				if k >= len(r.Rows) {
					t.Errorf("%s: %d rows", text, len(r.Rows))
					break
				}
				row := r.Rows[k]
				if got := fmt.Sprint(row[1], " ", row[2], " ", row[3], " ", row[5], " ", row[8], " ", row[9]); got != w {
					t.Errorf("%s: row %d is %s, want %s", text, k, got, w)
				}
			}
		}
		shows(c, "SHOW KS KEYS hot", "hot 42 n1 hot_0000 <nil> YES", "hot 43 n2 hot_0003 <nil> NO")
		row := must(t, c, "SHOW KS KEYS "+database+".hot LIMIT 1").Rows[0]
		if n, err := strconv.Atoi(fmt.Sprint(row[6])); err != nil || n < 1000 || n > 5000 {
			t.Errorf("%v statements with the key, there were 2500", row[6])
		}
		if share, err := strconv.ParseFloat(fmt.Sprint(row[7]), 64); err != nil || share < 0.4 || share > 0.8 {
			t.Errorf("a share of %v, it is 0.59", row[7])
		}
		names := must(t, c, "SHOW KS KEYS WHERE `table` = 'names'")
		if len(names.Rows) != 1 || !strings.HasSuffix(strings.ToLower(fmt.Sprint(names.Rows[0][2])), "rger, 5") {
			t.Errorf("a key of two columns that one collation folds: %v", names.Rows)
		}
		shows(c, "SHOW KS KEYS hot ROWS LIMIT 3", "hot 7 n2 hot_0003 50 NO", "hot 42 n1 hot_0000 2 YES")
		if r := must(t, c, "SHOW KS KEYS hot ROWS LIMIT 2"); len(r.Rows) != 2 || r.Rows[0][6] != nil || r.Rows[1][6] == nil {
			t.Errorf("rows and statements: %v", r.Rows)
		}
		shows(c, "SHOW KS KEYS names ROWS", "names Arger, 5 "+fmt.Sprint(names.Rows[0][3], " ", names.Rows[0][5])+" 1 NO")
		if r := must(t, c, "SHOW KS KEYS names ROWS"); len(r.Rows) != 1 || r.Rows[0][6] == nil {
			t.Errorf("a folded key is another one than that of the statements: %v", r.Rows)
		}
		shows(c, "SHOW KS KEYS hot ROWS WHERE pinned = 'yes'", "hot 42 n1 hot_0000 2 YES")

		ops := dial(t, p.addr, mysqltest.ClientConfig{User: "ops", Password: "ops"})
		look := dial(t, p.addr, mysqltest.ClientConfig{User: "look", Password: "look"})
		shows(look, "SHOW KS KEYS hot", "hot ? n1 hot_0000 <nil> YES")
		shows(ops, "SHOW KS KEYS hot ROWS", "hot ? n2 hot_0003 50 NO")
		for text, code := range map[string]uint16{"SHOW KS KEYS nothing": 9032, "SHOW KS KEYS whole": 9032, "SHOW KS KEYS whole ROWS": 9032, "SHOW KS KEYS hot LINES": 9031} {
			fails(t, c, text, code)
		}
		fails(t, look, "SHOW KS KEYS hot ROWS", 9030)
		fails(t, look, "KS RESET KEYS", 9030)
		if strings.Contains(p.log.String(), "Arger") {
			t.Error("the log has a key")
		}
		must(t, ops, "KS RESET KEYS")
		if r := must(t, c, "SHOW KS KEYS hot"); len(r.Rows) != 0 {
			t.Errorf("after the reset: %v", r.Rows)
		}
		must(t, c, "DROP TABLE hot")
		e := fails(t, c, "SHOW KS KEYS hot ROWS", 9032)
		if !strings.Contains(e.Message, "n1/"+database+".hot_0000") {
			t.Errorf("%s does not name the sub-table", e.Message)
		}
	})
}
