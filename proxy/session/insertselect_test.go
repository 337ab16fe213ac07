package session_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"kingshard/mysql/mysqltest"
)

// Rows of an INSERT ... SELECT get ids where it leaves them to the table: those of one server, in whatever order.
func TestInsertSelectDrawsIDs(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		s.everywhere(t, "INSERT INTO users (name, n) VALUES ('a', 1), ('b', 2), ('c', 3), ('d', 4), ('e', 5), ('f', 6), ('g', 7)")
		s.everywhere(t, "INSERT INTO orders (user_id, v) VALUES (1, 'x'), (2, 'y'), (3, 'z'), (3, 'zz'), (8, 'w'), (-5, 'minus')")
		prepare := func(c *mysqltest.RawClient, sql string) *mysqltest.RawStmt {
			st, err := c.Prepare(sql)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			return st
		}
		next := 1000
		for _, c := range []struct {
			sql  string
			args []any
		}{
			{sql: "INSERT INTO orders (user_id, v) SELECT user_id, v FROM orders"},
			{sql: "INSERT INTO orders (user_id, v) SELECT user_id, CONCAT(v, '+') FROM orders WHERE v LIKE 'z%'"},
			{sql: "INSERT INTO orders (user_id, v) SELECT user_id, v FROM orders WHERE user_id = 3"},
			{sql: "INSERT INTO orders (user_id, v) SELECT user_id, v FROM orders WHERE user_id = 77"},
			{sql: "INSERT INTO orders SELECT NULL, user_id, v FROM orders WHERE v = 'x'"},
			{sql: "INSERT INTO orders SELECT 0, user_id, v FROM orders WHERE v = 'x'"},
			{sql: "INSERT INTO orders (v, id, user_id) SELECT o.v, NULL, u.id FROM users u JOIN orders o ON o.user_id = u.id WHERE u.n > 1"},
			{sql: "INSERT INTO orders (user_id, v) SELECT u.id, (SELECT MAX(c.name) FROM countries c) FROM users AS u WHERE u.id IN (1, 2, 3, 4)"},
			{sql: "INSERT INTO shop.orders ( `user_id` , v ) SELECT ALL o.user_id, 'from' FROM shop.orders o WHERE o.v = 'y' /* FROM */;"},
			{sql: "INSERT INTO orders (user_id, v) SELECT user_id, ? FROM orders WHERE v = ?", args: []any{"given", "w"}},
			{sql: "INSERT INTO orders SELECT NULL, user_id, ? FROM orders WHERE user_id = ?", args: []any{"one", 8}},
			{sql: "INSERT INTO orders (user_id, v) SELECT user_id, LAST_INSERT_ID() FROM orders WHERE v = 'w'"},
		} {
			run := func(c2 *mysqltest.RawClient) *mysqltest.RawResult {
				if c.args == nil {
					return must(t, c2, c.sql)
				}
				r, err := prepare(c2, c.sql).Execute(c.args...)
				if err != nil {
					t.Fatalf("%s: %v", c.sql, err)
				}
				return r
			}
			before := must(t, s.oracle, "SELECT MAX(id), LAST_INSERT_ID() FROM orders")
			want, got := run(s.oracle), run(s.subject)
			if w, g := toldWithID(want, c.sql), toldWithID(got, c.sql); w != g {
				t.Errorf("%s\n got %s\nwant %s", c.sql, g, w)
			}
			s.both(t, "SELECT LAST_INSERT_ID()", "")
			// Which row has which id is not said; the ids follow each other.
			s.both(t, fmt.Sprintf("SELECT id FROM orders WHERE id > %s ORDER BY id", before.Rows[0][0]), "")
			s.both(t, "SELECT user_id, v FROM orders ORDER BY user_id, v", "")
			// InnoDB reserves more ids than a query has rows.
			s.everywhere(t, fmt.Sprintf("INSERT INTO orders (id, user_id) VALUES (%d, 1)", next))
			next += 1000
			s.both(t, "INSERT INTO orders (user_id) VALUES (1), (2)", "")
			s.both(t, "SELECT LAST_INSERT_ID()", "")
		}
		s.everywhere(t, "BEGIN")
		s.both(t, "INSERT INTO orders (user_id, v) SELECT user_id, 'undone' FROM orders WHERE user_id = 3", "")
		s.both(t, "SELECT COUNT(*), COUNT(DISTINCT id) FROM orders WHERE user_id = 3", "")
		s.everywhere(t, "ROLLBACK")
		s.both(t, "SELECT COUNT(*), COUNT(DISTINCT id) FROM orders", "")
		s.everywhere(t, fmt.Sprintf("INSERT INTO orders (id, user_id) VALUES (%d, 1)", next))
		s.everywhere(t, "SET auto_increment_increment = 10, auto_increment_offset = 3")
		s.both(t, "INSERT INTO orders (user_id, v) SELECT user_id, v FROM orders WHERE v = 'zz'", "")
		s.both(t, fmt.Sprintf("SELECT id FROM orders WHERE id >= %d ORDER BY id", next), "")
		s.everywhere(t, "SET auto_increment_increment = 1, auto_increment_offset = 1, sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")
		for _, sql := range []string{
			"REPLACE INTO orders (user_id, v) SELECT user_id, v FROM orders", "INSERT INTO orders SELECT 0, user_id, v FROM orders",
		} {
			if r, err := s.subject.Query(sql); err != nil || r.Err == nil || r.Err.Code != 9012 || !strings.Contains(r.Err.Message, "AUTO_INCREMENT") {
				t.Errorf("%s: %v %v", sql, r, err)
			}
		}
		// An id that is there already is drawn again.
		at := must(t, s.subject, "INSERT INTO orders (user_id) VALUES (1)").OK.LastInsertID
		for _, node := range s.nodes {
			for _, row := range must(t, node, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME LIKE 'orders\\_0%'").Rows {
				must(t, node, fmt.Sprintf("INSERT INTO shop.%s (id, user_id, v) VALUES (%d, 99, 'beside')", row[0], at+2))
			}
		}
		count := must(t, s.subject, "SELECT COUNT(*) FROM orders WHERE v = 'zz'").Rows[0][0]
		if r := must(t, s.subject, "INSERT INTO orders (user_id, v) SELECT user_id, 'again' FROM orders WHERE v = 'zz'"); fmt.Sprint(r.OK.AffectedRows) != fmt.Sprintf("%s", count) || r.OK.LastInsertID <= at+2 {
			t.Errorf("behind a row with %d %d rows are inserted from %d on, of %s", at+2, r.OK.AffectedRows, r.OK.LastInsertID, count)
		}
	})
}

// Rows that come while others are counted get no ids of somebody else.
func TestInsertSelectBesideInserts(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		must(t, s.subject, "INSERT INTO orders (user_id, v) VALUES (1, 'x'), (2, 'x'), (3, 'x'), (4, 'x')")
		stop := make(chan struct{})
		var writers sync.WaitGroup
		for k := range 3 {
			c := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
			writers.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					if r, err := c.Query(fmt.Sprintf("INSERT INTO orders (user_id, v) VALUES (%d, 'x'), (%d, 'y')", n, n+k)); err != nil || r.Err != nil && r.Err.Code != 1205 && r.Err.Code != 1213 {
						t.Errorf("an INSERT: %v %v", r, err)
						return
					}
				}
			})
		}
		done := 0
		for k := range 12 {
			must(t, s.subject, "SET SESSION TRANSACTION ISOLATION LEVEL "+[]string{"READ COMMITTED", "REPEATABLE READ"}[k%2])
			r, err := s.subject.Query("INSERT INTO orders (user_id, v) SELECT user_id, 'copy' FROM orders WHERE v = 'x' AND user_id < 50")
			switch {
			case err != nil || r.Err != nil && r.Err.Code != 1690 && r.Err.Code != 1205 && r.Err.Code != 1213:
				t.Errorf("INSERT ... SELECT: %v %v", r, err)
			case r.Err == nil:
				done++
			}
		}
		close(stop)
		writers.Wait()
		r := must(t, s.subject, "SELECT COUNT(*) - COUNT(DISTINCT id), SUM(v = 'copy') > 0 FROM orders")
		if got := fmt.Sprintf("%s", r.Rows[0]); done == 0 || got != "[0 1]" {
			t.Errorf("%d statements made rows; ids that two rows have, and whether there are copies: %s", done, got)
		}
	})
}
