package session_test

import (
	"fmt"
	"testing"
)

// changesByOthers are changes of a table with keys over all shards, by or with the rows of other tables, and INSERT ... SELECT into it.
var changesByOthers = []string{
	"DELETE p FROM people p JOIN payments y ON y.n = p.id WHERE y.id < 6",
	"DELETE FROM p USING payments y LEFT JOIN people p ON y.n = p.id WHERE y.id > 2",
	"DELETE p FROM people p LEFT JOIN plain ON plain.x = p.id WHERE plain.y IS NULL",
	"DELETE p, y FROM people p JOIN payments y ON y.n = p.id WHERE p.dept < 3",
	"DELETE p, u FROM people p JOIN users u ON u.id = p.id WHERE p.dept = 1",
	"DELETE p, c FROM people p JOIN countries c ON c.n = p.tenant",
	"DELETE p, x FROM people p JOIN plain x ON p.dept = x.x",
	"DELETE FROM people WHERE dept IN (SELECT n FROM payments WHERE id < 3)",
	"DELETE p FROM people p, users u WHERE p.id = 3 AND u.id = 3",
	"UPDATE people p JOIN payments y ON y.n = p.id SET p.dept = 9, p.name = 'w'",
	"UPDATE people p JOIN payments y ON y.id = p.id SET p.dept = y.n, p.email = CONCAT(p.email, 'x')",
	"UPDATE people p JOIN payments y ON y.n = p.id SET p.dept = p.dept + 1, y.v = 'paid'",
	"UPDATE people p JOIN payments y ON y.id = p.id SET p.email = 'one@x'",
	"UPDATE people p JOIN payments y ON y.id = p.id SET p.email = NULL, p.code = 'c' WHERE p.id < 2",
	"UPDATE people p JOIN users u ON u.id = p.id SET p.dept = 4, u.name = 'w' WHERE p.id = 5",
	"UPDATE people p LEFT JOIN countries c ON c.n = p.tenant SET p.tenant = 8, c.name = 'C'",
	"UPDATE IGNORE people p, payments y SET p.name = 'w' WHERE y.n > 5 AND p.id = y.n",
	"UPDATE people SET name = (SELECT MIN(v) FROM payments) WHERE id NOT IN (SELECT n FROM payments WHERE n > 5)",
	"UPDATE people SET dept = (SELECT MAX(n) FROM payments) WHERE id > 4",
	"UPDATE people SET tenant = tenant + 1, dept = tenant WHERE id = 4",
	"UPDATE people SET tenant = tenant + 1, dept = tenant * 2, email = CONCAT(dept, '@', id)",
	"UPDATE people SET name = 'a', email = name WHERE id IN (1, 2)",
	"UPDATE people SET dept = DEFAULT, code = DEFAULT WHERE id < 6",
	"UPDATE people SET dept = dept + 1, tenant = dept ORDER BY id LIMIT 3",
	"INSERT INTO people (id, email, tenant, code, dept) SELECT id + 50, CONCAT(v, id), n, v, id FROM payments ORDER BY id",
	"INSERT INTO people (id, email, dept) SELECT id + 50, CONCAT('p', n, '@x'), n FROM payments ORDER BY id",
	"INSERT IGNORE INTO people (id, email, dept) SELECT id + 50, CONCAT('p', n, '@x'), n FROM payments ORDER BY id",
	"REPLACE INTO people (id, email, dept) SELECT id + 50, CONCAT('p', n, '@x'), n FROM payments ORDER BY id",
	"INSERT INTO people (id, email, dept) SELECT id + 5, CONCAT('p', n, '@x'), n FROM payments ORDER BY id ON DUPLICATE KEY UPDATE dept = 20",
	"INSERT INTO people (id, email, tenant, code, dept) SELECT id + 60, NULL, tenant, CONCAT(code, 'x'), dept FROM people ORDER BY id",
	"INSERT INTO people (email, dept) SELECT CONCAT('q', id), 3 FROM users WHERE id = 4",
	"INSERT INTO people (id, dept) SELECT id, 3 FROM users WHERE id > 100",
}

// Keys over shards follow changes that other tables decide, and rows that a query gives.
func TestIndexesOfChangesByOthers(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startIndexed(t, kind)
			s.everywhere(t, "CREATE TABLE users (id INT PRIMARY KEY, name VARCHAR(20))")
			s.everywhere(t, "CREATE TABLE payments (merchant_id INT, id INT, n INT, v VARCHAR(30), PRIMARY KEY (id, merchant_id))")
			s.everywhere(t, "CREATE TABLE countries (code CHAR(2) PRIMARY KEY, name VARCHAR(40), n INT)")
			s.everywhere(t, "CREATE TABLE plain (x INT PRIMARY KEY, y VARCHAR(20))")
			tables := []string{"people ORDER BY id", "users ORDER BY id", "payments ORDER BY id", "countries ORDER BY code", "plain ORDER BY x"}
			fill := func() {
				for _, table := range []string{"people", "users", "payments", "countries", "plain"} {
					s.everywhere(t, "DELETE FROM "+table)
				}
				for k := 1; k < 10; k++ {
					s.everywhere(t, fmt.Sprintf("INSERT INTO people VALUES (%d, 'p%[1]d@x', %d, 'c%[1]d', %d, 'n%[1]d')", k, k%3, k%4))
					s.everywhere(t, fmt.Sprintf("INSERT INTO users VALUES (%d, 'u')", k))
					s.everywhere(t, fmt.Sprintf("INSERT INTO payments VALUES (%d, %d, %d, 'v%d')", k%7, k, k*3%10, k%3))
					s.everywhere(t, fmt.Sprintf("INSERT INTO plain VALUES (%d, 'y')", k*2))
				}
				s.everywhere(t, "INSERT INTO countries VALUES ('DE', 'Germany', 1), ('FR', 'France', 2)")
			}
			for _, sql := range changesByOthers {
				fill()
				s.both(t, sql, "", tables...)
				s.keptIndexes(t, sql)
			}
			fill()
			for _, sql := range []string{
				"UPDATE IGNORE people p JOIN payments y ON y.id = p.id SET p.email = 'one@x'",    // which entries do not follow
				"UPDATE people SET dept = dept + 1, tenant = dept, id = id + 100",                // by keys that change
				"UPDATE people p JOIN people q ON p.id = q.dept SET p.dept = 3, q.name = 'both'", // one table twice
			} {
				fails(t, s.subject, sql, 9012)
			}
			s.sameTables(t, "the refused ones", tables...)
			for _, sql := range []string{"BEGIN", changesByOthers[3], changesByOthers[19], changesByOthers[11], "SELECT id, dept FROM people ORDER BY id", "ROLLBACK",
				"BEGIN", changesByOthers[4], changesByOthers[20], changesByOthers[24], "SELECT id, dept, email FROM people ORDER BY id", "COMMIT"} {
				s.both(t, sql, "")
			}
			s.sameTables(t, "transactions", tables...)
			s.keptIndexes(t, "transactions")
		})
	}
}
