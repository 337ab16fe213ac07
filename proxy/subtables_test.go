package proxy_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"kingshard/mysql/mysqltest"
)

// autoCreateText configures visits_202401 to visits_202403 on node n and the next two months on node m.
func autoCreateText(n, m string) string {
	return fmt.Sprintf(`
addr: 127.0.0.1:0
connect_timeout: 2s
health_interval: 100ms
user_list:
  - {user: root, password: root}
  - {user: ks, password: ks}
nodes:
  - {name: n, max_conns_limit: 8, user: root, password: root, master: "%s"}
  - {name: m, max_conns_limit: 8, user: root, password: root, master: "%s"}
schema_list:
  - &schema
    user: root
    nodes: [n, m]
    default: n
    shard:
      - {db: %s, table: visits, key: at, nodes: [n, m], type: date_month, date_range: [202401-202403, 202404-202405], auto_create: true}
      - {db: %s, table: others, key: at, nodes: [n], type: date_year, date_range: [2023-2024]}
  - {<<: *schema, user: ks}
`, n, m, database, database)
}

// made lists the sub-tables of visits that are there.
func made(t *testing.T, c *mysqltest.RawClient) string {
	t.Helper()
	var names []string
	for _, row := range must(t, c, "SHOW TABLES FROM "+database+" LIKE 'visits%'").Rows {
		names = append(names, strings.TrimPrefix(row[0].(string), "visits_"))
	}
	return strings.Join(names, " ")
}

const allMonths = "202401 202402 202403 202404 202405"

// Missing sub-tables are made like the newest that is there, on its node and on others.
func TestAutoCreate(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		c := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, c, "CREATE TABLE parent (id INT PRIMARY KEY)")
		must(t, c, "CREATE TABLE visits_202401 (id INT PRIMARY KEY)")
		must(t, c, "CREATE TABLE visits_202402 (id INT PRIMARY KEY AUTO_INCREMENT, at DATETIME, p INT DEFAULT 5 COMMENT 'it''s, so', KEY (at), "+
			"CONSTRAINT f FOREIGN KEY (p) REFERENCES parent (id)) AUTO_INCREMENT = 77 CHARACTER SET latin1")
		p := startProxy(t, autoCreateText(server.Addr, server.Addr))
		mysqltest.WaitFor(t, "the sub-tables, and the log to say so", func() bool {
			return made(t, c) == allMonths && strings.Count(p.log.String(), "a sub-table was made") == 3
		})
		must(t, c, "CREATE TABLE fresh LIKE visits_202402")
		must(t, c, "RENAME TABLE visits_202401 TO gone, fresh TO visits_202401") // at once, or the missing one is made meanwhile
		shape := func(month string) string {
			return strings.ReplaceAll(strings.ReplaceAll(value(t, c, "SHOW CREATE TABLE visits_"+month), month, "M"), " AUTO_INCREMENT=77", "")
		}
		for _, month := range []string{"202403", "202404", "202405"} {
			if got, want := shape(month), shape("202401"); got != want {
				t.Errorf("%s is\n%s\nand not\n%s", month, got, want)
			}
		}
		proxied := p.client(database)
		must(t, proxied, "INSERT INTO visits (id, at) VALUES (1, '2024-05-31 23:59:59'), (2, '2024-03-01')")
		if n := number(t, proxied, "SELECT COUNT(*) FROM visits WHERE p = 5"); n != 2 {
			t.Errorf("%d rows", n)
		}
		if n := strings.Count(p.log.String(), "a sub-table was made"); n != 3 {
			t.Errorf("%d lines for 3 sub-tables:\n%s", n, p.log.String())
		}
		if n := number(t, c, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '"+database+"' AND table_name LIKE 'others%'"); n != 0 {
			t.Errorf("%d sub-tables of a rule without auto_create", n)
		}
	})
}

// A node that is down keeps no other one from its sub-tables, and gets its own when it comes back; a reload looks again at once.
func TestAutoCreateThroughANodeThatIsDown(t *testing.T) {
	onBothAtOnce(t, func(t *testing.T, server *mysqltest.RealServer) {
		c := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		late := closedAddr(t)
		p := startProxy(t, autoCreateText(server.Addr, late))
		mysqltest.WaitFor(t, "the log to say that there is nothing to copy, or no node", func() bool { return strings.Contains(p.log.String(), "auto_create: ") })
		must(t, c, "CREATE TABLE visits_202402 (id INT, at DATE)")
		mysqltest.WaitFor(t, "the sub-tables of the node that is up", func() bool { return made(t, c) == "202401 202402 202403" })
		relay(t, late, server.Addr)
		mysqltest.WaitFor(t, "the sub-tables of the other node", func() bool { return made(t, c) == allMonths })
		must(t, c, "DROP TABLE visits_202403")
		p.reload(strings.Replace(autoCreateText(server.Addr, late), "max_conns_limit: 8", "max_conns_limit: 9", 1))
		mysqltest.WaitFor(t, "the sub-table that went", func() bool { return made(t, c) == allMonths })
	})
}

// relay passes connections to addr on to a server, until the test ends.
func relay(t *testing.T, addr, to string) {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			pass := func(dst, src net.Conn) {
				_, _ = io.Copy(dst, src)
				_ = dst.Close()
				_ = src.Close()
			}
			go pass(in, out)
			go pass(out, in)
		}
	}()
}

// A shutdown does not wait for a sub-table that waits for a lock.
func TestAutoCreateEndsWithTheServer(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		c := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, c, "CREATE TABLE visits_202402 (id INT, at DATE)")
		must(t, c, "LOCK TABLES visits_202402 WRITE")
		p := startProxy(t, autoCreateText(server.Addr, server.Addr))
		watch := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
		mysqltest.WaitFor(t, "the statement to wait", func() bool {
			return number(t, watch, "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'CREATE TABLE IF NOT EXISTS%'") > 0
		})
		var over atomic.Bool
		go func() {
			_ = p.stop(0)
			over.Store(true)
		}()
		mysqltest.WaitFor(t, "the end of the server", over.Load)
		must(t, c, "UNLOCK TABLES")
	})
}
