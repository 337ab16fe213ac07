package session_test

import (
	"fmt"
	"strconv"
	"testing"
)

// Statistics of statements have the rows that went from one server to another, and not those that were there.
func TestMovedRowsAreCounted(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		must(t, s.subject, "KS RESET DIGESTS")
		for _, c := range []struct {
			sql, digest string
			rows, least int // moved, and bytes at the least
		}{
			{"SELECT GROUP_CONCAT(name) FROM users", "SELECT GROUP_CONCAT(name) FROM users%", 20, 200},
			{"SELECT COUNT(*) FROM users", "SELECT COUNT(*) FROM users%", 0, 0},
			{"SELECT name FROM users WHERE id = 3", "SELECT name FROM users%", 0, 0},
			{"INSERT INTO payments (merchant_id, v, w, at) SELECT n, name, id, d FROM users WHERE id < 9", "INSERT INTO payments%", 8, 100},
			{"INSERT INTO order_items (user_id, v) SELECT n, COUNT(*) FROM users GROUP BY n HAVING GROUP_CONCAT(name) <> ''", "INSERT INTO order_items%", 25, 60},
		} {
			must(t, s.subject, c.sql)
			must(t, s.subject, "DO 0")
			rows := must(t, s.subject, "SHOW KS DIGESTS LIKE '"+c.digest+"'")
			if len(rows.Rows) != 1 {
				t.Fatalf("%s: %v of %v", c.sql, rows.Rows, must(t, s.subject, "SHOW KS DIGESTS").Rows)
			}
			cell := map[string]string{}
			for k, name := range rows.Names() {
				cell[name] = fmt.Sprint(rows.Rows[0][k])
			}
			bytes, _ := strconv.Atoi(cell["moved_bytes"])
			if cell["moved_rows"] != strconv.Itoa(c.rows) || bytes < c.least || c.rows == 0 && bytes != 0 {
				t.Errorf("%s: %s rows, %d bytes moved; want %d, %d", c.sql, cell["moved_rows"], bytes, c.rows, c.least)
			}
		}
	})
}
