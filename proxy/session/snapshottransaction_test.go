package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// onSnapshotShards runs a test on two nodes with a second client, whose changes of several nodes all keep or none.
func onSnapshotShards(t *testing.T, f func(t *testing.T, s *shards, other *mysqltest.RawClient)) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			s := startShards(t, servers, []int{1, 1}, rowsSchema, atomicConfig)
			s.fillRows(t)
			must(t, s.subject, "UPDATE users SET n = 1")
			f(t, s, dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"}))
		})
	}
}

// A transaction that begins with a snapshot sees one moment on all nodes, and changes rows of those that its mode lets it.
func TestSnapshotOverNodes(t *testing.T) {
	onSnapshotShards(t, func(t *testing.T, s *shards, other *mysqltest.RawClient) {
		c, value := s.subject, 1
		one, two := s.onTwoNodes(t)
		for _, consistency := range []string{"node", "atomic"} {
			for _, test := range []struct {
				mode, begin string
				changes     int // how many of two nodes it may change
			}{
				{"single", "", 1}, {"single", ", READ ONLY", 0}, {"best_effort", "", 2}, {"atomic", "", 2}, {"atomic", ", READ WRITE", 2}, {"atomic", ", READ ONLY", 0},
			} {
				name := consistency + ", " + test.mode + test.begin
				must(t, c, "SET ks_read_consistency = "+consistency)
				must(t, c, "SET ks_transaction_mode = "+test.mode)
				if r := must(t, c, "START TRANSACTION WITH CONSISTENT SNAPSHOT"+test.begin); !r.Status.Has(mysql.ServerStatusInTrans) || r.Warnings > 0 {
					t.Errorf("%s: %+v", name, r)
				}
				before := value
				value++
				must(t, other, fmt.Sprintf("UPDATE users SET n = %d", value))
				for _, sql := range []string{"SELECT MIN(n) + MAX(n) FROM users", "SELECT DISTINCT 2 * a.n FROM users a JOIN (SELECT id + 0 AS id FROM users) b ON a.id = b.id", "SELECT 2 * n FROM users WHERE id = " + one, "SELECT 2 * n FROM users WHERE id = " + two} {
					if n := mustInt(t, c, sql); n != 2*before {
						t.Errorf("%s: %s: %d, not %d", name, sql, n, 2*before)
					}
				}
				changed := 0
				for k, id := range []string{one, two} {
					switch r, err := c.Query(fmt.Sprintf("INSERT INTO orders (user_id, id, amount) VALUES (%s, %d, %d)", id, 1000+value, value)); {
					case err != nil:
						t.Fatalf("%s: %v", name, err)
					case r.Err == nil:
						changed++
					case r.Err.Code != 9004 && r.Err.Code != 1792:
						t.Errorf("%s: change %d: %v", name, k, r.Err)
					}
				}
				must(t, c, "COMMIT")
				if n := mustInt(t, c, fmt.Sprintf("SELECT COUNT(*) FROM orders WHERE amount = %d AND id = %d", value, 1000+value)); n != test.changes || changed != test.changes {
					t.Errorf("%s: %d nodes are changed, %d were", name, n, changed)
				}
				if n := mustInt(t, c, "SELECT MIN(n) + MAX(n) FROM users"); n != 2*value {
					t.Errorf("%s: %d behind it", name, n)
				}
			}
		}
		for _, n := range s.nodes {
			if rows := must(t, n, "XA RECOVER").Rows; len(rows) > 0 {
				t.Errorf("prepared: %v", rows)
			}
		}
	})
}

// It begins with whole transactions or gives up, and leaves nothing then.
func TestSnapshotOverNodesIsWhole(t *testing.T) {
	onSnapshotShards(t, func(t *testing.T, s *shards, other *mysqltest.RawClient) {
		c := s.subject
		must(t, c, "UPDATE users SET n = 0")
		for k, begin := range []string{"START TRANSACTION WITH CONSISTENT SNAPSHOT", "START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT", "start transaction /*!40100 WITH CONSISTENT SNAPSHOT */"} {
			must(t, c, "SET ks_read_consistency = DEFAULT")
			whole := s.half(t)
			must(t, c, begin)
			if n := mustInt(t, c, "SELECT SUM(n) FROM users"); n != 5000 {
				t.Errorf("%s: without, %d", begin, n)
			}
			must(t, c, "COMMIT")
			must(t, c, "SET ks_read_consistency = 'atomic'")
			if k == 0 {
				fails(t, c, begin, mysql.ERLockDeadlock)
				if r := must(t, c, "SELECT n FROM users WHERE id = 1"); r.Status.Has(mysql.ServerStatusInTrans) {
					t.Errorf("%v", r.Status)
				}
			}
			over := soon(whole)
			must(t, c, begin)
			over()
			if n := mustInt(t, c, "SELECT SUM(n) FROM users"); n != 0 {
				t.Errorf("%s: %d", begin, n)
			}
			must(t, c, "ROLLBACK")
		}
	})
}

// What there is no snapshot for is said, as by a server or, where a moment was asked for, by an error. What was open is committed.
func TestSnapshotsOfOtherLevels(t *testing.T) {
	onSnapshotShards(t, func(t *testing.T, s *shards, other *mysqltest.RawClient) {
		c := s.subject
		one, two := s.onTwoNodes(t)
		const begin = "START TRANSACTION WITH CONSISTENT SNAPSHOT"
		for _, sql := range []string{"SET ks_transaction_mode = 'single'", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"} {
			must(t, c, sql)
		}
		r := must(t, c, begin)
		must(t, s.oracle, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
		if want := must(t, s.oracle, begin).Warnings; r.Warnings != want || fmt.Sprint(must(t, c, "SHOW WARNINGS").Rows) != fmt.Sprint(must(t, s.oracle, "SHOW WARNINGS").Rows) {
			t.Errorf("%d warnings, not %d: %v", r.Warnings, want, must(t, c, "SHOW WARNINGS").Rows)
		}
		must(t, s.oracle, "ROLLBACK")
		must(t, other, "UPDATE users SET n = 2")
		if n := mustInt(t, c, "SELECT MIN(n) + MAX(n) FROM users"); n != 4 {
			t.Errorf("READ COMMITTED reads %d", n)
		}
		must(t, c, "ROLLBACK")
		must(t, c, "SET ks_read_consistency = 'atomic'")
		for _, level := range []string{"READ COMMITTED", "READ UNCOMMITTED"} {
			must(t, c, "SET TRANSACTION ISOLATION LEVEL "+level)
			r, err := c.Query(begin)
			if err != nil || r.Err == nil || r.Err.Code != 9006 || !strings.Contains(r.Err.Message, "the isolation level is "+level) || !strings.Contains(r.Err.Message, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ") {
				t.Errorf("%s: %+v, %v", level, r, err)
			}
			must(t, c, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
			must(t, c, begin)
			must(t, c, "COMMIT")
		}
		must(t, c, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
		must(t, c, begin)
		must(t, c, "SELECT SUM(n) FROM users")
		must(t, other, "SET SESSION innodb_lock_wait_timeout = 1")
		fails(t, other, "UPDATE users SET n = 3 WHERE id = "+one, 1205)
		must(t, c, "COMMIT")
		// One that is open ends, on all nodes.
		must(t, c, "SET ks_transaction_mode = 'atomic'")
		for _, sql := range []string{"BEGIN", "UPDATE users SET n = 7 WHERE id = " + one, begin, "UPDATE users SET n = 8 WHERE id = " + two, "UPDATE users SET n = 8 WHERE id = " + one, begin, "ROLLBACK"} {
			must(t, c, sql)
		}
		if n := mustInt(t, c, fmt.Sprintf("SELECT SUM(n) FROM users WHERE id IN (%s, %s)", one, two)); n != 16 {
			t.Errorf("%d", n)
		}
		// What the session holds is where the transaction begins.
		must(t, c, "SET @a := 5")
		must(t, c, "CREATE TEMPORARY TABLE held (a INT)")
		must(t, c, begin)
		must(t, c, "INSERT INTO held VALUES (1)")
		must(t, c, "UPDATE users SET n = 9 WHERE id = "+two)
		must(t, c, "COMMIT")
		if n := mustInt(t, c, "SELECT COUNT(*) + @a FROM held"); n != 6 {
			t.Errorf("%d", n)
		}
		must(t, c, "SET autocommit = 0")
		must(t, c, begin)
		must(t, c, "UPDATE users SET n = 10 WHERE id = "+one)
		must(t, c, "COMMIT")
		must(t, c, "SET autocommit = 1")
		if n := mustInt(t, other, fmt.Sprintf("SELECT SUM(n) FROM users WHERE id IN (%s, %s)", one, two)); n != 19 {
			t.Errorf("%d", n)
		}
	})
}
