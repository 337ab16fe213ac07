package proxy_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// startLookups runs a proxy in the fast lane with a table of orders on two nodes, which are one server, and keys over both.
func startLookups(t *testing.T, server *mysqltest.RealServer) (p *testProxy, c, direct *mysqltest.RawClient) {
	text := shardsText(database, node{name: "n0", master: server.Addr, conns: 8}, node{name: "n1", master: server.Addr, conns: 8}, ", unique: [number], lookup: [customer]")
	direct = dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
	t.Cleanup(func() { // behind the proxy's end, ahead of other tests on the server
		c := dial(t, server.Addr, rootClient())
		must(t, c, "DROP DATABASE ks_meta")
	})
	p = startLane(t, text+"transaction_mode: atomic\nxa_on_unsafe_server: true\nprometheus_addr: 127.0.0.1:0\n")
	c = dial(t, p.addr, mysqltest.ClientConfig{User: "merge", Password: "merge", DB: database})
	must(t, c, "CREATE TABLE t (id INT PRIMARY KEY, number INT NOT NULL, customer INT, note VARCHAR(20), UNIQUE KEY number (number), KEY customer (customer))")
	// Customer 1 has orders that all are on one shard, and so many that the answer of the index is longer than what a loop waits for.
	var rows []string
	for n := range 3000 {
		rows = append(rows, fmt.Sprintf("(%d, %d, 1, 'one')", 10+2*n, 100_000-n))
	}
	must(t, c, "INSERT INTO t VALUES "+strings.Join(rows, ","))
	must(t, c, "INSERT INTO t VALUES (1, 7, 2, 'a'), (2, 8, 2, 'b'), (3, 9, 3, 'c'), (4, 10, NULL, 'd')")
	return p, c, direct
}

// ask wants rows as an answer.
func ask(t *testing.T, c *mysqltest.RawClient, text, want string) {
	t.Helper()
	if got := fmt.Sprint(must(t, c, text).Rows); got != want {
		t.Errorf("%s: %s, want %s", text, got, want)
	}
}

// Queries by keys that an index over all shards has run in loops, the question to the index too.
func TestLookupInTheLane(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p, c, direct := startLookups(t, server)
		st, err := c.Prepare("SELECT note FROM t WHERE number = ?")
		if err != nil {
			t.Fatal(err)
		}
		for round := range 6 {
			one := func(text, want string) {
				t.Helper()
				if round < 3 { // connections are made, statements prepared on them and forms planned
					ask(t, c, text, want)
					return
				}
				loopedAll(t, p, 1, func() { ask(t, c, text, want) })
			}
			one("SELECT note FROM t WHERE number = 7", "[[a]]")
			one("SELECT note FROM t WHERE number = 8", "[[b]]")
			one("SELECT note FROM t WHERE number = 11", "[]")
			one("SELECT note FROM t WHERE customer = 2 ORDER BY id", "[[a] [b]]") // of both shards
			one("SELECT note FROM t WHERE customer = 3", "[[c]]")
			ask(t, c, "SELECT COUNT(*), MIN(number) FROM t WHERE customer = 1", "[[3000 97001]]")
			settled(t, p)
			looped(t, p, min(uint64(round/3), 1), func() {
				if r, err := st.Execute("9"); err != nil || fmt.Sprint(r.Rows) != "[[c]]" {
					t.Errorf("prepared: %+v, %v", r, err)
				}
			})
		}
		// Without the index's tables the shards are asked.
		for k := range 2 {
			must(t, direct, fmt.Sprintf("RENAME TABLE ks_t_number_%04d TO gone_%[1]d", k))
		}
		for range 3 {
			ask(t, c, "SELECT note FROM t WHERE number = 7", "[[a]]")
			ask(t, c, "SELECT note FROM t WHERE number = 11", "[]")
		}
		for k := range 2 {
			must(t, direct, fmt.Sprintf("RENAME TABLE gone_%d TO ks_t_number_%04[1]d", k))
		}
		_, body := get(t, p.httpAddr("prometheus_addr")+"/metrics", "")
		for _, line := range []string{`kingshard_index_lookups_total{outcome="found"} 36`, `kingshard_index_lookups_total{outcome="nowhere"} 6`, `kingshard_index_lookups_total{outcome="everywhere"} 6`, "kingshard_index_changes_total 2"} {
			if !strings.Contains(body, "\n"+line+"\n") {
				t.Errorf("no %s in\n%s", line, body)
			}
		}
		p.quiet(1)
	})
}

// A query whose index does not answer can be killed, and goes on when it does.
func TestKillOfALookupInTheLane(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p, c, direct := startLookups(t, server)
		killer := p.client("")
		for _, how := range []struct{ lane, kill bool }{{false, true}, {false, true}, {true, true}, {true, false}, {true, true}} {
			for range 4 {
				if ask(t, c, "SELECT note FROM t WHERE number = 7", "[[a]]"); how.lane {
					ask(t, c, "SELECT note FROM t WHERE number = 8", "[[b]]")
				}
			}
			settled(t, p)
			must(t, direct, "LOCK TABLES ks_t_number_0000 WRITE, ks_t_number_0001 WRITE")
			answer := make(chan *mysqltest.RawResult, 1)
			go func() {
				r, _ := c.Query("SELECT note FROM t WHERE number = 8")
				answer <- r
			}()
			mysqltest.WaitFor(t, "the index to be asked", func() bool {
				for _, row := range must(t, direct, "SHOW PROCESSLIST").Rows {
					if text := fmt.Sprint(row); strings.Contains(text, "FROM `"+database+"`.`ks_t_number_") && strings.Contains(text, "Waiting for") {
						return true
					}
				}
				return false
			})
			if how.lane && onGoroutine(t) {
				t.Error("a goroutine waits for the index")
			}
			if how.kill {
				must(t, killer, fmt.Sprintf("KILL QUERY %d", c.Greeting.ConnectionID))
			} else {
				must(t, direct, "UNLOCK TABLES")
			}
			switch r := <-answer; {
			case r == nil:
				t.Fatal("no answer")
			case how.kill && (r.Err == nil || r.Err.Code != mysql.ERQueryInterrupted):
				t.Errorf("killed: %+v", r)
			case !how.kill && fmt.Sprint(r.Rows) != "[[b]]":
				t.Errorf("behind the lock: %+v", r)
			}
			must(t, direct, "UNLOCK TABLES")
			ask(t, c, "SELECT note FROM t WHERE number = 7", "[[a]]")
		}
		p.quiet(2)
	})
}

// Connections that servers end between and in the two questions of a query cost it nothing.
func TestLookupsOnBrokenConnections(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p, c, direct := startLookups(t, server)
		ask(t, c, "SELECT note FROM t WHERE number = 7", "[[a]]")
		var all sync.WaitGroup
		var answered atomic.Int64
		for w := range 8 {
			c := dial(t, p.addr, mysqltest.ClientConfig{User: "merge", Password: "merge", DB: database})
			all.Go(func() {
				for n := range 400 {
					text, want := fmt.Sprintf("SELECT id FROM t WHERE number = %d", 100_000-(8*n+w)%3000), fmt.Sprintf("[[%d]]", 10+2*((8*n+w)%3000))
					if n%4 == 3 {
						text, want = "SELECT note FROM t WHERE customer = 2 ORDER BY id", "[[a] [b]]"
					}
					if r, err := c.Query(text); err != nil || r.Err != nil || fmt.Sprint(r.Rows) != want {
						t.Errorf("%s: %+v, %v; want %s", text, r, err, want)
					}
					answered.Add(1)
				}
			})
		}
		kills := 0
		for until := int64(0); answered.Load() < 8*400; {
			if answered.Load() < until {
				runtime.Gosched()
				continue
			}
			for _, row := range must(t, direct, "SELECT id FROM information_schema.processlist WHERE db = '"+database+"' AND id <> CONNECTION_ID() ORDER BY RAND() LIMIT 1").Rows {
				_, _ = direct.Query(fmt.Sprintf("KILL %v", row[0]))
				kills++
			}
			until = answered.Load() + 100 // a read is not repeated for ever
		}
		all.Wait()
		if kills < 5 {
			t.Errorf("%d connections were ended", kills)
		}
		p.quiet(9)
	})
}
