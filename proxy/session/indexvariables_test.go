package session_test

import "testing"

// The variables of a client that bound and shape results are not those of the parts of its statements.
func TestIndexesUnderVariables(t *testing.T) {
	onStaff(t, func(t *testing.T, s *shards) {
		for _, sql := range []string{
			"INSERT INTO staff (id, email, n) VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 1), (4, 'd', 2)",
			"SET sql_select_limit = 1",
			"UPDATE staff SET n = n + 1 WHERE id < 4",
			"SELECT @@sql_select_limit",
			"SELECT id FROM staff ORDER BY id",
			"DELETE FROM staff WHERE n = 2",
			"SET sql_select_limit = DEFAULT",
			"SELECT id FROM staff",
		} {
			s.inStep(t, sql, "")
			s.keptStaff(t, sql)
		}
	})
}
