package session_test

import (
	"fmt"
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
		} {
			s.both(t, sql, "")
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
