package session_test

import (
	"fmt"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// What a statement over several shards gives user variables is theirs behind it, within a transaction and beside the connection that knows others, too.
func TestVariablesOfFinishes(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		c := dial(t, s.restarted(t), mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
		compare := func(list ...string) {
			t.Helper()
			for _, sql := range list {
				if got, want := said(t, c, sql), said(t, s.oracle, sql); got != want {
					t.Errorf("%s: %s, want %s", sql, got, want)
				}
			}
		}
		numbered := []string{"SELECT @n := @n + 1, id FROM users WHERE id < 7 ORDER BY id", "SELECT @n", "SELECT id, @n := @n + 1 FROM users WHERE id = 9", "SELECT @n"}
		compare("SET @n = 0")
		compare(numbered...)
		compare(numbered...)
		compare("SELECT @m := MAX(id) FROM users", "SELECT @m", "SELECT @q := 7 FROM users LIMIT 1", "SELECT @q", "SELECT COUNT(*), @c := COUNT(*) FROM users", "SELECT @c", "SELECT @z := 3, COUNT(DISTINCT name) FROM users", "SELECT @z",
			"SELECT a.id, @rank := @rank + 1 FROM users a, (SELECT @rank := 0) r ORDER BY a.id LIMIT 3", "SELECT @rank", "SELECT @s := GROUP_CONCAT(name ORDER BY id) FROM users", "SELECT @s, @n, @rank, COLLATION(@s)",
			"SELECT @nul := NULLIF(COUNT(*), 40) FROM users", "SELECT @nul", "SELECT @b := MAX(b) FROM users", "SELECT HEX(@b), CHARSET(@b)", "SELECT id FROM users WHERE n = (SELECT @g := MAX(n) FROM users) ORDER BY id", "SELECT @g")
		for _, begin := range []string{"BEGIN", "SET autocommit = 0"} {
			compare(begin)
			compare(numbered...)
			compare("SELECT name FROM users WHERE id = 3", "SELECT @w := @n + 1", "SELECT @w := @w + 1, @n FROM users WHERE id < 4", "SELECT @w, @n", "ROLLBACK", "SELECT @w, @n, @rank")
		}
		compare("SET autocommit = 1", "SET @i = 100", "DELETE FROM order_items", "INSERT INTO order_items (user_id, v) SELECT id, @i := @i + 1 FROM users ORDER BY id", "SELECT @i", "SELECT user_id, v FROM order_items ORDER BY user_id, v")
		must(t, c, "SET @p = 5")
		st, err := c.Prepare("SELECT @p := @p + ?, COUNT(DISTINCT name) FROM users")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := st.Execute(3); err != nil || r.Err != nil {
			t.Errorf("executed: %v, %+v", err, r)
		}
		if got := fmt.Sprint(must(t, c, "SELECT @p").Rows); got != "[[8]]" {
			t.Errorf("behind an execution @p is %s", got)
		}
		compare("UPDATE users SET n = (@i := 8) WHERE id = 4", "SELECT @i", "INSERT INTO order_items (user_id, v) VALUES (1, @i := @i + 1)", "SELECT @i")
		for _, sql := range []string{
			"UPDATE users SET n = (@i := @i + 1)", "UPDATE users SET n = (@i := @i + 1) WHERE id IN (3, 4) ORDER BY id LIMIT 5", "DELETE FROM order_items WHERE (@i := @i + 1) < 5",
			"INSERT INTO order_items (user_id, v) VALUES (1, @i := @i + 1), (2, @i := @i + 1), (3, @i := @i + 1), (4, @i := @i + 1)", "REPLACE INTO users (id, n) VALUES (1, @i := 5), (2, @i + 1), (3, 1), (4, 1)",
			"UPDATE users SET n = (@i := @i + 1) WHERE id IN (SELECT v FROM order_items)",
		} {
			fails(t, c, sql, 9012)
		}
		compare("SELECT @i", "SELECT SUM(n) FROM users", "SELECT COUNT(*) FROM order_items")
	})
}

// A KILL QUERY about the end of a query that gives variables values ends it, or nothing: the session goes on, with the values of what it has heard of.
func TestKillBehindAFinish(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		login := mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"}
		addr := s.restarted(t)
		c, killer := dial(t, addr, login), dial(t, addr, login)
		kill := fmt.Sprint("KILL QUERY ", must(t, c, "SELECT CONNECTION_ID()").Rows[0][0])
		const sql = "SELECT @n := @n + 1, id FROM users ORDER BY id"
		var took time.Duration
		for k := range 200 {
			must(t, c, "SELECT @n := 1 + 0") // which keeps a connection
			killed := make(chan struct{})
			go func() {
				defer close(killed)
				if k >= 10 {
					time.Sleep(took * time.Duration(60+k%50) / 100)
					_, _ = killer.Query(kill)
				}
			}()
			began := time.Now()
			r, err := c.Query(sql)
			if k < 10 {
				took = time.Since(began)
			}
			<-killed
			if err != nil {
				t.Fatal(err)
			}
			n, err := c.Query("SELECT @n")
			switch {
			case err != nil:
				t.Fatalf("the session has ended: %v", err)
			case n.Err != nil && n.Err.Code != mysql.ERQueryInterrupted: // a KILL that came behind the query
				t.Error(n.Err)
			case n.Err == nil && r.Err == nil && fmt.Sprint(n.Rows) != "[[41]]":
				t.Errorf("behind the answer @n is %v", n.Rows)
			}
		}
	})
}
