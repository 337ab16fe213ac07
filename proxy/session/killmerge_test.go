package session_test

import (
	"fmt"
	"strconv"
	"strings"
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

// KILL QUERY of a change of several sub-tables within a transaction undoes all of that change, and nothing else.
func TestKillOfAChangeLeavesTheTransaction(t *testing.T) {
	onShardsAtOnce(t, "CREATE TABLE users (id INT NOT NULL PRIMARY KEY, n INT)", func(t *testing.T, s *shards) {
		must(t, s.subject, "INSERT INTO users VALUES (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0), (11, 0)")
		node := s.nodes[0]
		tables := must(t, node, "SHOW TABLES LIKE 'users%'").Rows
		var ids []string
		for _, table := range tables {
			for _, row := range must(t, node, "SELECT id FROM "+table[0].(string)).Rows {
				ids = append(ids, fmt.Sprint(row[0]))
			}
		}
		must(t, node, "BEGIN")
		locked := must(t, node, "SELECT id FROM "+tables[len(tables)-1][0].(string)+" ORDER BY id DESC LIMIT 1 FOR UPDATE").Rows
		killer := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
		victim := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
		must(t, victim, "BEGIN")
		must(t, victim, "UPDATE users SET n = 1 WHERE id = "+ids[0])
		answered := make(chan *mysqltest.RawResult, 1)
		go func() {
			r, _ := victim.Query("UPDATE users SET n = n + 10 WHERE id IN (" + strings.Join(ids, ", ") + ")")
			answered <- r
		}()
		mysqltest.WaitFor(t, "the change to wait for row "+fmt.Sprint(locked), func() bool { return running(t, node, "n + 10") })
		must(t, killer, "KILL QUERY "+strconv.Itoa(int(victim.Greeting.ConnectionID)))
		if r := <-answered; r == nil || r.Err == nil || r.Err.Code != mysql.ERQueryInterrupted {
			t.Fatalf("%+v", r)
		}
		if got := column(must(t, victim, "SELECT SUM(n) FROM users")); got != "1" {
			t.Errorf("the sum is %s within the transaction", got)
		}
		must(t, victim, "COMMIT")
		must(t, node, "ROLLBACK")
		if got := column(must(t, killer, "SELECT SUM(n) FROM users")); got != "1" {
			t.Errorf("the sum is %s behind COMMIT", got)
		}
	})
}
