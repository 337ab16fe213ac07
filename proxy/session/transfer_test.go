package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

const transferSchema = `
CREATE TABLE users (id INT PRIMARY KEY, name VARCHAR(20), n INT, price DECIMAL(8,2), f DOUBLE, d DATETIME(2), t TIME, b VARBINARY(10), e ENUM('x','y'), j JSON, UNIQUE KEY (id, n))
CREATE TABLE orders (user_id INT NOT NULL, id BIGINT NOT NULL AUTO_INCREMENT, amount TINYINT, note VARCHAR(20), at DATE, PRIMARY KEY (id, user_id))
CREATE TABLE order_items (user_id INT, v INT, seen TIMESTAMP(2) NULL)
CREATE TABLE payments (merchant_id INT, v VARCHAR(2000), n INT)
CREATE TABLE countries (code CHAR(2) PRIMARY KEY, name VARCHAR(40))`

// TestTransfer: INSERT ... SELECT of rows that belong elsewhere is that of one server, in what is there and in what is told.
func TestTransfer(t *testing.T) {
	onShards(t, transferSchema, func(t *testing.T, s *shards) {
		tables := []string{"users", "orders", "order_items", "payments", "countries"}
		s.everywhere(t, "CREATE TABLE plain (id INT PRIMARY KEY, x VARCHAR(40), y DOUBLE)")
		s.everywhere(t, "CREATE TABLE stamps (at TIMESTAMP(2) NULL, x INT)")
		fill := func() {
			for _, table := range append([]string{"plain", "stamps"}, tables...) {
				s.everywhere(t, "DELETE FROM "+table)
			}
			for k := range 12 {
				s.everywhere(t, fmt.Sprintf("INSERT INTO users VALUES (%d, 'n%d', %d, %d.5, %d/3, '2024-01-%02d 10:00:00.25', '-%d:00:00', x'00ff%02x', '%s', '{\"a\": [%d, \"é\"]}')", k, k%7, k*7%12, k*20, k, k+1, k, k, "xy"[k%2:k%2+1], k))
				s.everywhere(t, fmt.Sprintf("INSERT INTO order_items VALUES (%d, %d, FROM_UNIXTIME(1700000000.25 + %d * 4000))", k%5, k, k))
				s.everywhere(t, fmt.Sprintf("INSERT INTO plain VALUES (%d, 'it''s %d', %d/7)", 100+k, k, k))
			}
			s.everywhere(t, "INSERT INTO countries VALUES ('DE', 'Germany'), ('FR', 'France')")
		}
		for _, sql := range []string{
			"INSERT INTO payments (merchant_id, v, n) SELECT n, name, id FROM users",
			"INSERT INTO payments SELECT n, CONCAT(name, '\\\\', x), COUNT(*) FROM users JOIN plain ON plain.id = users.id + 100 GROUP BY n, name, x",
			"INSERT INTO payments (v, merchant_id) SELECT v, user_id FROM order_items WHERE v > 100",
			"INSERT INTO payments (v, merchant_id) SELECT v, user_id FROM order_items LIMIT 0",
			"INSERT INTO payments (merchant_id, v) SELECT n, price FROM users UNION ALL SELECT n, f FROM users",
			"INSERT INTO payments (merchant_id, v) SELECT n, d FROM users UNION ALL (SELECT n, t FROM users)",
			"INSERT INTO payments (merchant_id, v, n) SELECT n, e, d FROM users WHERE id = 100",
			"INSERT INTO payments (merchant_id, n) SELECT n, d FROM users WHERE id = 3",
			"INSERT INTO payments (merchant_id, n) SELECT n, price FROM users",
			"INSERT INTO payments (merchant_id, n) SELECT id, n / 0 FROM users",
			"INSERT IGNORE INTO payments (merchant_id, n) SELECT id, n / 0 FROM users",
			"INSERT INTO payments (merchant_id, n) SELECT n, name + 1 FROM users",
			"INSERT INTO orders (user_id, amount, note, at) SELECT n, id, b, d FROM users WHERE id = 0",
			"INSERT INTO orders (user_id, amount, note, at) SELECT n, id, name, d FROM users ORDER BY id",
			"INSERT INTO orders (user_id, amount) SELECT n, price FROM users ORDER BY id",
			"INSERT IGNORE INTO orders (user_id, amount) SELECT n, price FROM users ORDER BY id",
			"INSERT INTO orders (user_id, id, amount) SELECT id, NULL, IF(id = 5, NULL, 1) FROM users ORDER BY id",
			"INSERT INTO users (id, name, d, t, b, e, j, f, price) SELECT id + 50, name, d, t, b, e, j, f, price FROM users",
			"INSERT INTO users (id, n) SELECT n, id FROM users",
			"INSERT IGNORE INTO users (id, n) SELECT n + 6, id FROM users ORDER BY id",
			"REPLACE INTO users (id, n) SELECT n + 6, id FROM users ORDER BY id",
			"INSERT INTO users (id, n) SELECT v + 6, 9 FROM order_items ON DUPLICATE KEY UPDATE n = VALUES(n) + 1, name = CONCAT(name, 'x')",
			"INSERT INTO users (id, n) SELECT v + 6, 9 FROM order_items ORDER BY v DESC LIMIT 3 ON DUPLICATE KEY UPDATE n = users.n",
			"INSERT INTO plain (id, x) SELECT id, name FROM users",
			"INSERT INTO plain (id, x) SELECT id + 110, name FROM users ON DUPLICATE KEY UPDATE x = 'y'",
			"INSERT INTO plain (id, x, y) SELECT n + 200, d, t FROM users",
			"INSERT INTO plain SELECT id + 95, name, price FROM users ORDER BY id",
			"REPLACE INTO plain (id, x) SELECT id + 95, name FROM users ORDER BY id DESC LIMIT 4",
			"INSERT INTO countries (code, name) SELECT DISTINCT CONCAT('A', n), 'x' FROM users WHERE n < 10",
			"INSERT INTO countries (code, name) SELECT name, MAX(id) FROM users GROUP BY name ORDER BY name LIMIT 3",
			"REPLACE INTO countries (code, name) SELECT 'DE', x FROM plain ORDER BY id LIMIT 2",
			"INSERT INTO countries (code, name) SELECT CONCAT('Z', v), RAND() > 2 FROM order_items WHERE v < 9",
			"INSERT INTO payments (merchant_id, v, n) SELECT 1, 2 FROM users",
			"INSERT INTO payments (merchant_id, v) WITH x AS (SELECT n, name FROM users WHERE n > 3) SELECT * FROM x",
			"INSERT INTO payments (merchant_id, v) SELECT nothing, name FROM users",
			"INSERT INTO stamps (at, x) SELECT seen, v FROM order_items",
			"INSERT INTO payments (merchant_id, v, n) SELECT v, seen, seen - seen FROM order_items",
		} {
			fill()
			s.both(t, sql, "", "users ORDER BY id, n", "payments ORDER BY merchant_id, v, n", "(SELECT user_id, amount, note, at FROM orders) o ORDER BY user_id, amount, note", "plain ORDER BY id", "stamps ORDER BY x", "countries ORDER BY code")
		}
		// More rows than go in one statement.
		var rows strings.Builder
		for k := 1; k <= 6000; k++ {
			fmt.Fprintf(&rows, ", (%d, %d)", k%11, k)
		}
		s.everywhere(t, "INSERT INTO order_items (user_id, v) VALUES (1, 0)"+rows.String())
		s.both(t, "INSERT INTO payments (merchant_id, n) SELECT v, user_id FROM order_items", "")
		s.both(t, "SELECT COUNT(*), SUM(n), MAX(merchant_id) FROM payments", "")
		s.both(t, "INSERT INTO orders (user_id, id, amount) SELECT v, v + 1000, IF(v = 5990, 1000, 1) FROM order_items WHERE v > 50 ORDER BY v", "", "orders ORDER BY id")
	})
}

// TestTransferWithin: in a client's transaction, which may be undone, and over several statements.
func TestTransferWithin(t *testing.T) {
	onShardsOf(t, func(*testing.T) {}, transferSchema, func(t *testing.T, s *shards) {
		s.everywhere(t, "INSERT INTO users (id, n) VALUES (1, 20), (2, 30), (3, 40), (4, 5)")
		s.everywhere(t, "INSERT INTO order_items (user_id, v) VALUES (1, 2), (2, 11), (3, 12)")
		for _, sql := range []string{
			"BEGIN", "SELECT COUNT(*) FROM users", "INSERT INTO users (id, n) VALUES (70, 3)", "INSERT INTO payments (merchant_id, n) SELECT n, id FROM users", "SELECT COUNT(*), SUM(n) FROM payments",
			"INSERT INTO users (id, n) SELECT v, 1 FROM order_items", "SELECT COUNT(*) FROM users", "SELECT u.id, i.v FROM users u JOIN order_items i ON u.id = i.v FOR UPDATE", "ROLLBACK", "SELECT COUNT(*) FROM payments",
			"BEGIN", "INSERT INTO payments (merchant_id, n) SELECT n, id FROM users ON DUPLICATE KEY UPDATE v = 'x'", "COMMIT", "SELECT COUNT(*), SUM(n) FROM payments",
		} {
			s.both(t, sql, "")
		}
		// The rows of other nodes that a locking read has joined are locked.
		s.both(t, "BEGIN", "")
		s.both(t, "SELECT u.id, i.v FROM users u JOIN order_items i ON u.id = i.v LOCK IN SHARE MODE", "")
		other := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
		must(t, other, "SET innodb_lock_wait_timeout = 1")
		if res, err := other.Query("UPDATE order_items SET v = 3 WHERE v = 2"); err != nil || res.Err == nil || res.Err.Code != 1205 {
			t.Errorf("a row that is locked was changed: %v, %v", res, err)
		}
		s.both(t, "COMMIT", "")
		// Several statements, of which the last fails.
		var rows strings.Builder
		long := strings.Repeat("x", 1000)
		for k := range 6000 {
			fmt.Fprintf(&rows, ", (%d, %d)", k%11, k)
		}
		s.everywhere(t, "INSERT INTO order_items (user_id, v) VALUES (1, 13)"+rows.String())
		const sums = "SELECT COUNT(*), SUM(n), SUM(LENGTH(v)), MAX(merchant_id) FROM payments"
		s.both(t, "INSERT INTO payments (merchant_id, v, n) SELECT v, '"+long+"', IF(v = 5990, 1 << 40, 1) FROM order_items ORDER BY v", "")
		s.both(t, sums, "")
		s.both(t, "INSERT INTO payments (merchant_id, v, n) SELECT v, '"+long+"', 1 FROM order_items ORDER BY v", "")
		s.both(t, sums, "")
	}, atomicConfig)
}

// TestTransferRefuses what no literal stands for.
func TestTransferRefuses(t *testing.T) {
	onShards(t, transferSchema, func(t *testing.T, s *shards) {
		must(t, s.subject, "INSERT INTO users (id, n, name, f) VALUES (1, 20, 'é', 3), (2, 30, 'a', 7)")
		must(t, s.subject, "CREATE TABLE plain (id INT PRIMARY KEY, x VARBINARY(40), y DOUBLE)")
		for _, sql := range []string{
			"INSERT INTO users (id, b) SELECT n, name FROM users",
			"INSERT INTO plain (id, x) SELECT n, name FROM users",
			"INSERT INTO users (id, f) SELECT n, n / 7 FROM users",
			"INSERT INTO payments (merchant_id, v) SELECT n, AVG(id) FROM users GROUP BY n",
		} {
			if res, err := s.subject.Query(sql); err != nil || res.Err == nil || res.Err.Code != 9012 {
				t.Errorf("%s: %v, %v", sql, res.Err, err)
			}
		}
		must(t, s.subject, "INSERT INTO users (id, n) SELECT n, n / 7 FROM users")
		st, err := s.subject.Prepare("INSERT INTO payments (merchant_id, n) SELECT n, id FROM users")
		if err != nil {
			t.Fatal(err)
		}
		must(t, s.subject, "USE information_schema")
		if res, err := st.Execute(); err != nil || res.Err == nil || res.Err.Code != 9012 {
			t.Errorf("an execution in another database: %v, %v", res, err)
		}
	})
}

// TestTransferPrepared: the same, of executions.
func TestTransferPrepared(t *testing.T) {
	onShards(t, transferSchema, func(t *testing.T, s *shards) {
		s.everywhere(t, "INSERT INTO users (id, n) VALUES (1, 2), (2, 3), (3, 4), (4, 5)")
		for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
			st, err := c.Prepare("INSERT INTO payments (merchant_id, v, n) SELECT n, ?, id FROM users WHERE id > ?")
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range []string{"a", "b"} {
				if res, err := st.Execute(v, 1); err != nil || res.Err != nil || res.OK.AffectedRows != 3 {
					t.Fatal(res, err)
				}
			}
		}
		s.sameTables(t, "the executions", "payments ORDER BY merchant_id, v")
	})
}
