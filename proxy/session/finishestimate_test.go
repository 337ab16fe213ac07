package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// A statement that would collect many times what it may is refused before it collects anything, where servers are asked for estimates anyway and of a table of which
// one has collected much; not where conditions or other tables may leave few rows.
func TestFinishIsRefusedAhead(t *testing.T) {
	onShards(t, "CREATE TABLE users (id INT NOT NULL PRIMARY KEY, n INT, x TEXT)", func(t *testing.T, s *shards) {
		for from := 0; from < 2400; from += 600 {
			var list []string
			for id := from; id < from+600; id++ {
				list = append(list, fmt.Sprintf("(%d, %d, REPEAT('x', 3000))", id, id))
			}
			must(t, s.subject, "INSERT INTO users VALUES "+strings.Join(list, ", "))
		}
		must(t, s.subject, "ANALYZE TABLE users")
		c := dial(t, s.restarted(t, "finish_max_bytes: 1M"), mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
		collected := func() string { return fmt.Sprint(must(t, c, "SHOW KS STATUS LIKE 'Finish_bytes'").Rows[0][1]) }
		ahead := func(sql string) {
			t.Helper()
			before := collected()
			r, err := c.Query(sql)
			if err != nil || r.Err == nil || r.Err.Code != 9014 || !strings.Contains(r.Err.Message, "would collect some ") || !strings.Contains(r.Err.Message, "1M (finish_max_bytes)") {
				t.Errorf("%s: %v %+v", sql, err, r)
			}
			if after := collected(); after != before {
				t.Errorf("%s: %s bytes are collected behind it, %s ahead of it", sql, after, before)
			}
		}
		const one, join = "SELECT GROUP_CONCAT(x) IS NULL FROM users", "SELECT COUNT(DISTINCT a.x, b.x) FROM users a JOIN users b ON a.n = b.id"
		ahead(join)
		limited(t, c, one, "collects more than 1M")
		ahead(one)
		st, err := c.Prepare("SELECT GROUP_CONCAT(x) IS NULL, ? FROM users")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := st.Execute("3"); err != nil || r.Err == nil || !strings.Contains(r.Err.Message, "would collect") {
			t.Errorf("prepared: %v %+v", err, r)
		}
		must(t, c, "SELECT GROUP_CONCAT(n) IS NULL FROM users") // short rows
		must(t, c, one+" WHERE n < 50")
		must(t, c, "SELECT COUNT(DISTINCT a.x, b.x) FROM users a JOIN users b ON a.n = b.id WHERE a.id < 30")
		must(t, c, "BEGIN")
		ahead(one)
		must(t, c, "ROLLBACK")
		few := dial(t, s.restarted(t, "finish_max_rows: 300"), mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
		if r, err := few.Query(join); err != nil || r.Err == nil || !strings.Contains(r.Err.Message, "would collect") || !strings.Contains(r.Err.Message, "300 (finish_max_rows)") {
			t.Errorf("of few rows: %v %+v", err, r)
		}
		must(t, s.subject, "DELETE FROM users WHERE id >= 100")
		must(t, s.subject, "ANALYZE TABLE users")
		must(t, c, one)
		must(t, c, join)
	})
}
