package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// RETURNING of a change of several shards gives what it gives on one server, the rows of an INSERT in their order.
func TestReturning(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		if !strings.Contains(t.Name(), "mariadb") {
			s.both(t, "INSERT INTO users (id, name) VALUES (1, 'a'), (2, 'b') RETURNING id", "", "users") // MySQL does not know it
			return
		}
		for _, sql := range []string{
			"INSERT INTO users (id, name, n) VALUES (4, 'd', 1), (1, 'a', 2), (3, 'c', 3), (2, 'b', 4), (7, 'g', 5) RETURNING id, name, users.n + 1 AS m", "SELECT ROW_COUNT(), FOUND_ROWS(), LAST_INSERT_ID()",
			"INSERT INTO users (name) VALUES ('h'), ('i'), ('j'), ('k') RETURNING id, name", "SELECT LAST_INSERT_ID()", "SELECT ROW_COUNT()",
			"INSERT INTO orders (user_id, v) VALUES (5, 'x'), (6, NULL), (7, 'z'), (5, 'y') RETURNING *", "SELECT LAST_INSERT_ID()",
			"INSERT INTO users (id, name) VALUES (20, 'l'), (21, 'm'), (21, 'n'), (22, 'o') RETURNING id", "INSERT INTO users (id, name) VALUES (20, 'l'), (21, 'm') RETURNING nosuch", "SELECT COUNT(*) FROM users",
			"REPLACE INTO users (id, name, n) VALUES (3, 'cc', 8), (2, 'bb', 9), (40, 'p', 9), (41, 'q', 1) RETURNING id, n", "SELECT ROW_COUNT()",
			"INSERT INTO users (id, name) VALUES (3, 'r'), (42, 's'), (2, 't'), (43, 'u') ON DUPLICATE KEY UPDATE n = n + 100 RETURNING id, n, name", "INSERT IGNORE INTO users (id, name) VALUES (50, 'v'), (51, 'w'), (52, 'x') RETURNING id",
			"INSERT INTO orders (user_id, v) VALUES (5, 'o1'), (6, 'o2'), (7, 'o3') ON DUPLICATE KEY UPDATE user_id = VALUES(user_id) RETURNING id", "SELECT LAST_INSERT_ID()",
			"INSERT INTO orders (user_id, v) VALUES (6, 'o4') ON DUPLICATE KEY UPDATE v = VALUES(v) RETURNING id, v", "SELECT LAST_INSERT_ID()",
			"REPLACE INTO orders (user_id, v) VALUES (9, 'o5'), (8, 'o6') RETURNING id, user_id", "SELECT LAST_INSERT_ID()", "REPLACE INTO users (name) VALUES ('o7') RETURNING id", "SELECT LAST_INSERT_ID()",
			"INSERT IGNORE INTO orders (user_id, v) VALUES (9, 'o8'), (8, 'o9') RETURNING id, user_id", "SELECT LAST_INSERT_ID()",
			"INSERT INTO countries VALUES ('DE', 'Germany'), ('FR', 'France') RETURNING code", "DELETE FROM countries WHERE code = 'FR' RETURNING name, code",
			"DELETE FROM countries WHERE code = 'DE' AND code = 'FR' RETURNING code", "DELETE FROM users WHERE n = 1 AND n = 2 RETURNING id", "DELETE FROM users WHERE 1 = 2 RETURNING id", "SELECT ROW_COUNT()",
			"BEGIN", "DELETE FROM orders WHERE user_id = 5 RETURNING user_id, v", "ROLLBACK", "DELETE FROM users WHERE id > 40 RETURNING id, name", "SELECT ROW_COUNT()", "DELETE FROM users WHERE id > 1000 RETURNING *", "SELECT FOUND_ROWS()",
		} {
			want, got := load(t, s.oracle, sql, ""), load(t, s.subject, sql, "")
			order := sql
			if strings.HasPrefix(sql, "INSERT") || strings.HasPrefix(sql, "REPLACE") {
				order += " ORDER BY"
			}
			if w, g := shownAnswer(want, order, true), shownAnswer(got, order, true); w != g {
				t.Errorf("%s\n got %s %v\nwant %s %v", sql, g, got.Err, w, want.Err)
			}
			if sql != "BEGIN" {
				s.sameTables(t, sql, "users", "orders", "countries")
			}
		}
		for sql, plan := range map[string]string{
			"EXPLAIN DELETE FROM users WHERE id = 1 RETURNING id": "forward", "EXPLAIN DELETE FROM users WHERE n = 1 RETURNING users.id, name": "write",
			"EXPLAIN INSERT INTO users (id, name) VALUES (70, 'a'), (71, 'b'), (72, 'c'), (73, 'd') RETURNING *": "insert",
		} {
			if r := must(t, s.subject, sql); len(r.Rows) == 0 || r.Rows[0][1] != plan {
				t.Errorf("%s: %v", sql, r.Rows)
			}
		}
		fails(t, s.subject, "EXPLAIN DELETE FROM users WHERE id = 1 RETURNING other.id", 9013)
		r := must(t, s.subject, "SELECT COUNT(*) FROM users")
		left := "INSERT IGNORE INTO users (id, name) VALUES (1, 'x1'), (2, 'x2'), (3, 'x3'), (4, 'x4'), (60, 'x5'), (61, 'x6'), (62, 'x7'), (63, 'x8') RETURNING id"
		fails(t, s.subject, left, 9012)
		fails(t, s.subject, "DELETE FROM users ORDER BY name LIMIT 3 RETURNING id", 9012)
		if again := must(t, s.subject, "SELECT COUNT(*) FROM users"); fmt.Sprint(r.Rows) != fmt.Sprint(again.Rows) {
			t.Errorf("%v users became %v", r.Rows, again.Rows)
		}
		// Prepared, the rows come in the binary protocol.
		var shown [2]string
		for k, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
			st, err := c.Prepare("INSERT INTO users (name, n) VALUES (?, ?), (?, 5), ('y3', ?), ('y4', 7) RETURNING id, name, n")
			if err != nil {
				t.Fatal(err)
			}
			r, err := st.Execute("y1", 3, "y2", 6)
			if err != nil {
				t.Fatal(err)
			}
			shown[k] = shownAnswer(r, "ORDER BY", true)
		}
		if shown[0] != shown[1] {
			t.Errorf("prepared\n got %s\nwant %s", shown[1], shown[0])
		}
		s.sameTables(t, "the execution", "users")
	})
}
