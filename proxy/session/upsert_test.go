package session_test

import (
	"strings"
	"testing"
)

// The values of the row that was to be inserted have two names in MariaDB.
func TestUpsertByValue(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		if !strings.Contains(t.Name(), "mariadb") {
			s.both(t, "INSERT INTO users (id) VALUES (1) ON DUPLICATE KEY UPDATE id = VALUE(id)", "", "users") // MySQL does not know it
			return
		}
		s.fillRows(t)
		for _, sql := range []string{
			"INSERT INTO users (id, n) VALUES (1, 50), (2, 60), (101, 70), (102, 80) ON DUPLICATE KEY UPDATE id = VALUE(id), n = value (n) + users.n",
			"INSERT INTO users (id, n) VALUE (103, 50) ON DUPLICATE KEY UPDATE n = VALUE(n)", "INSERT INTO users SET id = 103, n = 8 ON DUPLICATE KEY UPDATE id = VALUE(users.id), n = VALUE(n) * 2",
			"INSERT INTO users (id, n) VALUES (1, 50), (101, 70), (104, 80) ON DUPLICATE KEY UPDATE n = VALUE(nosuch)", "INSERT INTO users (id, n) VALUES (1, 51), (101, 71) ON DUPLICATE KEY UPDATE name = CONCAT(VALUE(n), VALUES(n))",
		} {
			s.both(t, sql, "", "users")
		}
		fails(t, s.subject, "INSERT INTO users (id, n) VALUES (1, 50), (2, 60) ON DUPLICATE KEY UPDATE id = VALUE(n)", 9012)
	})
}
