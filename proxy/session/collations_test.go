package session_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// collationForms are the places of a collation, for %[1]s, with its character set, for %[2]s.
var collationForms = []string{
	"SELECT id, name FROM u ORDER BY CONVERT(name USING %[2]s) COLLATE %[1]s DESC, id",
	"SELECT id FROM u WHERE CONVERT(name USING %[2]s) COLLATE %[1]s = CONVERT('SS' USING %[2]s) ORDER BY id",
	"SELECT COUNT(DISTINCT CONVERT(name USING %[2]s) COLLATE %[1]s) FROM u",
	"SELECT COUNT(*), MIN(id) FROM u GROUP BY CONVERT(name USING %[2]s) COLLATE %[1]s ORDER BY 2",
	"SELECT MAX(id) FROM u WHERE CAST(name AS CHAR CHARACTER SET %[2]s) COLLATE %[1]s < 'm'",
	"SELECT a.id, b.id FROM u a JOIN u b ON CONVERT(a.name USING %[2]s) COLLATE %[1]s = CONVERT(b.name USING %[2]s) WHERE a.id < 6 ORDER BY 1, 2",
	"SELECT id FROM u WHERE id = 3 AND CONVERT(name USING %[2]s) = 'x' COLLATE %[1]s",
}

// collationTables make a table with a collation, and ask it.
var collationTables = []string{
	"DROP TABLE IF EXISTS c", "CREATE TABLE c (id INT PRIMARY KEY, name VARCHAR(20) CHARACTER SET %[2]s COLLATE %[1]s, other VARCHAR(20)) CHARACTER SET %[2]s COLLATE %[1]s",
	"INSERT INTO c SELECT id, 'a', 'b' FROM u WHERE id = 1", "INSERT INTO c VALUES (2, 'B', 'B'), (3, 'b', 'A'), (4, 'a ', 'a'), (5, '', 'x')", "SELECT id FROM c ORDER BY name, other, id", "SELECT COUNT(DISTINCT name), COUNT(DISTINCT other) FROM c",
	"SELECT id FROM c WHERE name = 'B' ORDER BY id", "ALTER TABLE c MODIFY other VARCHAR(30) CHARACTER SET %[2]s COLLATE %[1]s", "SELECT COUNT(*), MIN(id) FROM c GROUP BY other ORDER BY 2",
}

// Collations of both servers are answered over sharded tables as one server answers, wherever they are said, or clearly refused.
func TestCollationsOfServers(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of statements")
	}
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			var one *mysqltest.RawClient
			for k, server := range servers {
				d := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
				must(t, d, "DROP DATABASE IF EXISTS shop")
				must(t, d, "CREATE DATABASE shop CHARACTER SET utf8mb4")
				if k == 0 {
					one = d
					must(t, d, "USE shop")
				}
			}
			config := strings.Replace(namesConfig, "- {db: shop, table: uc,", "- {db: shop, table: c, key: id, type: hash, nodes: [n0, n1], locations: [2, 2]}\n      - {db: shop, table: uc,", 1)
			c := dial(t, startProxyLog(t, fmt.Sprintf(config, servers[1].Addr, servers[2].Addr), io.Discard), mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop"})
			for _, d := range []*mysqltest.RawClient{one, c} {
				must(t, d, "CREATE TABLE u (id INT PRIMARY KEY, name VARCHAR(20) CHARACTER SET utf8mb4) CHARACTER SET utf8mb4")
				must(t, d, "INSERT INTO u VALUES (1, 'a'), (2, 'A'), (3, 'x'), (4, 'ss'), (5, 'SS'), (6, 'ß'), (7, 'ä'), (8, 'z'), (9, 'I'), (10, 'ı'), (11, 'i '), (12, ''), (13, NULL), (14, 'ö'), (15, 'oe'), (16, '中'), (17, 'ch'), (18, 'd'), (19, 'y')")
			}
			from := "SELECT collation_name, character_set_name FROM information_schema.collations WHERE collation_name <> 'binary' ORDER BY 1"
			if kind == mysqltest.MariaDB {
				from = "SELECT full_collation_name, character_set_name FROM information_schema.collation_character_set_applicability WHERE full_collation_name <> 'binary' UNION " +
					"SELECT collation_name, 'utf8mb4' FROM information_schema.collation_character_set_applicability WHERE collation_name <> full_collation_name AND collation_name LIKE 'uca1400%' ORDER BY 1"
			}
			list := must(t, one, from).Rows
			compared, refused := 0, map[string]int{}
			compare := func(sql string) {
				compared++
				want, got := collated(t, one, sql), collated(t, c, sql)
				switch {
				case strings.HasPrefix(got, "90"):
					refused[got]++
				case got != want:
					t.Errorf("%s: %s\ninstead of %s", sql, got, want)
				}
			}
			sets := make(map[string]bool)
			for k, row := range list {
				name, set := row[0].(string), row[1].(string)
				if known := sets[set]; known && !everyCase && k%6 != 0 {
					continue // a collation of each character set, and every sixth
				}
				sets[set] = true
				for _, form := range collationForms {
					compare(fmt.Sprintf(form, name, set))
				}
				if k%12 != 0 && !strings.HasPrefix(name, "swe7") && !strings.HasPrefix(name, "utf8mb4_uca1400_ai") && !strings.HasPrefix(name, "uca1400_ai") {
					continue
				}
				for _, form := range collationTables {
					compare(fmt.Sprintf(form+"%.0[1]s%.0[2]s", name, set))
				}
			}
			compare("SELECT name COLLATE no_such_ci FROM u")
			compare("SELECT name COLLATE utf8mb4_uca1400_no_ci FROM u WHERE id = 3")
			total := 0
			for text, n := range refused {
				total += n
				t.Logf("refused %d times: %s", n, text)
			}
			t.Logf("%d collations, %d statements, %d refused", len(list), compared, total)
			if len(list) < 200 || total > compared/20 {
				t.Errorf("%d collations, %d of %d refused", len(list), total, compared)
			}
		})
	}
}

// collated runs a statement and gives its rows, or its error.
func collated(t *testing.T, c *mysqltest.RawClient, sql string) string {
	t.Helper()
	r, err := c.Query(sql)
	if err != nil {
		t.Fatal(sql, err)
	}
	if r.Err != nil {
		return fmt.Sprintf("%d %s", r.Err.Code, r.Err.Message)
	}
	return fmt.Sprint(r.Rows)
}
