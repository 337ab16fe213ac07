package session_test

import (
	"strings"
	"testing"
)

// The warnings that a server gives ahead of an error are told behind it, and counted, also of a statement behind which the server is asked what it has set.
func TestWarningsAheadOfErrors(t *testing.T) {
	onShards(t, idsSchema, func(t *testing.T, s *shards) {
		if !strings.Contains(s.subject.Greeting.ServerVersion, "MariaDB") {
			return
		}
		s.everywhere(t, "DROP TABLE IF EXISTS loose")
		s.everywhere(t, "CREATE TABLE loose (id INT PRIMARY KEY, a INT, s VARCHAR(20))")
		s.everywhere(t, "INSERT INTO loose VALUES (17, 1, 'x')")
		for _, text := range []string{
			"INSERT INTO loose (id, a) VALUES (15, 2), (17, 3)", "INSERT INTO loose (id, a) VALUES (115, 2), (117, 3)", "SELECT a / 0 FROM loose", "UPDATE loose SET a = 'x'", "SELECT nosuch FROM loose",
		} {
			for _, probe := range []string{"SHOW WARNINGS", "SHOW COUNT(*) WARNINGS", "SELECT @@warning_count", "SHOW ERRORS"} {
				s.everywhere(t, "DELETE FROM loose WHERE id <> 17")
				s.bothWhole(t, "SET STATEMENT join_buffer_size = 200000, tmp_table_size = 1000000 FOR "+text, probe)
			}
		}
		s.everywhere(t, "DROP TABLE loose")
	})
}
