package session_test

import (
	"fmt"
	"strconv"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// KILL QUERY of a query over several shards within a transaction ends the query, and neither the transaction nor the session, whichever shard it was
// that took so long.
func TestKillOfAMergeLeavesTheTransaction(t *testing.T) {
	onShardsAtOnce(t, "CREATE TABLE users (id INT NOT NULL PRIMARY KEY, n INT)", func(t *testing.T, s *shards) {
		must(t, s.subject, "INSERT INTO users VALUES (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0)")
		killer := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
		table := must(t, s.nodes[1], "SHOW TABLES LIKE 'users%'").Rows[0][0].(string)
		for slow := range 9 {
			sql, seen := fmt.Sprintf("SELECT id FROM users WHERE IF(id = %d, SLEEP(60), n < 100)", slow), "SLEEP(60)"
			if slow == 8 { // merged, rather than finished by one server
				sql, seen = "SELECT id FROM users WHERE n < 100", "n < 100"
				must(t, s.nodes[1], "LOCK TABLES "+table+" WRITE")
			}
			victim := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
			must(t, victim, "BEGIN")
			must(t, victim, "UPDATE users SET n = 1 WHERE id = 0")
			answered := make(chan *mysqltest.RawResult, 1)
			go func() {
				r, _ := victim.Query(sql)
				answered <- r
			}()
			on := func() bool { return running(t, s.nodes[0], seen) || running(t, s.nodes[1], seen) }
			mysqltest.WaitFor(t, "the query to run", on)
			must(t, killer, "KILL QUERY "+strconv.Itoa(int(victim.Greeting.ConnectionID)))
			if r := <-answered; r == nil || r.Err == nil || r.Err.Code != mysql.ERQueryInterrupted {
				t.Fatalf("row %d slow: %+v", slow, r)
			}
			if slow == 8 {
				must(t, s.nodes[1], "UNLOCK TABLES")
			}
			for _, sql := range []string{"SELECT n FROM users WHERE id = 0", "SELECT SUM(n) FROM users"} {
				if got := column(must(t, victim, sql)); got != "1" {
					t.Errorf("row %d slow: %s gives %s within the transaction", slow, sql, got)
				}
			}
			must(t, victim, "ROLLBACK")
			if got := column(must(t, victim, "SELECT SUM(n) FROM users")); got != "0" {
				t.Errorf("row %d slow: %s rows changed", slow, got)
			}
			victim.Close()
		}
	})
}
