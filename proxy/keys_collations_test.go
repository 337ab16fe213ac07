package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// A definition that leaves the collation of a key to a default is refused where the rule does not follow what the server then
// takes. The server itself says what that is: it makes a table without a rule of the same definition.
func TestDefaultCollations(t *testing.T) {
	followed := map[string]func(collation string) bool{
		"names": func(c string) bool { return strings.HasSuffix(c, "_bin") || c == "<nil>" },
		"folds": func(c string) bool {
			return strings.HasSuffix(c, "_bin") || strings.HasSuffix(c, "_general_ci") && strings.HasPrefix(c, "utf8") || c == "<nil>"
		},
	}
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		text := strings.Replace(oneNode(server.Addr, 6), "{user: root, nodes: [n], default: n}", "{user: root, nodes: [n], default: n, shard: [{db: "+database+
			", table: names, key: k, nodes: [n], type: crc32, locations: [2]}, {db: "+database+", table: folds, key: k, nodes: [n], type: slots, locations: [2], strings: utf8mb4_general_ci_v1}]}", 1)
		p := startProxy(t, text)
		c := p.client(database)
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		refusals, cases := 0, 0
		for _, standard := range []string{"utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_unicode_ci", "latin1_swedish_ci"} {
			must(t, direct, "ALTER DATABASE "+database+" COLLATE "+standard)
			for _, create := range []string{
				"", "COLLATE utf8mb4_bin", "CHARACTER SET utf8mb4", "CHARACTER SET utf8mb3", "CHARACTER SET latin1", "CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "CHARACTER SET binary", "BINARY", "NATIONAL",
			} {
				for k, ofTable := range []string{"", "COLLATE utf8mb4_bin", "DEFAULT CHARSET=utf8mb4", "CHARSET latin1", "CHARSET utf8mb3 COLLATE utf8mb3_general_ci"} {
					for _, alter := range []string{"", "ALTER TABLE # MODIFY k VARCHAR(20)", "ALTER TABLE # CHANGE k k VARCHAR(20) CHARACTER SET utf8mb4, ADD COLUMN m INT", "ALTER TABLE # MODIFY k NVARCHAR(20)"} {
						if standard != "utf8mb4_general_ci" && (alter != "" || create != "" && k > 0) || alter != "" && create != "" {
							continue
						}
						for table, follows := range followed {
							cases++
							statements := []string{strings.TrimSpace(fmt.Sprintf("CREATE TABLE # (k VARCHAR(9) %s, n INT) %s", create, ofTable))}
							statements[0] = strings.Replace(statements[0], "VARCHAR(9) NATIONAL", "NATIONAL VARCHAR(9)", 1)
							if alter != "" {
								statements = []string{"CREATE TABLE # (k VARCHAR(9) COLLATE utf8mb4_bin, n INT) " + ofTable, alter}
							}
							must(t, direct, "DROP TABLE IF EXISTS plain, "+table+"_0000, "+table+"_0001")
							for _, s := range statements {
								must(t, direct, strings.Replace(s, "#", "plain", 1))
								collation := fmt.Sprint(must(t, direct, "SELECT collation_name FROM information_schema.columns WHERE table_schema='"+database+"' AND table_name='plain' AND column_name='k'").Rows[0][0])
								r, err := c.Query(strings.Replace(s, "#", table, 1))
								refused := r.Err != nil && r.Err.Code == 9012
								if err != nil || r.Err != nil && !refused || refused == follows(collation) {
									t.Errorf("database %s, %s, %s: the key has %s: %+v, %v", standard, table, s, collation, r.Err, err)
								}
								if refused {
									refusals++
									if !strings.Contains(strings.ReplaceAll(r.Err.Message, " utf8_", " utf8mb3_"), collation) {
										t.Errorf("%s: %s", s, r.Err.Message)
									}
									break
								}
							}
						}
					}
				}
			}
		}
		if cases < 150 || refusals < 50 {
			t.Errorf("%d cases, %d refused", cases, refusals)
		}
		t.Logf("%d cases, %d refused", cases, refusals)
	})
}

// CREATE TABLE ... LIKE gives a key the collation of the other table's.
func TestCollationsOfLike(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		var rules []string
		for _, table := range []string{"model", "names"} {
			rules = append(rules, fmt.Sprintf("{db: %s, table: %s, key: [n, k], nodes: [n], type: crc32, locations: [2]}", database, table))
		}
		p := startProxy(t, strings.Replace(oneNode(server.Addr, 6), "{user: root, nodes: [n], default: n}", "{user: root, nodes: [n], default: n, shard: ["+strings.Join(rules, ", ")+"]}", 1))
		c := p.client(database)
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		for _, text := range []struct {
			collation string
			refused   bool
		}{{"utf8mb4_bin", false}, {"utf8mb4_general_ci", true}} {
			must(t, direct, "DROP TABLE IF EXISTS model_0000, model_0001, names_0000, names_0001")
			for _, table := range []string{"model_0000", "model_0001"} {
				must(t, direct, "CREATE TABLE "+table+" (n INT, k VARCHAR(9) CHARACTER SET utf8mb4 COLLATE "+text.collation+")")
			}
			r, err := c.Query("CREATE TABLE names LIKE model")
			if err != nil || (r.Err != nil) != text.refused || text.refused && (r.Err.Code != 9012 || !strings.Contains(r.Err.Message, text.collation)) {
				t.Errorf("%s: %+v, %v", text.collation, r.Err, err)
			}
		}
	})
}

// Keys of text that are there when the proxy starts, and that their rules do not follow, are told of once, without any statement.
func TestKeysAreLookedAt(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		var rules []string
		for _, c := range []struct{ table, strings, collation string }{
			{"exact_bin", "exact", "utf8mb4_bin"}, {"exact_ci", "exact", "utf8mb4_general_ci"}, {"ascii_ci", "ascii_ci", "utf8mb4_unicode_ci"}, {"ascii_other", "ascii_ci", "utf8mb4_lithuanian_ci"},
			{"general", "utf8mb4_general_ci_v1", "utf8mb3_general_ci"}, {"general_other", "utf8mb4_general_ci_v1", "utf8mb4_unicode_ci"}, {"latin", "latin1_swedish_ci_v1", "latin1_swedish_ci"},
			{"absent", "utf8mb4_0900_ai_ci_v1", ""},
		} {
			rules = append(rules, fmt.Sprintf("{db: %s, table: %s, key: k, nodes: [n], type: slots, locations: [2], strings: %s}", database, c.table, c.strings))
			for k := 0; k < 2 && c.collation != ""; k++ {
				charset, _, _ := strings.Cut(c.collation, "_")
				must(t, direct, fmt.Sprintf("CREATE TABLE %s_%04d (k VARCHAR(9) CHARACTER SET %s COLLATE %s)", c.table, k, charset, c.collation))
			}
		}
		p := startProxy(t, strings.Replace(oneNode(server.Addr, 6), "{user: root, nodes: [n], default: n}", "{user: root, nodes: [n], default: n, shard: ["+strings.Join(rules, ", ")+"]}", 1))
		told := func() (tables string) {
			for line := range strings.Lines(p.log.String()) {
				if _, after, ok := strings.Cut(line, "table="+database+"."); ok && strings.Contains(line, "a key of text is compared otherwise") {
					table, _, _ := strings.Cut(after, " ")
					tables += table + " "
				}
			}
			return tables
		}
		const want = "ascii_other_0000 exact_ci_0000 general_other_0000 "
		mysqltest.WaitFor(t, "what is found of keys", func() bool { return strings.Count(told(), " ") >= 3 })
		p.reload(strings.Replace(oneNode(server.Addr, 6), "{user: root, nodes: [n], default: n}", "{user: root, nodes: [n], default: n, shard: ["+strings.Join(rules[1:], ", ")+"]}", 1))
		must(t, p.client(database), "SELECT * FROM exact_ci WHERE k = 'a'")
		if got := told(); got != want {
			t.Errorf("told of %s, want %s", got, want)
		}
	})
}
