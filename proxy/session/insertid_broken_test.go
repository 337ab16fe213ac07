package session_test

import (
	"fmt"
	"testing"

	"kingshard/mysql/mysqltest"
)

// The connection that alone knows LAST_INSERT_ID() breaks, and a statement over shards follows: the client gets one error, and nothing that
// was borrowed is kept for ever.
func TestInsertIDOfBrokenConnection(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		for _, sql := range []string{
			"UPDATE users SET n = n + 1", "SELECT LAST_INSERT_ID(), id FROM users ORDER BY id", "SELECT COUNT(DISTINCT n), LAST_INSERT_ID() FROM users",
		} {
			for round := range 20 { // more often than a pool has connections
				c := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
				must(t, c, "CREATE TEMPORARY TABLE kept (id INT AUTO_INCREMENT PRIMARY KEY)")
				must(t, c, fmt.Sprintf("INSERT INTO kept VALUES (%d)", 7+round))
				must(t, c, "SELECT LAST_INSERT_ID(5)")
				for _, node := range s.nodes {
					for _, row := range must(t, node, "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND db = 'shop'").Rows {
						_, _ = node.Query(fmt.Sprintf("KILL %v", row[0]))
					}
				}
				if r, err := c.Query(sql); err == nil && r.Err != nil && r.Err.Code < 9000 {
					t.Errorf("%s: %v", sql, r.Err)
				}
				if r, err := c.Query("SELECT 41 + 1"); err == nil && (r.Err != nil || len(r.Rows) != 1 || fmt.Sprint(r.Rows[0][0]) != "42") {
					t.Fatalf("%s: another answer follows: %+v", sql, r)
				}
				c.Close()
			}
			must(t, s.subject, "DO 1")
		}
	})
}
