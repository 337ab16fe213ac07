package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// running tells whether a node runs a statement with a text in it.
func running(t *testing.T, node *mysqltest.RawClient, text string) bool {
	t.Helper()
	for _, row := range must(t, node, "SELECT id, info FROM information_schema.processlist WHERE id <> CONNECTION_ID()").Rows {
		if strings.Contains(fmt.Sprint(row[1]), text) {
			return true
		}
	}
	return false
}

// A statement over several shards ends with its client, whether it waits for a lock, collects or finishes.
func TestClientVanishesOverShards(t *testing.T) {
	onShardsAtOnce(t, "CREATE TABLE users (id INT NOT NULL PRIMARY KEY, n INT)", func(t *testing.T, s *shards) {
		must(t, s.subject, "INSERT INTO users VALUES (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0)")
		last := s.nodes[1]
		table := must(t, last, "SHOW TABLES LIKE 'users%'").Rows[0][0].(string)
		for _, c := range []struct {
			sql, seen string
			locked    bool
		}{
			{"UPDATE users SET n = n + 1", "SET n = n + 1", true},
			{"DELETE FROM users ORDER BY id LIMIT 5", "FOR UPDATE", true},
			{"INSERT INTO users VALUES (0, 1), (1, 1), (2, 1), (3, 1) ON DUPLICATE KEY UPDATE n = 9", "n = 9", true},
			{"SELECT id FROM users WHERE n < 100 FOR UPDATE", "n < 100", true},
			{"SELECT SLEEP(100), x.n FROM (SELECT n, COUNT(DISTINCT id) FROM users GROUP BY n) x", "SLEEP(100)", false},
		} {
			if c.locked {
				must(t, last, "BEGIN")
				must(t, last, "SELECT * FROM "+table+" FOR UPDATE")
			}
			victim := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
			if err := victim.Send(mysql.ComQuery, c.sql); err != nil {
				t.Fatal(err)
			}
			// What waits for the lock has come as far as that: ahead of it there are moments at which it runs nowhere.
			on := func() bool { return running(t, last, c.seen) || !c.locked && running(t, s.nodes[0], c.seen) }
			mysqltest.WaitFor(t, c.sql+" to run", on)
			_ = victim.Conn.Close()
			mysqltest.WaitFor(t, c.sql+" to end", func() bool { return !on() })
			if c.locked {
				must(t, last, "ROLLBACK")
			}
		}
		if r := must(t, s.subject, "SELECT COUNT(*), SUM(n) FROM users"); fmt.Sprint(r.Rows) != "[[8 0]]" {
			t.Errorf("rows %v", r.Rows)
		}
	})
}

// What one statement may finish on a server is bounded in time and in combinations of rows, unless the session has lifted that.
func TestFinishIsBounded(t *testing.T) {
	onShards(t, "CREATE TABLE users (id INT NOT NULL PRIMARY KEY, n INT)", func(t *testing.T, s *shards) {
		for _, node := range s.nodes { // the bound goes by what the server believes a table to hold
			must(t, node, "SET GLOBAL innodb_stats_auto_recalc = ON")
			t.Cleanup(func() { must(t, node, "SET GLOBAL innodb_stats_auto_recalc = OFF") })
		}
		var rows []string
		for id := range 200 {
			rows = append(rows, fmt.Sprintf("(%d, %d)", id, id%7))
		}
		must(t, s.subject, "INSERT INTO users VALUES "+strings.Join(rows, ", "))
		const join = "SELECT COUNT(*) FROM users a JOIN users b ON a.n = b.n"
		want := must(t, s.subject, join).Rows[0][0]
		bounded := dial(t, s.restarted(t, "finish_max_join_size: 100", "finish_timeout: 1s"), mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
		fails(t, bounded, join, 1104)
		if got := must(t, bounded, "SELECT COUNT(*) FROM users a JOIN users b ON a.n = b.n WHERE a.id < 3 AND b.id < 3").Rows[0][0]; got != "3" {
			t.Errorf("a small join counts %v", got)
		}
		must(t, bounded, "SET sql_big_selects = 1")
		if got := must(t, bounded, join).Rows[0][0]; got != want {
			t.Errorf("without the bound %v rows, want %v", got, want)
		}
		fails(t, bounded, "SELECT SLEEP(100), x.n FROM (SELECT n, COUNT(DISTINCT id) FROM users GROUP BY n) x", mysql.ERQueryTimeout)
		must(t, bounded, join)
		must(t, s.subject, "ALTER TABLE users ADD COLUMN x TEXT")
		must(t, s.subject, "UPDATE users SET x = REPEAT('x', 10000)")
		few := dial(t, s.restarted(t, "finish_max_bytes: 1M"), mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
		const long = "SELECT COUNT(DISTINCT a.x, b.id) FROM users a JOIN users b ON a.id = b.n"
		must(t, few, join)
		fails(t, few, long, 9014)
		must(t, few, join)
		must(t, s.subject, long)
	})
}

// restarted starts another proxy like the one of the test, with more lines of configuration, and gives its address.
func (s *shards) restarted(t *testing.T, more ...string) string {
	t.Helper()
	return startProxyText(t, s.config+"\n"+strings.Join(more, "\n"))
}
