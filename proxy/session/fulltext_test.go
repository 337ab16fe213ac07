package session_test

import (
	"fmt"
	"testing"

	"kingshard/mysql/mysqltest"
)

const fullTextSchema = `
CREATE TABLE users (id INT PRIMARY KEY, n INT, name VARCHAR(100), bio TEXT, FULLTEXT KEY (name), FULLTEXT KEY (name, bio))
CREATE TABLE orders (user_id INT, id INT, amount INT, note VARCHAR(100), PRIMARY KEY (user_id, id), FULLTEXT KEY (note))
CREATE TABLE order_items (user_id INT, v INT)
CREATE TABLE payments (merchant_id INT, v INT, note VARCHAR(100), FULLTEXT KEY (note))
CREATE TABLE countries (code CHAR(2) PRIMARY KEY, name VARCHAR(40), FULLTEXT KEY (name))`

// Whether rows have the words of a MATCH in boolean mode their shards know, though the statement is finished where no full-text index is. Its relevance nobody knows.
func TestFullText(t *testing.T) {
	onShards(t, fullTextSchema, func(t *testing.T, s *shards) {
		for _, table := range []string{"users", "orders", "order_items", "payments", "countries"} {
			s.everywhere(t, "DELETE FROM "+table)
		}
		words := []string{"alpha", "beta", "gamma", "delta"}
		for k := 1; k <= 24; k++ {
			word, next := words[k%4], words[k/4%4]
			s.everywhere(t, fmt.Sprintf("INSERT INTO users VALUES (%d, %d, '%s user', 'about %s')", k, k%5, word, next))
			s.everywhere(t, fmt.Sprintf("INSERT INTO orders VALUES (%d, %d, %d, '%s order')", k, k+1, k%6, next))
			s.everywhere(t, fmt.Sprintf("INSERT INTO payments VALUES (%d, %d, '%s %s')", k+3, k%7, word, next))
		}
		s.everywhere(t, "INSERT INTO countries VALUES ('DE', 'Germany alpha'), ('FR', 'France beta')")
		ask := func(refused bool, list ...string) {
			t.Helper()
			for _, sql := range list {
				if r, err := s.subject.Query(sql); err != nil {
					t.Fatal(err)
				} else if r.Err != nil && r.Err.Code == 9012 && refused {
					continue
				} else if refused && r.Err == nil {
					t.Errorf("not refused: %s", sql)
				}
				s.both(t, sql, "")
			}
		}
		ask(false,
			"SELECT id FROM users WHERE MATCH (name) AGAINST ('alpha' IN BOOLEAN MODE) ORDER BY id",
			"SELECT GROUP_CONCAT(id ORDER BY id) FROM users WHERE MATCH (name) AGAINST ('alpha' IN BOOLEAN MODE)",
			"SELECT COUNT(DISTINCT n) FROM users WHERE MATCH (name, bio) AGAINST ('+alpha -beta' IN BOOLEAN MODE) AND n > 1",
			"SELECT u.id, p.v FROM users u JOIN payments p ON p.v = u.n WHERE MATCH (u.name) AGAINST ('alpha gam*' IN BOOLEAN MODE) AND MATCH (p.note) AGAINST ('+delta' IN BOOLEAN MODE) ORDER BY 1, 2, merchant_id",
			"SELECT u.id, p.v FROM users u LEFT JOIN payments p ON p.v = u.n AND MATCH (p.note) AGAINST ('beta' IN BOOLEAN MODE) ORDER BY 1, 2, merchant_id",
			"SELECT u.id FROM users u JOIN payments p ON p.v = u.n WHERE NOT MATCH (u.name) AGAINST ('alpha' IN BOOLEAN MODE) AND (MATCH (note) AGAINST ('beta' IN BOOLEAN MODE) OR p.v = 3) ORDER BY 1",
			"SELECT id FROM users WHERE id IN (SELECT v FROM payments WHERE MATCH (note) AGAINST ('gamma' IN BOOLEAN MODE)) ORDER BY id",
			"SELECT id FROM users u WHERE EXISTS (SELECT 1 FROM orders o WHERE o.user_id = u.id AND MATCH (note) AGAINST ('gamma' IN BOOLEAN MODE)) AND n IN (SELECT v FROM payments) ORDER BY id",
			"(SELECT id FROM users WHERE MATCH (name) AGAINST ('beta' IN BOOLEAN MODE)) UNION (SELECT v + 100 FROM payments WHERE MATCH (payments.note) AGAINST ('delta' IN BOOLEAN MODE)) ORDER BY 1",
			"WITH x AS (SELECT id, n FROM users WHERE MATCH (name) AGAINST ('beta' IN BOOLEAN MODE)) SELECT a.id, b.id FROM x a JOIN x b ON a.n = b.n ORDER BY 1, 2",
			"SELECT u.id, c.code FROM users u JOIN payments p ON p.v = u.n, countries c WHERE MATCH (c.name) AGAINST ('alpha') ORDER BY 1, 2, merchant_id",
			"SELECT u.id, (MATCH (c.name) AGAINST ('alpha')) > 0 AS r FROM users u JOIN payments p ON p.v = u.n, countries c ORDER BY 1, 2, merchant_id",
			"SELECT n, COUNT(*) FROM users WHERE MATCH (name) AGAINST ('beta') GROUP BY n HAVING COUNT(*) > 0 ORDER BY n",
			"SELECT id FROM users WHERE MATCH (name) AGAINST ('gamma beta') ORDER BY id",
		)
		ask(true,
			"SELECT id, (MATCH (name) AGAINST ('alpha')) > 0 AS r FROM users ORDER BY id",
			"SELECT id FROM users WHERE (MATCH (name) AGAINST ('alpha')) > 0 ORDER BY id",
			"SELECT id FROM users ORDER BY MATCH (name) AGAINST ('alpha' IN BOOLEAN MODE) DESC, id",
			"SELECT id FROM users WHERE MATCH (name) AGAINST ('alpha' WITH QUERY EXPANSION) ORDER BY id",
			"SELECT SUM(MATCH (name) AGAINST ('alpha')) > 0 AS s FROM users",
			"SELECT u.id FROM users u JOIN payments p ON p.v = u.n WHERE MATCH (p.note) AGAINST ('beta') ORDER BY u.id",
			"SELECT u.id FROM users u LEFT JOIN payments p ON p.v = u.n WHERE MATCH (p.note) AGAINST ('beta' IN BOOLEAN MODE) ORDER BY u.id",
			"SELECT u.id, (SELECT COUNT(*) FROM payments p WHERE MATCH (p.note) AGAINST ('+*' IN BOOLEAN MODE)) AS c FROM users u WHERE u.id < 3 ORDER BY u.id",
		)
		s.everywhere(t, "BEGIN")
		s.both(t, "SELECT u.id, p.v FROM users u JOIN payments p ON p.v = u.n WHERE MATCH (u.name) AGAINST ('alpha' IN BOOLEAN MODE) ORDER BY 1, 2, merchant_id", "")
		ask(true, "SELECT u.id, c.code FROM users u JOIN payments p ON p.v = u.n, countries c WHERE MATCH (c.name) AGAINST ('alpha' IN BOOLEAN MODE) ORDER BY 1, 2, merchant_id")
		s.everywhere(t, "COMMIT")
		var answers [2]string
		for k, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
			st, err := c.Prepare("SELECT u.id, p.v FROM users u JOIN payments p ON p.v = u.n WHERE MATCH (u.name) AGAINST (? IN BOOLEAN MODE) AND u.id < ? ORDER BY 1, 2, merchant_id")
			if err != nil {
				t.Fatal(err)
			}
			r, err := st.Execute("+gamma", 12)
			if err != nil || r.Err != nil || len(r.Rows) == 0 {
				t.Fatal(r, err)
			}
			answers[k] = fmt.Sprint(r.Rows)
		}
		if answers[0] != answers[1] {
			t.Errorf("prepared: %s, not %s", answers[1], answers[0])
		}
	})
}
