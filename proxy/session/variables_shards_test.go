package session_test

import "testing"

// A user variable with a value that one connection knows is NULL on all others: a statement on several shards that reads
// it is refused. With a value that the session knows it is answered.
func TestVariablesOnShards(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		want := must(t, s.oracle, "SELECT COUNT(*) FROM users WHERE id >= 2").Rows[0][0]
		for _, read := range []string{"SELECT COUNT(*) FROM users WHERE id >= @v", "SELECT COUNT(DISTINCT id) FROM users WHERE id >= @v"} {
			must(t, s.subject, "SET @v = 2")
			if got := must(t, s.subject, read).Rows[0][0]; got != want {
				t.Errorf("%s with a literal: %v, want %v", read, got, want)
			}
			must(t, s.subject, "SELECT @v := 1 + 1")
			fails(t, s.subject, read, 9004)
			if _, err := s.subject.Prepare(read); err != nil {
				t.Error(err)
			}
			must(t, s.subject, "SELECT COUNT(*) FROM users") // which reads no variable
			if err := s.subject.Send(31, ""); err != nil {   // COM_RESET_CONNECTION
				t.Fatal(err)
			}
			if _, err := s.subject.Read(); err != nil {
				t.Fatal(err)
			}
			must(t, s.subject, "USE shop")
		}
		must(t, s.subject, "SELECT @v := 1 + 1")
		st, err := s.subject.Prepare("UPDATE users SET n = @v WHERE id > ?")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := st.Execute(0); err != nil || r.Err == nil || r.Err.Code != 9004 {
			t.Errorf("a prepared change: %+v, %v", r, err)
		}
	})
}
