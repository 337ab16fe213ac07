package session_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// indexRules are tables with keys over all shards.
const indexRules = `
      - {db: shop, table: people, key: id, type: hash, nodes: [n0, n1], locations: [2, 1], unique: [{columns: email, strings: utf8mb4_general_ci_v1}, {columns: [tenant, code], name: code, strings: utf8mb4_general_ci_v1}], lookup: [dept]}
`

const indexSchema = "CREATE TABLE people (id BIGINT AUTO_INCREMENT PRIMARY KEY, email VARCHAR(40) COLLATE utf8mb4_general_ci, tenant INT, code VARCHAR(20) COLLATE utf8mb4_general_ci, dept INT, name VARCHAR(40), UNIQUE KEY email (email), UNIQUE KEY code (tenant, code), KEY dept (dept)) DEFAULT CHARSET utf8mb4"

// startIndexed starts a proxy over two nodes with the table people, and one server that has it.
func startIndexed(t *testing.T, kind mysqltest.Kind) *shards {
	t.Helper()
	servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
	s := startShards(t, servers, []int{1, 1}, indexSchema, strings.TrimSuffix(strings.TrimPrefix(indexRules, "\n"), "\n"), atomicConfig)
	for k, n := range s.nodes {
		must(t, n, "DROP TABLE people_000"+strconv.Itoa(k))
	}
	must(t, s.subject, indexSchema)
	return s
}

// keptIndexes compares what the indexes have with the rows.
func (s *shards) keptIndexes(t *testing.T, after string) {
	t.Helper()
	for _, index := range []struct{ rows, entries string }{
		{"SELECT LOWER(email), id FROM people WHERE email IS NOT NULL ORDER BY 1, 2", "SELECT LOWER(email), id FROM ks_people_email ORDER BY 1, 2"},
		{"SELECT tenant, LOWER(code), id FROM people WHERE tenant IS NOT NULL AND code IS NOT NULL ORDER BY 1, 2, 3", "SELECT tenant, LOWER(code), id FROM ks_people_code ORDER BY 1, 2, 3"},
		{"SELECT dept, id, COUNT(*) FROM people WHERE dept IS NOT NULL GROUP BY dept, id ORDER BY 1, 2", "SELECT dept, id, ks_rows FROM ks_people_dept ORDER BY 1, 2"},
	} {
		s.keptIndex(t, after, index.rows, index.entries)
	}
}

// keptIndex compares what an index has with the rows, as two queries tell.
func (s *shards) keptIndex(t *testing.T, after, rows, entries string) {
	t.Helper()
	if want, got := fmt.Sprint(must(t, s.subject, rows).Rows), fmt.Sprint(must(t, s.subject, entries).Rows); want != got {
		t.Fatalf("%s\nrows    %s\nentries %s", after, want, got)
	}
}

// Keys over shards refuse what one server refuses, and follow what changes.
func TestIndexes(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startIndexed(t, kind)
			for _, sql := range []string{
				"INSERT INTO people (id, email, dept) VALUES (1, 'a@x', 1)",
				"INSERT INTO people (id, email, dept) VALUES (2, 'A@X', 1)", // on another shard
				"INSERT INTO people (id, email, dept) VALUES (2, 'b@x', 1), (3, NULL, 2), (4, NULL, NULL)",
				"INSERT INTO people (id, email, dept) VALUES (5, 'c@x', 1), (6, 'b@x', 2), (1, 'd@x', NULL)",
				"INSERT INTO people SET id = 7, email = CONCAT('e', '@x'), dept = 1 + 1",
				"INSERT INTO people (email, dept) VALUES ('f@x', 3), ('g@x', 3)",
				"INSERT INTO people (id, tenant, code) VALUES (20, 1, 'x'), (21, 1, 'y'), (22, 2, 'x'), (23, NULL, 'x')",
				"INSERT INTO people (id, tenant, code) VALUES (24, 1, 'X')",
				"UPDATE people SET tenant = 1 WHERE id = 22",
				"UPDATE people SET code = 'z' WHERE tenant = 1 AND code = 'y'",
				"UPDATE people SET email = 'B@x' WHERE id = 1",
				"UPDATE people SET email = 'b2@x' WHERE email = 'b@x'",
				"UPDATE people SET dept = dept + 1",
				"UPDATE people SET email = CONCAT('n', id, '@x'), name = 'x' WHERE dept = 2",
				"UPDATE people SET email = 'same@x' WHERE id IN (1, 2)",
				"UPDATE people SET name = 'y' WHERE dept = 3",
				"UPDATE people SET email = NULL WHERE id = 7",
				"UPDATE people SET id = 50, name = 'moved' WHERE email = 'a@x'",
				"UPDATE people SET id = id + 51, dept = 4 WHERE id < 3",
				"UPDATE people SET id = id - 50 WHERE id >= 50",
				"DELETE FROM people WHERE email = 'f@x'",
				"DELETE FROM people WHERE dept = 3",
				"REPLACE INTO people (id, email, dept) VALUES (1, 'n2@x', 4)",
				"REPLACE INTO people (id, email, dept) VALUES (1, 'n2@x', 4), (30, 'N2@x', 5), (31, NULL, 5), (31, NULL, 5), (30, 'o@x', 5)",
				"INSERT IGNORE INTO people (id, email, dept) VALUES (1, 'p@x', 4), (32, 'O@x', 5), (33, 'q@x', 5), (34, 'q@x', 5)",
				"SHOW WARNINGS",
				"INSERT INTO people (id, email, dept) VALUES (40, 'o@x', 7) ON DUPLICATE KEY UPDATE dept = VALUES(dept), name = CONCAT(VALUES(email), dept)",
				"INSERT INTO people (id, email, dept) VALUES (40, 'r@x', 7), (41, 'o@x', 7), (40, 's@x', 8) ON DUPLICATE KEY UPDATE email = CONCAT('t', email), dept = dept",
				"INSERT INTO people (id, email, dept) VALUES (40, 'r@x', 7) ON DUPLICATE KEY UPDATE email = 'q@x'",
				"SHOW WARNINGS",
				"AS: INSERT INTO people (id, email, dept) VALUES (40, 'Q@x', 7), (42, 'v@x', 7) AS `new` ON DUPLICATE KEY UPDATE dept = `new`.dept + people.dept, name = CONCAT(new.email, email)",
				"AS: INSERT INTO people (id, email, dept) VALUES (43, 'q@X', 1), (44, 'w@x', 7) AS fresh(i, m, n) ON DUPLICATE KEY UPDATE dept = n + fresh.n, email = CONCAT(m, i)",
				"RETURNING: INSERT INTO people (id, email, dept) VALUES (45, 'V@x', 7), (46, 'y@x', 7), (30, NULL, 7) ON DUPLICATE KEY UPDATE dept = VALUES(dept) + 1, email = CONCAT(email, 'z') RETURNING id, people.email AS e, dept * 2",
				"RETURNING: INSERT INTO people (id, email, dept) VALUES (47, 'y@x', 7) ON DUPLICATE KEY UPDATE dept = dept RETURNING *",
				"RETURNING: INSERT IGNORE INTO people (id, email, dept) VALUES (48, 'y@x', 7), (49, 'yy@x', 7) RETURNING email, id",
				"RETURNING: INSERT IGNORE INTO people (id, email, dept) VALUES (48, 'y@x', 7) RETURNING email, id",
				"RETURNING: REPLACE INTO people (email, dept) VALUES ('y@x', 7), ('yyy@x', 8) RETURNING email, dept",
				"DELETE p FROM people AS p WHERE p.email = 'yyy@x'",
				"START TRANSACTION READ ONLY",
				"SELECT COUNT(*) FROM people",
				"INSERT INTO people (id, email) VALUES (60, 'ro@x')",
				"UPDATE people SET email = 'ro@x' WHERE id = 1",
				"DELETE FROM people",
				"COMMIT",
				"DELETE FROM people ORDER BY id LIMIT 1",
				"UPDATE people SET dept = 9 ORDER BY id DESC LIMIT 2",
				"DELETE FROM people",
			} {
				for form, server := range map[string]mysqltest.Kind{"AS: ": mysqltest.MySQL9, "RETURNING: ": mysqltest.MariaDB} {
					if text, is := strings.CutPrefix(sql, form); is && kind == server {
						sql = text
					}
				}
				if strings.HasPrefix(sql, "AS: ") || strings.HasPrefix(sql, "RETURNING: ") {
					continue // the other server's
				}
				s.inStep(t, sql, "")
				s.sameTables(t, sql, "people")
				s.keptIndexes(t, sql)
			}
			s.nothingPrepared(t)
		})
	}
}

// Of several keys in which a row collides, with rows of its own shard and of others, the one that a server names is named: the first.
func TestIndexesNameTheFirstKey(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startIndexed(t, kind)
			statements := []string{"INSERT INTO people (id, email) VALUES (1, 'a@x'), (2, 'b@x')", "INSERT INTO people (id, tenant, code) VALUES (3, 1, 'p'), (4, 2, 'p')"}
			for id := 10; id < 18; id++ { // on each shard there are some
				for tenant := 1; tenant <= 2; tenant++ {
					for _, email := range []string{"A@x", "B@x", "new@x"} {
						row := fmt.Sprintf("INTO people (id, email, tenant, code) VALUES (%d, '%s', %d, 'P')", id, email, tenant)
						statements = append(statements, "INSERT "+row, "INSERT IGNORE "+row, "SHOW WARNINGS")
					}
				}
			}
			statements = append(statements, "INSERT INTO people (id, email) VALUES (30, 'c@x'), (31, 'd@x'), (32, 'e@x'), (33, 'f@x')")
			for id := 1; id <= 4; id++ { // a key that is taken, on the same shard and on the other one
				for to := 30; to < 34; to++ {
					statements = append(statements, fmt.Sprintf("UPDATE people SET id = %d, email = 'c@X' WHERE id = %d", to, id))
				}
			}
			for _, sql := range statements {
				want, got := answerOf(t, s.oracle, sql), answerOf(t, s.subject, sql)
				if want != got {
					t.Errorf("%s\n got %s\nwant %s", sql, got, want)
				}
			}
			s.sameTables(t, "all", "people")
			s.keptIndexes(t, "all")
			s.nothingPrepared(t)
		})
	}
}

// Executions warn as on one server.
func TestIndexesWarnExecutions(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startIndexed(t, kind)
			for _, sql := range []string{
				"INSERT IGNORE INTO people (id, email) VALUES (1, ?)", "INSERT IGNORE INTO people (id, email) VALUES (1, ?)", "INSERT IGNORE INTO people (id, email) VALUES (2, ?)",
				"INSERT INTO people (id, email, dept) VALUES (3, ?, 1) ON DUPLICATE KEY UPDATE dept = VALUES(dept)",
			} {
				var got [2]string
				for k, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
					st, err := c.Prepare(sql)
					if err != nil {
						t.Fatal(err)
					}
					r, err := st.Execute("a@x")
					if err != nil || r.Err != nil {
						t.Fatal(sql, err, r)
					}
					got[k] = fmt.Sprint(r.Warnings, r.OK.AffectedRows, r.OK.LastInsertID)
				}
				if got[0] != got[1] {
					t.Errorf("%s\n%s, but\n%s", sql, got[0], got[1])
				}
				s.keptIndexes(t, sql)
			}
		})
	}
}

// RETURNING of executions gives values of all types as one server does.
func TestIndexesReturnToExecutions(t *testing.T) {
	s := startIndexed(t, mysqltest.MariaDB)
	for _, sql := range []string{
		"INSERT INTO people (id, email, dept) VALUES (1, 'a@x', ?), (2, 'b@x', 1) RETURNING id, email, dept, tenant, X'00' AS zero, '' AS empty, 1.50 AS d, 2.5e0 AS f, 18446744073709551615 AS u",
		`INSERT INTO people (id, email, dept) VALUES (3, 'A@x', ?) ON DUPLICATE KEY UPDATE dept = 4
RETURNING *, CAST('2024-01-02' AS DATE) AS d, CAST('2024-01-02 03:04:05.000006' AS DATETIME(6)) AS m, CAST('2024-01-02' AS DATETIME) AS n, CAST('-838:00:01.5' AS TIME(1)) AS t, CAST('00:00:00' AS TIME) AS z, CAST('100:01:00' AS TIME) AS l`,
		"REPLACE INTO people (email, dept) VALUES ('b@x', ?) RETURNING email, dept",
	} {
		var got [2]string
		for k, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
			st, err := c.Prepare(sql)
			if err != nil {
				t.Fatal(err)
			}
			r, err := st.Execute(7)
			if err != nil || r.Err != nil {
				t.Fatal(err, r)
			}
			got[k] = fmt.Sprint(r.Rows)
		}
		if got[0] != got[1] {
			t.Errorf("%s\n%s, but\n%s", sql, got[0], got[1])
		}
		s.keptIndexes(t, sql)
	}
}

// Statements at random, in transactions and outside, have the outcome that they have on one server, and leave the indexes as they leave the rows.
func TestIndexesAtRandom(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startIndexed(t, kind)
			n, seed := 400, uint64(1)
			if text := os.Getenv("KS_STATEMENTS"); text != "" {
				n, _ = strconv.Atoi(text)
			}
			if text := os.Getenv("KS_SEED"); text != "" {
				seed, _ = strconv.ParseUint(text, 10, 64)
			}
			g := indexStatements{rand.New(rand.NewPCG(seed, 1))}
			var log []string
			for k := range n {
				sql := g.next()
				log = append(log, sql)
				s.inStep(t, sql, "")
				if t.Failed() {
					t.Fatalf("statement %d of seed %d", k, seed)
				}
				if k%10 == 9 {
					s.inStep(t, []string{"COMMIT", "ROLLBACK"}[g.IntN(2)], "")
					after := strings.Join(log[max(0, len(log)-12):], "\n")
					s.sameTables(t, after, "people")
					s.keptIndexes(t, after)
					if t.Failed() {
						t.Fatalf("statement %d of seed %d", k, seed)
					}
				}
			}
			s.nothingPrepared(t)
		})
	}
}

// indexStatements makes statements on people.
type indexStatements struct{ *rand.Rand }

func (g indexStatements) email() string {
	if g.IntN(8) == 0 {
		return "NULL"
	}
	return []string{"'a@x'", "'A@x'", "'b@x'", "'é@x'", "'e@x'", "'c@x '", "'c@x'", "'d@x'", "''", "'f'"}[g.IntN(10)]
}

func (g indexStatements) number(n int) string {
	if g.IntN(10) == 0 {
		return "NULL"
	}
	return strconv.Itoa(1 + g.IntN(n))
}

func (g indexStatements) code() string { return []string{"'p'", "'q'", "'Q'", "NULL"}[g.IntN(4)] }

func (g indexStatements) row() string {
	return fmt.Sprintf("(%d, %s, %s, %s, %s)", 1+g.IntN(30), g.email(), g.number(3), g.code(), g.number(4))
}

func (g indexStatements) rows() string {
	rows := []string{g.row()}
	for g.IntN(3) == 0 {
		rows = append(rows, g.row())
	}
	return strings.Join(rows, ", ")
}

func (g indexStatements) where() string {
	switch g.IntN(8) {
	case 7:
		return " WHERE id IN (SELECT " + strconv.Itoa(1+g.IntN(30)) + ") OR id > (SELECT 26)"
	case 0:
		return " WHERE email = " + g.email()
	case 1:
		return " WHERE dept = " + g.number(4)
	case 2:
		return " WHERE tenant = " + g.number(3) + " AND code = " + g.code()
	case 3:
		return " WHERE id IN (" + strconv.Itoa(1+g.IntN(30)) + ", " + strconv.Itoa(1+g.IntN(30)) + ")"
	case 4:
		return " WHERE id > 25"
	}
	return " WHERE id = " + strconv.Itoa(1+g.IntN(30))
}

func (g indexStatements) limit() string {
	return []string{"", "", "", " ORDER BY id LIMIT 2", " ORDER BY id DESC"}[g.IntN(5)]
}

func (g indexStatements) set() string {
	return []string{"email = " + g.email(), "dept = " + g.number(4), "dept = dept + 1", "tenant = " + g.number(3), "code = " + g.code(), "name = 'n'",
		"email = CONCAT('u', id)", "name = 'm', email = " + g.email(), "tenant = " + g.number(3) + ", code = " + g.code(), "id = " + strconv.Itoa(1+g.IntN(30)), "id = id + 7, email = " + g.email()}[g.IntN(11)]
}

func (g indexStatements) next() string {
	const columns = " INTO people (id, email, tenant, code, dept) VALUES "
	switch g.IntN(18) {
	case 14:
		return "REPLACE" + columns + g.rows()
	case 15:
		return "INSERT IGNORE" + columns + g.rows()
	case 16, 17:
		return "INSERT" + columns + g.rows() + " ON DUPLICATE KEY UPDATE " + []string{"name = 'dup'", "email = VALUES(email)", "dept = VALUES(dept), name = CONCAT('d', dept)", "code = 'r'", "dept = dept + 1"}[g.IntN(5)]
	case 0, 1, 2, 3:
		return "INSERT" + columns + g.rows()
	case 4, 5, 6:
		return "UPDATE people SET " + g.set() + g.where() + g.limit()
	case 7, 8:
		return "DELETE FROM people" + g.where() + g.limit()
	case 9:
		return "BEGIN"
	case 10:
		return "COMMIT"
	case 11:
		return "SAVEPOINT s"
	case 12:
		return "ROLLBACK TO s"
	}
	return "SELECT id, email, tenant, code, dept, name FROM people" + g.where() + " ORDER BY id"
}

// A query by what an index has asks the shards that the index tells, and no other.
func TestLookups(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startIndexed(t, kind)
			must(t, s.subject, "INSERT INTO people (id, email, tenant, code, dept) VALUES (1, 'a@x', 1, 'p', 1), (2, 'b@x', 1, 'q', 2), (3, 'c@x', 2, 'p', 2), (4, 'd@x', NULL, NULL, 1), (7, 'e@x', 3, 'r', NULL)")
			must(t, s.nodes[1], "RENAME TABLE people_0002 TO people_gone") // that of 2
			ask := func(c *mysqltest.RawClient, sql, want string) {
				t.Helper()
				if got := fmt.Sprint(must(t, c, sql).Rows); got != want {
					t.Errorf("%s: %s", sql, got)
				}
			}
			for sql, want := range map[string]string{
				"SELECT id FROM people WHERE email = 'A@x'":                                                      "[[1]]",
				"SELECT id FROM people WHERE email = 'nobody'":                                                   "[]",
				"SELECT id FROM people WHERE email = NULL":                                                       "[]",
				"SELECT p.id, COUNT(*) FROM people p WHERE 'c@x' = p.email AND p.dept > 1 GROUP BY 1":            "[[3 1]]",
				"SELECT id FROM people WHERE email IN ('a@x', 'c@x', 'zz') ORDER BY id":                          "[[1] [3]]",
				"SELECT id FROM people WHERE tenant = 2 AND code = 'P' AND name IS NULL":                         "[[3]]",
				"SELECT id FROM people WHERE dept = 1 ORDER BY id DESC":                                          "[[4] [1]]",
				"SELECT a.id FROM people a JOIN people b ON a.id = b.id WHERE a.email = 'a@x'":                   "[[1]]",
				"SELECT id FROM (SELECT id FROM people WHERE email = 'd@x') d":                                   "[[4]]",
				"SELECT MAX(id), GROUP_CONCAT(email ORDER BY id) FROM people WHERE dept = 1 HAVING COUNT(*) = 2": "[[4 a@x,d@x]]",
			} {
				ask(s.subject, sql, want)
				ask(s.subject, sql, want) // the plan is known
			}
			for sql, arg := range map[string]string{"SELECT id FROM people WHERE email = ?": "e@x", "SELECT id FROM people WHERE tenant = ? AND code = 'r'": "3"} {
				st, err := s.subject.Prepare(sql)
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if r, err := st.Execute(arg); err != nil || r.Err != nil || fmt.Sprint(r.Rows) != "[[7]]" {
						t.Errorf("%s: %+v, %v", sql, r, err)
					}
				}
			}
			for sql, want := range map[string]string{
				"SELECT id FROM people WHERE email = 'c@x'":            "lookup [the key email of people tells which of the shards below are asked]",
				"UPDATE people SET dept = 1 WHERE id = 1":              "index [entries of the key dept of people follow the rows, in one transaction]",
				"SELECT id FROM people WHERE email = 'c@x' AND id = 1": "forward [<nil>]",
			} {
				if r := must(t, s.subject, "EXPLAIN "+sql).Rows[0]; fmt.Sprint(r[1], " ", r[2:3]) != want {
					t.Errorf("EXPLAIN %s: %v", sql, r)
				}
			}
			fails(t, s.subject, "SELECT id FROM people WHERE email = 'b@x'", 1146)
			fails(t, s.subject, "SELECT id FROM people WHERE name IS NULL", 1146)
			fails(t, s.subject, "SELECT id FROM people WHERE email = 'a@x' OR dept = 1", 1146)
			must(t, s.subject, "BEGIN")
			fails(t, s.subject, "SELECT id FROM people WHERE email = 'a@x'", 1146)
			must(t, s.subject, "ROLLBACK")
			must(t, s.subject, "SET ks_read_consistency = 'atomic'")
			fails(t, s.subject, "SELECT id FROM people WHERE email = 'a@x'", 1146)
		})
	}
}

// A statement that is killed while one of its parts waits leaves nothing behind, in a transaction of the client's neither.
func TestIndexesKilled(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startIndexed(t, kind)
			must(t, s.subject, "INSERT INTO people (id, email, dept) VALUES (1, 'a@x', 1), (2, 'b@x', 1)")
			id := must(t, s.subject, "SELECT CONNECTION_ID()").Rows[0][0].(string)
			killer := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root"})
			// entries of d@x are locked by somebody, wherever they are
			for k, n := range s.nodes {
				must(t, n, "BEGIN")
				must(t, n, fmt.Sprintf("SELECT * FROM ks_people_email_%04d FOR UPDATE", k))
			}
			killed := func(sql string) {
				t.Helper()
				done := make(chan *mysqltest.RawResult)
				go func() {
					r, err := s.subject.Query(sql)
					if err != nil {
						t.Error(err)
					}
					done <- r
				}()
				const waits = "SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO LIKE '%ks_people_email_0%' AND ID <> CONNECTION_ID()"
				mysqltest.WaitFor(t, "an entry to be waited for", func() bool { return len(must(t, s.nodes[0], waits).Rows)+len(must(t, s.nodes[1], waits).Rows) > 0 })
				must(t, killer, "KILL QUERY "+id)
				if r := <-done; r == nil || r.Err == nil || r.Err.Code != mysql.ERQueryInterrupted {
					t.Errorf("%s: %+v", sql, r)
				}
			}
			killed("INSERT INTO people (id, email, dept) VALUES (10, 'd@x', 2)")
			if r := must(t, s.subject, "SELECT COUNT(*) FROM people"); r.Status.Has(mysql.ServerStatusInTrans) || fmt.Sprint(r.Rows) != "[[2]]" {
				t.Errorf("%v, status %v", r.Rows, r.Status)
			}
			must(t, s.subject, "BEGIN")
			must(t, s.subject, "UPDATE people SET dept = 7 WHERE id = 1")
			killed("UPDATE people SET email = 'd@x', dept = 8 WHERE id = 2")
			must(t, s.subject, "COMMIT")
			for _, n := range s.nodes {
				must(t, n, "ROLLBACK")
			}
			if r := must(t, s.subject, "SELECT id, email, dept FROM people ORDER BY id"); fmt.Sprint(r.Rows) != "[[1 a@x 7] [2 b@x 1]]" {
				t.Error(r.Rows)
			}
			s.keptIndexes(t, "kills")
			s.nothingPrepared(t)
		})
	}
}

// A BEFORE trigger that gives a column of a key over shards another value than the statement has it refused; others do what they do on one server.
func TestIndexesOfTriggers(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startIndexed(t, kind)
			trigger := func(what, does string) {
				t.Helper()
				must(t, s.oracle, "CREATE TRIGGER tr BEFORE "+what+" ON people FOR EACH ROW "+does)
				for k, n := range s.nodes {
					for shard := range []int{2, 1}[k] {
						must(t, n, fmt.Sprintf("CREATE TRIGGER tr%d BEFORE %s ON people_%04d FOR EACH ROW %s", shard, what, 2*k+shard, does))
					}
				}
				must(t, s.subject, "ALTER TABLE people COMMENT = 'x'") // what is known of the table is out of date
				must(t, s.oracle, "ALTER TABLE people COMMENT = 'x'")
			}
			none := func() {
				t.Helper()
				must(t, s.oracle, "DROP TRIGGER tr")
				for k, n := range s.nodes {
					for shard := range []int{2, 1}[k] {
						must(t, n, fmt.Sprintf("DROP TRIGGER tr%d", shard))
					}
				}
				must(t, s.subject, "ALTER TABLE people COMMENT = 'y'")
				must(t, s.oracle, "ALTER TABLE people COMMENT = 'y'")
			}
			for _, c := range append(slices.Clone(s.nodes), s.oracle) {
				must(t, c, "CREATE PROCEDURE sets(OUT v INT) SET v = 4")
			}
			s.inStep(t, "INSERT INTO people (id, email, dept) VALUES (1, 'a@x', 1), (2, 'b@x', 1)", "")
			trigger("INSERT", "BEGIN IF NEW.email = 'c@x' THEN SET @seen = NEW.email, NEW.name = UPPER(NEW.email); END IF; END")
			for _, sql := range []string{"INSERT INTO people (id, email, dept) VALUES (3, 'c@x', 2), (4, 'd@x', 1)", "UPDATE people SET email = 'e@x' WHERE id = 1", "UPDATE people SET name = 'n' WHERE id = 2"} {
				s.inStep(t, sql, "")
				s.sameTables(t, sql, "people")
				s.keptIndexes(t, sql)
			}
			none()
			for what, does := range map[string]string{
				"INSERT": "SET NEW.email = LOWER(NEW.email)", "UPDATE": "BEGIN SET NEW.name = 'x', NEW.`Dept` = 7; END", "UPDATE ": "CALL sets(NEW.tenant)",
			} {
				trigger(what, does)
				for _, sql := range []string{"INSERT INTO people (id, email) VALUES (9, 'Z@x')", "REPLACE INTO people (id, email) VALUES (1, 'Z@x')", "UPDATE people SET email = 'y@x' WHERE id = 1", "UPDATE people SET name = 'other' WHERE id = 1"} {
					refusedWith(t, s.subject, sql, "of the table people gives a column of its keys over shards another value")
				}
				st, err := s.subject.Prepare("UPDATE people SET name = ? WHERE id = 1")
				if err == nil {
					r, err := st.Execute("other")
					if err != nil || r.Err == nil || r.Err.Code != 9012 {
						t.Errorf("prepared: %+v, %v", r, err)
					}
				}
				s.sameTables(t, does, "people")
				none()
			}
			s.inStep(t, "DELETE FROM people WHERE email = 'c@x'", "")
			s.inStep(t, "INSERT INTO people (id, email) VALUES (9, 'Z@x')", "")
			s.keptIndexes(t, "without triggers")
		})
	}
}
