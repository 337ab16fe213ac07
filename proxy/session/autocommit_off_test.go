package session_test

import "testing"

// SET that switches autocommit off again ends no transaction over nodes, however it is written.
func TestAutocommitOffAgain(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startIndexed(t, kind)
			for _, set := range []string{"SET autocommit = OFF", "SET @@session.autocommit = off", "SET autocommit = FALSE", "SET autocommit = 'OFF'", "SET autocommit = 0"} {
				for _, sql := range []string{"SET autocommit = 0", "INSERT INTO people (id, dept) VALUES (1, 1), (2, 1)", set, "ROLLBACK", "SELECT COUNT(*) FROM people", "SET autocommit = 1"} {
					s.inStep(t, sql, "")
				}
			}
			s.sameTables(t, "at the end", "people")
		})
	}
}
