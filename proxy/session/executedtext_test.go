package session_test

import (
	"slices"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A text that PREPARE names gives on several shards what it gives on one server, by whatever values EXECUTE has.
func TestPreparedTexts(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, set := range []string{
			"SET @n = NULL, @i = 7, @neg = -3, @u = CAST(5 AS UNSIGNED), @dec = 2.50, @dec0 = CAST(4 AS DECIMAL), @f = 1.5e0, @s = 'n3', @digits = '5', @quote = 'it''s', @bin = x'00ff05', @big = 9223372036854775807, @zero = 0",
			"SELECT id, u, price, name, b, f INTO @i, @u, @dec, @s, @bin, @f FROM users WHERE id = 5",
			"SET @s = CONCAT('n', 3), @i = 2 + 1, @u = CAST(2 + 3 AS UNSIGNED), @dec = 7.0 / 2", // which only the connection knows
		} {
			s.everywhere(t, set)
			for _, text := range []string{
				"SELECT id, name FROM users WHERE id = ? ORDER BY id",
				"SELECT ?, id FROM users WHERE id < 4 ORDER BY id",
				"SELECT ? + 1 - id, CONCAT(name, ?) AS c FROM users WHERE id < 4 ORDER BY id",
				"SELECT id FROM users WHERE name = ? ORDER BY id LIMIT 3",
				"SELECT id FROM users WHERE id IN (?, 1, ?)  ORDER BY id",
				"SELECT id FROM users WHERE price > ? AND n <> ? ORDER BY id",
				"SELECT id FROM users WHERE id>?AND id<?+20 ORDER BY id",
				"SELECT id FROM users WHERE b = ? OR f < ? ORDER BY id",
				"SELECT id FROM users WHERE id - ? > 10 ORDER BY id",
				"SELECT n, COUNT(*), SUM(id) FROM users WHERE id > ? GROUP BY n ORDER BY n",
				"SELECT n, COUNT(*) FROM users GROUP BY n HAVING COUNT(*) > ? ORDER BY n",
				"SELECT id, ? 'named' FROM users WHERE id IN (2, 3) ORDER BY id",
				"SELECT u.id, o.id FROM users u JOIN orders o ON o.user_id = u.id WHERE u.id > ? ORDER BY u.id, o.id",
				"SELECT id FROM users WHERE id = 1 UNION ALL SELECT ? FROM orders WHERE user_id = ? ORDER BY 1",
				"SELECT COUNT(*) FROM users WHERE id BETWEEN ? AND ?",
				"SELECT name FROM countries WHERE code = ?",
			} {
				for _, name := range []string{"@n", "@i", "@neg", "@u", "@dec", "@dec0", "@f", "@s", "@digits", "@quote", "@bin", "@big", "@zero", "@never"} {
					using := strings.TrimSuffix(strings.Repeat(name+", ", strings.Count(text, "?")), ", ")
					s.both(t, "PREPARE s FROM "+quoted(text), "") // MySQL converts values to the types of earlier ones
					s.both(t, "PREPARE s FROM "+quoted(text), "")
					sql := "EXECUTE s USING " + using + " /* ORDER BY */"
					w, g := load(t, s.oracle, sql, ""), load(t, s.subject, sql, "")
					if want, got := shownOfAnyText(w, sql), shownOfAnyText(g, sql); want != got && (g.Err == nil || g.Err.Code != 9012 || !mayConvert(t, text, name)) {
						t.Errorf("%s\nwith %s of %s\n got %s %v\nwant %s %v", text, name, set, got, g.Err, want, w.Err)
					}
				}
			}
		}
	})
}

// mayConvert reports whether MySQL may make another value of that of a variable in a text: it is refused then.
func mayConvert(t *testing.T, text, name string) bool {
	if strings.Contains(t.Name(), "mariadb") {
		return false
	}
	return strings.Contains(text, "UNION") && slices.Contains([]string{"@dec", "@dec0", "@bin"}, name) || strings.ContainsAny(text, "+-") && slices.Contains([]string{"@s", "@digits", "@quote", "@bin"}, name)
}

// shownOfAnyText is shownAnswer, which tells types of text not apart: those of user variables are none that a literal has.
func shownOfAnyText(r *mysqltest.RawResult, sql string) string {
	for k := range r.Columns {
		if d := &r.Columns[k]; d.Type >= mysql.TypeTinyBlob && d.Type <= mysql.TypeBlob {
			d.Type = mysql.TypeVarString
		}
	}
	return shownAnswer(r, sql, false)
}

// LIMIT takes numbers; ORDER BY and GROUP BY of a parameter sort by nothing.
func TestPreparedTextsOfClauses(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		s.everywhere(t, "SET @n = NULL, @i = 2, @neg = -3, @u = CAST(3 AS UNSIGNED), @dec = 2.50, @f = 1.5e0, @s = 'x', @digits = '3'")
		for _, text := range []string{
			"SELECT id FROM users ORDER BY id LIMIT ?", "SELECT id FROM users ORDER BY id LIMIT ? OFFSET ?", "SELECT id FROM users ORDER BY id LIMIT ?, ?", "SELECT id FROM users WHERE id > ? ORDER BY id LIMIT ?",
			"SELECT id, n FROM users WHERE id < 9 ORDER BY ?, id", "SELECT COUNT(*), MIN(id) FROM users GROUP BY ? ORDER BY 1",
		} {
			for _, name := range []string{"@i", "@u", "@n", "@neg", "@dec", "@f", "@s", "@digits"} {
				using := strings.TrimSuffix(strings.Repeat(name+", ", strings.Count(text, "?")), ", ")
				s.both(t, "PREPARE s FROM "+quoted(text), "")
				sql := "EXECUTE s USING " + using + " /* ORDER BY */"
				w, g := load(t, s.oracle, sql, ""), load(t, s.subject, sql, "")
				if want, got := shownAnswer(w, sql, false), shownAnswer(g, sql, false); want != got && (g.Err == nil || g.Err.Code != 9012 || !strings.Contains(t.Name(), "mariadb") || !slices.Contains([]string{"@dec", "@f", "@s", "@digits"}, name)) {
					t.Errorf("%s with %s\n got %s %v\nwant %s %v", text, name, got, g.Err, want, w.Err)
				}
			}
		}
	})
}

// What names stand for, and what is said of bad input, is as on one server.
func TestPreparedTextsByName(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, group := range [][]string{{
			"SET @a = 3, @b = 'n1', @sql = 'SELECT id FROM users WHERE id = ?', @bad = 'SELEC id FROM users'",
			"EXECUTE nobody", "DEALLOCATE PREPARE nobody", "PREPARE s FROM @sql", "EXECUTE s", "EXECUTE s USING @a, @b", "EXECUTE s USING @a", "EXECUTE S USING @A", "EXECUTE `s` USING @a",
			"PREPARE s FROM 'SELECT id FROM users WHERE nosuch = ?'", "EXECUTE s USING @a", "PREPARE s FROM @sql", "PREPARE s FROM @bad", "EXECUTE s USING @a",
			"PREPARE s FROM @sql", "PREPARE s FROM 'SELECT 5 + ?'", "EXECUTE s USING @a", "PREPARE S FROM 'SELECT n FROM users WHERE id = 4'", "EXECUTE s", "DEALLOCATE PREPARE s", "EXECUTE s",
			"PREPARE s FROM 'SELECT id FROM users WHERE id = 1; SELECT 2'", "EXECUTE s", "PREPARE s FROM 'SELECT id FROM users WHERE id = 1;'", "EXECUTE s", "DROP PREPARE s", "EXECUTE s",
		}, {
			"PREPARE s FROM ''", "PREPARE s FROM @never", "PREPARE s FROM 'SELECT * FROM nosuch WHERE id = (SELECT id FROM users LIMIT 1)'", "PREPARE s FROM 'INSERT INTO users (id, nosuch) VALUES (1, 2)'",
			"PREPARE s FROM 'PREPARE t FROM ''SELECT id FROM users'''", "PREPARE s FROM 'INSERT INTO users (id, n) VALUES (?, ?), (101, ?)'", "SET @a = 3", "EXECUTE s USING @a, @a, @a", "SELECT id, n FROM users WHERE id IN (3, 101) ORDER BY id",
		}, {
			"SET @a = 100, @b = 'n1', @one = 1, @id = 90", "PREPARE s FROM 'INSERT INTO users (id, n) VALUES (?, ?), (101, ?)'", "EXECUTE s USING @a, @a, @a", "SELECT ROW_COUNT()",
			"PREPARE s FROM 'INSERT INTO users (id, n) VALUES (?, ?), (101, ?)'", "EXECUTE s USING @a, @a, @b", "SELECT id, n FROM users WHERE id IN (100, 101) ORDER BY id",
			"PREPARE u FROM 'UPDATE users SET n = n + ?, name = ? WHERE id > ?'", "EXECUTE u USING @one, @b, @id", "SELECT ROW_COUNT()", "PREPARE d FROM 'DELETE FROM users WHERE id > ?'",
			"BEGIN", "SELECT COUNT(*) FROM users", "ROLLBACK", "EXECUTE d USING @id", "PREPARE i FROM 'SELECT COUNT(*), MAX(id) INTO @count, @max FROM users WHERE id < ?'", "EXECUTE i USING @id", "SELECT @count, @max",
			"PREPARE f FROM 'SELECT SQL_CALC_FOUND_ROWS id FROM users ORDER BY id LIMIT ?'", "EXECUTE f USING @one", "SELECT FOUND_ROWS()", "PREPARE g FROM 'SELECT FOUND_ROWS(), ROW_COUNT(), id FROM users WHERE id = ?'",
			"UPDATE users SET n = 9 WHERE id < 6", "EXECUTE g USING @one",
			"BEGIN", "PREPARE u FROM 'UPDATE users SET n = n + 1 WHERE id = ?'", "EXECUTE u USING @one", "EXECUTE u USING @one", "PREPARE g FROM 'SELECT n, ROW_COUNT() FROM users WHERE id = ?'", "EXECUTE g USING @one", "ROLLBACK", "EXECUTE g USING @one",
		}, {
			"PREPARE e FROM 'ALTER TABLE order_items ADD COLUMN w INT'", "EXECUTE e", "SELECT v, w FROM order_items ORDER BY v LIMIT 1",
			"ALTER TABLE order_items DROP COLUMN w", "PREPARE h FROM 'SHOW COLUMNS FROM users'", "EXECUTE h", "PREPARE h FROM 'TRUNCATE TABLE order_items'", "EXECUTE h", "SELECT COUNT(*) FROM order_items",
		}, {
			"SET @b = 'n1', @sql = 'SELECT id, ''é'' FROM users WHERE name = ? ORDER BY id'", "PREPARE s FROM @sql", "SET @a = 'é'", "EXECUTE s USING @a", "EXECUTE s USING @b",
		}} {
			for _, sql := range group {
				if strings.Contains(sql, "FOUND_ROWS") || strings.HasPrefix(sql, "EXECUTE f") || strings.HasPrefix(sql, "EXECUTE g") {
					// MySQL warns of these functions when they are prepared, and not when they are executed.
					if w, g := shownAnswer(must(t, s.oracle, sql), sql, false), shownAnswer(must(t, s.subject, sql), sql, false); w != g {
						t.Fatalf("%s\n got %s\nwant %s", sql, g, w)
					}
				} else if s.both(t, sql, ""); t.Failed() {
					t.FailNow()
				}
			}
			s.sameTables(t, group[0], "users")
			for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
				if _, err := c.Command(mysql.ComResetConnection, ""); err != nil {
					t.Fatal(err)
				}
			}
			s.both(t, "EXECUTE s", "")
		}
	})
}

// EXECUTE IMMEDIATE prepares, carries out and forgets; MariaDB's values are expressions.
func TestExecuteImmediate(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, sql := range []string{
			"SET @a = 3, @table = 'users', @sql = 'SELECT id FROM users WHERE id IN (?, ?) ORDER BY id'", "EXECUTE IMMEDIATE 'SELECT id, n FROM users WHERE id < 4 ORDER BY id'", "EXECUTE IMMEDIATE @sql USING @a, 5 /* ORDER BY */",
			"EXECUTE IMMEDIATE @sql USING @a", "EXECUTE IMMEDIATE 'SELECT id FROM users WHERE nosuch = 1'", "EXECUTE IMMEDIATE 'SELEC id FROM users'", "EXECUTE IMMEDIATE 'UPDATE users SET n = ? WHERE id < ?' USING NULL, -1 + 8",
			"EXECUTE IMMEDIATE CONCAT('SELECT COUNT(*) FROM ', @table, ' WHERE n IS NULL')", "PREPARE s FROM CONCAT('SELECT MAX(id) FROM ', @table)", "EXECUTE s",
			"PREPARE s FROM 'SELECT id FROM users WHERE name = ? AND id < ? ORDER BY id'", "EXECUTE s USING 'n2', 20 /* ORDER BY */", "EXECUTE s USING 'n2'", "BEGIN", "EXECUTE IMMEDIATE 'DELETE FROM users WHERE id = 5'", "ROLLBACK",
			"EXECUTE IMMEDIATE NULL", "EXECUTE s USING",
		} {
			if s.both(t, sql, ""); t.Failed() {
				t.FailNow()
			}
		}
		s.sameTables(t, "EXECUTE IMMEDIATE", "users")
		if strings.Contains(t.Name(), "mariadb") {
			fails(t, s.subject, "EXECUTE s USING CONCAT('n', 2), 20", 9012)
			fails(t, s.subject, "SET STATEMENT max_statement_time = 9 FOR EXECUTE IMMEDIATE 'SELECT id FROM users'", 9012)
		}
	})
}

// What cannot be right is refused: a text read in another way than when it was prepared, and on MySQL values of several types.
func TestPreparedTextsRefused(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		must(t, s.subject, "SET @i = 1, @s = 'n1'")
		must(t, s.subject, "PREPARE s FROM 'SELECT id FROM users WHERE name = ?'")
		must(t, s.subject, "EXECUTE s USING @i")
		if !strings.Contains(t.Name(), "mariadb") {
			fails(t, s.subject, "EXECUTE s USING @s", 9012)
		}
		for _, set := range []string{"sql_mode = 'ANSI_QUOTES'", "collation_connection = 'latin1_swedish_ci'"} {
			must(t, s.subject, "PREPARE s FROM 'SELECT id FROM users WHERE name = ?'")
			must(t, s.subject, "SET "+set)
			fails(t, s.subject, "EXECUTE s USING @s", 9012)
			name, _, _ := strings.Cut(set, " ")
			must(t, s.subject, "SET "+name+" = DEFAULT")
		}
		fails(t, s.subject, "PREPARE s FROM 'UPDATE users SET id = RAND() WHERE id = 4'", 9012)
		fails(t, s.subject, "EXECUTE s USING @s", 1243)
	})
}

// The ids of rows are drawn for EXECUTE as for a text.
func TestPreparedTextsDrawIDs(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		for _, sql := range []string{
			"PREPARE one FROM 'INSERT INTO users (name, n) VALUES (?, ?)'", "PREPARE two FROM 'INSERT INTO orders (user_id, v) VALUES (?, ?), (?, ?), (8, ?)'", "SET @a = 'a', @b = 'b', @n = 5, @u = 6",
			"EXECUTE one USING @a, @n", "EXECUTE one USING @b, @u", "EXECUTE two USING @n, @a, @u, @b, @a", "EXECUTE two USING @u, @b, @n, @a, @a",
			"PREPARE two FROM 'INSERT INTO orders (user_id, v) VALUES (3, ?), (3, ?)'", "BEGIN", "EXECUTE two USING @a, @b", "COMMIT",
		} {
			want, got := load(t, s.oracle, sql, ""), load(t, s.subject, sql, "")
			if w, g := toldWithID(want, sql), toldWithID(got, sql); w != g {
				t.Errorf("%s\n got %s\nwant %s", sql, g, w)
			}
			if sql != "BEGIN" { // whose node the INSERT decides
				s.both(t, "SELECT LAST_INSERT_ID()", "")
			}
		}
		s.sameTables(t, "EXECUTE", "users")
		s.both(t, "SELECT user_id, v, COUNT(*) FROM orders GROUP BY user_id, v ORDER BY user_id, v", "")
	})
}
