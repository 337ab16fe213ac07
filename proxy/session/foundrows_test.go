package session_test

import (
	"fmt"
	"testing"
)

// rowsSchema are tables of the shapes' rules for statements that count and choose rows.
const rowsSchema = `
CREATE TABLE users (id INT PRIMARY KEY, name VARCHAR(20), n INT, u INT UNSIGNED, d DATETIME(2), price DECIMAL(8,2), f DOUBLE, b VARBINARY(10), bits BIT(10), e ENUM('x','y'), t TIME, c CHAR(5) CHARACTER SET latin1 COLLATE latin1_german1_ci, y YEAR, g FLOAT)
CREATE TABLE orders (user_id INT, id BIGINT, amount INT, note VARCHAR(20), PRIMARY KEY (id, user_id))
CREATE TABLE order_items (user_id INT, v INT, KEY (v))
CREATE TABLE payments (merchant_id INT, v VARCHAR(30), w VARCHAR(10) COLLATE utf8mb4_bin, at DATETIME, PRIMARY KEY (w, at, v))
CREATE TABLE countries (code CHAR(2) PRIMARY KEY, name VARCHAR(40))`

// fillRows fills the tables of rowsSchema on both sides.
func (s *shards) fillRows(t *testing.T) {
	t.Helper()
	for _, table := range shapeTables[:5] {
		s.everywhere(t, "DELETE FROM "+table)
	}
	for k := 1; k <= 40; k++ {
		s.everywhere(t, fmt.Sprintf("INSERT INTO users VALUES (%d, 'n%d', %d, %d, '2024-01-%02d 10:00:00.25', %d.50, %d/3, x'00ff%02x', %d, '%s', '%d:00:00', 'é', 2000+%d, %d/3)",
			k, k%7, k%5, k, k%28+1, k, k, k, k, "xy"[k%2:k%2+1], k, k%50, k))
		s.everywhere(t, fmt.Sprintf("INSERT INTO orders VALUES (%d, %d, %d, 'o%d')", k%11, k, k%6, k))
		s.everywhere(t, fmt.Sprintf("INSERT INTO order_items VALUES (%d, %d)", k%13, k%3))
		s.everywhere(t, fmt.Sprintf("INSERT INTO payments VALUES (%d, 'v%d', '%c%d', '2024-02-%02d')", k%9, k%4, "aAbB"[k%4], k, k%28+1))
	}
	s.everywhere(t, "INSERT INTO countries VALUES ('DE', 'Germany'), ('FR', 'France')")
}

func TestFoundRows(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		ways := map[string]bool{}
		for _, sql := range []string{
			"SELECT SQL_CALC_FOUND_ROWS id FROM users ORDER BY id LIMIT 3",
			"SELECT SQL_CALC_FOUND_ROWS id FROM users WHERE n > 2 ORDER BY n DESC, id LIMIT 5, 3",
			"SELECT SQL_CALC_FOUND_ROWS id FROM users ORDER BY id LIMIT 0",
			"SELECT SQL_CALC_FOUND_ROWS id FROM users ORDER BY id LIMIT 100 OFFSET 50",
			"SELECT SQL_CALC_FOUND_ROWS id FROM users ORDER BY id",
			"SELECT SQL_CALC_FOUND_ROWS id FROM users WHERE id = 5 LIMIT 1",
			"SELECT SQL_CALC_FOUND_ROWS id FROM users WHERE id IN (5, 6, 7, 8) ORDER BY id LIMIT 1",
			"SELECT SQL_CALC_FOUND_ROWS id FROM users WHERE id < 0 LIMIT 1",
			"SELECT SQL_CALC_FOUND_ROWS n, COUNT(*), SUM(id) FROM users GROUP BY n ORDER BY n LIMIT 2",
			"SELECT SQL_CALC_FOUND_ROWS n FROM users GROUP BY n ORDER BY n LIMIT 1, 2",
			"SELECT SQL_CALC_FOUND_ROWS COUNT(*) FROM users LIMIT 0",
			"SELECT SQL_CALC_FOUND_ROWS DISTINCT n FROM users ORDER BY n LIMIT 2",
			"SELECT SQL_CALC_FOUND_ROWS n, COUNT(*) FROM users GROUP BY n HAVING COUNT(*) > 2 ORDER BY n LIMIT 1",
			"SELECT SQL_CALC_FOUND_ROWS u.id FROM users u JOIN orders o ON o.amount = u.n ORDER BY u.id, o.id LIMIT 4",
			"SELECT SQL_CALC_FOUND_ROWS u.id FROM users u JOIN orders o ON o.user_id = u.id ORDER BY u.id, o.id LIMIT 4",
			"(SELECT SQL_CALC_FOUND_ROWS id FROM users) UNION ALL (SELECT id FROM orders) ORDER BY id LIMIT 3",
			"SELECT id FROM users ORDER BY id LIMIT 3",
		} {
			for _, around := range [][2]string{{"DO 0", "DO 0"}, {"BEGIN", "COMMIT"}} {
				s.everywhere(t, around[0])
				s.both(t, sql, "")
				s.both(t, "SELECT FOUND_ROWS() AS n", "")
				s.everywhere(t, around[1])
			}
			st, err := s.subject.Prepare(sql)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			if r, err := st.Execute(); err != nil || r.Err != nil {
				t.Fatalf("%s: %v, %v", sql, err, r)
			}
			must(t, s.oracle, sql)
			s.both(t, "SELECT FOUND_ROWS() AS n", "")
			ways[must(t, s.subject, "EXPLAIN "+sql).Rows[0][1].(string)] = true
		}
		if !ways["merge"] || !ways["gather"] || !ways["forward"] {
			t.Errorf("the ways are %v", ways)
		}
	})
}
