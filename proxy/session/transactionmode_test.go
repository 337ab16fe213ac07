package session_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/txn/twophase"
)

// A session says which transactions it wants, where the configuration says it for all.
func TestTransactionMode(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			s := startShards(t, servers, []int{1, 1}, rowsSchema, "transaction_mode: single\nxa_on_unsafe_server: true")
			s.fillRows(t)
			c := s.subject
			one, other := s.onTwoNodes(t)
			both := func(n int) (statements []string) {
				return []string{"BEGIN", fmt.Sprintf("UPDATE users SET n = %d WHERE id = %s", n, one), fmt.Sprintf("UPDATE users SET n = %d WHERE id = %s", n, other)}
			}
			for _, sql := range both(1)[:2] {
				must(t, c, sql)
			}
			fails(t, c, both(1)[2], 9004)
			fails(t, c, "SET ks_transaction_mode = 'atomic'", mysql.ERCantChangeTxIsolation)
			must(t, c, "ROLLBACK")
			fails(t, c, "SET ks_transaction_mode = 'most'", mysql.ERWrongValueForVar)
			fails(t, c, "SET ks_transaction_modes = 'atomic'", 1193)
			fails(t, c, "SET ks_transaction_mode = 'atomic', sql_mode = ''", 9005)
			committed := func() (n int) {
				for _, node := range s.nodes {
					if len(must(t, node, "SHOW DATABASES LIKE 'ks_meta'").Rows) > 0 {
						n += mustInt(t, node, "SELECT COUNT(*) FROM ks_meta.dtx WHERE state = 'C'")
					}
				}
				return n
			}
			for k, test := range []struct {
				set                 string
				decisions, warnings int
			}{
				{"SET ks_transaction_mode = 'best_effort'", 0, 1}, {"SET SESSION ks_transaction_mode = atomic", 1, 0}, {"SET @@ks_transaction_mode = \"best_effort\"", 0, 1},
			} {
				must(t, c, test.set)
				for _, sql := range both(100 + k) {
					must(t, c, sql)
				}
				r := must(t, c, "COMMIT")
				if n := committed(); n != test.decisions || int(r.Warnings) != test.warnings {
					t.Errorf("%s: %d decisions, %d warnings", test.set, n, r.Warnings)
				}
				if rows := fmt.Sprint(must(t, c, "SHOW WARNINGS").Rows); strings.Contains(rows, "9004") != (test.warnings > 0) {
					t.Errorf("%s: %s", test.set, rows)
				}
				if n := mustInt(t, c, fmt.Sprintf("SELECT COUNT(*) FROM users WHERE n = %d", 100+k)); n != 2 {
					t.Errorf("%s: %d rows", test.set, n)
				}
				for _, end := range []string{"ROLLBACK", "ROLLBACK TO a"} {
					for _, sql := range append(both(200)[:2], "SAVEPOINT a", both(200)[2], fmt.Sprintf("UPDATE users SET n = 201 WHERE id IN (%s, %s)", one, other), end) {
						must(t, c, sql)
					}
					want := 0
					if end != "ROLLBACK" {
						want = 1
						must(t, c, "COMMIT")
					}
					if n := mustInt(t, c, "SELECT COUNT(*) FROM users WHERE n >= 200"); n != want {
						t.Errorf("%s, %s: %d rows", test.set, end, n)
					}
				}
				must(t, c, fmt.Sprintf("UPDATE users SET n = 1 WHERE id IN (%s, %s)", one, other))
				if k == 1 {
					must(t, s.nodes[0], "DELETE FROM ks_meta.dtx")
					must(t, s.nodes[1], "DELETE FROM ks_meta.dtx")
				}
			}
			must(t, c, "SET ks_transaction_mode = DEFAULT")
			must(t, c, both(1)[0])
			must(t, c, both(1)[1])
			fails(t, c, both(1)[2], 9004)
			must(t, c, "ROLLBACK")
		})
	}
}

// What a proxy has left behind is ended by one whose configuration has no such transactions any more.
func TestLeftBehindInAnotherMode(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			text := ""
			t.Run("made", func(t *testing.T) {
				s := startShards(t, servers, []int{1, 1}, rowsSchema, atomicConfig)
				s.fillRows(t)
				must(t, s.subject, "UPDATE users SET n = 1")
				text = s.config
			})
			direct := dial(t, servers[2].Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
			left := twophase.XID{
				GTRID: twophase.GTRID{Anchor: twophase.NodeIDOf("n0"), Proxy: 1, Start: uint32(time.Now().Unix()), Sequence: 1}, Node: twophase.NodeIDOf("n1"),
			}.String()
			for _, sql := range []string{"XA START " + left, "UPDATE users_0001 SET n = 1000", "XA END " + left, "XA PREPARE " + left} {
				must(t, direct, sql)
			}
			if len(must(t, direct, "XA RECOVER").Rows) != 1 {
				t.Fatal("nothing is left behind")
			}
			direct.Close()
			startProxyText(t, strings.Replace(text, "transaction_mode: atomic", "transaction_mode: single", 1))
			direct = dial(t, servers[2].Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
			mysqltest.WaitFor(t, "the branch to be ended", func() bool { return len(must(t, direct, "XA RECOVER").Rows) == 0 })
			if n := mustInt(t, direct, "SELECT COUNT(*) FROM users_0001 WHERE n = 1000"); n != 0 {
				t.Errorf("%d rows are changed", n)
			}
		})
	}
}

// A transaction that stays on one node is sent to its server as in the mode single, statement for statement.
func TestTransactionsOfOneNodeAreSentAsBefore(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			s := startShards(t, servers, []int{1, 1}, rowsSchema, "xa_on_unsafe_server: true")
			s.fillRows(t)
			one, _ := s.onTwoNodes(t)
			for _, n := range s.nodes {
				must(t, n, "SET GLOBAL log_output = 'TABLE'")
			}
			sent := map[string]string{}
			for _, mode := range []string{"single", "atomic"} {
				must(t, s.subject, "SET ks_transaction_mode = "+mode)
				for _, n := range s.nodes {
					must(t, n, "TRUNCATE TABLE mysql.general_log")
					must(t, n, "SET GLOBAL general_log = ON")
				}
				for _, sql := range []string{
					"BEGIN", "SELECT n FROM users WHERE id = " + one, "UPDATE users SET n = n + 1 WHERE id = " + one, "SAVEPOINT a", "UPDATE users SET n = n + 1 WHERE id = " + one,
					"ROLLBACK TO a", "COMMIT", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "BEGIN", "SELECT n FROM users WHERE id = " + one + " FOR UPDATE", "ROLLBACK",
				} {
					must(t, s.subject, sql)
				}
				for _, n := range s.nodes {
					must(t, n, "SET GLOBAL general_log = OFF")
					for _, row := range must(t, n, "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE command_type IN ('Query', 'Execute') AND thread_id IN "+
						"(SELECT thread_id FROM mysql.general_log WHERE argument LIKE '%`users%') ORDER BY event_time").Rows {
						sent[mode] += fmt.Sprintln(row[0])
					}
				}
			}
			if strings.Count(sent["single"], "\n") < 9 || sent["single"] != sent["atomic"] {
				t.Errorf("single:\n%s\natomic:\n%s", sent["single"], sent["atomic"])
			}
		})
	}
}

// Where it is left to the servers, they are what transactions over several nodes depend on, and a refusal says what is to be set.
func TestTransactionModeOfTheServers(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			var roots []*mysqltest.RawClient
			for _, server := range servers[1:] {
				root := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
				roots = append(roots, root)
				before := mustInt(t, root, "SELECT @@GLOBAL.innodb_flush_log_at_trx_commit")
				defer must(t, root, fmt.Sprintf("SET GLOBAL innodb_flush_log_at_trx_commit = %d", before))
			}
			for _, durable := range []bool{false, true} {
				for n, root := range roots {
					must(t, root, fmt.Sprintf("SET GLOBAL innodb_flush_log_at_trx_commit = %d", map[bool]int{true: 1, false: n + 1}[durable])) // one of them, or none
				}
				for _, root := range roots {
					must(t, root, "DROP DATABASE IF EXISTS ks_meta")
				}
				s := startShards(t, servers, []int{1, 1}, rowsSchema, "")
				s.fillRows(t)
				c := s.subject
				decisions := func() (n int) {
					for _, node := range s.nodes {
						if len(must(t, node, "SHOW DATABASES LIKE 'ks_meta'").Rows) > 0 {
							n += mustInt(t, node, "SELECT COUNT(*) FROM ks_meta.dtx WHERE state IN ('C', 'D')")
						}
					}
					return n
				}
				one, other := s.onTwoNodes(t)
				for round := range 2 { // before and after it is known what they are
					must(t, c, "UPDATE users SET n = n + 1")
					must(t, c, "BEGIN")
					must(t, c, "UPDATE users SET n = 7 WHERE id = "+one)
					r, err := c.Query("UPDATE users SET n = 7 WHERE id = " + other)
					if err != nil {
						t.Fatal(err)
					}
					if durable && r.Err != nil || !durable && (r.Err == nil || r.Err.Code != 9004 || !strings.Contains(r.Err.Message, "innodb_flush_log_at_trx_commit is 2")) {
						t.Errorf("durable %v, round %d: %v", durable, round, r.Err)
					}
					must(t, c, "COMMIT")
					if n := decisions(); (n > 0) != durable {
						t.Errorf("durable %v, round %d: %d decisions", durable, round, n)
					}
				}
				want := 1
				if durable {
					want = 2
				}
				if n := mustInt(t, c, "SELECT COUNT(*) FROM users WHERE n = 7"); n != want {
					t.Errorf("durable %v: %d rows, not %d", durable, n, want)
				}
			}
		})
	}
}

// What a client begins by XA START is on one node in any mode; reads of others are beside it.
func TestOwnXAStaysOnOneNode(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			s := startShards(t, servers, []int{1, 1}, rowsSchema, atomicConfig)
			s.fillRows(t)
			one, other := s.onTwoNodes(t)
			update := func(id string) string { return "UPDATE users SET n = n + 1 WHERE id = " + id }
			read := func(id string) string { return "SELECT n FROM users WHERE id = " + id }
			for _, list := range [][]string{
				{"XA START 'own'", update(one), read(other), "SELECT COUNT(*) FROM users", read(one), "XA END 'own'", "XA PREPARE 'own'", "XA COMMIT 'own'", read(one)},
				{"XA START 'own'", read(other), "SELECT COUNT(*) FROM users", "XA END 'own'", "XA ROLLBACK 'own'", "ROLLBACK", read(one)},
				{"BEGIN", update(one), update(other), "XA START 'own'", "COMMIT", read(one), read(other)},
			} {
				for _, sql := range list {
					s.inStep(t, sql, "")
				}
			}
			must(t, s.subject, "XA START 'own'")
			must(t, s.subject, update(one))
			fails(t, s.subject, update(other), 9004)
			must(t, s.subject, "XA END 'own'")
			must(t, s.subject, "XA ROLLBACK 'own'")
		})
	}
}
