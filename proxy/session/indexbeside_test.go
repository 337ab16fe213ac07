package session_test

import (
	"fmt"
	"testing"

	"kingshard/mysql/mysqltest"
)

// Where rows of another table decide which rows change, the entries follow those that did.
func TestIndexesBesideOtherRows(t *testing.T) {
	const schema = "CREATE TABLE parts (id BIGINT PRIMARY KEY, code INT, n INT, UNIQUE KEY code (code))\nCREATE TABLE marks (id BIGINT PRIMARY KEY, m INT)"
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			s := startShards(t, servers, []int{1, 1}, schema, "      - {db: shop, table: parts, key: id, type: hash, nodes: [n0, n1], locations: [1, 1], unique: [code], lookup: [n]}\n"+
				"      - {db: shop, table: marks, key: id, colocate_with: parts}", atomicConfig)
			for k, n := range s.nodes {
				must(t, n, fmt.Sprintf("DROP TABLE parts_%04d", k))
			}
			must(t, s.subject, "CREATE TABLE parts (id BIGINT PRIMARY KEY, code INT, n INT, UNIQUE KEY code (code))")
			kept := func(after string) {
				t.Helper()
				s.keptIndex(t, after, "SELECT code, id FROM parts ORDER BY id", "SELECT code, id FROM ks_parts_code ORDER BY id")
				s.keptIndex(t, after, "SELECT n, id FROM parts ORDER BY id", "SELECT n, id FROM ks_parts_n ORDER BY id")
			}
			for _, sql := range []string{
				"INSERT INTO parts VALUES (1, 10, 0), (2, 20, 0), (3, 30, 0), (4, 40, 0), (5, 50, 0)",
				"INSERT INTO marks VALUES (1, 1), (2, 0), (3, 2), (4, 2), (5, 3)",
				"UPDATE parts SET n = 5 WHERE id IN (SELECT id FROM marks WHERE m = 2)",
				"UPDATE parts p SET p.n = p.n + 1, p.code = p.code + 1 WHERE p.n = 5 AND EXISTS (SELECT 1 FROM marks WHERE marks.id = p.id AND m = 2) OR p.id = 5",
				"UPDATE parts SET n = 7 WHERE id IN (SELECT id FROM marks WHERE m = 9)",
				"DELETE FROM parts WHERE (id) IN (SELECT id FROM marks WHERE m > 1) ORDER BY id DESC LIMIT 1",
				"DELETE FROM parts WHERE id IN (SELECT id FROM marks WHERE m = 2);",
			} {
				s.inStep(t, sql, "")
				s.sameTables(t, sql, "parts")
				kept(sql)
			}
			other := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
			for _, sql := range []string{"DELETE FROM parts WHERE id IN (SELECT id FROM marks WHERE m = 1)", "UPDATE parts SET code = code + 5, n = 3 WHERE id IN (SELECT id FROM marks WHERE m = 1)"} {
				must(t, s.subject, "BEGIN")
				must(t, s.subject, "SELECT * FROM marks")
				must(t, other, "UPDATE marks SET m = 1 - m WHERE id < 3")
				if _, err := s.subject.Query(sql); err != nil {
					t.Fatal(err)
				}
				must(t, s.subject, "COMMIT")
				kept(sql)
			}
			must(t, s.subject, "DELETE FROM parts WHERE id IN (SELECT id FROM marks WHERE m = 1)")
			kept("the last")
		})
	}
}
