package session_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// Values of every type that an expression gives a user variable are on the other connections what they are on the one that made them.
func TestVariablesOfEveryType(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, expr := range []string{
			"1 + 1", "-5 - 1", "-9223372036854775807 - 1", "CAST(18446744073709551615 AS UNSIGNED)", "CAST(7 AS UNSIGNED)", "NOT 1", "1 = 1",
			"1.50 + 0", "0.10 * 3.00", "1/3", "-1/3", "22/7/7/7/7/7/7/7", "CAST(5 AS DECIMAL(10))", "CAST('1.123456789012345678901234567890' AS DECIMAL(65,30))", "99999999999999999999 + 1",
			"SQRT(2)", "0.1e0 + 0.2e0", "1e300 * 10", "-1e-300 / 3", "0e0", "-0e0", "5e0", "POW(2, 80)", "RADIANS(3)",
			"CONCAT('a', 'é')", "CONCAT('', '')", "CONVERT('é' USING latin1)", "CONVERT('é' USING utf16)", "CONVERT('' USING ucs2)", "REPEAT('it''s \\\\ \"', 3)",
			"_latin1'x' COLLATE latin1_german1_ci", "CONCAT('A' COLLATE utf8mb4_bin)", "UNHEX('00FF41')", "UNHEX('')", "CAST('abc' AS BINARY)", "x'4142'", "b'101'",
			"CAST(NULL AS SIGNED) + 1", "CAST(NULL AS UNSIGNED)", "NULL + 1.5", "NULL + 1e0", "NULLIF(CONCAT('é'), 'é')", "NULLIF(CONVERT('a' USING latin1), 'a')", "NULLIF(UNHEX('41'), 'A')", "NULL", "(NULL)",
			"CAST('2024-02-03' AS DATE)", "CAST('2024-02-03 04:05:06.789' AS DATETIME(3))", "CAST('10:11:12.5' AS TIME(1))", "DATE('2024-02-03') + INTERVAL 1 DAY", "YEAR('2024-02-03')",
			"JSON_OBJECT('a', 1)", "ST_AsText(ST_GeomFromText('POINT(1 2)'))", "ST_GeomFromText('POINT(1 2)')", "BIT_COUNT(7)", "UUID() = ''", "LENGTH(UUID())", "CHAR(65, 66)", "DATABASE() IS NULL",
			"REPEAT('x', 65536)", "CAST(1 AS DECIMAL(65,30)) / 3", "CAST(2 AS DECIMAL(65,29)) / 7 / 11", "1 / CAST(3 AS DECIMAL(65,30)) / 1000",
		} {
			if r, err := s.oracle.Query("SET @v = " + expr); err != nil || r.Err != nil {
				t.Logf("%s: %v %v", expr, r.Err, err)
				continue
			}
			must(t, s.subject, "SET @v = "+expr)
			for _, where := range []string{"id < 9", "id = 1", "id = 2", "id = 3", "id = 4", "id BETWEEN 3 AND 4"} {
				for _, sql := range []string{
					"SELECT id, @v, HEX(@v), CHARSET(@v), COLLATION(@v), COERCIBILITY(@v), @v IS NULL FROM users WHERE " + where + " ORDER BY id",
					"SELECT id, @v + 0, @v / 3, CONCAT(@v), @v = id, n > @v, (@v - ROUND(@v, 30)) * 1000000000 FROM users WHERE " + where + " ORDER BY id",
				} {
					if r, err := s.oracle.Query(sql); err == nil && r.Err != nil {
						fails(t, s.subject, sql, r.Err.Code) // arithmetic of geometries
						continue
					}
					w, g := must(t, s.oracle, sql), must(t, s.subject, sql)
					if want, got := shownAnswer(w, sql, false), shownAnswer(g, sql, false); want != got {
						t.Errorf("@v = %s: %s\n got %.300s\nwant %.300s", expr, sql, got, want)
					}
					for k := range w.Columns {
						if a, b := w.Columns[k], g.Columns[k]; a.Charset != b.Charset || a.Decimals != b.Decimals || a.Length != b.Length || a.Flags != b.Flags {
							t.Errorf("@v = %s: %s is of %+v, not %+v", expr, a.Name, b, a)
						}
					}
				}
			}
		}
	})
}

// variablesHeld are ways in which the connection of one node alone gets to know a user variable.
var variablesHeld = []string{"SET @v = 1 + 1", "SELECT @v := 2 + 1", "SELECT @v := n + 1 FROM users WHERE id = 1", "SELECT @v := n + 1 FROM users WHERE id = 2", "SELECT @v := id FROM users WHERE id = 3", "SELECT 4 + 1 INTO @v"}

// anew begins the sessions anew: without variables, and held nowhere.
func (s *shards) anew(t *testing.T) {
	t.Helper()
	for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
		db := must(t, c, "SELECT DATABASE() LIMIT 1").Rows[0][0].(string)
		if err := c.Send(31, ""); err != nil { // COM_RESET_CONNECTION
			t.Fatal(err)
		}
		if _, err := c.Read(); err != nil {
			t.Fatal(err)
		}
		must(t, c, "USE "+db)
		must(t, c, "SET NAMES utf8mb4")
	}
}

// Statements of all kinds read user variables that one connection alone has, on the shards of it and of others, within transactions and without.
func TestVariablesBroughtToShards(t *testing.T) {
	onShardsOf(t, func(*testing.T) {}, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		tables := []string{"users", "orders", "order_items"}
		maria := strings.Contains(must(t, s.oracle, "SELECT VERSION()").Rows[0][0].(string), "MariaDB")
		for _, around := range [][2]string{{"DO 0", "DO 0"}, {"BEGIN", "ROLLBACK"}, {"SET autocommit = 0", "SET autocommit = 1"}} {
			for _, set := range variablesHeld {
				s.anew(t)
				s.both(t, "SET @w = 'x'", "")
				s.both(t, around[0], "")
				s.both(t, set, "")
				for _, sql := range []string{
					"SELECT COUNT(*) FROM users WHERE id >= @v",
					"SELECT COUNT(DISTINCT n) FROM users WHERE id >= @v",
					"SELECT id, @v, @w, @V + 1 AS more, @`v` FROM users WHERE n = @v ORDER BY id",
					"SELECT id FROM users WHERE id > @v ORDER BY id DESC LIMIT 3",
					"SELECT n, COUNT(*), SUM(id + @v) FROM users GROUP BY n HAVING COUNT(*) > @v ORDER BY n",
					"SELECT u.id, o.id FROM users u JOIN orders o ON o.user_id = u.n WHERE u.id < @v ORDER BY 1, 2",
					"SELECT COUNT(*) FROM users WHERE n IN (SELECT amount FROM orders WHERE amount < @v)",
					"SELECT @v FROM users WHERE id < 3 UNION SELECT user_id FROM orders WHERE id = @v ORDER BY 1",
					"SELECT FOUND_ROWS()",
					"SELECT id, @v FROM users WHERE id = 1",
					"SELECT id, @v FROM users WHERE id = 2",
					"SELECT id, @v FROM users WHERE id = 3",
					"SELECT code, @v FROM countries WHERE code <> @v",
					"EXPLAIN SELECT @v",
					"SET @v = @v + 1",
					"UPDATE users SET n = @v WHERE id < 10",
					"SELECT ROW_COUNT()",
					"SELECT @v := @v + 1",
					"UPDATE users SET n = n + @v WHERE id = 4",
					"UPDATE users SET n = n + @v WHERE id = 5",
					"UPDATE users SET name = @w, n = @v - n WHERE n = @v ORDER BY id LIMIT 2",
					"INSERT INTO order_items VALUES (1, @v), (2, @v), (3, @v + 1)",
					"INSERT INTO order_items VALUES (4, @v)",
					"INSERT INTO order_items SELECT user_id, amount + @v FROM orders WHERE id > @v",
					"DELETE FROM order_items WHERE v = @v + 1",
					"DELETE FROM orders WHERE id = @v",
					"SELECT COUNT(*), MAX(id) INTO @w, @x FROM users WHERE id > @v",
					"SELECT @v, @w, @x",
					"SELECT COUNT(*) FROM users WHERE id > @v AND id < @w",
					"SELECT COUNT(*) FROM users WHERE id > @never OR @never IS NULL",
				} {
					if strings.HasPrefix(sql, "EXPLAIN") {
						must(t, s.subject, sql+" FROM users WHERE id > @v")
						continue
					}
					s.both(t, sql, "", tables...)
					s.both(t, "SHOW WARNINGS", "")
				}
				if maria {
					s.both(t, "SET STATEMENT max_statement_time = 60 FOR SELECT COUNT(*), @v FROM users WHERE id > @v", "")
				}
				s.both(t, around[1], "", tables...)
				s.both(t, "SELECT COUNT(*), @v FROM users WHERE id > @v", "")
			}
		}
	}, atomicConfig)
}

// Rows that are chosen among shards are changed by statements of the proxy's own, which read the variables, too.
func TestVariablesOfChosenRows(t *testing.T) {
	onShardsOf(t, func(*testing.T) {}, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, set := range variablesHeld {
			for _, around := range [][2]string{{"DO 0", "DO 0"}, {"BEGIN", "COMMIT"}} {
				s.anew(t)
				s.both(t, around[0], "")
				s.both(t, set, "")
				for _, sql := range []string{
					"UPDATE users SET n = n + @v ORDER BY n, id LIMIT 3",
					"DELETE FROM users WHERE n > @v ORDER BY id LIMIT 1",
				} {
					s.both(t, sql, "", "users")
					s.both(t, "SELECT @v := @v + 0", "")
				}
				s.everywhere(t, around[1]) // with a warning where the nodes commit one behind the other
				s.sameTables(t, set, "users")
			}
			s.fillRows(t)
		}
	}, "transaction_mode: best_effort")
}

// An execution reads the value that a variable has by then, wherever it runs, and leaves it what it is.
func TestVariablesOfExecutions(t *testing.T) {
	onShardsOf(t, func(*testing.T) {}, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		maria := strings.Contains(must(t, s.oracle, "SELECT VERSION()").Rows[0][0].(string), "MariaDB")
		executed, again := 0, 0
		for _, first := range []string{"SET @v = 7", "DO 0", "SET @v = 3 + 4", "SELECT @v := id FROM users WHERE id = 2", "SELECT @v := id FROM users WHERE id = 3"} {
			s.anew(t)
			s.both(t, first, "")
			prepare := func(sql string) (both [2]*mysqltest.RawStmt) {
				t.Helper()
				for k, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
					var err error
					if both[k], err = c.Prepare(sql); err != nil {
						t.Fatal(first, sql, err)
					}
				}
				return both
			}
			many := prepare("SELECT id, @v, @v + ? FROM users WHERE id < @v ORDER BY id")
			one := prepare("SELECT id, @v FROM users WHERE id = ?")
			change := prepare("UPDATE users SET n = @v + n WHERE id > ?")
			inserts := prepare("INSERT INTO order_items VALUES (?, @v), (4, @v + 1)")
			execute := func(after string, st [2]*mysqltest.RawStmt, args ...any) {
				t.Helper()
				var answers [2]string
				for k := range st {
					r, err := st[1-k].Execute(args...)
					if err != nil {
						t.Fatal(err)
					}
					if k == 0 && r.Err != nil && strings.Contains(r.Err.Message, "prepare it again") {
						if maria {
							t.Errorf("%s, then %s, with %v: %v", first, after, args, r.Err)
						}
						again++
						return
					}
					answers[1-k] = shownAnswer(r, "ORDER BY", false)
				}
				executed++
				if answers[0] != answers[1] {
					t.Errorf("%s, then %s, with %v\n got %s\nwant %s", first, after, args, answers[1], answers[0])
				}
			}
			for _, then := range []string{"DO 0", "SELECT @v := 9 + 0", "SELECT @v := 8 + 0", "BEGIN", "SET @v = @v + 1", "SELECT @v := 6 + 0", "ROLLBACK", "SET @v = 1.50 + 2", "SET @v = CONCAT('3', '')", "SET @v = 3 + 1"} {
				s.both(t, then, "")
				for id := 1; id < 5; id++ {
					execute(then, one, id)
					s.both(t, "SELECT @v", "")
				}
				execute(then, many, 5)
				execute(then, change, 30)
				execute(then, inserts, 3)
				s.both(t, "SELECT @v", "", "users", "order_items")
			}
			s.fillRows(t)
		}
		t.Logf("%d executions, %d to be prepared again", executed, again)
		if executed < again {
			t.Errorf("%d executions, %d to be prepared again", executed, again)
		}
	}, "transaction_mode: best_effort")
}

// A statement that is prepared anew on the connection that alone has the variables leaves them there as they are.
func TestVariablesWhereAStatementIsPrepared(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for held := 1; held < 5; held++ {
			s.anew(t)
			s.both(t, "SET @v = 7, @w = 'w'", "")
			var both [2]*mysqltest.RawStmt
			for k, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
				var err error
				if both[k], err = c.Prepare(fmt.Sprintf("SELECT id, @v, %d FROM users WHERE id = ?", held)); err != nil {
					t.Fatal(err)
				}
			}
			s.both(t, fmt.Sprintf("SELECT @v := id, @w := 1 FROM users WHERE id = %d", held), "")
			s.both(t, "SELECT COUNT(*) FROM users WHERE id > @v AND id > @w", "")
			for id := 1; id < 5; id++ {
				s.both(t, fmt.Sprintf("SELECT @v := %d + 10, @w := %d", id, id), "")
				var answers [2]string
				for k := range both {
					r, err := both[k].Execute(id)
					if err != nil {
						t.Fatal(err)
					}
					answers[k] = shownAnswer(r, "", false)
				}
				if answers[0] != answers[1] {
					t.Errorf("held where the row %d is, the row %d\n got %s\nwant %s", held, id, answers[1], answers[0])
				}
				s.both(t, "SELECT @v, @w", "")
			}
		}
	})
}

// How texts are read and sent makes no difference to what is brought.
func TestVariablesUnderSettings(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, setting := range []string{"DO 0", "SET NAMES latin1", "SET character_set_results = NULL", "SET NAMES gbk", "SET sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES'", "SET sql_select_limit = 1",
			"SET sql_select_limit = 0", "SET sql_mode = 'NO_UNSIGNED_SUBTRACTION,PIPES_AS_CONCAT,IGNORE_SPACE'", "SET sql_mode = 'ORACLE'", "SET sql_mode = 'EMPTY_STRING_IS_NULL'", "SET sql_mode = ''",
			"SET time_zone = '+05:00'", "SET TRANSACTION READ ONLY", "SET sql_safe_updates = 1", "SET div_precision_increment = 20",
			"SET collation_connection = utf16_bin", "SET collation_connection = ucs2_general_ci"} {
			s.anew(t)
			if r, err := s.oracle.Query(setting); err != nil || r.Err != nil {
				continue // of another server
			}
			must(t, s.subject, setting)
			s.everywhere(t, "SET @s = CONCAT('\xc3\xa9', 'a'), @e = CONVERT('' USING latin1), @d = -1/3, @f = SQRT(2), @i = 1 + 1, @u = CAST(3 AS UNSIGNED), @b = UNHEX('00'), @n = NULLIF(1, 1)")
			for _, sql := range []string{
				"SELECT COUNT(*), HEX(@s), CHARSET(@s), HEX(@e), @e IS NULL, CHARSET(@e), @d, @f, @i, @u - 1, HEX(@b), @n FROM users WHERE id > @i",
				"SELECT id, HEX(@s), @s, COLLATION(@s), @e, @d * 3, @f * @f FROM users WHERE id BETWEEN 1 AND @i + 2 ORDER BY id LIMIT 4",
				"SELECT id, @s, @b, @n, @d FROM users WHERE id = @i AND id = 1", "SELECT id, @s, @b, @n, @d FROM users WHERE id = @i AND id = 2", "SELECT id, @s FROM users WHERE id = @i + 1 AND id = 3",
			} {
				s.both(t, sql, "")
				s.both(t, "SELECT FOUND_ROWS(), HEX(@s), @d", "")
			}
			s.both(t, "UPDATE users SET n = @i + @i WHERE id > @u", "")
			s.everywhere(t, "SET sql_select_limit = DEFAULT")
			s.sameTables(t, setting, "users")
		}
	})
}

// What cannot be brought, or would be two things at once, is refused, and the session goes on.
func TestVariablesThatStay(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, c := range [][2]string{
			{"SET @v = REPEAT('x', 65537)", "SELECT COUNT(*) FROM users WHERE name < @v"},
			{"SET @v = REPEAT('x', 40000), @w = REPEAT('y', 40000)", "SELECT COUNT(*) FROM users WHERE name < @v OR name < @w"},
			{"SET @`v'` = 1 + 1", "SELECT COUNT(*) FROM users WHERE id > @`v'`"},
			{"SELECT SQL_CALC_FOUND_ROWS @v := 1 + 1", "UPDATE users SET n = FOUND_ROWS() + @v"},
		} {
			s.anew(t)
			must(t, s.subject, c[0])
			r, err := s.subject.Query(c[1])
			if err != nil || r.Err == nil || r.Err.Code < 9000 {
				t.Errorf("%s; %s: %+v, %v", c[0], c[1], r, err)
			} else {
				t.Log(r.Err)
			}
			s.both(t, "SELECT COUNT(*) FROM users", "")
			s.both(t, "SELECT 1", "")
		}
		s.anew(t)
		s.everywhere(t, "SET @v = REPEAT('x', 40000)")
		s.both(t, "SELECT COUNT(*), LENGTH(@v), MD5(@v) FROM users WHERE name < @v GROUP BY 2", "")
		// What was brought is nobody else's.
		other := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root"})
		for range 3 {
			if r := must(t, other, "SELECT @v, COUNT(*) FROM shop.users WHERE @v IS NULL"); fmt.Sprint(r.Rows) != "[[<nil> 40]]" {
				t.Errorf("another client: %v", r.Rows)
			}
		}
	})
}

// Statements on one server give variables values, LAST_INSERT_ID() and FOUND_ROWS() theirs, and read them, while another server's connection has what the session has: what
// they read is brought there, and what they leave is brought back.
func TestVariablesGivenElsewhere(t *testing.T) {
	onShardsOf(t, func(*testing.T) {}, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		dice := rand.New(rand.NewPCG(1, 2))
		statements := []string{
			"SELECT @w := n + @v FROM users WHERE id = %d", "SELECT name, n INTO @w, @v FROM users WHERE id = %d", "UPDATE users SET n = (@v := n + 1) WHERE id = %d",
			"SELECT @v := id, @w := CONCAT(name, 'é'), @x := price FROM users WHERE id = %d", "SELECT @x := f, @w := b, @v := NULL FROM users WHERE id = %d",
			"SELECT REPEAT(name, 9000) INTO @w FROM users WHERE id = %d",
			"UPDATE users SET n = LAST_INSERT_ID(n + 1) WHERE id = %d", "SELECT LAST_INSERT_ID(u + @v), @w FROM users WHERE id = %d", "SELECT SQL_CALC_FOUND_ROWS id, @x FROM users WHERE id = %d LIMIT 1",
			"INSERT INTO order_items (user_id, v) VALUES (%d, FOUND_ROWS())", "INSERT INTO order_items (user_id, v) VALUES (%d, ROW_COUNT() * 2)",
			"SELECT id, FOUND_ROWS() AS f, ROW_COUNT() AS r, LAST_INSERT_ID() AS i FROM users WHERE id = %d", "UPDATE users SET n = FOUND_ROWS() WHERE id = %d",
			"SELECT @v := n FROM users WHERE id = %d FOR UPDATE", "SELECT n, name INTO @v, @`select` FROM users WHERE id = %d AND n < 0", "SELECT @v := 1 / 0 FROM users WHERE id = %d",
			"SELECT @v := id, nobody FROM users WHERE id = %d", "DELETE FROM order_items WHERE user_id = %d AND (@v := v) > 1",
		}
		between := []string{
			"SELECT @v, @w IS NULL, LENGTH(@w), @x, @`select`", "SELECT FOUND_ROWS(), LAST_INSERT_ID()", "SELECT ROW_COUNT()", "SELECT 1/0, @v := 5 + 1", "SET @v = 7", "SET @x = @v + 1",
			"SELECT COUNT(*), @v FROM users WHERE id < 9", "SELECT SQL_CALC_FOUND_ROWS 1 UNION SELECT 2 LIMIT 1",
		}
		for _, around := range [][2]string{{"DO 0", "DO 0"}, {"BEGIN", "COMMIT"}, {"SET autocommit = 0", "SET autocommit = 1"}} {
			for _, set := range append(variablesHeld, "SET @v = 2", "SELECT @v := 'x', GET_LOCK('here', 1)", "PREPARE p FROM 'SELECT @v'") {
				s.anew(t)
				s.both(t, "SET @w = '', @x = 1", "")
				s.both(t, around[0], "")
				s.both(t, set, "")
				for range 12 {
					sql := fmt.Sprintf(statements[dice.IntN(len(statements))], 1+dice.IntN(4))
					s.both(t, sql, "", "users", "order_items")
					if dice.IntN(3) == 0 {
						s.both(t, "SHOW WARNINGS", "")
					}
					if dice.IntN(2) == 0 {
						s.both(t, between[dice.IntN(len(between))], "")
					}
				}
				s.both(t, around[1], "", "users", "order_items")
				s.both(t, between[0], "")
			}
		}
		other := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
		for id := 1; id < 9; id++ {
			if r := must(t, other, fmt.Sprintf("SELECT @v, @w, @x, id FROM users WHERE id = %d", id)); r.Rows[0][0] != nil || r.Rows[0][1] != nil || r.Rows[0][2] != nil {
				t.Errorf("another client has %v", r.Rows)
			}
		}
	}, atomicConfig)
}

// The status in answers tells of an open transaction as one server's does, while statements run on other nodes than that of the connection that has a variable.
func TestStatusElsewhere(t *testing.T) {
	onShardsOf(t, func(*testing.T) {}, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		dice := rand.New(rand.NewPCG(3, 2))
		statements := []string{
			"SET autocommit = 0", "SET autocommit = 0", "SET autocommit = 1", "BEGIN", "COMMIT", "ROLLBACK", "COMMIT AND CHAIN", "SAVEPOINT s1", "ROLLBACK TO s1", "SELECT @v := 1 + 1",
			"SELECT @v := n FROM users WHERE id = 1", "SELECT @v := n FROM users WHERE id = 2", "SELECT n INTO @w FROM users WHERE id = 3", "SELECT n, @v FROM users WHERE id = 1",
			"UPDATE users SET n = LAST_INSERT_ID(n + 1) WHERE id = 1", "UPDATE users SET n = LAST_INSERT_ID(n + 1) WHERE id = 2", "SELECT n, @v FROM users WHERE id = 2", "SELECT LAST_INSERT_ID()",
			"DELETE FROM users WHERE id = 9999", "DELETE FROM users WHERE id = 10000", "INSERT INTO order_items VALUES (1, FOUND_ROWS())", "PREPARE p FROM 'SELECT @v'", "EXECUTE p",
			"SELECT SQL_CALC_FOUND_ROWS id FROM users WHERE id = 1", "SELECT SQL_CALC_FOUND_ROWS id FROM users WHERE id = 2",
		}
		const told = mysql.ServerStatusInTrans | mysql.ServerStatusAutocommit
		for range 60 {
			s.anew(t)
			var list []string
			for range 14 {
				list = append(list, statements[dice.IntN(len(statements))])
			}
			list = append(list, "ROLLBACK", "SET autocommit = 1", "SELECT 1")
			for k, sql := range list {
				want, err := s.oracle.Query(sql)
				if err != nil {
					t.Fatal(err)
				}
				got, err := s.subject.Query(sql)
				if err != nil {
					t.Fatal(err)
				}
				if (got.Err == nil) != (want.Err == nil) || got.Err == nil && got.Status&told != want.Status&told {
					t.Fatalf("%v: %v, %v; want %v, %v", list[:k+1], got.Status, got.Err, want.Status, want.Err)
				}
			}
		}
	}, atomicConfig)
}

// A text that tells FOUND_ROWS() is refused where the connection that has it was asked for a variable in between, as that finds a row.
func TestFoundRowsBehindQuestions(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		executed := 0
		for id := 1000; id < 1006; id++ {
			for _, first := range []string{"DO 0", "SELECT @w := 7"} {
				s.anew(t)
				var rows [2]string
				for k, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
					must(t, c, first)
					must(t, c, "PREPARE p FROM 'SELECT FOUND_ROWS()'")
					must(t, c, fmt.Sprintf("SELECT n FROM users WHERE id = %d FOR UPDATE", id))
					st, err := c.Prepare(fmt.Sprintf("UPDATE users SET name = @w WHERE id = %d", id))
					if err != nil {
						t.Fatal(err)
					}
					if r, err := st.Execute(); err != nil || r.Err != nil {
						t.Fatal(err, r.Err)
					}
					r, err := c.Query("EXECUTE p")
					if err != nil || r.Err != nil && r.Err.Code != 9004 {
						t.Fatal(err, r.Err)
					}
					rows[k] = fmt.Sprint(r.Rows)
				}
				if rows[1] != "[]" {
					executed++
					if rows[0] != rows[1] {
						t.Errorf("%s, then of %d: %s, not %s", first, id, rows[1], rows[0])
					}
				}
			}
		}
		if executed == 0 {
			t.Error("all refused")
		}
	})
}
