package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// groupsSchema has a table of each way to lie, for queries that group.
const groupsSchema = `
CREATE TABLE users (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(20), country CHAR(2), age INT, balance DECIMAL(12,2), score FLOAT, weight DOUBLE, kind ENUM('b','a'), tags SET('x','y'), seen TIMESTAMP NULL, created_at DATETIME(3), born DATE, since YEAR, flags BIT(8), note TEXT, big BIGINT UNSIGNED) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci
CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, user_id BIGINT NOT NULL, status VARCHAR(16), amount DECIMAL(12,2)) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci
CREATE TABLE order_items (user_id BIGINT NOT NULL PRIMARY KEY) DEFAULT CHARSET=utf8mb4
CREATE TABLE payments (id BIGINT NOT NULL PRIMARY KEY, merchant_id BIGINT NOT NULL) DEFAULT CHARSET=utf8mb4
CREATE TABLE countries (code CHAR(2) NOT NULL PRIMARY KEY, name VARCHAR(64)) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci`

// groupsData has NULLs in every column, ties over shards and several spellings of one text; shards are left without rows.
var groupsData = []string{
	"INSERT INTO users VALUES " +
		"(1, 'bob', 'US', 31, 10.50, 0.1, 1.25, 'a', 'x,y', '2024-01-01 10:00:00', '2024-01-01 10:00:00.125', '1990-02-03', 2020, 5, 'long', 18446744073709551615)," +
		"(2, 'Bob', 'us', 31, 0.01, 0.1, -2.5, 'b', '', '2024-01-01 10:00:00', '2024-02-01 10:00:00', '1990-02-03', 2021, 6, 'Long', 1)," +
		"(3, 'BOB ', 'FR', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)," +
		"(5, 'zoe', 'DE', 22, -5.00, 2.5, 1e10, 'a', 'y', '2023-12-31 23:59:59', '2023-12-31', '2001-01-01', 1999, 255, '', 7)," +
		"(6, NULL, NULL, 22, 3.33, 0.30000001, 0.1, 'b', 'x', NULL, '2024-01-09', NULL, 2020, 0, 'z', NULL)," +
		"(13, 'zoë', 'fr', 18, 99999999.99, -0.0, 0.2, 'a', 'x,y', '2024-03-01', '2024-03-01', '1990-02-03', 2021, 6, 'zz', 7)," +
		"(17, 'y', 'US', 64, 7.77, 1e10, 0.3, 'b', '', '2024-03-01', '2024-01-05', '1955-05-05', 1999, 5, 'y', 9223372036854775808)",
	"INSERT INTO orders VALUES (1, 1, 'new', 10.00), (2, 1, 'paid', 20.50), (3, 2, 'done', 5.25), (4, 5, 'NEW', NULL), (5, 5, NULL, 1.00), (6, 17, 'paid', 100.10)",
	"INSERT INTO countries VALUES ('US', 'United States'), ('FR', 'France'), ('DE', 'Germany'), ('XX', NULL)",
}

// groupQuery is a query that groups.
type groupQuery struct {
	sql  string
	args []any // of a prepared statement; nil is text
	// few says that shards send groups, not rows; merged that nothing is collected at all.
	few, merged bool
}

var groupQueries = []groupQuery{
	{sql: "SELECT country, COUNT(*) FROM users GROUP BY country ORDER BY country", merged: true},
	{sql: "SELECT country c, COUNT(*) FROM users GROUP BY c ORDER BY c", merged: true},
	{sql: "SELECT DISTINCT country FROM users ORDER BY country DESC LIMIT 2", merged: true},
	{sql: "SELECT DISTINCT country, age FROM users", merged: true},
	{sql: "SELECT DISTINCT kind, score, born FROM users", merged: true},
	{sql: "SELECT MIN(name), MAX(name), MAX(country) FROM users", merged: true},
	{sql: "SELECT age, MAX(name) FROM users GROUP BY age", merged: true},
	{sql: "SELECT MAX(name) FROM users WHERE id > 1000", merged: true},

	{sql: "SELECT country, COUNT(*) c FROM users GROUP BY country HAVING c > 1 ORDER BY c DESC, country LIMIT 10", few: true},
	// Under the servers' strict sql_mode no warning is an error in a query.
	{sql: "SELECT country, COUNT(*) + 0 FROM users WHERE 1 / 0 IS NULL AND name <> 5 AND CAST('x' AS SIGNED) = 0 GROUP BY country ORDER BY country", few: true},
	{sql: "SELECT age, COUNT(DISTINCT country) FROM users WHERE 1 / 0 IS NULL AND id <> 'x1' GROUP BY age ORDER BY age", few: true},
	{sql: "SELECT country c, SUM(balance) / COUNT(*) FROM users u GROUP BY c ORDER BY AVG(u.age), c", few: true},
	{sql: "SELECT country, COUNT(age), SUM(age), AVG(age), MIN(balance), MAX(balance), SUM(weight) FROM users GROUP BY country HAVING COUNT(*) > 0 ORDER BY country", few: true},
	{sql: "SELECT kind, tags, since, COUNT(*) + 1 FROM users GROUP BY kind, tags, since ORDER BY 1, 2, 3", few: true},
	{sql: "SELECT score, COUNT(*) + 1, MIN(score), MAX(score) FROM users GROUP BY score ORDER BY score", few: true},
	{sql: "SELECT DATE(seen), created_at, born, COUNT(*) + 1 FROM users GROUP BY DATE(seen), created_at, born ORDER BY 1, 2, 3", few: true},
	{sql: "SELECT MIN(DATE(seen)), MAX(created_at), MIN(born), MAX(since), MIN(kind), MAX(tags), MIN(weight), COUNT(*) + 0 FROM users", few: true},
	{sql: "SELECT BIT_AND(age) + 0, BIT_OR(big) + 0, BIT_XOR(age) + 0, BIT_AND(big) FROM users", few: true},
	{sql: "SELECT BIT_AND(age) + 0, SUM(age) + 0, COUNT(*) + 0, AVG(age), MAX(name) FROM users WHERE id > 1000", few: true},
	{sql: "SELECT age, COUNT(*) + 1 FROM users WHERE id > 1000 GROUP BY age", few: true},
	{sql: "SELECT SUM(big) + 1, MAX(big) + 0.5 FROM users", few: true},
	{sql: "SELECT COUNT(DISTINCT country), COUNT(DISTINCT name, age), SUM(DISTINCT age), AVG(DISTINCT balance), COUNT(*) FROM users", few: true},
	{sql: "SELECT country, COUNT(DISTINCT name), SUM(age) FROM users GROUP BY country ORDER BY country", few: true},
	{sql: "SELECT COUNT(DISTINCT CONCAT(name, age)) FROM users", few: true},
	{sql: "SELECT GROUP_CONCAT(DISTINCT age ORDER BY age DESC SEPARATOR '|') FROM users", few: true},
	{sql: "SELECT country, age, COUNT(*), SUM(balance) FROM users GROUP BY country, age WITH ROLLUP", few: true},
	{sql: "SELECT country a, country b, COUNT(*) FROM users GROUP BY a, b WITH ROLLUP"},
	{sql: "SELECT DISTINCT COUNT(*) FROM users GROUP BY country", few: true},
	{sql: "SELECT DISTINCT age + 1 AS x FROM users ORDER BY x", few: true},
	{sql: "SELECT DATE_FORMAT(created_at, '%Y-%m') m, COUNT(*) FROM users GROUP BY m ORDER BY m", few: true},
	{sql: "SELECT MONTH(born) a, DAY(born) b, HOUR(seen) c, QUARTER(born) d, WEEKDAY(born) e, DAYOFYEAR(born) f, WEEK(born) g, DATE(seen) h, COUNT(*) + 1 FROM users GROUP BY a, b, c, d, e, f, g, h ORDER BY a, b, c, d, e, f, g, h", few: true},
	{sql: "SELECT LAST_DAY(born) a, DAYNAME(born) b, UPPER(name) c, LEFT(country, 1) d, HEX(age) e, ABS(balance) f, age * 2 g, balance / 3 h, COUNT(*) + 1 FROM users GROUP BY a, b, c, d, e, f, g, h ORDER BY a, b, c, d, e, f, g, h", few: true},
	{sql: "SELECT YEAR(created_at), COUNT(*) * 2 FROM users GROUP BY YEAR(created_at) ORDER BY YEAR(created_at)", few: true},
	{sql: "SELECT country, SUM(CASE WHEN age > 20 THEN balance ELSE 0 END) s, SUM(age > 20) n FROM users GROUP BY country HAVING s IS NOT NULL ORDER BY n, country", few: true},
	{sql: "SELECT u.country, o.status, COUNT(*) c FROM users u JOIN orders o ON o.user_id = u.id GROUP BY u.country, o.status HAVING c > 0 ORDER BY 1, 2", few: true},
	{sql: "SELECT c.name, COUNT(*) + 0 FROM users u JOIN countries c ON c.code = u.country GROUP BY c.name ORDER BY COUNT(*) DESC, c.name", few: true},
	{sql: "SELECT 'x' FROM users HAVING COUNT(*) > 3", few: true},
	{sql: "SELECT COUNT(*) FROM users HAVING COUNT(*) > 30", few: true},
	{sql: "SELECT age FROM users GROUP BY age HAVING age > 20 AND MAX(balance) < 10 ORDER BY SUM(balance)", few: true},

	{sql: "SELECT age + ?, COUNT(*) FROM users WHERE id < ? GROUP BY age HAVING COUNT(*) > ? ORDER BY age LIMIT ?", args: []any{2, 15, 0, 3}, few: true},
	{sql: "SELECT country, SUM(age), AVG(balance), MIN(created_at), MAX(big), MIN(since), SUM(weight) FROM users WHERE name LIKE ? GROUP BY country HAVING COUNT(*) >= ? ORDER BY country", args: []any{"%o%", 1}, few: true},
	{sql: "SELECT COUNT(DISTINCT country), MIN(born), MAX(score), MIN(kind) FROM users WHERE id <> ?", args: []any{3}, few: true},
	{sql: "SELECT age, SUM(balance * ?) + 1 FROM users GROUP BY age ORDER BY age", args: []any{"1.5"}},
	{sql: "SELECT u.id, u.name, u.age, COUNT(*) FROM users u JOIN orders o ON o.status <> u.name GROUP BY u.id ORDER BY u.id"},
	{sql: "SELECT u.name, COUNT(*) FROM users u JOIN orders o ON o.status <> u.name GROUP BY u.age"}, // the age fixes nothing

	{sql: "SELECT age, name FROM users GROUP BY age HAVING COUNT(*) > 100"}, // an error under only_full_group_by
	{sql: "SELECT nope, COUNT(*) + 1 FROM users GROUP BY nope"},
	{sql: "SELECT age, COUNT(*) + 1 FROM users GROUP BY age HAVING nope > 1"},
	{sql: "SELECT age, SUM(nope) + 1 FROM users GROUP BY age"},
	{sql: "SELECT age, COUNT(*) c FROM users GROUP BY c"},
	{sql: "SELECT DISTINCT age FROM users ORDER BY MAX(id)"},
	{sql: "SELECT country, STD(age), GROUP_CONCAT(age ORDER BY age) FROM users GROUP BY country ORDER BY country"},
	{sql: "SELECT flags, COUNT(*) + 1 FROM users GROUP BY flags ORDER BY flags"},
}

// limitedQueries are merged, and sql_select_limit holds for their outcome: not for what each shard, or node, has for it, and not where
// there is a LIMIT.
var limitedQueries = []string{
	"SELECT COUNT(*) FROM users", "SELECT SUM(age), MIN(id), AVG(id) FROM users", "SELECT COUNT(*) FROM users LIMIT 5",
	"SELECT age, COUNT(*) FROM users GROUP BY age ORDER BY age", "SELECT age, COUNT(*) FROM users GROUP BY age ORDER BY age DESC LIMIT 4",
	"SELECT DISTINCT age FROM users ORDER BY age", "SELECT DISTINCT age FROM users ORDER BY age LIMIT 1, 3", "SELECT id, age FROM users ORDER BY id DESC",
	"SELECT id FROM users ORDER BY id LIMIT 2, 3", "SELECT COUNT(*) FROM users WHERE id < 0",
}

// TestGroups compares queries that group with one server's answers, in text and prepared, and looks at what is moved.
func TestGroups(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := groupServers(t, kind)
			for _, locations := range [][]int{{1, 1}, {2, 2}} {
				s := startShards(t, servers, locations, groupsSchema)
				for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
					for _, sql := range groupsData {
						must(t, c, sql)
					}
				}
				for _, mode := range []string{"", "ONLY_FULL_GROUP_BY,ANSI"} {
					for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
						must(t, c, "SET SESSION sql_mode = '"+mode+"'")
					}
					for _, q := range groupQueries {
						s.compareGroups(t, q)
					}
					// MySQL's groups of TIMESTAMPs depend on where it makes them: all rows are collected there.
					s.compareGroups(t, groupQuery{sql: "SELECT DISTINCT kind, score, seen FROM users", merged: kind == mysqltest.MariaDB})
				}
				for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
					must(t, c, "SET SESSION sql_select_limit = 2")
				}
				s.compareGroups(t, groupQuery{sql: "SELECT age, COUNT(*) + 1 FROM users GROUP BY age ORDER BY age", few: true})
				s.compareGroups(t, groupQuery{sql: "SELECT age, STD(age) FROM users GROUP BY age ORDER BY age"})
				s.compareGroups(t, groupQuery{sql: "SELECT id FROM users ORDER BY id", merged: true})
				s.compareGroups(t, groupQuery{sql: "SELECT id FROM users ORDER BY id LIMIT 3", merged: true})
				s.compareGroups(t, groupQuery{sql: "SELECT age, COUNT(*) FROM users GROUP BY age ORDER BY age", merged: true})
				for _, limit := range []string{"1", "2", "3"} {
					for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
						must(t, c, "SET SESSION sql_select_limit = "+limit)
					}
					for _, sql := range limitedQueries {
						s.compareGroups(t, groupQuery{sql: sql, merged: true})
					}
				}
				for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
					must(t, c, "SET SESSION sql_select_limit = 2")
				}
				if r := must(t, s.subject, "SELECT id FROM users"); len(r.Rows) != 2 {
					t.Errorf("%d rows under sql_select_limit 2", len(r.Rows))
				}
				if r := must(t, s.subject, "SELECT SQL_CALC_FOUND_ROWS id FROM users"); len(r.Rows) != 2 {
					t.Errorf("%d rows under sql_select_limit 2 and SQL_CALC_FOUND_ROWS", len(r.Rows))
				}
				for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
					must(t, c, "SET SESSION sql_select_limit = DEFAULT")
				}
				must(t, s.oracle, "BEGIN")
				must(t, s.subject, "BEGIN")
				for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
					must(t, c, "UPDATE users SET age = 99 WHERE id = 17")
				}
				s.compareGroups(t, groupQuery{sql: "SELECT age, COUNT(*) c FROM users GROUP BY age HAVING c > 0 ORDER BY c, age", few: true})
				must(t, s.oracle, "ROLLBACK")
				must(t, s.subject, "ROLLBACK")
			}
		})
	}
}

// groupServers are three servers: the one that has all rows, and two nodes.
func groupServers(t *testing.T, kind mysqltest.Kind) []*mysqltest.RealServer {
	t.Helper()
	return append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
}

func (s *shards) compareGroups(t *testing.T, q groupQuery) {
	t.Helper()
	run := func(c *mysqltest.RawClient) *mysqltest.RawResult {
		if q.args == nil {
			r, err := c.Query(q.sql)
			if err != nil {
				t.Fatalf("%s: %v", q.sql, err)
			}
			return r
		}
		stmt, err := c.Prepare(q.sql)
		if err != nil {
			t.Fatalf("%s: %v", q.sql, err)
		}
		r, err := stmt.Execute(q.args...)
		if err != nil {
			t.Fatalf("%s: %v", q.sql, err)
		}
		return r
	}
	want, got := run(s.oracle), run(s.subject)
	if w, g := q.shown(want), q.shown(got); w != g {
		t.Errorf("%s\n got %s\nwant %s", q.sql, g, w)
	}
	if want.Err != nil && got.Err != nil && want.Err.Message != got.Err.Message {
		t.Errorf("%s\n got %s\nwant %s", q.sql, got.Err.Message, want.Err.Message)
	}
	if want.Err == nil {
		s.checkMoves(t, q)
	}
}

// shown shows an answer: which of several equal spellings stands for a group is open.
func (q groupQuery) shown(r *mysqltest.RawResult) string {
	spellings := strings.NewReplacer("bob ", "bob", "ë", "e")
	lines := strings.Split(spellings.Replace(strings.ToLower(shownAnswer(r, q.sql, false))), "\n")
	if !strings.Contains(q.sql, "ORDER BY") {
		slices.Sort(lines[1:])
	}
	return strings.Join(lines, "\n")
}

// checkMoves looks at what EXPLAIN shows to be collected.
func (s *shards) checkMoves(t *testing.T, q groupQuery) {
	t.Helper()
	sql := q.sql
	for _, arg := range q.args {
		sql = strings.Replace(sql, "?", fmt.Sprintf("'%v'", arg), 1)
	}
	if strings.Contains(sql, "LIMIT '") || strings.Contains(q.sql, "* ?") {
		return
	}
	few, merged := false, true
	for _, row := range must(t, s.subject, "EXPLAIN "+sql).Rows {
		switch row[1] {
		case "gather":
			few, merged = strings.Contains(row[5].(string), " AS ks_"), false
		case "finish":
			merged = false
		}
	}
	if few != q.few || merged != q.merged {
		t.Errorf("%s: few %v, merged %v", sql, few, merged)
	}
}

// TestGroupsMoveFewRows counts the rows that a HAVING over 100,000 rows moves, and those that it moves where all are needed.
func TestGroupsMoveFewRows(t *testing.T) {
	if testing.Short() {
		t.Skip("100,000 rows")
	}
	s := startShards(t, groupServers(t, mysqltest.MariaDB), []int{1, 1}, groupsSchema)
	for k, c := range s.nodes {
		must(t, c, fmt.Sprintf("INSERT INTO users_%04d (id, name, country, age) SELECT 2 * seq + %d, CONCAT('n', seq), CHAR(65 + seq %% 20), seq %% 90 FROM seq_1_to_50000", k, k))
	}
	const query = "SELECT country, COUNT(*) c, SUM(age) / COUNT(*) a%s FROM users GROUP BY country HAVING c > 5 ORDER BY c DESC, country LIMIT 10"
	var rows [2]*mysqltest.RawResult
	var moved [2]int
	for k, more := range []string{"", ", STD(0)"} {
		sql := fmt.Sprintf(query, more)
		for _, row := range must(t, s.subject, "EXPLAIN "+sql).Rows {
			if row[1] == "gather" {
				node := s.nodes[row[3].(string)[1]-'0']
				moved[k] += len(must(t, node, row[5].(string)).Rows)
			}
		}
		begin := time.Now()
		rows[k] = must(t, s.subject, sql)
		t.Logf("%d rows moved, %v: %s", moved[k], time.Since(begin).Round(time.Millisecond), sql)
	}
	if moved != [2]int{40, 100000} {
		t.Errorf("%d rows moved", moved)
	}
	for k, row := range rows[1].Rows {
		if got := rows[0].Rows[k]; fmt.Sprint(got...) != fmt.Sprint(row[:3]...) {
			t.Errorf("row %d: %v, and from all rows %v", k, got, row)
		}
	}
	if len(rows[0].Rows) != 10 || len(rows[1].Rows) != 10 {
		t.Errorf("%d and %d rows", len(rows[0].Rows), len(rows[1].Rows))
	}
}
