package session_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// offStatements are what clients with autocommit off, or not, do; %d is the client's number.
var offStatements = []string{
	"SET autocommit = 0", "SET autocommit = 0", "SET autocommit = 1", "SET @@session.autocommit = OFF", "SET autocommit = 0, @x = 1",
	"SAVEPOINT a", "SAVEPOINT b", "ROLLBACK TO a", "ROLLBACK TO SAVEPOINT b", "RELEASE SAVEPOINT a",
	"INSERT INTO t%d (v) VALUES (1)", "INSERT INTO m%d (v) VALUES (1)", "UPDATE t%d SET v = v + 1", "DELETE FROM t%d WHERE v > 6",
	"SELECT COUNT(*), SUM(v) FROM t%d", "SELECT COUNT(*), SUM(v) FROM m%d", "SELECT 1", "SELECT @@autocommit", "SELECT @x",
	"SELECT v FROM t%d ORDER BY id LIMIT 2 FOR UPDATE", "INSERT INTO nosuch VALUES (1)", "SELEC",
	"COMMIT", "ROLLBACK", "COMMIT", "BEGIN", "START TRANSACTION", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN",
	"CREATE TABLE IF NOT EXISTS d%d (v INT)", "DROP TABLE IF EXISTS d%d", "TRUNCATE TABLE m%d", "SELECT COUNT(*) FROM d%d",
}

// Clients with autocommit off share fewer connections than they are: savepoints, rows and errors are those of a connection of
// their own.
func TestAutocommitOffGenerated(t *testing.T) {
	const clients, steps, seeds = 4, 400, 8
	onBoth(t, clients, func(t *testing.T, server *mysqltest.RealServer, addr string) {
		outcomes := map[string]bool{}
		for seed := range uint64(seeds) {
			r := rand.New(rand.NewPCG(3, seed))
			for _, db := range []string{"off_direct", "off_proxy"} {
				c := dial(t, server.Addr, accept())
				for _, sql := range []string{"DROP DATABASE IF EXISTS " + db, "CREATE DATABASE " + db, "USE " + db} {
					must(t, c, sql)
				}
				for k := range clients {
					must(t, c, fmt.Sprintf("CREATE TABLE t%d (id INT AUTO_INCREMENT PRIMARY KEY, v INT)", k))
					must(t, c, fmt.Sprintf("CREATE TABLE m%d (id INT AUTO_INCREMENT PRIMARY KEY, v INT) ENGINE=MyISAM", k))
				}
				c.Close()
			}
			var all []*idClient
			for range clients {
				c := &idClient{stmts: map[string][2]*mysqltest.RawStmt{}}
				c.sides[0] = dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "off_direct"})
				c.sides[1] = dial(t, addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "off_proxy"})
				all = append(all, c)
			}
			var log []string
			for range steps {
				n := r.IntN(clients)
				text := offStatements[r.IntN(len(offStatements))]
				if strings.Contains(text, "%d") {
					text = fmt.Sprintf(text, n)
				}
				prepare := r.IntN(4) == 0 && !strings.Contains(text, "SAVEPOINT") && !strings.Contains(text, "TO a") && text != "SELEC" && !strings.Contains(text, "nosuch") && !strings.Contains(text, " d")
				log = append(log, fmt.Sprint(n, " ", text, " prepared ", prepare))
				got := all[n].run(text, prepare)
				if got[0] != got[1] {
					t.Fatalf("seed %d: a connection of its own says %s, through the proxy %s:\n%s", seed, got[0], got[1], strings.Join(log[max(0, len(log)-60):], "\n"))
				}
				outcomes[text+strings.Fields(got[0])[0]] = true
			}
			for _, c := range all {
				c.sides[0].Close()
				c.sides[1].Close()
			}
		}
		if len(outcomes) < 70 {
			t.Errorf("only %d different statements and outcomes", len(outcomes))
		}
	})
}

// With autocommit off a client keeps its connection from the first statement that touches something to the end of the transaction,
// which SHOW KS SESSIONS shows; metadata locks last as long and not longer.
func TestAutocommitOffKeepsConnection(t *testing.T) {
	onBoth(t, 4, func(t *testing.T, server *mysqltest.RealServer, addr string) {
		admin := dial(t, addr, accept())
		maria := server.Kind == mysqltest.MariaDB
		must(t, admin, "DROP TABLE IF EXISTS mdl")
		must(t, admin, "CREATE TABLE mdl (v INT) ENGINE=MyISAM")
		must(t, admin, "SET SESSION lock_wait_timeout = 1")
		c := dial(t, addr, accept())
		pins := func() string {
			r := must(t, admin, fmt.Sprintf("SHOW KS SESSIONS WHERE id = %d", c.Greeting.ConnectionID))
			for k, name := range r.Names() {
				if name == "pins" {
					return fmt.Sprint(r.Rows[0][k])
				}
			}
			t.Fatal("no column pins")
			return ""
		}
		pinned := func(want bool, after string) {
			t.Helper()
			got := ""
			mysqltest.WaitFor(t, after+": pins", func() bool {
				got = pins()
				return strings.HasPrefix(got, "autocommit") == want && (want || got == "" || got == "<nil>")
			})
		}
		for _, begin := range []string{"SELECT * FROM mdl", "INSERT INTO mdl VALUES (1)", "SAVEPOINT s", "DO (SELECT MAX(v) FROM mdl)"} {
			for _, end := range []string{"COMMIT", "ROLLBACK", "SET autocommit = 1", "CREATE TABLE IF NOT EXISTS mdl (v INT)"} {
				must(t, c, "SET autocommit = 0")
				must(t, c, "SELECT 1")
				pinned(false, "SELECT 1")
				must(t, c, begin)
				pinned(true, begin)
				if begin != "SAVEPOINT s" && maria {
					must(t, admin, "ALTER TABLE mdl COMMENT 'x'") // which lets such a table go with the statement
				} else if begin != "SAVEPOINT s" {
					fails(t, admin, "ALTER TABLE mdl COMMENT 'x'", 1205)
				} else {
					must(t, c, "INSERT INTO mdl VALUES (2)")
					must(t, c, "ROLLBACK TO s")
				}
				must(t, c, end)
				pinned(false, begin+", "+end)
				must(t, admin, "ALTER TABLE mdl COMMENT 'y'")
			}
		}
	})
}

// A statement that was prepared with autocommit on, or without a database, is prepared again on the connection of an open transaction, and
// the transaction stays open.
func TestPreparedAgainInTransaction(t *testing.T) {
	onBoth(t, 2, func(t *testing.T, server *mysqltest.RealServer, addr string) {
		direct := dial(t, server.Addr, accept())
		must(t, direct, "DROP TABLE IF EXISTS again")
		must(t, direct, "CREATE TABLE again (id INT AUTO_INCREMENT PRIMARY KEY, v INT)")
		held := make([]*mysqltest.RawClient, 2)
		for k := range held {
			held[k] = dial(t, addr, accept())
		}
		n := 0
		for _, db := range []string{"", "accept"} {
			for _, begin := range []string{"SET autocommit = 0", "BEGIN"} {
				for k := range held { // either of the two connections is the one that has it prepared
					n++
					c := dial(t, addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: db})
					st, err := c.Prepare(fmt.Sprintf("UPDATE accept.again SET v = v + %d", n))
					if err != nil {
						t.Fatal(err)
					}
					must(t, c, "USE accept")
					for _, other := range held {
						must(t, other, "BEGIN")
						must(t, other, "SELECT COUNT(*) FROM again")
					}
					must(t, held[k], "COMMIT")
					must(t, c, begin)
					must(t, c, "INSERT INTO again (v) VALUES (1)")
					if r, err := st.Execute(); err != nil || r.OK == nil || r.OK.AffectedRows != 1 {
						t.Errorf("prepared in %q, %s, connection %d: %+v, %v", db, begin, k, r.OK, err)
					}
					must(t, c, "ROLLBACK")
					must(t, held[1-k], "COMMIT")
					if rows := must(t, direct, "SELECT COUNT(*) FROM again").Rows; fmt.Sprint(rows) != "[[0]]" {
						t.Errorf("prepared in %q, %s, connection %d: %v rows after ROLLBACK", db, begin, k, rows)
					}
					c.Close()
				}
			}
		}
	})
}
