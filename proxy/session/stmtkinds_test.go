package session_test

import (
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// TestKindsOfParameters prepares one text again and again, each time for values of another type: that the proxy shares what
// is prepared on a server must not show.
func TestKindsOfParameters(t *testing.T) {
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, sql := range []string{"SELECT ? AS e", "SELECT ? AS e FROM users WHERE id = 3", "SELECT id, ? AS e FROM users ORDER BY id LIMIT 3"} {
			for k, v := range []any{int64(7), "x", 1.5, uint64(1 << 63), int8(-1), mysqltest.Date(at), at, time.Hour, "y", at, int64(5), nil, "z", nil} {
				execute := func(c *mysqltest.RawClient) *mysqltest.RawResult {
					st, err := c.Prepare(sql)
					if err != nil {
						t.Fatal(err)
					}
					defer func() {
						if err := st.Close(); err != nil {
							t.Error(err)
						}
					}()
					r, err := st.Execute(v)
					if err != nil {
						t.Fatal(err)
					}
					return r
				}
				want, got := shownAnswer(execute(s.oracle), sql, true), shownAnswer(execute(s.subject), sql, true)
				if v != nil && got != want { // the type of NULL is the one that the parameter had
					t.Errorf("%s, value %d: %v\n got %s\nwant %s", sql, k, v, got, want)
				}
			}
		}
	})
}
