package session_test

import (
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// Rows of a sharded table are collected on a node that has none of it, though the node of its first sub-table is not asked.
func TestRowsForANodeWithoutTheTable(t *testing.T) {
	onShards(t, pickSchema, func(t *testing.T, s *shards) {
		begin, end := strings.Index(s.config, "master: \"")+len("master: \""), 0
		end = begin + strings.Index(s.config[begin:], "\"")
		third := "nodes:\n  - {name: n9, max_conns_limit: 16, user: root, password: root, master: \"" + s.config[begin:end] + "\"}\n"
		text := strings.Replace(s.config, "nodes:\n", third, 1)
		text = strings.Replace(text, "nodes: [n0, n1]\n    default: n0", "nodes: [n0, n1, n9]\n    default: n9", 1)
		text = strings.Replace(text, "table: countries, type: reference}", "table: countries, type: reference, nodes: [n0, n1]}", 1)
		c := dial(t, startProxyText(t, text), mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
		both := func(sql string) {
			t.Helper()
			must(t, s.oracle, sql)
			must(t, c, sql)
		}
		both("CREATE TABLE alone (x INT PRIMARY KEY, y VARCHAR(20))")
		both("INSERT INTO alone VALUES (1, 'a'), (2, 'b'), (3, 'c')")
		both("INSERT INTO users (id, name, n) VALUES (1, 'n1', 1), (2, 'n2', 2), (3, 'n3', 3), (4, 'n4', 4)")
		for _, id := range []string{"1", "2", "3", "4", "4 AND id = 3", "NULL"} {
			sql := "SELECT users.name, alone.y FROM alone JOIN users ON alone.x = users.n WHERE users.id = " + id
			if w, g := wholeAnswer(must(t, s.oracle, sql), true), wholeAnswer(must(t, c, sql), true); w != g {
				t.Errorf("%s\n got %s\nwant %s", sql, g, w)
			}
		}
	})
}
