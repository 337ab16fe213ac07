package session_test

import (
	"fmt"
	"strings"
	"testing"
)

// picksOfTables are changes of several tables whose rows lie on different shards, or of one that an outer join may lack.
var picksOfTables = []string{
	"DELETE o, p FROM orders o JOIN payments p ON p.n = o.amount WHERE p.v = 'v2'",
	"DELETE shop.users, shop.orders FROM shop.users JOIN shop.orders ON orders.amount = users.n WHERE shop.users.n < 3",
	"DELETE FROM shop.users USING shop.users JOIN shop.orders ON orders.user_id = users.id WHERE users.id = 3",
	"DELETE FROM o, p USING orders o JOIN payments p ON p.id = o.amount WHERE o.user_id < 3",
	"DELETE IGNORE o, p FROM orders o JOIN payments p ON p.n = o.amount",
	"DELETE o, p FROM orders o LEFT JOIN payments p ON p.n = o.amount + 5 WHERE o.user_id > 1",
	"DELETE p FROM orders o LEFT JOIN payments p ON p.n = o.amount + 5 WHERE o.user_id > 1",
	"DELETE o, p, u FROM orders o JOIN payments p ON p.id = o.amount JOIN users u ON u.n = p.n",
	"DELETE u, plain FROM users u JOIN plain ON plain.x = u.n",
	"DELETE u, c FROM users u JOIN countries c ON c.n = u.n",
	"DELETE c, u FROM countries c LEFT JOIN users u ON c.n = u.n",
	"DELETE c, plain FROM countries c, plain WHERE c.n = plain.x",
	"DELETE plain FROM users u LEFT JOIN plain ON plain.x = u.n WHERE plain.y > 'p''2'",
	"DELETE c FROM users u LEFT JOIN countries c ON c.n = u.n WHERE u.id < 9",
	"UPDATE orders o JOIN payments p ON p.id = o.amount SET o.note = 'both', p.v = 'both' WHERE p.n < 7",
	"UPDATE orders o JOIN payments p ON p.n = o.amount SET o.note = 'both', p.n = p.n + 1, o.amount = o.amount + 100, p.v = NULL",
	"UPDATE orders o JOIN payments p ON p.id = o.amount SET o.note = p.v, p.n = p.n + 1",
	"UPDATE orders o JOIN payments p ON p.id = o.amount SET o.note = 'x', p.n = o.user_id WHERE o.amount < 5",
	"UPDATE IGNORE orders o JOIN payments p ON p.id = o.amount SET o.note = 1, p.n = 99999999999",
	"UPDATE orders o JOIN payments p ON p.id = o.amount SET o.amount = 1, p.n = 99999999999",
	"UPDATE orders o LEFT JOIN payments p ON p.id = o.amount + 5 SET o.note = 'left', p.v = 'joined'",
	"UPDATE orders o LEFT JOIN payments p ON p.id = o.amount + 5 SET p.v = 'joined', p.n = 0 WHERE o.amount > 2",
	"UPDATE users u JOIN plain ON plain.x = u.n SET u.name = 'w', plain.y = 'z'",
	"UPDATE plain JOIN users u ON plain.x = u.n SET plain.y = u.name, u.price = 0.5",
	"UPDATE users u JOIN countries c ON c.n = u.n SET u.name = 'w', c.name = 'C'",
	"UPDATE IGNORE countries c JOIN users u ON c.n = u.n SET u.name = 'w', c.name = 'C'",
	"UPDATE countries c JOIN plain ON plain.x = c.n SET plain.y = 'z', c.name = NULL",
	"UPDATE users u RIGHT JOIN countries c ON c.n = u.n SET u.name = c.name, c.n = 7",
	"UPDATE users u JOIN countries c ON c.n = u.n SET u.name = 'w', c.name = 'C' WHERE 1 = 0",
	"UPDATE users u, orders o, payments p SET u.price = 1, o.note = 'n', p.v = 'm' WHERE u.n = o.amount AND p.n = u.n",
	"UPDATE users u, orders o SET u.n = 1, o.note = 'q' WHERE u.n = 'abc'",
	"UPDATE users u JOIN payments p ON p.id = u.n SET u.nothing = 3, p.v = 'm'",
	"UPDATE users u JOIN payments p ON p.id = u.n SET u.n = 3, p.v = 'm' ORDER BY u.id LIMIT 2",
}

// TestPickTables: a change of several tables by rows of other shards is that of one server.
func TestPickTables(t *testing.T) {
	for _, config := range []string{"", atomicConfig} {
		onShardsOf(t, func(*testing.T) {}, pickSchema, func(t *testing.T, s *shards) {
			s.everywhere(t, "CREATE TABLE plain (x INT PRIMARY KEY, y VARCHAR(20))")
			s.everywhere(t, "CREATE TABLE bare (x INT, y VARCHAR(20))")
			tables := []string{"users ORDER BY id", "orders ORDER BY id", "payments ORDER BY id", "countries ORDER BY code", "plain ORDER BY x"}
			fill := func() {
				for _, table := range []string{"users", "orders", "order_items", "payments", "countries", "plain"} {
					s.everywhere(t, "DELETE FROM "+table)
				}
				for k := range 12 {
					s.everywhere(t, fmt.Sprintf("INSERT INTO users VALUES (%d, 'n%d', %d, '2024-01-%02d', '2024-01-02 03:04:05.06', %d.25)", k, k%7, k*7%12, k+1, k))
					s.everywhere(t, fmt.Sprintf("INSERT INTO orders VALUES (%d, %d, %d, 'o')", k%5, k+100, k))
					s.everywhere(t, fmt.Sprintf("INSERT INTO payments VALUES (%d, %d, %d, 'v%d')", k%7, k, k*3%10, k%3))
					s.everywhere(t, fmt.Sprintf("INSERT INTO plain VALUES (%d, 'p''%d')", k*2, k))
				}
				s.everywhere(t, "INSERT INTO countries VALUES ('DE', 'Germany', 3), ('FR', 'France', 4), ('IT', 'Italy', 50)")
			}
			for _, sql := range picksOfTables {
				fill()
				s.both(t, sql, "", tables...)
			}
			fill()
			const ignored = "UPDATE IGNORE countries c JOIN users u ON c.n = u.n SET u.name = 'w', c.code = 'DE'"
			if strings.Contains(must(t, s.oracle, "SELECT VERSION()").Rows[0][0].(string), "MariaDB") {
				fails(t, s.subject, ignored, 9012)
			} else {
				s.both(t, ignored, "", tables...)
			}
			for _, sql := range []string{
				"UPDATE orders o JOIN payments p ON p.n = o.amount SET o.note = p.n, p.n = 3",                           // of a column that the statement changes elsewhere
				"UPDATE users u JOIN payments p ON p.merchant_id = u.n SET u.price = p.id, p.v = 'x'",                   // of several rows, which differ
				"UPDATE users u JOIN payments p ON p.merchant_id = u.n SET u.price = p.id",                              // and so of one table
				"DELETE a, b FROM orders a JOIN orders b ON a.amount = b.id - 100",                                      // of one table twice
				"DELETE u, bare FROM users u JOIN bare ON bare.x = u.n",                                                 // without a primary key
				"UPDATE users u JOIN bare ON bare.x = u.n SET u.n = 7, bare.y = 'a'",                                    // without a primary key
				"UPDATE orders o JOIN payments p ON p.n = o.amount SET o.note = 'x', p.merchant_id = p.merchant_id + 1", // of a sharding key
			} {
				fails(t, s.subject, sql, 9012)
			}
			s.sameTables(t, "the refused ones", tables...)
			if config == "" {
				return
			}
			for _, sql := range []string{"BEGIN", "UPDATE users SET n = 7 WHERE id = 3", picksOfTables[0], picksOfTables[12], picksOfTables[22], "SELECT COUNT(*), SUM(n), MAX(name) FROM users",
				"ROLLBACK", "SELECT COUNT(*), SUM(n), MAX(name) FROM users", "BEGIN", picksOfTables[6], picksOfTables[17], "SELECT COUNT(*) FROM plain", "COMMIT"} {
				s.both(t, sql, "", tables...)
			}
			fill()
			st, err := s.subject.Prepare("UPDATE orders o JOIN payments p ON p.id = o.amount SET o.note = ?, p.v = ? WHERE p.n < ?")
			if err != nil {
				t.Fatal(err)
			}
			if res, err := st.Execute("a", "b", 7); err != nil || res.Err != nil || res.OK.AffectedRows != 18 {
				t.Error(res, err)
			}
		}, config)
	}
}
