package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// TestCommonTablesTwice: a common table expression may be named several times, also where MySQL opens the tables of collected rows once in a statement.
func TestCommonTablesTwice(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, sql := range []string{
			"WITH x AS (SELECT user_id, SUM(amount) AS s FROM orders GROUP BY user_id) SELECT a.user_id, b.s FROM x a JOIN x b ON a.user_id = b.user_id ORDER BY 1",
			"WITH x AS (SELECT user_id, SUM(amount) AS s FROM orders GROUP BY user_id) SELECT user_id, s FROM x WHERE s = (SELECT MAX(s) FROM x) ORDER BY 1",
			"WITH x (u, s) AS (SELECT user_id, SUM(amount) FROM orders WHERE id > 3 GROUP BY user_id) SELECT x.u, (SELECT COUNT(*) FROM x) AS c FROM x WHERE x.s > (SELECT AVG(x.s) FROM x) AND u IN (SELECT u FROM x) ORDER BY x.u",
			"WITH x AS (SELECT id, n FROM users WHERE n > 1), y AS (SELECT a.id, b.n FROM x a JOIN x b ON a.n = b.id) SELECT y.id, x.n, z.n FROM y JOIN x ON x.id = y.n JOIN y z ON z.id = y.id ORDER BY 1, 2, 3",
			"WITH x AS (SELECT id, n FROM users), r AS (SELECT code FROM countries) SELECT x.id, a.code, b.code FROM x, r a, r b WHERE x.id < 3 ORDER BY 1, 2, 3",
			"WITH x AS (SELECT 1 AS one), y AS (SELECT n FROM users) SELECT COUNT(*), SUM(y.n) FROM y, x a, x b",
			"WITH `x` AS (SELECT id, n FROM users) SELECT `x`.id FROM `x` UNION SELECT x.n FROM x ORDER BY 1",
			"WITH RECURSIVE r AS (SELECT id, n, 1 AS d FROM users WHERE id = 7 UNION ALL SELECT u.id, u.n, d + 1 FROM users u JOIN r ON u.id = r.n WHERE d < 5) SELECT id, n, d FROM r ORDER BY d, id",
			"WITH RECURSIVE r AS (SELECT id, n, 1 AS d FROM users WHERE id > 30 UNION ALL SELECT u.id, u.n, d + 1 FROM users u JOIN r ON u.id = r.n WHERE d < 3) SELECT a.id, a.d, b.d FROM r a JOIN r b ON a.id = b.id ORDER BY 1, 2, 3",
			"WITH RECURSIVE num AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM num WHERE i < 5) SELECT u.id, a.i, b.i FROM users u JOIN num a ON a.i = u.n JOIN num b ON b.i = u.id ORDER BY 1",
			"WITH x AS (SELECT at, v FROM payments) SELECT a.at, COUNT(*) FROM x a JOIN x b ON a.at = b.at GROUP BY a.at ORDER BY 1",
			"WITH x AS (SELECT d, f, b, bits, e, t, c, y, g, price FROM users) SELECT a.*, b.g FROM x a, x b WHERE a.d = b.d AND a.t = b.t AND a.price < 5 ORDER BY a.t",
			"WITH x AS (SELECT id FROM users WHERE id = 5) SELECT a.id, b.id FROM x a, x b",
			"WITH x AS (SELECT user_id, SUM(amount) AS s FROM orders GROUP BY user_id) SELECT (SELECT COUNT(*) FROM x), (SELECT MAX(s) FROM x)",
			"WITH x AS (SELECT id, n, name FROM users ORDER BY n DESC, id LIMIT 7) SELECT a.id, b.n FROM x a JOIN x b ON a.n = b.n ORDER BY 1, 2, b.id",
			"WITH x AS (SELECT id AS i, n FROM users WHERE n > 1 ORDER BY n, i LIMIT 3, 5), y AS (SELECT COUNT(*) AS c FROM x) SELECT a.i, y.c FROM x a JOIN x b ON a.i = b.i, y ORDER BY 1",
			"WITH x AS (SELECT user_id, SUM(amount) AS s FROM orders GROUP BY user_id ORDER BY s DESC, user_id LIMIT 4) SELECT a.user_id, b.s FROM x a JOIN x b ON a.user_id = b.user_id ORDER BY 1",
			"WITH x AS (SELECT DISTINCT n FROM users ORDER BY n LIMIT 3) SELECT a.n, b.n FROM x a, x b ORDER BY 1, 2",
			"WITH x AS (SELECT COUNT(*) AS c FROM users LIMIT 1) SELECT a.c, b.c FROM x a, x b",
			"WITH x AS (SELECT id, n, ROW_NUMBER() OVER (PARTITION BY n ORDER BY id) AS r FROM users) SELECT a.id, b.r FROM x a JOIN x b ON a.id = b.id AND b.r < 3 ORDER BY 1, 2",
			"WITH x AS (SELECT id, n, RANK() OVER (ORDER BY n) AS r, SUM(n) OVER (ORDER BY n) AS s, COUNT(*) OVER () AS c FROM users) SELECT a.id, a.r, b.s, b.c FROM x a JOIN x b ON a.r = b.r AND a.id <= b.id ORDER BY a.id, b.id",
			"WITH x AS (SELECT user_id, SUM(amount) AS s, ROW_NUMBER() OVER (ORDER BY SUM(amount), user_id) AS r FROM orders GROUP BY user_id) SELECT a.user_id, b.r FROM x a JOIN x b ON a.r = b.r + 1 ORDER BY b.r",
			"SELECT d.id, d.m FROM (WITH x AS (SELECT id, n FROM users) SELECT a.id, b.n AS m FROM x a JOIN x b ON a.n = b.id) d ORDER BY 1",
			"SELECT id, (WITH x AS (SELECT user_id, SUM(amount) AS s FROM orders GROUP BY user_id) SELECT COUNT(*) FROM x WHERE x.s > (SELECT AVG(s) FROM x)) AS c FROM users WHERE id < 4 ORDER BY id",
			"WITH x AS (WITH y AS (SELECT id, n FROM users) SELECT a.id, b.n FROM y a JOIN y b ON a.n = b.id) SELECT p.id, q.n FROM x p JOIN x q ON p.id = q.n ORDER BY 1, 2",
			"WITH x AS (SELECT id, n FROM users) SELECT d.id FROM (WITH y AS (SELECT * FROM x WHERE n > 1) SELECT a.id FROM y a JOIN y b ON a.n = b.id) d JOIN x ON x.id = d.id ORDER BY 1",
			"(WITH x AS (SELECT id, n FROM users) SELECT a.id FROM x a JOIN x b ON a.n = b.id) UNION (WITH y AS (SELECT user_id FROM orders) SELECT a.user_id FROM y a JOIN y b ON a.user_id = b.user_id) ORDER BY 1",
		} {
			s.both(t, sql, "")
		}
		for _, sql := range []string{
			"INSERT INTO order_items (user_id, v) WITH x AS (SELECT id, n FROM users ORDER BY id LIMIT 9) SELECT a.id + 100, b.n FROM x a JOIN x b ON a.n = b.id",
			"INSERT INTO order_items (user_id, v) SELECT d.id, d.m FROM (WITH x AS (SELECT id, n FROM users) SELECT a.id + 200 AS id, b.n AS m FROM x a JOIN x b ON a.n = b.id) d",
			"UPDATE orders SET amount = amount + 10 WHERE user_id IN (WITH x AS (SELECT id, n FROM users) SELECT a.id FROM x a JOIN x b ON a.n = b.id)",
		} {
			s.everywhere(t, sql)
			s.both(t, "SELECT user_id, v FROM order_items UNION ALL SELECT id, amount FROM orders ORDER BY 1, 2", "")
		}
		mariaDB := strings.Contains(fmt.Sprintf("%s", must(t, s.oracle, "SELECT VERSION()").Rows), "MariaDB") // which reads a temporary table as often as it is named
		for sql, does := range map[string]bool{
			"WITH x AS (SELECT id, n FROM users ORDER BY n LIMIT 7) SELECT COUNT(*) FROM x a JOIN x b ON a.n = b.n":                                                  false,
			"WITH x AS (SELECT id, ROW_NUMBER() OVER (ORDER BY n) AS r FROM users) SELECT COUNT(*) FROM x a JOIN x b ON a.id = b.id AND a.r = b.r":                   false,
			"WITH x AS (SELECT id, SUM(n) OVER (ORDER BY n ROWS 1 PRECEDING) AS r FROM users) SELECT COUNT(*) FROM x a JOIN x b ON a.id = b.id":                      false,
			"WITH x AS (SELECT id, SUM(n) OVER (ORDER BY n, id ROWS 1 PRECEDING) AS r FROM users) SELECT COUNT(*) FROM x a JOIN x b ON a.id = b.id":                  true,
			"WITH x AS (SELECT -id AS id FROM users ORDER BY id LIMIT 7) SELECT COUNT(*) FROM x a JOIN x b ON a.id = b.id":                                           false,
			"WITH x AS (SELECT n AS id, id AS n FROM users ORDER BY id LIMIT 7) SELECT COUNT(*) FROM x a JOIN x b ON a.id = b.id":                                    false,
			"WITH x AS (SELECT u.id, o.id AS o FROM users u JOIN orders o ON o.amount = u.n ORDER BY u.id LIMIT 7) SELECT COUNT(*) FROM x a JOIN x b ON a.id = b.id": false,
			"SELECT u.id, (WITH x AS (SELECT id FROM users i WHERE i.n = u.n) SELECT COUNT(*) FROM x a JOIN x b ON a.id = b.id) AS c FROM users u ORDER BY 1":        false,
		} {
			if r, err := s.subject.Query(sql); err != nil {
				t.Fatal(err)
			} else if refused := r.Err != nil && r.Err.Code == 9012; refused == (does || mariaDB) {
				t.Errorf("%s: %+v", sql, r.Err)
			}
		}
		for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
			st, err := c.Prepare("WITH x AS (SELECT id, n FROM users WHERE n > ?) SELECT ?, a.id, b.n FROM x a JOIN x b ON a.id = b.id WHERE a.id < ? ORDER BY a.id")
			if err != nil {
				t.Fatal(err)
			}
			res, err := st.Execute(2, "told", 9)
			if err != nil || res.Err != nil {
				t.Fatal(res, err)
			}
			if got := fmt.Sprint(res.Rows); got != "[[told 3 3] [told 4 4] [told 8 3]]" {
				t.Errorf("the execution: %s", got)
			}
		}
		must(t, s.subject, "BEGIN")
		s.both(t, "WITH x AS (SELECT n, code FROM users, countries WHERE id < 4) SELECT a.n, b.code FROM x a JOIN x b ON a.n = b.n AND a.code <= b.code ORDER BY 1, 2", "")
		must(t, s.subject, "COMMIT")
	})
}
