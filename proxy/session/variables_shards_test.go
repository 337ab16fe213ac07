package session_test

import "testing"

// A user variable with a value that one connection knows is NULL on all others, unless it is brought there. One with a value that the session knows is
// brought, too, and what a connection has got so stays nobody's.
func TestVariablesOnShards(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		want := must(t, s.oracle, "SELECT COUNT(*) FROM users WHERE id >= 2").Rows[0][0]
		for _, read := range []string{"SELECT COUNT(*) FROM users WHERE id >= @v", "SELECT COUNT(DISTINCT id) FROM users WHERE id >= @v"} {
			for _, set := range []string{"SET @v = 2", "SELECT @v := 1 + 1"} {
				must(t, s.subject, set)
				if got := must(t, s.subject, read).Rows[0][0]; got != want {
					t.Errorf("%s; %s: %v, want %v", set, read, got, want)
				}
			}
			if _, err := s.subject.Prepare(read); err != nil {
				t.Error(err)
			}
			s.anew(t)
			if got := must(t, s.subject, read).Rows[0][0]; got != int64(0) && got != "0" {
				t.Errorf("%s without the variable: %v", read, got)
			}
		}
	})
}
