package session_test

import (
	"strings"
	"testing"
)

// Functions, types and clauses that servers read and the parser does not are planned, and their columns have the names that servers give them.
func TestRespelled(t *testing.T) {
	onShardsOf(t, func(*testing.T) {}, idsSchema, func(t *testing.T, s *shards) {
		s.fillIDs(t)
		both := []string{
			"CHARACTER(n + 65, id + 65)", "CHARACTER (65 USING utf8mb4)", "name SOUNDS LIKE 'n 1'", "CAST(n AS CHAR ASCII)", "CAST(name AS CHAR BYTE)", "CAST(n AS NCHAR(3))", "CONVERT(n, CHARACTER(3))",
		}
		if strings.Contains(s.subject.Greeting.ServerVersion, "MariaDB") {
			both = append(both, "CAST(n AS VARCHAR(3))", "CAST(n AS INT)", "CAST(name AS INTEGER)", "CAST(n AS DOUBLE(5, 2))", "CONVERT(name, INET6)", "WEIGHT_STRING(name LEVEL 1)", "COLUMN_GET(COLUMN_CREATE('x', n AS CHAR), 'x' AS CHAR(3))")
			s.bothWhole(t, "SELECT GROUP_CONCAT(name ORDER BY id LIMIT 2) FROM users", "SELECT n, GROUP_CONCAT(DISTINCT name ORDER BY name DESC SEPARATOR ';' LIMIT 1 OFFSET 1) FROM users GROUP BY n ORDER BY n")
		} else {
			both = append(both, "CAST(n AS NATIONAL CHARACTER(2))", "CAST(n AS DOUBLE PRECISION)", "JSON_VALUE(JSON_OBJECT('x', n), '$.x' RETURNING UNSIGNED)", "JSON_VALUE(JSON_OBJECT('x', n), '$.y' DEFAULT 3 ON EMPTY)")
		}
		for _, expr := range both {
			s.bothWhole(t, "SELECT "+expr+" FROM users WHERE id = 3", "SELECT id, "+expr+" FROM users ORDER BY id", "SELECT "+expr+" AS x, COUNT(*) FROM users GROUP BY x ORDER BY x",
				"SELECT id FROM users WHERE "+expr+" > '0' ORDER BY id", "SELECT id FROM users ORDER BY "+expr+", id LIMIT 5", "SELECT DISTINCT "+expr+" FROM users ORDER BY 1",
				"SELECT COUNT(*) FROM users AS a JOIN payments AS b ON a.n = b.merchant_id WHERE EXISTS (SELECT "+expr+" FROM users)")
			s.bothWhole(t, "UPDATE IGNORE users SET name = CONCAT('n', "+expr+") WHERE id > 10", "SELECT * FROM users ORDER BY id")
		}
	}, "xa_on_unsafe_server: true")
}
