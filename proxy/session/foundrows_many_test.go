package session_test

import "testing"

// A change of several shards that asks what only the connection of the query before knows is refused, and goes on when it need not ask there.
func TestFoundRowsInChangesOfShards(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		s.everywhere(t, "INSERT INTO users (id, n) VALUES (1, 1), (2, 2), (3, 3), (4, 4)")
		const counted = "SELECT SQL_CALC_FOUND_ROWS n FROM users WHERE id = 5000 LIMIT 1"
		for _, sql := range []string{
			"INSERT INTO users (id, n) VALUES (11, FOUND_ROWS()), (12, 4)", "INSERT INTO users (n) VALUES (FOUND_ROWS()), (4)", "UPDATE users SET n = FOUND_ROWS()", "DELETE FROM users WHERE n > FOUND_ROWS() + 100",
		} {
			must(t, s.subject, counted)
			want := must(t, s.oracle, "SELECT COUNT(*), SUM(n) FROM users")
			r, err := s.subject.Query(sql)
			if err != nil || r.Err != nil && r.Err.Code != 9004 {
				t.Fatalf("%s: %v %v", sql, r, err)
			}
			if r.Err == nil {
				must(t, s.oracle, counted)
				must(t, s.oracle, sql)
				want = must(t, s.oracle, "SELECT COUNT(*), SUM(n) FROM users")
			}
			if w, g := shownAnswer(want, "", false), shownAnswer(must(t, s.subject, "SELECT COUNT(*), SUM(n) FROM users"), "", false); w != g {
				t.Errorf("behind %s\n got %s\nwant %s", sql, g, w)
			}
			s.both(t, "SELECT n FROM users WHERE id = 1", "")
			s.both(t, sql, "", "users")
		}
	})
}
