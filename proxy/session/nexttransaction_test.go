package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// shownBy runs a statement as text or prepared and shows its answer.
func shownBy(t *testing.T, c *mysqltest.RawClient, sql string, prepared bool) string {
	t.Helper()
	var r *mysqltest.RawResult
	var err error
	if !prepared {
		r, err = c.Query(sql)
	} else {
		st, refused := c.Prepare(sql)
		if refused != nil {
			return refused.Error()
		}
		r, err = st.Execute()
		_ = st.Close()
	}
	if err != nil {
		t.Fatal(sql, err)
	}
	return shownAnswer(r, sql, false)
}

// TestNextTransactionOnEveryShard: what SET TRANSACTION says of the next transaction goes for every shard of it, and for that one only. Other
// clients have changed all rows, and not committed: one that reads uncommitted sees it, on each shard.
func TestNextTransactionOnEveryShard(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, c := range append([]*mysqltest.RawClient{dial(t, mysqltest.Shared(t, kindOf(t)).Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})}, s.nodes...) {
			must(t, c, "START TRANSACTION")
			for _, row := range must(t, c, `SHOW TABLES`).Rows {
				if name := fmt.Sprint(row[0]); strings.HasPrefix(name, "users") || strings.HasPrefix(name, "countries") {
					must(t, c, "UPDATE "+name+" SET name = 'dirty'")
				}
			}
		}
		const dirty = "WHERE name = 'dirty'"
		queries := []string{
			"SELECT id FROM users " + dirty + " ORDER BY id", "SELECT COUNT(*) FROM users " + dirty, "SELECT COUNT(DISTINCT n + 1) FROM users " + dirty,
			"SELECT id, SUM(n) OVER (ORDER BY id) FROM users " + dirty + " ORDER BY id", "SELECT u.id, o.amount FROM users u JOIN orders o ON u.n = o.amount WHERE u.name = 'dirty' ORDER BY 1, 2",
			"SELECT u.id FROM users u JOIN orders o ON u.id = o.user_id WHERE u.name = 'dirty' ORDER BY 1",
			"SELECT name FROM countries " + dirty, "SELECT id FROM users WHERE id = 3 AND name = 'dirty'",
		}
		const uncommitted = "SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"
		cases, seen, refused := 0, 0, 0
		for n, first := range queries {
			{
				for k, way := range []string{
					uncommitted + "; %; %; %", uncommitted + "; BEGIN; %; %; COMMIT; %", uncommitted + "; BEGIN; SELECT id FROM users WHERE id = 2; %; COMMIT; BEGIN; %; COMMIT",
					"SET autocommit = 0; " + uncommitted + "; %; %; COMMIT; %; ROLLBACK; SET autocommit = 1", "SET autocommit = 0; %; COMMIT; " + uncommitted + "; %; %; ROLLBACK; %; COMMIT; SET autocommit = 1",
					"SET autocommit = 0; " + uncommitted + "; SELECT id FROM users WHERE id = 2; %; COMMIT; %; COMMIT; SET autocommit = 1",
					"SET @a := (SELECT 5); " + uncommitted + "; %; %", "SET @a := (SELECT 5); " + uncommitted + "; BEGIN; %; %; COMMIT; %", "SET TRANSACTION READ ONLY; " + uncommitted + "; %; %; UPDATE orders SET amount = 7",
					uncommitted + "; SET TRANSACTION ISOLATION LEVEL READ COMMITTED; %; %", uncommitted + "; SELECT 1; BEGIN; %; COMMIT", uncommitted + "; COMMIT; %; %", uncommitted + "; TRUNCATE TABLE order_items; %; %",
					uncommitted + "; EXPLAIN SELECT id FROM users; %; %", uncommitted + "; BEGIN; SET TRANSACTION READ ONLY; %; COMMIT; %", uncommitted + "; BEGIN; %; COMMIT AND CHAIN; %; COMMIT; %", uncommitted + "; SELECT id FROM users WHERE id = 2; BEGIN; %; COMMIT; %",
					"SET autocommit = 0; " + uncommitted + "; SELECT name FROM countries; SET autocommit = 1; SET autocommit = 0; %; COMMIT; SET autocommit = 1",
					uncommitted + "; SELECT name FROM countries; SET autocommit = 0; SELECT id FROM users WHERE id = 2; %; COMMIT; SET autocommit = 1",
					uncommitted + "; INSERT INTO payments (merchant_id, v, w, at) VALUES (1, 'a', 'p', NOW()), (2, 'a', 'q', NOW()), (3, 'a', 'r', NOW()); %; DELETE FROM payments WHERE v = 'a'",
				} {
					clients, prepared := s.clients(t), k%2 == n%2
					for _, sql := range strings.Split(strings.ReplaceAll(way, "%", first), "; ") {
						var got [2]string
						for k, c := range clients {
							got[k] = shownBy(t, c, sql, prepared && sql == first)
						}
						if strings.HasPrefix(sql, "EXPLAIN") {
							continue
						}
						if strings.Contains(got[1], "9004") {
							refused++
							break
						}
						if got[0] != got[1] {
							t.Errorf("%s (prepared %v)\n%s:\n got %s\nwant %s", way, prepared, sql, got[1], got[0])
						}
						if sql == first {
							seen++
						}
					}
					cases++
					for _, c := range clients {
						c.Close()
					}
				}
			}
		}
		if cases != len(queries)*20 || seen < cases || refused > cases/9 {
			t.Errorf("%d cases, %d queries answered, %d refused", cases, seen, refused)
		}
	})
}

// clients are new ones of both sides, which read what is committed.
func (s *shards) clients(t *testing.T) [2]*mysqltest.RawClient {
	t.Helper()
	config := mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"}
	clients := [2]*mysqltest.RawClient{dial(t, mysqltest.Shared(t, kindOf(t)).Addr, config), dial(t, s.addr, config)}
	for _, c := range clients {
		must(t, c, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
	}
	return clients
}

// kindOf is the kind of server of a test of onShards.
func kindOf(t *testing.T) mysqltest.Kind {
	if strings.Contains(t.Name(), string(mysqltest.MariaDB)) {
		return mysqltest.MariaDB
	}
	return mysqltest.MySQL9
}

// TestNextTransactionIsUsedUp: the statements that use up what SET TRANSACTION said, and those that leave it, are those of one server.
func TestNextTransactionIsUsedUp(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		const change, one = "UPDATE users SET n = n + 1", "UPDATE users SET n = n + 1 WHERE id = 1"
		cases := 0
		for _, way := range []string{
			"%; %; ROLLBACK; %", "UPDATE users SET n = n + 1 ORDER BY id LIMIT 3; DELETE FROM users ORDER BY id LIMIT 2; %", "INSERT INTO countries VALUES ('zz', 'z'); %", "TRUNCATE TABLE order_items; %",
			"EXPLAIN SELECT id FROM users; %", "SHOW TABLES LIKE 'users'; %", "SELECT table_name FROM information_schema.tables WHERE table_name = 'users' AND table_schema = DATABASE(); %",
			"BEGIN; SET TRANSACTION READ WRITE; %; COMMIT; %", "SET @a := (SELECT 5); %; %", "SELECT id FROM users ORDER BY id; %", "SELECT COUNT(DISTINCT n + 1) FROM users; %", "SET TRANSACTION READ WRITE; %",
			"COMMIT; %", "SELECT id FROM users WHERE id = 3; %", "SELECT 1; %", "SET @@transaction_read_only = 'bogus'; SELECT id FROM users; %", "ANALYZE TABLE countries; %", "BEGIN; SELECT id FROM users ORDER BY id; COMMIT; %",
			"INSERT INTO users (id) VALUES (1), (2), (3); %", "SHOW CREATE TABLE users; %", "DESCRIBE users; %", "SHOW INDEX FROM users; %", "SHOW COLUMNS FROM users; %",
			"SELECT id FROM users ORDER BY id FOR UPDATE; %",
		} {
			for _, before := range []string{"SET @b = 1", "SET autocommit = 0", "SET @a := (SELECT 5)"} {
				for _, last := range []string{change, one} {
					clients := s.clients(t)
					for _, sql := range strings.Split(before+"; SET TRANSACTION READ ONLY; "+strings.ReplaceAll(way, "%", last)+"; ROLLBACK", "; ") {
						want, got := shownBy(t, clients[0], sql, false), shownBy(t, clients[1], sql, false)
						if strings.Contains(got, "9004") || strings.Contains(got, "9012") {
							break
						}
						if want != got && !strings.HasPrefix(sql, "EXPLAIN") {
							t.Errorf("%s; %s\n%s:\n got %s\nwant %s", before, strings.ReplaceAll(way, "%", last), sql, got, want)
						}
						cases++
					}
					for _, c := range clients {
						c.Close()
					}
				}
			}
		}
		if cases < 500 {
			t.Errorf("only %d statements", cases)
		}
		for _, sql := range []string{"SELECT id FROM users", "SELECT COUNT(DISTINCT n + 1) FROM users"} {
			must(t, s.subject, "SET TRANSACTION READ ONLY")
			if r := must(t, s.subject, sql); r.Status.Has(mysql.ServerStatusInTrans) {
				t.Errorf("%s: the client is told of a transaction", sql)
			}
		}
	})
}
