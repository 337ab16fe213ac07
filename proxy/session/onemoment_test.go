package session_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// atomicReads are settings with which transactions over nodes are whole, and seen whole.
const atomicReads = atomicConfig + "read_consistency: atomic\n"

// half makes a transaction over both nodes look as it does while it is being committed: the node that decides has it, and the other one has not got it yet.
// whole undoes that.
func (s *shards) half(t *testing.T) (whole func()) {
	t.Helper()
	for _, n := range s.nodes {
		must(t, n, "DELETE FROM ks_meta.dtx")
	}
	one, other := s.onTwoNodes(t)
	for _, sql := range []string{"BEGIN", "UPDATE users SET n = 1000 WHERE id = " + one, "UPDATE users SET n = -1000 WHERE id = " + other, "COMMIT"} {
		must(t, s.subject, sql)
	}
	decides, follows := s.nodes[0], s.nodes[1]
	if len(must(t, follows, "SELECT 1 FROM ks_meta.dtx WHERE state = 'C'").Rows) > 0 {
		decides, follows = follows, decides
	}
	if mustInt(t, decides, "SELECT COUNT(*) FROM ks_meta.dtx WHERE state = 'C'") != 1 || mustInt(t, follows, "SELECT COUNT(*) FROM ks_meta.dtx WHERE state = 'B'") != 1 {
		t.Fatal("no transaction over both nodes")
	}
	var table, id string
	for _, row := range must(t, follows, "SHOW TABLES LIKE 'users%'").Rows {
		if rows := must(t, follows, fmt.Sprintf("SELECT id FROM %s WHERE n = -1000 OR n = 1000", row[0])).Rows; len(rows) == 1 {
			table, id = row[0].(string), rows[0][0].(string)
		}
	}
	change := func(by string, sql ...string) {
		t.Helper()
		must(t, follows, "BEGIN")
		must(t, follows, fmt.Sprintf("UPDATE %s SET n = n %s 5000 WHERE id = %s", table, by, id))
		for _, one := range sql {
			must(t, follows, one)
		}
		must(t, follows, "COMMIT")
	}
	must(t, follows, "DROP TEMPORARY TABLE IF EXISTS shop.kept")
	must(t, follows, "CREATE TEMPORARY TABLE shop.kept AS SELECT * FROM ks_meta.dtx WHERE state = 'B'")
	change("+", "DELETE FROM ks_meta.dtx WHERE state = 'B'")
	return func() { t.Helper(); change("-", "INSERT INTO ks_meta.dtx SELECT * FROM shop.kept") }
}

// soon does something in a moment, and returns what waits for it.
func soon(do func()) (over func()) {
	done := make(chan struct{})
	time.AfterFunc(100*time.Millisecond, func() { defer close(done); do() })
	return func() { <-done }
}

// sums are queries that give the sum over all nodes, merged and collected on one server.
var sums = []string{
	"SELECT SUM(n) FROM users",
	"SELECT SUM(a.n) FROM users a JOIN (SELECT id + 0 AS id FROM users) b ON a.id = b.id",
	"SELECT SUM(n) FROM (SELECT n FROM users UNION ALL SELECT 0 FROM orders) u",
	"WITH all_users AS (SELECT n FROM users) SELECT SUM(n) FROM all_users",
	"SELECT (SELECT SUM(n) FROM users) + 0",
}

// A read of several nodes waits for the rest of what it would see a part of, and gives up in the end; another one sees the part.
func TestReadsSeeWholeTransactions(t *testing.T) {
	onShardsOf(t, func(*testing.T) {}, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		c := s.subject
		for _, sql := range []string{"UPDATE users SET n = 1", "UPDATE users SET n = 0"} {
			must(t, c, sql)
		}
		whole := s.half(t)
		total := mustInt(t, c, "SELECT SUM(n) FROM users /* read by each node */")
		if total != 5000 {
			t.Fatalf("a plain read gives %d", total)
		}
		must(t, c, "SET ks_read_consistency = 'atomic'")
		if len(must(t, s.nodes[0], "SHOW TABLES LIKE 'users%'").Rows) == 1 {
			began := time.Now()
			fails(t, c, sums[0], mysql.ERLockDeadlock)
			if took := time.Since(began); took < time.Second || took > 10*time.Second {
				t.Errorf("it gave up after %v", took)
			}
		}
		must(t, c, "SELECT n FROM users WHERE id = 1")
		must(t, c, "SELECT n FROM users FOR UPDATE")
		for _, sql := range sums {
			over := soon(whole)
			if n := mustInt(t, c, sql); n != 0 {
				t.Errorf("%s: %d", sql, n)
			}
			over()
			whole = s.half(t)
		}
		st, err := c.Prepare(sums[0])
		if err != nil {
			t.Fatal(err)
		}
		over := soon(whole)
		if r, err := st.Execute(); err != nil || fmt.Sprint(r.Rows) != "[[0]]" {
			t.Errorf("prepared: %+v, %v", r, err)
		}
		over()
		// The session is as it was.
		if r := must(t, c, "SELECT 1"); r.Status.Has(mysql.ServerStatusInTrans) {
			t.Errorf("%v", r.Status)
		}
		must(t, c, "SET ks_read_consistency = DEFAULT")
	}, atomicConfig)
}

// What is asked of the variable that cannot be is refused.
func TestReadConsistency(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			s := startShards(t, servers, []int{1, 1}, rowsSchema)
			s.fillRows(t)
			c := s.subject
			fails(t, c, "SET ks_read_consistency = 'whole'", mysql.ERWrongValueForVar)
			fails(t, c, "SET ks_read_consistencies = 'atomic'", 1193)
			fails(t, c, "SET sql_mode = '', ks_read_consistency = 'atomic'", 9005)
			must(t, c, "BEGIN")
			fails(t, c, "SET ks_read_consistency = 'atomic'", mysql.ERCantChangeTxIsolation)
			must(t, c, "ROLLBACK")
			must(t, c, "SET @@SESSION.ks_read_consistency = atomic")
			// Servers that may break their word have no transactions over nodes, and the error says what would have them.
			r, err := c.Query("SELECT COUNT(*) FROM users")
			if err != nil || r.Err == nil || r.Err.Code != 9018 || !strings.Contains(r.Err.Message, "read_consistency is atomic: node n") || !strings.Contains(r.Err.Message, "innodb_flush_log_at_trx_commit is 2") {
				t.Errorf("%+v, %v", r, err)
			}
			must(t, c, "SELECT COUNT(*) FROM users WHERE id = 1")
			must(t, c, "SET ks_read_consistency = DEFAULT")
			must(t, c, "SELECT COUNT(*) FROM users")
			// It can be asked for.
			shown := func(sql, want string) {
				t.Helper()
				if r := must(t, c, sql); fmt.Sprint(r.Names(), r.Rows) != want {
					t.Errorf("%s: %v %v", sql, r.Names(), r.Rows)
				}
			}
			const both = "SELECT @@ks_read_consistency, @@SESSION.ks_transaction_mode AS m, CONCAT(@@ks_read_consistency, '!')"
			shown(both, "[@@ks_read_consistency m CONCAT(@@ks_read_consistency, '!')] [[node auto node!]]")
			must(t, c, "SET ks_read_consistency = 'atomic'")
			must(t, c, "SET ks_transaction_mode = 'best_effort'")
			shown(both, "[@@ks_read_consistency m CONCAT(@@ks_read_consistency, '!')] [[atomic best_effort atomic!]]")
			fails(t, c, "SELECT @@ks_read", 1193)
			fails(t, c, "SELECT @@global.ks_read_consistency", 1193)
			st, err := c.Prepare("SELECT @@ks_read_consistency")
			if err != nil {
				t.Fatal(err)
			}
			if r, err := st.Execute(); err != nil || fmt.Sprint(r.Rows) != "[[atomic]]" {
				t.Errorf("prepared: %+v, %v", r, err)
			}
		})
	}
}

// A read of one node is sent as before, and one of several is in a snapshot on each, whatever the isolation level is.
func TestWhatReadsAtOneMomentSend(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			s := startShards(t, servers, []int{1, 1}, rowsSchema, atomicReads)
			s.fillRows(t)
			must(t, s.subject, "SELECT COUNT(*) FROM users") // what is missing is made
			one, other := s.onTwoNodes(t)
			for _, n := range s.nodes {
				must(t, n, "SET GLOBAL log_output = 'TABLE'")
			}
			const recent = "CALL ks_meta.ks_recent()"
			for _, test := range []struct {
				ahead, text string
				want        string // on each of the nodes that it reads
			}{
				{"DO 1", "SELECT n FROM users WHERE id = " + one, "SELECT"},
				{"DO 1", "SELECT SUM(n) FROM users WHERE id IN (" + other + ")", "SELECT"},
				{"DO 1", "SELECT n FROM users FOR UPDATE", "SELECT"},
				{"DO 1", "SELECT n FROM users", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION WITH CONSISTENT SNAPSHOT; " + recent + "; SELECT; COMMIT AND NO CHAIN NO RELEASE"},
				{"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SELECT n FROM users", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION WITH CONSISTENT SNAPSHOT; " + recent + "; SELECT; COMMIT AND NO CHAIN NO RELEASE"},
				{"SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY", "SELECT n FROM users", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; START TRANSACTION WITH CONSISTENT SNAPSHOT; " + recent + "; SELECT; COMMIT AND NO CHAIN NO RELEASE"},
			} {
				must(t, s.subject, test.ahead)
				for _, n := range s.nodes {
					must(t, n, "TRUNCATE TABLE mysql.general_log")
					must(t, n, "SET GLOBAL general_log = ON")
				}
				must(t, s.subject, test.text)
				read := 0
				for _, n := range s.nodes {
					must(t, n, "SET GLOBAL general_log = OFF")
					var sent []string
					for _, row := range must(t, n, "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE command_type = 'Query' AND thread_id IN "+
						"(SELECT thread_id FROM mysql.general_log WHERE argument LIKE '%`users%') ORDER BY event_time").Rows {
						text := row[0].(string)
						if strings.Contains(text, "`users") {
							text, read = "SELECT", read+1
						}
						if !strings.HasPrefix(text, "SELECT CAST(gtrid") && !strings.HasPrefix(text, "SELECT @@session.") && !strings.Contains(text, "_isolation='") && text != "SET GLOBAL general_log = OFF" {
							sent = append(sent, text)
						}
					}
					if got := strings.Join(sent, "; "); got != "" && got != test.want {
						t.Errorf("%s; %s: %s", test.ahead, test.text, got)
					}
				}
				if read == 0 || strings.Contains(test.want, "START") && read != len(s.nodes) {
					t.Errorf("%s; %s: read on %d nodes", test.ahead, test.text, read)
				}
			}
		})
	}
}
