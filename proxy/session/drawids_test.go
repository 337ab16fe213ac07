package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// countedSchema are tables whose ids the servers count: that of users is the key, that of orders is not.
const countedSchema = `
CREATE TABLE users (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) UNIQUE, n INT NOT NULL DEFAULT 7)
CREATE TABLE orders (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, user_id INT NOT NULL, v VARCHAR(30))
CREATE TABLE order_items (user_id INT, v VARCHAR(30))
CREATE TABLE payments (merchant_id VARCHAR(8), v VARCHAR(30))
CREATE TABLE countries (code CHAR(2) PRIMARY KEY, name VARCHAR(40))`

// toldWithID shows an answer with the id of its OK packet.
func toldWithID(r *mysqltest.RawResult, sql string) string {
	text := shownAnswer(r, sql, false)
	if r.OK != nil {
		text += fmt.Sprint(" id ", r.OK.LastInsertID)
	}
	return text
}

// INSERTs without ids give the rows and tell the ids that one server does, whatever the shards of the rows are.
func TestDrawnIDs(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		spaced := []string{"SET auto_increment_increment = 5, auto_increment_offset = 2", "INSERT INTO users (name) VALUES ('spaced 1')", "INSERT INTO users (name) VALUES ('spaced 2'), ('spaced 3')",
			"INSERT INTO orders (user_id) VALUES (1), (2), (3)", "INSERT INTO orders (user_id) VALUES (1)", "INSERT INTO orders (id, user_id) VALUES (9001, 1)", "INSERT INTO orders (user_id) VALUES (1)"}
		for round := range 4 {
			for _, sql := range map[bool][]string{true: spaced, false: {
				"INSERT INTO users (name) VALUES ('a%d')",
				"INSERT INTO users (name) VALUES ('b%d'), ('c%d'), ('d%d')",
				"INSERT INTO users SET name = 'e%d'",
				"INSERT INTO users VALUES (NULL, 'f%d', 1)",
				"INSERT INTO users VALUES (DEFAULT, 'g%d', 1), (0, 'h%d', 2)",
				"INSERT INTO users () VALUES ()",
				"INSERT INTO users VALUES ()",
				"INSERT INTO users (name) VALUE (CONCAT('i', %d, LAST_INSERT_ID()))",
				"REPLACE INTO users (name) VALUES ('m%d')",
				"INSERT INTO users (name) VALUES ('j%d') ON DUPLICATE KEY UPDATE n = n + 1",
				"REPLACE INTO users (name) VALUES ('n%d'), ('o%d')", "REPLACE INTO users SET name = 'p%d'",
				"INSERT INTO users (name) VALUES ('q%d'), ('r%d') ON DUPLICATE KEY UPDATE n = n + 1", "INSERT IGNORE INTO users (name, n) VALUES ('s%d', 1), ('t%d', 2)",
				"INSERT IGNORE INTO users SET name = 'u%d'", "SELECT FOUND_ROWS()",
				"INSERT INTO orders (user_id, v) VALUES (%d, 'x')",
				"INSERT INTO orders (user_id, v) VALUES (1, 'x'), (2, 'y'), (3, 'z'), (1, 'again')",
				"INSERT INTO orders SET user_id = %d",
				"INSERT INTO orders VALUES (NULL, 5, 'v')",
				"INSERT INTO orders (v, user_id, id) VALUES ('q', 7, NULL), ('r', 8, DEFAULT)",
				"INSERT IGNORE INTO orders (user_id) VALUES (9)",
				"INSERT INTO orders (id, user_id) VALUES (1%d00, 3)",
				"INSERT INTO orders (user_id) VALUES (3)",
				"REPLACE INTO orders (id, user_id) VALUES (5, 1)", "INSERT INTO orders (id, user_id) VALUES (1%d03, 3), (1%d04, 4), (1%d05, 5)", "INSERT IGNORE INTO orders (id, user_id) VALUES (1%d03, 3)",
				"INSERT INTO users (id, name) VALUES (1, 'x') ON DUPLICATE KEY UPDATE n = n + 1", "INSERT INTO users (id, name) VALUES (1, 'x') ON DUPLICATE KEY UPDATE n = LAST_INSERT_ID(%d + 40)",
				"BEGIN", "INSERT INTO orders (id, user_id) VALUES (1%d10, 4)", "INSERT INTO orders (user_id) VALUES (4)", "SELECT LAST_INSERT_ID()", "INSERT INTO orders (user_id) VALUES (4), (4)", "COMMIT",
				"INSERT INTO users (id, name) VALUES (2%d00, 'k%d')",
				"INSERT INTO users (name) VALUES ('l%d')",
				"SELECT @@identity",
				"SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", "INSERT INTO users VALUES (0, 'v%d', 1)", "INSERT INTO users VALUES (NULL, 'w%d', 1)", "INSERT INTO users (name) VALUES ('x%d')",
				"DELETE FROM users WHERE id = 0", "INSERT INTO users VALUES (DEFAULT, 'z%d', 1)", "INSERT INTO orders (id, user_id) VALUES (DEFAULT, 8)", "DELETE FROM orders WHERE id = 0",
				"DELETE FROM users WHERE id = 0", "SET sql_mode = DEFAULT", "INSERT INTO users VALUES (0, 'y%d', 1)",
			}}[round == 3] {
				sql = strings.ReplaceAll(sql, "%d", fmt.Sprint(round+1))
				want, got := must(t, s.oracle, sql), must(t, s.subject, sql)
				if w, g := toldWithID(want, sql), toldWithID(got, sql); w != g {
					t.Errorf("%s\n got %s\nwant %s", sql, g, w)
				}
				if w, g := must(t, s.oracle, "SELECT LAST_INSERT_ID()"), must(t, s.subject, "SELECT LAST_INSERT_ID()"); fmt.Sprintf("%s", w.Rows) != fmt.Sprintf("%s", g.Rows) {
					t.Errorf("%s: LAST_INSERT_ID() is %s, not %s", sql, g.Rows, w.Rows)
				}
				s.sameTables(t, sql, "users", "orders")
				if t.Failed() {
					return
				}
			}
		}
	})
}

// So do executions of prepared ones.
func TestDrawnIDsOfExecutions(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		type prepared struct {
			sql    string
			params int
			values []any
		}
		statements := []prepared{
			{"INSERT INTO users (name) VALUES (?)", 1, []any{"a%d"}},
			{"INSERT INTO users (name, n) VALUES (?, ?), ('b%d', ?), (?, 4)", 4, []any{"c%d", 1, 2, "d%d"}},
			{"INSERT INTO users VALUES (?, ?, ?)", 3, []any{nil, "e%d", 4}},
			{"INSERT INTO users VALUES (?, ?, ?)", 3, []any{0, "f%d", nil}},
			{"INSERT INTO users VALUES (?, ?, 4), (DEFAULT, ?, ?)", 4, []any{nil, "g%d", "h%d", 5}},
			{"INSERT INTO users SET name = ?", 1, []any{"i%d"}},
			{"INSERT INTO users () VALUES ()", 0, nil},
			{"INSERT INTO orders (user_id, v) VALUES (?, ?)", 2, []any{3, "x"}},
			{"INSERT INTO orders (v, user_id) VALUES (?, ?), (?, ?), (?, ?)", 6, []any{"x", 1, "y", 2, nil, 3}},
			{"INSERT INTO orders (user_id, id, v) VALUES (?, ?, ?)", 3, []any{3, nil, "x"}},
			{"INSERT INTO orders (user_id, v) VALUES (?, ?) ON DUPLICATE KEY UPDATE v = ?", 3, []any{3, "x", "z"}},
		}
		stmts := make([][2]*mysqltest.RawStmt, len(statements))
		for round := range 4 {
			for k, p := range statements {
				if round == 0 {
					for side, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
						st, err := c.Prepare(strings.ReplaceAll(p.sql, "%d", "0"))
						if err != nil {
							t.Fatal(p.sql, err)
						}
						if len(st.Params) != p.params {
							t.Errorf("%s: %d parameters", p.sql, len(st.Params))
						}
						stmts[k][side] = st
					}
				}
				if round > 0 && strings.Contains(p.sql, "%d") {
					continue // it has a name that is there by now
				}
				var values []any
				for _, v := range p.values {
					if text, is := v.(string); is {
						v = strings.ReplaceAll(text, "%d", fmt.Sprint(round))
					}
					values = append(values, v)
				}
				var shown [2]string
				for side, st := range stmts[k] {
					r, err := st.Execute(values...)
					if err != nil {
						t.Fatal(p.sql, err)
					}
					shown[side] = toldWithID(r, p.sql)
				}
				if shown[0] != shown[1] || strings.HasPrefix(shown[0], "error") != (p.values != nil && p.values[len(p.values)-1] == nil && strings.Contains(p.sql, "users")) {
					t.Errorf("%s %v\n got %s\nwant %s", p.sql, values, shown[1], shown[0])
				}
				if w, g := must(t, s.oracle, "SELECT LAST_INSERT_ID()"), must(t, s.subject, "SELECT LAST_INSERT_ID()"); fmt.Sprintf("%s", w.Rows) != fmt.Sprintf("%s", g.Rows) {
					t.Errorf("%s: LAST_INSERT_ID() is %s, not %s", p.sql, g.Rows, w.Rows)
				}
				s.sameTables(t, p.sql, "users", "orders")
				if t.Failed() {
					return
				}
			}
		}
	})
}

// An id that somebody put into a shard meanwhile is passed over.
func TestDrawnIDIsThereAlready(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		next := 1
		// occupied puts rows with the next ids into every sub-table, past the proxy.
		occupied := func(table string, n int) {
			t.Helper()
			for _, node := range s.nodes {
				for _, row := range must(t, node, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME LIKE '"+table+"\\_0%'").Rows {
					for id := next; id < next+n; id++ {
						must(t, node, fmt.Sprintf("INSERT IGNORE INTO shop.%s (id) VALUES (%d)", row[0], id))
					}
				}
			}
			next += n
		}
		expect := func(r *mysqltest.RawResult, n int) {
			t.Helper()
			if r.Err != nil || r.OK == nil || r.OK.LastInsertID != uint64(next) || r.OK.AffectedRows != uint64(n) {
				t.Fatalf("the answer is %+v %v, the id is to be %d", r.OK, r.Err, next)
			}
			if got := must(t, s.subject, "SELECT LAST_INSERT_ID()"); fmt.Sprintf("%s", got.Rows[0][0]) != fmt.Sprint(next) {
				t.Errorf("LAST_INSERT_ID() is %s, not %d", got.Rows[0][0], next)
			}
			next += n
		}
		text := "INSERT INTO users (name) VALUES (NULL)"
		expect(must(t, s.subject, text), 1)
		occupied("users", 1)
		expect(must(t, s.subject, text), 1)
		occupied("users", 3)
		expect(must(t, s.subject, "INSERT INTO users (name) VALUES (NULL), (NULL), (NULL)"), 3)
		st, err := s.subject.Prepare("INSERT INTO users (name) VALUES (?)")
		if err != nil {
			t.Fatal(err)
		}
		execute := func() {
			t.Helper()
			r, err := st.Execute(nil)
			if err != nil {
				t.Fatal(err)
			}
			expect(r, 1)
		}
		execute()
		occupied("users", 2)
		execute()
		next = 1
		must(t, s.subject, "BEGIN")
		expect(must(t, s.subject, "INSERT INTO orders (user_id) VALUES (5)"), 1)
		occupied("orders", 1)
		expect(must(t, s.subject, "INSERT INTO orders (user_id) VALUES (5)"), 1)
		must(t, s.subject, "COMMIT")
		// What is there already for another reason is the client's to hear, once.
		there := must(t, s.subject, "INSERT INTO users (name) VALUES ('there')").OK.LastInsertID
		for range 3 {
			r := must1(t, s.subject, fmt.Sprintf("INSERT INTO users (id, name) VALUES (%d, 'x')", there))
			if r == nil || r.Code != mysql.ERDupEntry {
				t.Errorf("a row that brings an id that is there: %v", r)
			}
		}
	})
}

// Definitions say where the ids begin, as on one server.
func TestIDsOfDefinitions(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		for _, sql := range []string{
			"INSERT INTO users (name) VALUES ('a'), ('b')", "!", "SHOW CREATE TABLE users", "SHOW TABLE STATUS LIKE 'users'", "SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 'users'", "ALTER TABLE users AUTO_INCREMENT = 50", "INSERT INTO users (name) VALUES ('c')",
			"ALTER TABLE users ADD x INT, AUTO_INCREMENT = 60, COMMENT = 'y'", "INSERT INTO users (name) VALUES ('d')", "ALTER TABLE users AUTO_INCREMENT = 5", "INSERT INTO users (name) VALUES ('e')",
			"TRUNCATE TABLE users", "INSERT INTO users (name) VALUES ('a')", "INSERT INTO orders (user_id) VALUES (1)",
			"DROP TABLE users, orders", "CREATE TABLE users (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20))",
			"CREATE TABLE orders (id INT AUTO_INCREMENT PRIMARY KEY, user_id INT) AUTO_INCREMENT = 1500",
			"INSERT INTO users (name) VALUES ('a'), ('b')", "INSERT INTO orders (user_id) VALUES (1), (2)", "DELETE FROM orders", "INSERT INTO orders (user_id) VALUES (3)",
			"CREATE TABLE IF NOT EXISTS users (id INT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 9000", "INSERT INTO users (name) VALUES ('z')",
		} {
			if sql == "!" { // what a shard counts by itself, behind rows that failed, is not what is drawn next
				for _, node := range s.nodes {
					for _, row := range must(t, node, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME LIKE 'users\\_0%'").Rows {
						must(t, node, fmt.Sprintf("ALTER TABLE shop.%s AUTO_INCREMENT = 40", row[0]))
					}
				}
				continue
			}
			want, got := must(t, s.oracle, sql), must(t, s.subject, sql)
			if w, g := toldWithID(want, sql), toldWithID(got, sql); w != g && strings.HasPrefix(sql, "INSERT") {
				t.Errorf("%s\n got %s\nwant %s", sql, g, w)
			}
			if strings.HasPrefix(sql, "SHOW CREATE") {
				if w, g := fmt.Sprintf("%s", want.Rows), fmt.Sprintf("%s", got.Rows); w != g || !strings.Contains(g, " AUTO_INCREMENT=3 ") {
					t.Errorf("%s\n got %s\nwant %s", sql, g, w)
				}
			}
			if strings.Contains(sql, "information_schema") && fmt.Sprintf("%s", got.Rows) != "[[3]]" {
				t.Errorf("%s: %s", sql, got.Rows)
			}
			if strings.HasPrefix(sql, "SHOW TABLE") && fmt.Sprintf("%s", got.Rows[0][10]) != "3" {
				t.Errorf("%s: %s", sql, got.Rows)
			}
			if t.Failed() {
				return
			}
		}
		s.sameTables(t, "all", "users", "orders")
	})
}

// Of rows of which some are there, the new ones tell their ids.
func TestDrawnIDsOfSomeNewRows(t *testing.T) {
	schema := strings.Replace(countedSchema, "CREATE TABLE order_items (user_id INT, v VARCHAR(30))",
		"CREATE TABLE order_items (id INT AUTO_INCREMENT PRIMARY KEY, user_id INT NOT NULL, v INT NOT NULL DEFAULT 0, UNIQUE KEY (user_id))", 1)
	onShards(t, schema, func(t *testing.T, s *shards) {
		last := func(c *mysqltest.RawClient) string {
			return fmt.Sprintf("%s", must(t, c, "SELECT LAST_INSERT_ID()").Rows)
		}
		for _, tt := range []struct {
			sql      string
			new, old int // of the first of these users the OK packet has the id; old where no row is new
		}{
			{"INSERT INTO order_items (user_id) VALUES (1), (2), (3)", 1, 0},
			{"INSERT IGNORE INTO order_items (user_id) VALUES (1), (4), (2), (5)", 4, 0},
			{"INSERT IGNORE INTO order_items (user_id) VALUES (1), (2)", 0, 0},
			{"INSERT IGNORE INTO order_items (user_id) VALUES (1)", 0, 0},
			{"INSERT INTO order_items (user_id) VALUES (6), (1), (7) ON DUPLICATE KEY UPDATE v = v + 1", 6, 0},
			{"INSERT INTO order_items (user_id) VALUES (1) ON DUPLICATE KEY UPDATE v = v + 1", 0, 1},
			{"INSERT INTO order_items (user_id) VALUES (1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), v = v + 1", 0, 1},
			{"REPLACE INTO order_items (user_id) VALUES (1), (8)", 1, 0},
			{"INSERT IGNORE INTO order_items (user_id) VALUES (1), (1), (1)", 0, 0},
		} {
			before := last(s.subject)
			want, got := must(t, s.oracle, tt.sql), must(t, s.subject, tt.sql)
			if w, g := shownAnswer(want, tt.sql, false), shownAnswer(got, tt.sql, false); w != g {
				t.Errorf("%s\n got %s\nwant %s", tt.sql, g, w)
			}
			of := max(tt.new, tt.old)
			id := "0"
			if of > 0 {
				id = fmt.Sprintf("%s", must(t, s.subject, fmt.Sprintf("SELECT id FROM order_items WHERE user_id = %d", of)).Rows[0][0])
			}
			after := last(s.subject)
			if fmt.Sprint(got.OK.LastInsertID) != id {
				t.Errorf("%s: the OK packet has id %d, that of user %d is %s", tt.sql, got.OK.LastInsertID, of, id)
			}
			if told := tt.new > 0 || strings.Contains(tt.sql, "LAST_INSERT_ID"); told && after != "[["+id+"]]" || !told && after != before {
				t.Errorf("%s: LAST_INSERT_ID() is %s, was %s, and user %d has %s", tt.sql, after, before, of, id)
			}
			const check = "SELECT user_id, v FROM order_items"
			if w, g := shownAnswer(must(t, s.oracle, check), check, false), shownAnswer(must(t, s.subject, check), check, false); w != g {
				t.Errorf("%s\n got %s\nwant %s", tt.sql, g, w)
			}
		}
	})
}

// Ids that a statement brings without the proxy's reading them in its text are not given to other rows, on whatever shards.
func TestDrawnIDsBehindUnknownOnes(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		for _, step := range [][2]string{
			{"INSERT INTO orders (user_id) VALUES (1), (2), (3), (4)"},
			{"INSERT INTO orders (id, user_id, v) SELECT id + 4, user_id, 'copied' FROM orders"},
			{"INSERT INTO orders (user_id) VALUES (4), (3), (2), (1)"},
			{"INSERT INTO orders (id, user_id, v) SELECT id + 5000, user_id, 'far' FROM orders WHERE user_id = 2"},
			{"INSERT INTO orders (user_id) VALUES (4), (3), (2), (1)"},
			{"INSERT INTO orders (id, user_id) VALUES (ASCII(SUBSTRING(VERSION(), 1, 0)) + 7000, 3)"},
			{"INSERT INTO orders (user_id) VALUES (4), (3), (2), (1)"},
			{"LOAD DATA LOCAL INFILE 'x' INTO TABLE orders (id, user_id, v)", "7006\t1\tx\n7009\t2\ty\n"},
			{"INSERT INTO orders (user_id) VALUES (4), (3), (2), (1)"},
			{"BEGIN"}, {"LOAD DATA LOCAL INFILE 'x' INTO TABLE orders (id, user_id, v)", "9500\t4\tx\n"}, {"INSERT INTO orders (user_id) VALUES (4)"}, {"COMMIT"},
			{"INSERT INTO orders (id, user_id) VALUES (40000, 3) ON DUPLICATE KEY UPDATE v = 'z'"},
			{"INSERT INTO orders (id, user_id) VALUES (40000, 3) ON DUPLICATE KEY UPDATE id = 50000"}, {"INSERT INTO orders (user_id) VALUES (4), (3), (2), (1)"},
		} {
			if s.both(t, step[0], step[1], "orders"); t.Failed() {
				return
			}
		}
	})
}

// An UPDATE may give ids, too. MySQL draws larger ones from then on; MariaDB would come to them, and the proxy must not.
func TestDrawnIDsBehindUpdates(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		must(t, s.subject, "INSERT INTO orders (user_id) VALUES (1), (2), (3), (4)")
		for _, sql := range []string{
			"UPDATE orders SET id = 700 WHERE id = 2", "UPDATE orders SET v = 'x', id = id + 1000 WHERE user_id = 3", "UPDATE orders AS o SET o.id = o.id + 3000 WHERE o.user_id IN (1, 2) AND o.id = 700",
			"BEGIN", "UPDATE orders SET id = 6000 WHERE user_id = 1 AND id = 1", "COMMIT", "UPDATE orders SET id = id + 9000 WHERE user_id > 0 ORDER BY id DESC LIMIT 1",
			"UPDATE orders SET id = LAST_INSERT_ID(id + 20000) WHERE user_id = 4 ORDER BY id LIMIT 1",
		} {
			must(t, s.subject, sql)
			if sql == "BEGIN" {
				continue
			}
			var largest uint64
			_, _ = fmt.Sscan(fmt.Sprintf("%s", must(t, s.subject, "SELECT MAX(id) FROM orders").Rows[0][0]), &largest)
			if r := must(t, s.subject, "INSERT INTO orders (user_id) VALUES (1)"); r.OK.LastInsertID != largest+1 {
				t.Errorf("%s: the next id is %d, the largest before was %d", sql, r.OK.LastInsertID, largest)
			}
		}
	})
}

// What only a server computes for an AUTO_INCREMENT column must be an id: a sub-table that numbered the row by itself would give ids of others.
func TestIDsOfExpressions(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		s.both(t, "INSERT INTO orders (user_id) VALUES (1), (2), (3), (4)", "", "orders")
		for _, sql := range []string{
			"INSERT INTO orders (id, user_id) VALUES (NULLIF(8, 1) + 20, 1), (31, 2), (ABS(-32), 3)",
			"INSERT INTO orders (user_id, id) VALUES (1, (SELECT 50 + 1))",
			"INSERT INTO orders (id, user_id, v) SELECT id + 60, user_id, 'x' FROM orders WHERE id < 3",
			"INSERT INTO orders (user_id, id, v) SELECT o.user_id, o.id + 80 AS v, 'y' FROM orders AS o WHERE o.user_id = 2 AND o.id < 3",
			"INSERT INTO orders (id, user_id) VALUES (LENGTH('ab') + 100, 3) ON DUPLICATE KEY UPDATE v = 'z'",
		} {
			s.both(t, sql, "", "orders")
		}
		for sql, code := range map[string]uint16{
			"INSERT INTO orders (id, user_id) VALUES (NULLIF(1, 1), 1)":                                                 1690,
			"INSERT INTO orders (id, user_id) VALUES (200, 1), (ABS(0), 2)":                                             1690,
			"INSERT INTO orders (user_id, id) VALUES (1, (SELECT NULL))":                                                1690,
			"INSERT INTO orders (id, user_id) SELECT NULLIF(id, id), user_id FROM orders":                               1690,
			"INSERT INTO orders (id, user_id) SELECT id - id AS v, user_id FROM orders WHERE user_id = 3":               1690,
			"INSERT IGNORE INTO orders (id, user_id) VALUES (NULLIF(1, 1), 1)":                                          1690,
			"INSERT IGNORE INTO orders (id, user_id) SELECT NULLIF(id, id), user_id FROM orders":                        1690,
			"INSERT INTO orders SET id = NULLIF(1, 1), user_id = 5":                                                     9012,
			"INSERT INTO orders (id, user_id) SELECT NULLIF(id, id), user_id FROM orders UNION SELECT 1, 1 FROM orders": 1062,
		} {
			if r, err := s.subject.Query(sql); err != nil || r.Err == nil || r.Err.Code != code {
				t.Errorf("%s: %v %v, not %d", sql, r, err, code)
			}
		}
		s.sameTables(t, "the errors", "orders")
		st, err := s.subject.Prepare("INSERT IGNORE INTO orders (id, user_id, v) VALUES (NULLIF(?, ?), ?, ?)")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.Execute(300, 1, 2, "p"); err != nil {
			t.Error(err)
		}
		if r, err := st.Execute(1, 1, 2, "p"); err == nil && r.Err == nil {
			t.Errorf("an id of NULL is taken: %+v", r.OK)
		}
		must(t, s.oracle, "INSERT INTO orders (id, user_id, v) VALUES (300, 2, 'p')")
		s.sameTables(t, "the executions", "orders")
	})
}

// A row without values has all columns for ON DUPLICATE KEY UPDATE to ask for.
func TestDrawnIDsOfEmptyRows(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		for _, sql := range []string{
			"INSERT INTO users () VALUES () ON DUPLICATE KEY UPDATE n = VALUES(n) + 1", "INSERT INTO users VALUES (), () ON DUPLICATE KEY UPDATE n = VALUES(n) + 1",
			"INSERT INTO users () VALUES (), () AS fresh ON DUPLICATE KEY UPDATE n = fresh.n + 1", "INSERT INTO users VALUES () AS fresh ON DUPLICATE KEY UPDATE name = fresh.name",
		} {
			if strings.Contains(sql, "fresh") && strings.Contains(s.oracle.Greeting.ServerVersion, "MariaDB") {
				continue
			}
			s.both(t, sql, "", "users")
		}
	})
}
