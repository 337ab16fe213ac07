package session_test

import (
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// completion_type is for the COMMIT of the client: what the proxy begins and ends by itself leaves no transaction behind, in whose locks
// others wait and whose end takes their rows away.
func TestCompletionType(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		for _, value := range []string{"1", "2", "CHAIN"} {
			for _, list := range [][]string{
				{"INSERT INTO users (id, n) VALUES (1, 1), (2, 2), (3, 3), (4, 4)", "INSERT INTO users (id, n) VALUES (5, 5)", "UPDATE users SET n = n + 1", "DELETE FROM users ORDER BY id LIMIT 2"},
				{"BEGIN", "INSERT INTO users (id, n) VALUES (1, 1)", "ROLLBACK AND NO CHAIN NO RELEASE", "SELECT COUNT(DISTINCT n) FROM users"},
				{"BEGIN", "INSERT INTO users (id, n) VALUES (1, 1)"},
			} {
				c := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
				must(t, c, "SET completion_type = "+value)
				inside := false
				for _, sql := range list {
					r := must(t, c, sql)
					inside = sql == "BEGIN" || inside && sql[0] != 'R'
					if r.Status.Has(mysql.ServerStatusInTrans) != inside {
						t.Errorf("completion_type %s, %s: status %v", value, sql, r.Status)
					}
				}
				c.Close()
				for _, node := range s.nodes {
					deadline := time.Now().Add(10 * time.Second)
					for len(must(t, node, "SELECT trx_id FROM information_schema.innodb_trx").Rows) > 0 {
						if time.Now().After(deadline) {
							t.Fatalf("completion_type %s, %q: a transaction stays open", value, list)
						}
						time.Sleep(10 * time.Millisecond)
					}
				}
				must(t, s.subject, "DELETE FROM users")
			}
		}
	})
}
