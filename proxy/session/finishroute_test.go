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

// A statement that is finished within a transaction sees the rows of sharded tables that the transaction has changed, and those that it has not; no other client
// sees them.
func TestFinishSeesTheTransactionsRows(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		other := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
		const sum = "SELECT GROUP_CONCAT(n ORDER BY id) FROM users"
		for _, end := range []string{"ROLLBACK", "COMMIT"} {
			before := fmt.Sprint(must(t, other, sum).Rows)
			s.everywhere(t, "BEGIN")
			for _, change := range []string{"UPDATE users SET n = 77, name = 'own' WHERE id = 5", "DELETE FROM orders WHERE user_id = 5", "INSERT INTO order_items VALUES (5, 99)", "INSERT INTO users (id, n) VALUES (105, 1)", "DELETE FROM users WHERE id = 105"} {
				if r, err := s.subject.Query(change); err != nil || r.Err != nil && r.Err.Code != 9004 {
					t.Fatal(change, err, r)
				} else if r.Err == nil {
					must(t, s.oracle, change)
				}
				for _, sql := range []string{
					sum, "SELECT n, COUNT(*) FROM users GROUP BY n HAVING COUNT(*) > 0 ORDER BY n",
					"SELECT u.id, o.id FROM users u JOIN orders o ON u.n = o.amount ORDER BY u.id, o.id",
					"SELECT u.id FROM users u WHERE u.n IN (SELECT v - 22 FROM order_items) ORDER BY u.id",
					"SELECT MAX(id) OVER (ORDER BY n, id) AS m FROM users ORDER BY m",
				} {
					s.both(t, sql, "")
				}
				if now := fmt.Sprint(must(t, other, sum).Rows); now != before {
					t.Errorf("another client sees %s behind %s, and %s before", now, change, before)
				}
			}
			s.everywhere(t, end)
			s.both(t, sum, "")
		}
	})
}
