package session_test

import (
	"fmt"
	"testing"
)

const pickSchema = `
CREATE TABLE users (id INT PRIMARY KEY, name VARCHAR(20), n INT, at DATE, seen TIMESTAMP(2) NULL, price DECIMAL(8,2))
CREATE TABLE orders (user_id INT NOT NULL, id BIGINT NOT NULL, amount INT, note VARCHAR(20), PRIMARY KEY (id, user_id), UNIQUE KEY (amount, id, user_id))
CREATE TABLE order_items (user_id INT, v INT)
CREATE TABLE payments (merchant_id INT, id INT, n INT, v VARCHAR(30), PRIMARY KEY (id, merchant_id))
CREATE TABLE countries (code CHAR(2) PRIMARY KEY, name VARCHAR(40), n INT)`

// picks are changes by what other shards hold.
var picks = []string{
	"UPDATE users SET n = (SELECT MAX(n) FROM payments) WHERE id > 5",
	"UPDATE users u SET n = (SELECT MAX(p.n) FROM payments p WHERE p.id = u.id)",
	"UPDATE users SET name = (SELECT v FROM payments WHERE payments.id = users.id LIMIT 1), n = n + 1, at = '2024-02-03' WHERE n < 4 ORDER BY id",
	"UPDATE users SET n = (SELECT n FROM payments)",
	"UPDATE users SET price = (SELECT AVG(n) / 3 FROM payments WHERE id < users.n)",
	"UPDATE users SET n = n + 1, price = (SELECT MAX(p.merchant_id) FROM payments p WHERE p.id = users.id)",
	"WITH x AS (SELECT id FROM users WHERE n > 2) UPDATE orders SET note = 'x' WHERE user_id IN (SELECT id FROM x) AND amount IN (SELECT n FROM payments)",
	"WITH x AS (SELECT merchant_id m FROM payments WHERE n > 2) UPDATE orders SET note = 'x' WHERE amount IN (SELECT m FROM x)",
	"WITH x AS (SELECT merchant_id m FROM payments WHERE n > 2) DELETE FROM orders WHERE amount IN (SELECT m FROM x)",
	"DELETE FROM users WHERE id IN (SELECT n FROM payments WHERE merchant_id > 2)",
	"DELETE FROM users WHERE id NOT IN (SELECT n FROM payments WHERE merchant_id > 2) ORDER BY id DESC LIMIT 3",
	"DELETE FROM users AS u WHERE u.id NOT IN (SELECT n FROM payments) ORDER BY u.id LIMIT 3",
	"DELETE FROM o USING (orders o JOIN payments p ON p.n = o.amount) WHERE p.v = 'v2'",
	"DELETE FROM orders AS o WHERE EXISTS (SELECT 1 FROM payments p WHERE p.n = o.amount AND p.v > 'v1')",
	"DELETE FROM orders WHERE amount > (SELECT MAX(n) FROM payments)",
	"DELETE o FROM orders o JOIN payments p ON p.n = o.amount WHERE p.v = 'v2'",
	"DELETE FROM o USING orders o JOIN payments p ON p.n = o.amount LEFT JOIN countries c USING (n) WHERE c.code IS NULL",
	"UPDATE orders o JOIN payments p ON p.id = o.amount SET o.note = p.v, o.amount = o.amount + p.n * 100",
	"UPDATE orders o, (SELECT merchant_id, MAX(n) AS m FROM payments GROUP BY merchant_id) q SET o.note = q.m WHERE q.merchant_id = o.amount",
	"UPDATE orders o LEFT JOIN payments p ON p.id = o.amount SET o.note = COALESCE(p.v, 'none')",
	"UPDATE IGNORE orders o JOIN payments p ON p.id = o.amount SET o.amount = 1",
	"UPDATE users JOIN plain ON plain.x = users.n SET users.name = plain.y",
	"UPDATE users SET n = 1 WHERE n IN (SELECT x FROM plain)",
	"UPDATE users SET seen = (SELECT '2024-05-06 07:08:09.12'), n = (SELECT COUNT(*) FROM plain) WHERE id < 4",
	"UPDATE countries SET n = (SELECT COUNT(*) FROM users) WHERE code > 'E'",
	"DELETE FROM countries WHERE n IN (SELECT n FROM users)",
	"DELETE FROM countries LIMIT 1",
	"UPDATE countries JOIN users ON users.id = countries.n SET countries.name = users.name",
	"UPDATE IGNORE countries AS t1 JOIN (SELECT id, n FROM users) AS t2 ON t1.n = t2.n SET t1.n = t1.n + 1, t1.name = 'w' WHERE t2.n > 2",
	"UPDATE users SET nothing = (SELECT MAX(n) FROM payments)",
	"UPDATE users SET n = (SELECT nothing FROM payments)",
	"UPDATE users SET n = 1 / 0 WHERE n IN (SELECT n FROM payments)",
	"UPDATE users SET n = (SELECT MAX(n) / 0 FROM payments)",
	"UPDATE users SET n = 3000000000 WHERE n IN (SELECT n FROM payments)",
	"DELETE FROM users WHERE id IN (SELECT n FROM payments WHERE 1 = 0)",
}

// TestPick: an UPDATE or DELETE that reads rows of other shards is that of one server.
func TestPick(t *testing.T) {
	for _, config := range []string{"", atomicConfig} {
		onShardsOf(t, func(*testing.T) {}, pickSchema, func(t *testing.T, s *shards) {
			s.everywhere(t, "CREATE TABLE plain (x INT PRIMARY KEY, y VARCHAR(20))")
			tables := []string{"users", "orders", "order_items", "payments", "countries", "plain"}
			for _, sql := range picks {
				for _, table := range tables {
					s.everywhere(t, "DELETE FROM "+table)
				}
				for k := range 12 {
					s.everywhere(t, fmt.Sprintf("INSERT INTO users VALUES (%d, 'n%d', %d, '2024-01-%02d', '2024-01-02 03:04:05.06', %d.25)", k, k%7, k*7%12, k+1, k))
					s.everywhere(t, fmt.Sprintf("INSERT INTO orders VALUES (%d, %d, %d, 'o')", k%5, k+100, k))
					s.everywhere(t, fmt.Sprintf("INSERT INTO payments VALUES (%d, %d, %d, 'v%d')", k%7, k, k*3%10, k%3))
					s.everywhere(t, fmt.Sprintf("INSERT INTO plain VALUES (%d, 'p''%d')", k*2, k))
				}
				s.everywhere(t, "INSERT INTO countries VALUES ('DE', 'Germany', 3), ('FR', 'France', 4), ('IT', 'Italy', 50)")
				s.both(t, sql, "", "users ORDER BY id", "orders ORDER BY id", "countries ORDER BY code")
			}
			if config == "" {
				return
			}
			for _, sql := range []string{"BEGIN", "UPDATE users SET n = 7 WHERE id = 3", picks[1], "DELETE FROM payments WHERE n IN (SELECT n FROM users)", "SELECT COUNT(*), SUM(n) FROM users", "ROLLBACK", "SELECT COUNT(*), SUM(n) FROM users"} {
				s.both(t, sql, "", "payments ORDER BY id")
			}
		}, config)
	}
}
