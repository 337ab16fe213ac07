package session_test

import (
	"fmt"
	"testing"

	"kingshard/mysql/mysqltest"
)

// An index over the shards places the rows of its table, and of those that lie beside it: a table that is joined by the sharding key and lies otherwise has the
// rows elsewhere.
func TestLookupOfAJoin(t *testing.T) {
	const schema = "CREATE TABLE people (id BIGINT PRIMARY KEY, dept INT) DEFAULT CHARSET utf8mb4\nCREATE TABLE visits (id BIGINT PRIMARY KEY, n INT) DEFAULT CHARSET utf8mb4"
	servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, mysqltest.MariaDB)}, nodesOf(t, mysqltest.MariaDB)...)
	s := startShards(t, servers, []int{1, 1}, schema, `      - {db: shop, table: people, key: id, type: hash, nodes: [n0, n1], locations: [2, 1], lookup: [dept]}
      - {db: shop, table: visits, key: id, type: hash, nodes: [n0, n1], locations: [1, 1]}`, atomicConfig)
	for k, n := range s.nodes {
		must(t, n, fmt.Sprintf("DROP TABLE people_%04d, visits_%04d", k, k))
	}
	must(t, s.subject, "CREATE TABLE people (id BIGINT PRIMARY KEY, dept INT) DEFAULT CHARSET utf8mb4")
	must(t, s.subject, "CREATE TABLE visits (id BIGINT PRIMARY KEY, n INT) DEFAULT CHARSET utf8mb4")
	for id := range 12 {
		must(t, s.subject, fmt.Sprintf("INSERT INTO people VALUES (%d, %d)", id, id))
		must(t, s.subject, fmt.Sprintf("INSERT INTO visits VALUES (%d, %d)", id, 100+id))
	}
	for id := range 12 {
		r := must(t, s.subject, fmt.Sprintf("SELECT v.n FROM people p JOIN visits v ON v.id = p.id WHERE p.dept = %d", id))
		if got, want := fmt.Sprint(r.Rows), fmt.Sprintf("[[%d]]", 100+id); got != want {
			t.Errorf("of %d: %s, not %s", id, got, want)
		}
	}
}
