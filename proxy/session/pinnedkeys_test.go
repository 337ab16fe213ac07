package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// pinSchema are tables of the shapes' rules, of which keys are pinned: order_items goes by range.
const pinSchema = `
CREATE TABLE users (id INT PRIMARY KEY, name VARCHAR(20))
CREATE TABLE orders (id INT, user_id INT, v VARCHAR(20), PRIMARY KEY (id, user_id))
CREATE TABLE order_items (user_id INT, v INT, PRIMARY KEY (user_id, v))
CREATE TABLE payments (merchant_id VARCHAR(20) COLLATE utf8mb4_general_ci PRIMARY KEY, v VARCHAR(30))`

// Rows of pinned keys lie on their nodes, and every statement finds them there as one server does: by the key alone, in lists, in intervals, in
// joins with tables whose pins are the same and with others.
func TestPinnedKeys(t *testing.T) {
	onShards(t, pinSchema, func(t *testing.T, s *shards) {
		text := s.config
		for _, r := range [][2]string{
			{"table: users, key: id, type: hash,", "table: users, key: id, type: hash, pin: {40: n1, 42: n1, 7: n0, -3: n0},"},
			{"table: order_items, key: user_id, colocate_with: users}", "table: order_items, key: user_id, type: range, table_row_limit: 100, pin: {50: n1, 60: n1, 150: n0}, nodes: [n0, n1], locations: [" + locationsOf(text) + "]}"},
			{"table: payments, key: merchant_id, type: hash,", "table: payments, key: merchant_id, type: hash, strings: utf8mb4_general_ci_v1, pin: {Abc: n0, déf: n1, '12': n1},"},
			{"local_infile: true}", "local_infile: true, process: true, rights: operate}"},
		} {
			if !strings.Contains(text, r[0]) {
				t.Fatalf("%s is not in\n%s", r[0], text)
			}
			text = strings.Replace(text, r[0], r[1], 1)
		}
		c := mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop", Capabilities: mysqltest.ScriptCapabilities&^mysql.ClientFoundRows | mysql.ClientMultiStatements | mysql.ClientLocalFiles}
		s.subject = dial(t, startProxyText(t, text), c)
		must(t, s.subject, "SET NAMES utf8mb4")

		s.both(t, "INSERT INTO users VALUES (40, 'a'), (42, 'b'), (7, 'c'), (-3, 'd'), (1, 'e'), (2, 'f'), (3, 'g'), (4, 'h'), (5, 'i'), (6, 'j'), (8, 'k')", "", "users")
		s.both(t, "INSERT INTO orders VALUES (1, 40, 'x'), (2, 40, 'y'), (3, 7, 'z'), (4, 4, 'w'), (5, -3, 'v')", "", "orders")
		s.both(t, "INSERT INTO order_items VALUES (40, 1), (50, 1), (50, 2), (60, 1), (140, 1), (150, 1), (160, 5)", "", "order_items")
		s.both(t, "LOAD DATA LOCAL INFILE 'x' INTO TABLE order_items (user_id, v)", "50\t7\n51\t7\n60\t7\n150\t7\n", "order_items")
		s.both(t, "INSERT INTO payments VALUES ('ABC', 'a'), ('DEF', 'b'), ('12', 'c'), ('other', 'd'), ('x', 'e')", "", "payments")
		for _, sql := range []string{
			"SELECT * FROM users WHERE id = 40", "SELECT * FROM users WHERE id IN (7, 40, 1)", "SELECT * FROM users WHERE id IN (40, 42) ORDER BY name", "SELECT * FROM users WHERE id = '40'", "SELECT * FROM users WHERE id BETWEEN 6 AND 41 ORDER BY id",
			"SELECT u.name, o.v FROM users u JOIN orders o ON o.user_id = u.id ORDER BY o.id", "SELECT u.name, o.v FROM users u JOIN orders o ON o.user_id = u.id WHERE u.id = 40 ORDER BY o.id",
			"SELECT u.name, i.v FROM users u JOIN order_items i ON i.user_id = u.id ORDER BY i.v", "SELECT COUNT(*) FROM users WHERE id <> 40",
			"SELECT * FROM order_items WHERE user_id BETWEEN 45 AND 55 ORDER BY user_id, v", "SELECT * FROM order_items WHERE user_id < 51 ORDER BY user_id, v", "SELECT * FROM order_items WHERE user_id > 149 ORDER BY user_id, v",
			"SELECT * FROM order_items WHERE user_id BETWEEN 51 AND 59", "SELECT * FROM order_items WHERE user_id = 150 ORDER BY v", "SELECT * FROM order_items WHERE user_id >= 60 AND user_id <= 60 ORDER BY v",
			"SELECT v FROM payments WHERE merchant_id = 'aBc '", "SELECT v FROM payments WHERE merchant_id = 'déF'", "SELECT v FROM payments WHERE merchant_id IN ('abc', 'def', '12') ORDER BY v",
			"UPDATE users SET name = 'changed' WHERE id = 40", "UPDATE order_items SET v = v + 100 WHERE user_id BETWEEN 50 AND 60", "UPDATE payments SET v = 'changed' WHERE merchant_id = 'def'", "DELETE FROM users WHERE id IN (42, 1)",
			"REPLACE INTO users VALUES (40, 'again')", "INSERT INTO users VALUES (40, 'x') ON DUPLICATE KEY UPDATE name = 'twice'", "INSERT INTO payments VALUES ('Déf', 'x') ON DUPLICATE KEY UPDATE v = 'twice'", "INSERT INTO users VALUES (40, 'x')",
			"INSERT INTO orders SELECT u.id + 100, u.id, u.name FROM users u WHERE u.id IN (40, 7, 8)", "DELETE FROM payments WHERE merchant_id = 'ABC'",
		} {
			s.both(t, sql, "", "users", "orders", "order_items", "payments")
		}
		for _, prepared := range []string{"SELECT name FROM users WHERE id = ?", "SELECT v FROM orders WHERE user_id = ? ORDER BY id", "SELECT v FROM order_items WHERE user_id BETWEEN 45 AND ? ORDER BY user_id, v"} {
			for _, key := range []int{40, 7, 4, 40, 55} {
				var told [2]string
				for k, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
					st, err := c.Prepare(prepared)
					if err != nil {
						t.Fatal(err)
					}
					r, err := st.Execute(key)
					if err != nil {
						t.Fatal(err)
					}
					told[k] = fmt.Sprint(r.Rows)
				}
				if told[0] != told[1] {
					t.Errorf("%s with %d: %s, want %s", prepared, key, told[1], told[0])
				}
			}
		}
		for _, w := range []struct {
			node         int
			table, where string
		}{
			{1, "users", "id = 40"}, {0, "users", "id = 7"}, {0, "users", "id = -3"}, {1, "orders", "user_id = 40 AND id = 1"}, {1, "order_items", "user_id = 50 AND v = 101"}, {1, "order_items", "user_id = 60 AND v = 101"},
			{0, "order_items", "user_id = 150 AND v = 1"}, {1, "payments", "merchant_id = 'def'"}, {1, "payments", "merchant_id = '12'"},
		} {
			for node, c := range s.nodes {
				found := 0
				for _, r := range must(t, c, "SHOW TABLES LIKE '"+w.table+"\\_0%'").Rows {
					found += len(must(t, c, fmt.Sprintf("SELECT * FROM %s WHERE %s", r[0], w.where)).Rows)
				}
				if want := map[bool]int{true: 1}[node == w.node]; found != want {
					t.Errorf("%s, %s: %d rows on n%d, want %d", w.table, w.where, found, node, want)
				}
			}
		}
		for _, table := range []string{"users", "orders", "order_items", "payments"} {
			for _, r := range must(t, s.subject, "KS CHECK PLACEMENT "+table).Rows {
				if fmt.Sprint(r[3]) != "0" || r[5] != nil {
					t.Errorf("%s: rows lie elsewhere: %v", table, r)
				}
			}
		}
	})
}

// locationsOf is the list of numbers of sub-tables in a configuration of shards.
func locationsOf(text string) string {
	_, rest, _ := strings.Cut(text, "locations: [")
	list, _, _ := strings.Cut(rest, "]")
	return list
}
