package session_test

import (
	"fmt"
	"strings"
	"testing"
)

// What is collected is reduced by nothing but what a row has to meet: the answers are one server's.
func TestFinishReduces(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		s.everywhere(t, "CREATE TABLE many (x INT, KEY (x))")
		s.everywhere(t, "INSERT INTO many VALUES (NULL), (1), (2), (3)")
		s.everywhere(t, "CREATE TABLE plain (cid INT, n INT)")
		s.everywhere(t, "INSERT INTO plain VALUES (1, 1), (2, 3), (NULL, 4)")
		for _, sql := range []string{
			"SELECT u.id, v.id FROM users u JOIN users v ON u.n = v.id ORDER BY u.id, v.id",
			"SELECT u.id, v.id FROM users u LEFT JOIN users v ON u.n = v.id AND v.n > 2 ORDER BY u.id, v.id",
			"SELECT u.id, v.id FROM users u LEFT JOIN users v ON u.n = v.id WHERE v.id IS NULL ORDER BY u.id",
			"SELECT u.id FROM users u WHERE NOT EXISTS (SELECT * FROM users v WHERE v.n = u.id AND v.id > 3) ORDER BY u.id",
			"SELECT u.id FROM users u WHERE u.id NOT IN (SELECT v.n FROM users v WHERE v.n IS NOT NULL) ORDER BY u.id",
			"SELECT u.id FROM users u WHERE u.id IN (SELECT v.n FROM users v GROUP BY v.n HAVING COUNT(*) > 0) ORDER BY u.id",
			"SELECT u.id, (SELECT COUNT(*) FROM users v WHERE v.n = u.id) AS c FROM users u ORDER BY u.id",
			"SELECT d.a, v.id FROM (SELECT u.n AS a FROM users u WHERE u.id > 2 AND u.n < 9) d JOIN users v ON d.a = v.id ORDER BY d.a, v.id",
			// Names that are not what the tables with rules alone say.
			"SELECT v.id FROM plain LEFT JOIN users u ON u.id = -1 JOIN users v ON v.n = cid ORDER BY v.id",
			"SELECT u.id FROM users u WHERE EXISTS (SELECT 1 FROM (SELECT id + 1 AS x FROM users w) d JOIN users v ON v.n = x) ORDER BY u.id",
			"SELECT u.id FROM users u WHERE EXISTS (SELECT 1 FROM (SELECT w.id + 1 AS n FROM users w) d JOIN users v ON v.id = d.n) ORDER BY u.id",
			"SELECT u.id + 1 AS n FROM users u HAVING EXISTS (SELECT 1 FROM users v WHERE v.id = n) ORDER BY n",
			"SELECT u.id FROM users u WHERE EXISTS (SELECT w.n AS k FROM users w HAVING EXISTS (SELECT 1 FROM users v WHERE v.id = k)) ORDER BY u.id",
			"SELECT u.id FROM users u WHERE EXISTS (SELECT 1 FROM users a LEFT JOIN (users b JOIN users c ON b.n = c.id) ON a.id = b.id WHERE a.n = u.id) ORDER BY u.id",
			"WITH w AS (SELECT n AS cid FROM users WHERE id > 1) SELECT v.id FROM w JOIN users v ON v.id = w.cid ORDER BY v.id",
			"SELECT u.id FROM users u WHERE EXISTS (SELECT * FROM users v WHERE v.n = u.id ORDER BY 2) ORDER BY u.id",
			"SELECT u.id FROM users u, users v WHERE u.n = v.id AND v.n = v.id + 1000",
			"SELECT COUNT(*), SUM(v.n) FROM users u, users v WHERE u.n = v.id AND v.n = v.id + 1000",
			// Subqueries that the shards answer for their own rows.
			"SELECT u.id, v.id FROM users u JOIN users v ON u.n = v.id WHERE EXISTS (SELECT * FROM orders o WHERE o.user_id = u.id AND o.amount > 3) ORDER BY u.id, v.id",
			"SELECT u.id, v.id FROM users u JOIN users v ON u.n = v.id WHERE NOT EXISTS (SELECT * FROM orders o WHERE o.user_id = u.id AND o.amount > u.n) AND NOT v.id = 2 ORDER BY u.id, v.id",
			"SELECT u.id, v.id FROM users u JOIN users v ON u.n = v.id WHERE u.id IN (SELECT o.user_id FROM orders o GROUP BY o.user_id HAVING SUM(o.amount) > 9) ORDER BY u.id, v.id",
			"SELECT u.id, v.id FROM users u JOIN users v ON u.n = v.id WHERE u.id IN (SELECT user_id FROM order_items WHERE user_id < 9 GROUP BY user_id HAVING COUNT(v) > 3) ORDER BY u.id, v.id",
			"SELECT u.id, v.id FROM users u JOIN users v ON u.n = v.id WHERE u.id > 12 OR NOT EXISTS (SELECT * FROM orders o JOIN order_items i ON i.user_id = o.user_id AND i.v = 1 WHERE o.user_id = u.id AND o.amount = 5) ORDER BY u.id, v.id",
			"SELECT u.id, o.id FROM users u JOIN orders o ON u.n = o.amount WHERE EXISTS (SELECT 1 FROM countries JOIN orders x ON x.note > code WHERE x.user_id = u.id) ORDER BY u.id, o.id",
			"SELECT u.id FROM users u WHERE u.n IN (SELECT o.amount FROM orders o WHERE o.user_id IN (SELECT i.user_id FROM order_items i GROUP BY i.user_id HAVING COUNT(*) > 3)) ORDER BY u.id",
			"SELECT id FROM users WHERE id IN (SELECT user_id FROM orders GROUP BY user_id HAVING SUM(amount) > 9) ORDER BY id",
			"SELECT id FROM users WHERE id NOT IN (SELECT user_id FROM orders GROUP BY user_id HAVING SUM(amount) > 9) ORDER BY id",
			// What an OR says of each table.
			"SELECT u.id, o.id FROM users u, orders o WHERE (u.n = o.amount AND u.id < 5 AND o.id > 3) OR (o.amount = u.n AND u.id > 35 AND o.id BETWEEN 2 AND 20 AND u.price > o.id) ORDER BY u.id, o.id",
			"SELECT u.id, o.id FROM users u, orders o WHERE (u.id = o.user_id AND u.n = 2) OR (o.user_id = u.id AND u.n = 3 AND o.amount < 4) ORDER BY u.id, o.id",
			"SELECT u.id, v.id FROM users u LEFT JOIN users v ON u.n = v.id WHERE (u.id < 9 AND v.id IS NULL) OR (u.id > 30 AND v.n = 1) ORDER BY u.id, v.id",
		} {
			s.both(t, sql, "")
		}
		// More values than a list may have, with a NULL among them.
		var users, orders strings.Builder
		for k := 1; k <= 6000; k++ {
			fmt.Fprintf(&users, ", (%d, %d)", 1000+k, k)
			fmt.Fprintf(&orders, ", (%d, %d)", k%11, 1000+k)
		}
		s.everywhere(t, "INSERT INTO users (id, n) VALUES (1000, NULL)"+users.String())
		s.everywhere(t, "INSERT INTO orders (user_id, id) VALUES (1, 1000)"+orders.String())
		for _, sql := range []string{
			"SELECT COUNT(*) FROM users u JOIN orders o ON u.n + 1000 = o.id AND u.n = o.id - 1000",
			"SELECT COUNT(*), SUM(o.id) FROM users u JOIN orders o ON u.n = o.id",
			"SELECT COUNT(*) FROM orders o WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.n = o.id)",
			"SELECT COUNT(*), COUNT(u.id) FROM orders o LEFT JOIN users u ON u.n = o.id",
		} {
			s.both(t, sql, "")
		}
	})
}
