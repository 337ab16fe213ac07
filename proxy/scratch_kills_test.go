package proxy_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// scratchTables counts the temporary tables of a server's sessions. MariaDB tells nobody of those of others: there it is those of the sessions that finish slowly.
func scratchTables(t *testing.T, server *mysqltest.RealServer, kind mysqltest.Kind) int {
	t.Helper()
	c := dial(t, server.Addr, rootClient())
	defer c.Close()
	if kind == mysqltest.MariaDB {
		return slowTables * len(must(t, c, slowSessions).Rows)
	}
	return len(must(t, c, "SELECT table_id FROM information_schema.innodb_temp_table_info").Rows)
}

// slowStatement takes long where it is finished. MySQL does not end a SLEEP by the statement's limit with an error: rows that take long together do.
const (
	slowStatement = "SELECT SUM(SLEEP(0.05)) FROM t a JOIN t b ON a.n <> b.n + 100 JOIN t c ON c.n <> a.n + 100 JOIN t d ON d.n <> c.n + 100"
	slowTables    = 4
	slowSessions  = "SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT SUM(SLEEP%'"
)

// The temporary tables of a statement that is finished on one server are gone behind the end of its client, of its session, of the proxy and of the server; the
// server itself ends what a dead proxy has left there.
func TestScratchTablesThroughKills(t *testing.T) {
	binary := buildBinary(t)
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			var servers [2]*mysqltest.RealServer
			for k := range servers {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				s, err := mysqltest.StartServer(ctx, mysqltest.ServerConfig{Kind: kind})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Stop() })
				servers[k] = s
			}
			text := fmt.Sprintf(`
addr: 127.0.0.1:0
finish_timeout: 3s
user_list: [{user: root, password: root}]
nodes: [{name: n0, user: root, password: root, master: "%s"}, {name: n1, user: root, password: root, master: "%s"}]
schema_list:
- {user: root, nodes: [n0, n1], default: n0, shard: [{db: shop, table: t, key: id, nodes: [n0, n1], type: hash, locations: [1, 1]}]}
`, servers[0].Addr, servers[1].Addr)
			for k, s := range servers {
				c := dial(t, s.Addr, rootClient())
				must(t, c, "CREATE DATABASE shop")
				must(t, c, fmt.Sprintf("CREATE TABLE shop.t_%04d (id INT PRIMARY KEY, n INT)", k))
			}
			login := mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"}
			p := startProcess(t, binary, text)
			c := dial(t, p.addr, login)
			must(t, c, "INSERT INTO t VALUES (0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7)")
			const short = "SELECT GROUP_CONCAT(n ORDER BY n) FROM t"
			fine := func() {
				t.Helper()
				mysqltest.WaitFor(t, "statements to be finished", func() bool {
					again, err := mysqltest.DialRaw(p.addr, login)
					if err != nil {
						return false
					}
					defer again.Close()
					r, err := again.Query(short)
					return err == nil && r.Err == nil && fmt.Sprint(r.Rows) == "[[0,1,2,3,4,5,6,7]]"
				})
			}
			fine()
			none := func() bool { return scratchTables(t, servers[0], kind) == 0 } // soon behind the answer
			mysqltest.WaitFor(t, "no scratch tables", none)
			for _, end := range []string{"the client", "its session", "its connection to the server", "the server", "the proxy"} {
				victim := dial(t, p.addr, login)
				if err := victim.Send(mysql.ComQuery, slowStatement); err != nil {
					t.Fatal(err)
				}
				at := time.Now()
				mysqltest.WaitFor(t, "scratch tables", func() bool { return scratchTables(t, servers[0], kind) >= slowTables })
				on := dial(t, servers[0].Addr, rootClient())
				under := func() [][]any {
					return must(t, on, slowSessions).Rows
				}
				mysqltest.WaitFor(t, "the statement to be finished", func() bool { return len(under()) == 1 })
				switch end {
				case "the client":
					_ = victim.Conn.Close()
				case "its session":
					must(t, c, fmt.Sprint("KILL CONNECTION ", victim.Greeting.ConnectionID))
				case "its connection to the server":
					must(t, on, fmt.Sprint("KILL CONNECTION ", under()[0][0]))
					_ = victim.Conn.Close() // or it is sent again
				case "the server":
					servers[0].Kill()
					ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
					err := servers[0].Restart(ctx)
					cancel()
					if err != nil {
						t.Fatal(err)
					}
					_ = victim.Conn.Close()
				case "the proxy":
					_ = p.Process.Signal(syscall.SIGKILL)
					<-p.ended
				}
				mysqltest.WaitFor(t, "no scratch tables behind the end of "+end, none)
				if took := time.Since(at); took > 60*time.Second {
					t.Errorf("the end of %s is noticed after %v", end, took)
				}
				if end == "the proxy" {
					if left := under(); len(left) > 0 {
						t.Errorf("the statement goes on behind the end of the proxy: %v", left)
					}
					p = startProcess(t, binary, text)
				}
				fine()
				for range 4 { // on whatever connection
					for k := range slowTables {
						fails(t, dial(t, p.addr, login), fmt.Sprint("SELECT * FROM ks_scratch_", k), 1146)
					}
				}
				mysqltest.WaitFor(t, "no scratch tables", none)
			}
		})
	}
}
