package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// Of a row that collides by several keys over shards, the first of the table's keys tells, however the rule has them.
func TestIndexesInKeyOrder(t *testing.T) {
	const schema = "CREATE TABLE parts (id BIGINT PRIMARY KEY, a INT, b VARCHAR(9) COLLATE utf8mb4_general_ci, c INT NOT NULL, n INT, UNIQUE KEY a (a), UNIQUE KEY b (b), UNIQUE KEY c (c)) DEFAULT CHARSET utf8mb4"
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			s := startShards(t, servers, []int{1, 1}, schema,
				"      - {db: shop, table: parts, key: id, type: hash, nodes: [n0, n1], locations: [2, 2], unique: [{columns: b, strings: utf8mb4_general_ci_v1}, a, c]}", atomicConfig)
			for k, n := range s.nodes {
				must(t, n, fmt.Sprintf("DROP TABLE parts_%04d", k))
			}
			must(t, s.subject, schema)
			for _, sql := range []string{
				"INSERT INTO parts VALUES (1, 1, 'x', 1, 0), (2, 2, 'y', 2, 0), (3, 3, 'z', 3, 0), (4, 4, 'w', 4, 0)",
				"INSERT INTO parts VALUES (9, 1, 'y', 9, 0) ON DUPLICATE KEY UPDATE n = n + 1",
				"INSERT INTO parts VALUES (9, 2, 'x', 9, 0) ON DUPLICATE KEY UPDATE n = n + 1",
				"INSERT INTO parts VALUES (9, 1, 'x', 3, 0) ON DUPLICATE KEY UPDATE n = n + 10",
				"INSERT INTO parts VALUES (9, 4, 'Z', 2, 0), (10, 2, 'W', 9, 0) ON DUPLICATE KEY UPDATE n = n + 100",
				"INSERT IGNORE INTO parts VALUES (13, 1, 'y', 3, 0)",
				"REPLACE INTO parts VALUES (17, 1, 'y', 3, 7)",
			} {
				s.inStep(t, sql, "")
				s.sameTables(t, sql, "parts")
			}
			must(t, s.subject, "DELETE FROM parts")
			must(t, s.subject, "INSERT INTO parts VALUES (1, 1, 'x', 1, 0), (2, 2, 'y', 2, 0), (3, 3, 'z', 3, 0)")
			for row, key := range map[string]string{"(4, 1, 'z', 9, 0)": "a'", "(4, 1, 'z', 2, 0)": "c'", "(4, 9, 'x', 2, 0)": "c'"} {
				r, err := s.subject.Query("INSERT INTO parts VALUES " + row)
				if err != nil || r.Err == nil || !strings.HasSuffix(r.Err.Message, key) {
					t.Errorf("%s: %+v, %v\nwant a duplicate of %s", row, r.Err, err, key)
				}
			}
		})
	}
}
