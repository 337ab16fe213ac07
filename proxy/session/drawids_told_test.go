package session_test

import (
	"fmt"
	"testing"

	"kingshard/mysql/mysqltest"
)

// A prepared INSERT without ids that has what the statement before leaves in its text, on the connection of a transaction where that is known to the
// server.
func TestDrawnIDsBesideFoundRows(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
			must(t, c, "INSERT INTO orders (id, user_id, v) VALUES (1, 3, 'x'), (2, 3, 'x')")
		}
		for _, values := range []string{"FOUND_ROWS()", "ROW_COUNT()", "CONCAT(FOUND_ROWS(), ' ', ROW_COUNT(), ' ', @@warning_count)"} {
			for _, ahead := range [][]string{{"SELECT 1", "BEGIN"}, {"BEGIN", "SELECT * FROM orders WHERE user_id = 3 FOR UPDATE"}, {"SELECT 1", "BEGIN", "UPDATE orders SET v = 'y' WHERE user_id = 3"}, {"SELECT 1"}} {
				sql := "INSERT INTO orders (user_id, v) VALUES (3, " + values + ")"
				for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
					for _, first := range ahead {
						must(t, c, first)
					}
					st, err := c.Prepare(sql)
					if err != nil {
						t.Fatal(err)
					}
					for range 2 {
						if r, err := st.Execute(); err != nil || r.Err != nil {
							t.Fatal(sql, err, r.Err)
						}
					}
					must(t, c, "COMMIT")
				}
				if s.sameTables(t, fmt.Sprint(ahead, sql), "orders"); t.Failed() {
					return
				}
			}
		}
	})
}
