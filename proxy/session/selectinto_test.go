package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

func TestSelectInto(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		look := func(after string, names ...string) {
			t.Helper()
			for _, name := range names {
				sql := strings.ReplaceAll("SELECT @v, @v + 1, HEX(@v), CHARSET(@v), COLLATION(@v)", "@v", name)
				w, g := must(t, s.oracle, sql), must(t, s.subject, sql)
				text := func(r *mysqltest.RawResult) bool { return r.Columns[0].Type >= mysql.TypeTinyBlob }
				if fmt.Sprint(w.Rows) != fmt.Sprint(g.Rows) || w.Columns[0].Type != g.Columns[0].Type && !(text(w) && text(g)) {
					t.Errorf("%s: %s is %v of type %d, not %v of type %d", after, name, g.Rows, g.Columns[0].Type, w.Rows, w.Columns[0].Type)
				}
				s.both(t, "SELECT ROUND("+name+" - 100000)", "") // of unsigned numbers an error
			}
		}
		s.everywhere(t, "SET @x = 'before', @y = 'before'")
		for _, sql := range []string{
			"SELECT COUNT(*) INTO @x FROM users",
			"SELECT COUNT(*), MAX(id) FROM users WHERE id > 5 INTO @x, @y",
			"SELECT SUM(price), ROUND(AVG(price), 1) INTO @x, @Y FROM users",
			"SELECT name, id FROM users WHERE id = 5 INTO @x, @y",
			"SELECT name, c INTO @x, @y FROM users ORDER BY id DESC LIMIT 1",
			"SELECT d, t FROM users ORDER BY id LIMIT 3, 1 INTO @x, @y",
			"SELECT f, b FROM users ORDER BY id LIMIT 1 INTO @x, @y",
			"SELECT bits, e FROM users ORDER BY id LIMIT 1 INTO @x, @y",
			"SELECT u, y FROM users ORDER BY id LIMIT 1 INTO @x, @y",
			"SELECT price, id FROM users ORDER BY id LIMIT 1 INTO @x, @y",
			"SELECT w, CONCAT(v, 'é') FROM payments ORDER BY merchant_id, w, at, v LIMIT 1 INTO @x, @y",
			"SELECT COUNT(DISTINCT n), GROUP_CONCAT(DISTINCT name ORDER BY name) INTO @x, @y FROM users",
			"SELECT 'none', 1 INTO @x, @y FROM users WHERE id < 0",
			"SELECT id, n FROM users ORDER BY id INTO @x, @y",
			"SELECT id, n INTO @x, @y FROM users WHERE id < 20 ORDER BY id LIMIT 10",
			"SELECT id INTO @x, @y FROM users",
			"SELECT nosuch INTO @x FROM users",
			"SELECT COUNT(*) INTO @x FROM users WHERE id = @y",
			"SELECT id, n FROM users WHERE id = 3 FOR UPDATE INTO @x, @y",
			"SELECT name INTO @x FROM countries WHERE code = 'DE'",
		} {
			for _, around := range [][2]string{{"DO 0", "DO 0"}, {"BEGIN", "COMMIT"}} {
				s.everywhere(t, around[0])
				s.both(t, sql, "")
				if r := must(t, s.subject, "SHOW ERRORS"); len(r.Rows) == 0 {
					s.both(t, "SHOW WARNINGS", "")
				}
				look(sql, "@x", "@y")
				s.everywhere(t, around[1])
			}
		}
		s.both(t, "SELECT id, n FROM users WHERE id > 30 ORDER BY id LIMIT 1 INTO @x, @y FOR UPDATE", "")
		s.both(t, "SHOW WARNINGS", "")
		s.both(t, "SELECT id FROM users WHERE id = @x OR n = @x + 1 ORDER BY id", "")
		s.both(t, "SELECT id, NULL INTO @x, @y FROM users WHERE id = 7", "")
		s.both(t, "SELECT id FROM users WHERE id = @x AND @y IS NULL", "")
		s.both(t, "SELECT 1 INTO @x FROM users WHERE id < 0", "")
		s.both(t, "SHOW WARNINGS", "")
		for _, sql := range []string{
			"SELECT AVG(price), AVG(n) INTO @x, @y FROM users", "SELECT AVG(price) AS a, COUNT(*) FROM users WHERE id > 7 INTO @x, @y", "SELECT AVG(u.id), AVG(o.amount) INTO @x, @y FROM users u JOIN orders o ON o.amount = u.n",
			"SELECT AVG(price), AVG(f) INTO @x, @y FROM users WHERE id = 1", "SELECT AVG(price), 1 INTO @x, @y FROM users WHERE id < 0", "SELECT AVG(y), AVG(bits) INTO @x, @y FROM users",
			"SELECT 1, AVG(0 - n) INTO @y, @x FROM users", "SELECT 5, AVG(u) FROM users WHERE n = 3 INTO @x, @y", "SELECT AVG(name), AVG(c) INTO @x, @y FROM users WHERE id < 0",
			"SELECT g, id INTO @x, @y FROM users WHERE id = 1", "SELECT g AS q, id INTO @x, @y FROM users ORDER BY q DESC LIMIT 1", "SELECT users.g, id INTO @x, @y FROM users ORDER BY g LIMIT 1", "SELECT MAX(g), MIN(g) m INTO @x, @y FROM users",
			"SELECT g, MIN(id) INTO @x, @y FROM users WHERE id IN (1, 2) GROUP BY g ORDER BY g LIMIT 1", "SELECT DISTINCT g, 1 INTO @x, @y FROM users WHERE id IN (4, 5) LIMIT 1", "SELECT MAX(g), AVG(price) INTO @x, @y FROM users",
			"SELECT u.g, v.g INTO @x, @y FROM users u JOIN users v ON u.n = v.n WHERE u.id = 5 AND v.id = 10", "SELECT g, 1 INTO @x, @y FROM users WHERE id = -1",
			"SELECT g, n FROM users WHERE id = 8 FOR UPDATE INTO @x, @y", "SELECT (SELECT MAX(g) FROM users) + 0, g INTO @x, @y FROM users WHERE id = 9",
		} {
			r, err := s.subject.Query(sql)
			if err != nil {
				t.Fatal(err)
			}
			if r.Err != nil && strings.Contains(sql, "0 - n") && r.Err.Code == 9012 {
				continue
			}
			s.both(t, sql, "")
			look(sql, "@x", "@y")
		}
		s.everywhere(t, "SET div_precision_increment = 9")
		s.both(t, "SELECT AVG(price), AVG(n) INTO @x, @y FROM users", "")
		look("div_precision_increment", "@x", "@y")
		s.everywhere(t, "SET div_precision_increment = DEFAULT")
		if r, err := s.subject.Query("SELECT 1, id, price / 3 + 1 INTO @v, @x, @y FROM users WHERE id = 1"); err != nil || r.Err != nil && r.Err.Code != 9012 {
			t.Error(err, r)
		} else if r.Err == nil {
			s.both(t, "SELECT 1, id, price / 3 + 1 INTO @v, @x, @y FROM users WHERE id = 1", "")
			look("a division", "@x", "@y")
		}
		fails(t, s.subject, "SELECT AVG(d) INTO @x FROM users", 9012)
		fails(t, s.subject, "SELECT n, AVG(price) INTO @x, @y FROM users GROUP BY n ORDER BY n LIMIT 1", 9012)
		fails(t, s.subject, "SELECT (SELECT AVG(price) FROM users) INTO @x FROM users WHERE id = 1", 9012)
		fails(t, s.subject, "SELECT AVG(price) + 1 INTO @x FROM users", 9012)
		// With a variable that only the connection knows the value goes there.
		s.everywhere(t, "SET @z = UUID()")
		s.both(t, "SELECT COUNT(*), MIN(id) INTO @x, @y FROM users", "")
		look("a pinned session", "@x", "@y")
		other := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root"})
		if r := must(t, other, "SELECT @x, @y"); r.Rows[0][0] != nil || r.Rows[0][1] != nil {
			t.Errorf("another client's variables: %v", r.Rows)
		}
		if r := must(t, s.subject, "SELECT @@character_set_results"); r.Rows[0][0] != "utf8mb4" {
			t.Errorf("character_set_results is %v", r.Rows)
		}
	})
}

// With autocommit off a transaction has begun once a table is read, on whatever node that is and whatever SAVEPOINT was sent ahead.
func TestSavepointAheadOfReads(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		s.everywhere(t, "SET autocommit = 0")
		begun := 0
		for id := 1; id < 9; id++ {
			for _, form := range []string{"SELECT id INTO @x FROM users WHERE id = %d", "SELECT id FROM users WHERE id = %d", "SELECT name FROM countries", "SELECT COUNT(*) FROM users"} {
				s.everywhere(t, "COMMIT")
				for _, sql := range []string{"SAVEPOINT s", strings.ReplaceAll(form, "%d", fmt.Sprint(id)), "DO 1", "SET @x = 4", "SELECT 1", "ROLLBACK TO s", "COMMIT", "SELECT 2",
					"SAVEPOINT s", "SELECT name FROM users WHERE id = 1", "SELECT name FROM users WHERE id = 2", "SET autocommit = 1", "SELECT 3", "SET autocommit = 0"} {
					const seen = mysql.ServerStatusInTrans | mysql.ServerStatusAutocommit
					w, g := must(t, s.oracle, sql), must(t, s.subject, sql)
					if w.Status&seen != g.Status&seen {
						t.Errorf("%s, then %s: the status is %#x instead of %#x", form, sql, uint16(g.Status&seen), uint16(w.Status&seen))
					}
					if w.Status.Has(mysql.ServerStatusInTrans) {
						begun++
					}
				}
			}
		}
		if begun < 100 {
			t.Errorf("a transaction was open behind %d statements", begun)
		}
	})
}

// With autocommit off a transaction is open behind a change of one node, whichever node answers what comes then.
func TestStatusBehindAChangeElsewhere(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		s.everywhere(t, "SET autocommit = 0")
		begun := 0
		for id := 1; id < 9; id++ {
			for _, first := range []string{"SELECT FOUND_ROWS()", "SELECT ROW_COUNT()", "SELECT FOUND_ROWS(), @@autocommit", "DO 0"} {
				s.everywhere(t, "COMMIT")
				for _, sql := range []string{first, fmt.Sprintf("UPDATE users SET name = CONCAT(name, 'x') WHERE id = %d", id), "SELECT 1", "SELECT @@autocommit", "SHOW VARIABLES LIKE 'autocommit'",
					"SELECT name FROM users WHERE id = 1", "SELECT name FROM users WHERE id = 2", "SELECT 2", "COMMIT", "SELECT 3"} {
					const seen = mysql.ServerStatusInTrans | mysql.ServerStatusAutocommit
					w, g := must(t, s.oracle, sql), must(t, s.subject, sql)
					if w.Status&seen != g.Status&seen {
						t.Errorf("%s, the row %d, then %s: the status is %#x instead of %#x", first, id, sql, uint16(g.Status&seen), uint16(w.Status&seen))
					}
					if w.Status.Has(mysql.ServerStatusInTrans) {
						begun++
					}
				}
			}
		}
		if begun < 200 {
			t.Errorf("a transaction was open behind %d statements", begun)
		}
	})
}
