package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// saying starts a proxy whose user, tables or rules say something of cross_shard, and gives a client of it.
func (s *shards) saying(t *testing.T, user string, more ...string) *mysqltest.RawClient {
	t.Helper()
	was := s.config
	defer func() { s.config = was }()
	s.config = strings.Replace(s.config, "local_infile: true", "local_infile: true, cross_shard: "+user, 1)
	return dial(t, s.restarted(t, more...), mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop", Capabilities: mysqltest.ScriptCapabilities | mysql.ClientMultiStatements})
}

// collects are statements whose rows are brought together from several shards, each by another plan.
var collects = []string{
	"SELECT GROUP_CONCAT(name) FROM users",
	"SELECT n, COUNT(*) FROM users GROUP BY n HAVING COUNT(*) > 1",
	"SELECT a.id FROM users a JOIN users b ON a.n = b.id FOR UPDATE",
	"SELECT COUNT(DISTINCT a.n, b.n) FROM users a JOIN users b ON a.n = b.id INTO @x",
	"INSERT INTO order_items (user_id, v) SELECT n, id FROM users",
	"UPDATE users SET name = 'x' WHERE n IN (SELECT user_id FROM orders)",
}

// scatters are statements that several shards answer, each for its own rows.
var scatters = []string{
	"SELECT id FROM users ORDER BY n LIMIT 3", "SELECT COUNT(*), SUM(n) FROM users", "SELECT GROUP_CONCAT(name) FROM users WHERE id = 3",
	"UPDATE users SET name = 'y' WHERE n < 3", "DELETE FROM users ORDER BY n LIMIT 1", "EXPLAIN SELECT GROUP_CONCAT(name) FROM users",
}

// What cross_shard denies is refused ahead of everything, by text and prepared, with the reason of the plan; nothing else is.
func TestCrossShardDenied(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		denied := func(c *mysqltest.RawClient, by, sql string) {
			t.Helper()
			r, err := c.Query(sql)
			if err != nil || r.Err == nil || r.Err.Code != 9023 {
				t.Errorf("%s: %v %+v", sql, err, r)
				return
			}
			for _, name := range []string{"rows of several shards would be brought together: ", by, "give the sharding key ("} {
				if !strings.Contains(r.Err.Message, name) {
					t.Errorf("%s: %s, want %q in it", sql, r.Err.Message, name)
				}
			}
		}
		all := s.saying(t, "deny")
		before := must(t, s.subject, "SELECT COUNT(*), SUM(name = 'x') FROM users").Rows
		for _, sql := range collects {
			denied(all, "cross_shard of user root is deny", sql)
			if !strings.Contains(sql, "INTO @x") {
				st, err := all.Prepare(sql)
				if err != nil {
					t.Fatalf("prepare %s: %v", sql, err)
				}
				if r, err := st.Execute(); err != nil || r.Err == nil || r.Err.Code != 9023 {
					t.Errorf("prepared %s: %v %+v", sql, err, r)
				}
			}
			if !strings.Contains(sql, "INTO") {
				must(t, all, "PREPARE p FROM '"+strings.ReplaceAll(sql, "'", "''")+"'")
				denied(all, "is deny", "EXECUTE p")
			}
		}
		if after := must(t, s.subject, "SELECT COUNT(*), SUM(name = 'x') FROM users").Rows; fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("rows %v, were %v", after, before)
		}
		for _, sql := range scatters {
			must(t, all, sql)
		}
		// A transaction goes on.
		must(t, all, "BEGIN")
		must(t, all, "UPDATE users SET name = 'z' WHERE id = 5")
		fails(t, all, collects[0], 9023)
		if got := must(t, all, "SELECT name FROM users WHERE id = 5").Rows; fmt.Sprint(got) != "[[z]]" {
			t.Errorf("in the transaction %v", got)
		}
		must(t, all, "ROLLBACK")
		if got := must(t, all, "SHOW KS STATUS LIKE 'Cross_shard_denied'").Rows[0][1]; fmt.Sprint(got) == "0" {
			t.Error("none is counted")
		}

		table := s.config
		s.config = strings.Replace(s.config, "table: orders,", "table: orders, cross_shard: deny,", 1)
		if s.config == table {
			t.Fatal("no rule of orders")
		}
		of := s.saying(t, "warn")
		s.config = table
		denied(of, "cross_shard of table orders is deny", "SELECT GROUP_CONCAT(amount) FROM orders")
		denied(of, "cross_shard of table orders is deny", "UPDATE users SET name = 'x' WHERE n IN (SELECT user_id FROM orders)")
		must(t, of, "SELECT GROUP_CONCAT(n) FROM users")

		ruled := s.saying(t, "deny", "query_rules: [{name: nightly, pattern: '(?i)group_concat', cross_shard: allow}, {name: no-joins, tables: [orders], cross_shard: warn}]")
		must(t, ruled, "SELECT GROUP_CONCAT(name) FROM users")
		must(t, ruled, "SELECT u.n, o.amount FROM users u JOIN orders o ON u.n = o.amount")
		denied(ruled, "user root", collects[1])
		strict := s.saying(t, "allow", "query_rules: [{name: no-lists, pattern: '(?i)group_concat', cross_shard: deny}]")
		denied(strict, "cross_shard of query rule no-lists is deny", "SELECT GROUP_CONCAT(name) FROM users")
		must(t, strict, collects[1])
	})
}

// Changes of tables with keys over the shards, by rows of other shards, are refused ahead of these rows where the keys cannot follow.
func TestChangesOfIndexedTablesCollectNothing(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startIndexed(t, kind)
			for k := 1; k <= 8; k++ {
				s.everywhere(t, fmt.Sprintf("INSERT INTO people (id, email, dept) VALUES (%d, 'e%d', %d)", k, k, k%3))
			}
			collected := func() any { return must(t, s.subject, "SHOW KS STATUS LIKE 'Finish_rows'").Rows[0][1] }
			before := collected()
			for _, sql := range []string{
				"UPDATE IGNORE people SET dept = 9 WHERE dept IN (SELECT b.id FROM people b WHERE b.name IS NULL)", "UPDATE IGNORE people SET dept = 9 WHERE dept = (SELECT MIN(b.id) FROM people b)",
			} {
				fails(t, s.subject, sql, 9012)
			}
			if after := collected(); after != before {
				t.Errorf("%v rows were collected, %v before", after, before)
			}
			fails(t, s.saying(t, "deny"), "DELETE FROM people WHERE dept IN (SELECT id FROM people b) ORDER BY id LIMIT 1", 9023)
			must(t, s.subject, "UPDATE people SET dept = 5 WHERE dept = 1")
			must(t, s.subject, "DELETE FROM people WHERE id IN (1, 2)")
			s.keptIndexes(t, "behind all")
		})
	}
}

// What cross_shard warns of runs, and SHOW WARNINGS has the warning behind those of servers; nothing else has it.
func TestCrossShardWarns(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		c := s.saying(t, "warn")
		warned := func(sql string, others int) {
			t.Helper()
			r := must(t, c, sql)
			told := r.Warnings
			if r.OK != nil {
				told = r.OK.Warnings
			}
			for _, count := range []any{told, must(t, c, "SELECT @@warning_count").Rows[0][0]} {
				if fmt.Sprint(count) != fmt.Sprint(1+others) {
					t.Errorf("%s has %v warnings, want %d", sql, count, 1+others)
				}
			}
			must(t, c, sql)
			rows := must(t, c, "SHOW WARNINGS").Rows
			if own := fmt.Sprint(rows); len(rows) != 1+others || strings.Count(own, "9023") != 1 || !strings.Contains(own, "cross_shard of user root is warn") {
				t.Errorf("%s: %v", sql, rows)
			}
		}
		warned("SELECT GROUP_CONCAT(name) FROM users", 0)
		warned("SELECT n, COUNT(*) FROM users GROUP BY n HAVING COUNT(*) > 1", 0)
		warned("SELECT a.id FROM users a JOIN users b ON a.n = b.id FOR UPDATE", 0)
		warned("SELECT GROUP_CONCAT(n), CAST('1x' AS SIGNED) FROM users", 1)
		warned("SELECT COUNT(DISTINCT a.n, b.n) INTO @x FROM users a JOIN users b ON a.n = b.id", 0)
		must(t, c, "BEGIN")
		must(t, c, "UPDATE users SET name = 'q' WHERE id = 5")
		warned("SELECT GROUP_CONCAT(name) FROM users", 0)
		must(t, c, "ROLLBACK")
		warned("INSERT INTO order_items (user_id, v) SELECT n, id FROM users WHERE n IS NOT NULL", 0)
		warned("UPDATE users SET name = 'x' WHERE n IN (SELECT user_id FROM orders)", 0)
		for _, sql := range scatters {
			if r := must(t, c, sql); r.Warnings != 0 {
				t.Errorf("%s has %d warnings: %v", sql, r.Warnings, must(t, c, "SHOW WARNINGS").Rows)
			}
		}
		if got := must(t, c, "SHOW KS STATUS LIKE 'Cross_shard_warned'").Rows[0][1]; got != "16" {
			t.Errorf("%v are counted", got)
		}
	})
}
