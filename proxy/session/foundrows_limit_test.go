package session_test

import (
	"strings"
	"testing"
)

// FOUND_ROWS() tells of all rows behind SQL_CALC_FOUND_ROWS, though sql_select_limit cuts the answer.
func TestFoundRowsOfSelectLimit(t *testing.T) {
	onShardsOf(t, func(*testing.T) {}, idsSchema, func(t *testing.T, s *shards) {
		s.fillIDs(t)
		queries := []string{
			"SELECT SQL_CALC_FOUND_ROWS id, n FROM users ORDER BY id", "SELECT SQL_CALC_FOUND_ROWS id FROM users WHERE id > 4 ORDER BY n, id", "SELECT SQL_CALC_FOUND_ROWS id FROM users WHERE id = 4",
			"SELECT SQL_CALC_FOUND_ROWS id FROM users ORDER BY id LIMIT 5", "SELECT SQL_CALC_FOUND_ROWS id FROM users ORDER BY id DESC LIMIT 2, 4", "SELECT SQL_CALC_FOUND_ROWS id FROM users ORDER BY id LIMIT 0",
			"SELECT SQL_CALC_FOUND_ROWS n, COUNT(*) FROM users GROUP BY n ORDER BY n", "SELECT SQL_CALC_FOUND_ROWS DISTINCT n FROM users ORDER BY n", "SELECT SQL_CALC_FOUND_ROWS COUNT(*) FROM users",
			"SELECT SQL_CALC_FOUND_ROWS n, COUNT(*) FROM users GROUP BY n HAVING COUNT(*) > 1 ORDER BY n", "SELECT SQL_CALC_FOUND_ROWS u.id FROM users AS u JOIN payments AS p ON u.n = p.merchant_id ORDER BY u.id",
			"SELECT SQL_CALC_FOUND_ROWS id FROM (SELECT * FROM users) AS d ORDER BY id",
		}
		for _, around := range [][2]string{{"DO 0", "DO 0"}, {"BEGIN", "COMMIT"}} {
			for _, limit := range []string{"3", "100", "DEFAULT"} {
				for _, query := range queries {
					s.everywhere(t, "SET sql_select_limit = "+limit)
					s.everywhere(t, around[0])
					s.bothWhole(t, query, "SELECT FOUND_ROWS()")
					s.everywhere(t, around[1])
					s.everywhere(t, "SET sql_select_limit = DEFAULT")
					if strings.Contains(s.subject.Greeting.ServerVersion, "MariaDB") {
						s.bothWhole(t, "SET STATEMENT sql_select_limit = "+limit+" FOR "+query, "SELECT FOUND_ROWS()", "SELECT @@sql_select_limit")
					}
				}
			}
		}
		for _, query := range queries {
			s.everywhere(t, "SET sql_select_limit = 2")
			s.preparedAlike(t, query)
			s.bothWhole(t, "SELECT FOUND_ROWS()")
			s.everywhere(t, "SET sql_select_limit = 0")
			s.bothWhole(t, query)
			s.everywhere(t, "SET sql_select_limit = DEFAULT")
			s.bothWhole(t, "SELECT FOUND_ROWS()")
		}
	}, "xa_on_unsafe_server: true")
}

// preparedAlike compares the executions of a prepared text on both sides.
func (s *shards) preparedAlike(t *testing.T, text string) {
	t.Helper()
	want, err := s.oracle.Prepare(text)
	if err != nil {
		t.Fatal(text, err)
	}
	got, err := s.subject.Prepare(text)
	if err != nil {
		t.Errorf("%s prepared: %v", text, err)
		return
	}
	w, err := want.Execute()
	if err != nil {
		t.Fatal(text, err)
	}
	g, err := got.Execute()
	if err != nil {
		t.Fatal(text, err)
	}
	if w, g := wholeAnswer(w, false), wholeAnswer(g, false); w != g {
		t.Errorf("%s prepared\n got %s\nwant %s", text, g, w)
	}
}
