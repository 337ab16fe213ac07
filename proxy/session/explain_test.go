package session_test

import (
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// explainSchema are tables of the sharded rules that can be joined in ways that shards know, and in others.
const explainSchema = `
CREATE TABLE users (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(20), age INT) DEFAULT CHARSET=utf8mb4
CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, user_id BIGINT NOT NULL, status VARCHAR(16), amount INT, KEY (user_id)) DEFAULT CHARSET=utf8mb4
CREATE TABLE order_items (user_id BIGINT NOT NULL PRIMARY KEY) DEFAULT CHARSET=utf8mb4
CREATE TABLE payments (id BIGINT NOT NULL PRIMARY KEY, merchant_id BIGINT NOT NULL, amount INT) DEFAULT CHARSET=utf8mb4
CREATE TABLE countries (code CHAR(2) NOT NULL PRIMARY KEY, name VARCHAR(64)) DEFAULT CHARSET=utf8mb4`

// startExplained starts a proxy over two nodes that have these tables, and one server.
func startExplained(t *testing.T, kind mysqltest.Kind, more ...string) *shards {
	t.Helper()
	s := startShards(t, groupServers(t, kind), []int{1, 1}, explainSchema, more...)
	for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
		must(t, c, "INSERT INTO users VALUES (1, 'a', 30), (2, 'b', 30), (3, 'c', 41), (4, 'd', 5), (5, 'e', 6)")
		must(t, c, "INSERT INTO orders VALUES (1, 1, 'new', 10), (2, 1, 'paid', 20), (3, 2, 'new', 30), (4, 3, 'new', 40), (5, 5, 'paid', 50)")
		must(t, c, "INSERT INTO payments VALUES (1, 30, 1), (2, 30, 2), (3, 41, 3), (4, 7, 4)")
		must(t, c, "INSERT INTO countries VALUES ('de', 'Germany'), ('fr', 'France')")
	}
	return s
}

// EXPLAIN says in its first row what would help, by the columns that servers tell of.
func TestExplainHelps(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startExplained(t, kind)
			for sql, want := range map[string]string{
				"SELECT * FROM users WHERE id = 1":                                              "",
				"SELECT id FROM users WHERE name = 'a'":                                         "a condition id = … would ask one shard; or an index over the shards on name (lookup: [name] in the rule of users)",
				"UPDATE users SET age = 1 WHERE name = 'a'":                                     "a condition id = … would ask one shard",
				"SELECT u.name, p.amount FROM users u JOIN payments p ON p.merchant_id = u.age": "p.merchant_id = u.age: with users beside payments (key: age, colocate_with: payments) each shard would answer",
			} {
				r := must(t, s.subject, "EXPLAIN "+sql)
				last := len(r.Columns) - 2 // behind it is what a gather fills
				help, _ := r.Rows[0][last].(string)
				if !strings.HasPrefix(help, want) || want == "" && help != "" || r.Columns[last].Name != "help" {
					t.Errorf("EXPLAIN %s: %q, not %q", sql, help, want)
				}
				for _, row := range r.Rows[1:] {
					if row[last] != nil {
						t.Errorf("EXPLAIN %s: in another row %q", sql, row[last])
					}
				}
			}
		})
	}
}
