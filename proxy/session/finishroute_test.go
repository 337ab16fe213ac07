package session_test

import (
	"fmt"
	"testing"

	"kingshard/mysql/mysqltest"
)

// TestFinishSeesTheTransactionsChanges has statements end on a connection beside the transaction's, which must not read there what the
// transaction has changed: tables without a rule are collected like those with one, by whatever name the text has for them.
func TestFinishSeesTheTransactionsChanges(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		s.everywhere(t, "CREATE TABLE loc (id INT PRIMARY KEY, name VARCHAR(20), KEY (name))")
		s.everywhere(t, "INSERT INTO loc VALUES (1, 'ab'), (2, 'cd'), (3, 'n3')")
		for _, c := range []*mysqltest.RawClient{s.subject, s.oracle} {
			must(t, c, "BEGIN")
			must(t, c, "UPDATE loc SET name = LEFT(name, 1), id = id + 10")
		}
		for _, sql := range []string{
			"SELECT (SELECT MIN(n) FROM users AS u WHERE u.n > 3) AS least, name FROM loc ORDER BY id",
			"SELECT (SELECT MIN(n) FROM users), loc.name, (SELECT MAX(shop.loc.id) FROM shop.loc) FROM `loc` ORDER BY loc.id",
			"SELECT a.name, b.name FROM loc a JOIN loc b ON a.id <= b.id WHERE EXISTS (SELECT 1 FROM users WHERE users.n < a.id) ORDER BY a.id, b.id",
			"SELECT name FROM users UNION SELECT name FROM loc ORDER BY name",
			"SELECT loc.name, COUNT(*) FROM loc, users WHERE users.id > 5 GROUP BY loc.name ORDER BY loc.name",
			"SELECT * FROM loc WHERE id IN (SELECT n + 8 FROM users) ORDER BY id",
		} {
			s.both(t, sql, "")
			var rows [2][][]any
			for k, c := range []*mysqltest.RawClient{s.subject, s.oracle} {
				st, err := c.Prepare(sql)
				if err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
				r, err := st.Execute()
				if err != nil || r.Err != nil || len(r.Rows) == 0 {
					t.Fatalf("%s: %v %+v", sql, err, r)
				}
				rows[k] = r.Rows
			}
			if fmt.Sprint(rows[0]) != fmt.Sprint(rows[1]) {
				t.Errorf("prepared %s: %v, want %v", sql, rows[0], rows[1])
			}
		}
		for _, c := range []*mysqltest.RawClient{s.subject, s.oracle} {
			must(t, c, "ROLLBACK")
		}
	})
}
