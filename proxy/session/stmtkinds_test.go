package session_test

import (
	"strings"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// TestKindsOfParameters prepares one text again and again, each time for values of another type: that the proxy shares what
// is prepared on a server must not show.
func TestKindsOfParameters(t *testing.T) {
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	values := []any{int64(7), "x", 1.5, uint64(1 << 63), int8(-1), mysqltest.Date(at), at, time.Hour, "y", at, int64(5), nil, "z", nil}
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, sql := range []string{"SELECT ? AS e", "SELECT ? AS e FROM users WHERE id = 3", "SELECT id, ? AS e FROM users ORDER BY id LIMIT 3"} {
			for k, v := range values {
				oracle, subject := prepared(t, s.oracle, sql), prepared(t, s.subject, sql)
				want, got := shownAnswer(executed(t, oracle, v), sql, true), shownAnswer(executed(t, subject, v), sql, true)
				if v != nil && got != want { // the type of NULL is the one that the parameter had
					t.Errorf("%s, value %d: %v\n got %s\nwant %s", sql, k, v, got, want)
				}
				for _, st := range []*mysqltest.RawStmt{oracle, subject} {
					if err := st.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			if strings.Contains(sql, "LIMIT") {
				continue // over several shards each execution is a statement of its own
			}
			// One statement for all of them: those before decide what becomes of a value.
			for first := range len(values) - 1 {
				oracle, subject := prepared(t, s.oracle, sql), prepared(t, s.subject, sql)
				for _, v := range values[first:] {
					want, got := shownAnswer(executed(t, oracle, v), sql, true), shownAnswer(executed(t, subject, v), sql, true)
					if v != nil && got != want {
						t.Errorf("%s, %v behind %v\n got %s\nwant %s", sql, v, values[first], got, want)
					}
				}
			}
		}
	})
}

func prepared(t *testing.T, c *mysqltest.RawClient, sql string) *mysqltest.RawStmt {
	t.Helper()
	st, err := c.Prepare(sql)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func executed(t *testing.T, st *mysqltest.RawStmt, v any) *mysqltest.RawResult {
	t.Helper()
	r, err := st.Execute(v)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
