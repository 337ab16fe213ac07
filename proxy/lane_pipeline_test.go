package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

const pipelined = "pipelined_sharing: true"

// pointRows is how many rows the table of these tests has; v of row k is "v", k and a filler.
const pointRows = 500

// pointTable makes the table.
func pointTable(t *testing.T, direct *mysqltest.RawClient) {
	t.Helper()
	must(t, direct, "DROP TABLE IF EXISTS points")
	must(t, direct, "CREATE TABLE points (id INT PRIMARY KEY, u VARCHAR(20) UNIQUE, n INT, v VARCHAR(9000)) CHARACTER SET utf8mb4")
	var rows []string
	for k := range pointRows {
		rows = append(rows, fmt.Sprintf("(%d, 'u%d', %d, CONCAT('v%d', REPEAT('x', %d)))", k, k, k%7, k, k%50*100))
	}
	must(t, direct, "INSERT INTO points VALUES "+strings.Join(rows, ", "))
}

// onPoints runs f with a proxy of so many connections and the table, on both kinds of servers.
func onPoints(t *testing.T, conns int, f func(t *testing.T, p *testProxy, direct *mysqltest.RawClient)) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p := startLane(t, oneNode(server.Addr, conns)+pipelined+"\n")
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		pointTable(t, direct)
		f(t, p, direct)
	})
}

// wantPoint checks the answer to a read of row k.
func wantPoint(t *testing.T, r *mysqltest.RawResult, k int) {
	t.Helper()
	switch want := fmt.Sprintf("v%d%s", k, strings.Repeat("x", k%50*100)); {
	case k >= pointRows && len(r.Rows) == 0:
	case len(r.Rows) != 1 || fmt.Sprint(r.Rows[0][0]) != want:
		t.Errorf("row %d: %.60v", k, r.Rows)
	}
}

// learn repeats a statement until it shares connections.
func learn(t *testing.T, p *testProxy, c *mysqltest.RawClient, text string) {
	t.Helper()
	mysqltest.WaitFor(t, "statements to share a connection: "+text, func() bool {
		before := p.Totals().Shared
		must(t, c, text)
		return p.Totals().Shared > before
	})
}

// Many clients read different rows at once, as texts and prepared, among statements of every other kind: each gets its own row.
func TestPipelinedClientsGetTheirOwnRows(t *testing.T) {
	onPoints(t, 6, func(t *testing.T, p *testProxy, direct *mysqltest.RawClient) {
		learn(t, p, p.client(database), "SELECT v FROM points WHERE id = 3")
		var all sync.WaitGroup
		stop := time.Now().Add(2 * time.Second)
		var reads atomic.Int64
		for worker := range 24 {
			c := p.client(database)
			st, err := c.Prepare("SELECT v FROM points WHERE id = ?")
			if err != nil {
				t.Fatal(err)
			}
			all.Go(func() {
				for time.Now().Before(stop) && !t.Failed() {
					k := rand.IntN(pointRows + 20)
					switch rand.IntN(12) {
					default:
						wantPoint(t, must(t, c, fmt.Sprintf("SELECT v FROM points WHERE id = %d", k)), k)
					case 0, 1:
						wantPoint(t, must(t, c, fmt.Sprintf("SELECT v FROM points WHERE u = 'u%d'", k)), k)
					case 2, 3, 4:
						r, err := st.Execute(k)
						if err != nil {
							t.Error(err)
							return
						}
						wantPoint(t, r, k)
					case 5:
						must(t, c, fmt.Sprintf("UPDATE points SET n = n + 1 WHERE id = %d", worker))
					case 6:
						must(t, c, "BEGIN")
						wantPoint(t, must(t, c, fmt.Sprintf("SELECT v FROM points WHERE id = %d FOR UPDATE", worker)), worker)
						must(t, c, "ROLLBACK")
					case 7:
						fails(t, c, fmt.Sprintf("SELECT missing FROM points WHERE id = %d", k), 1054)
					}
					reads.Add(1)
				}
			})
		}
		all.Wait()
		p.quiet(25)
		if shared := p.Totals().Shared; shared < 100 {
			t.Errorf("%d of %d statements shared a connection", shared, reads.Load())
		}
	})
}

// What shares a connection is a read of one row by a unique key, and nothing else.
func TestPipelinedOnlyPointReads(t *testing.T) {
	onPoints(t, 6, func(t *testing.T, p *testProxy, direct *mysqltest.RawClient) {
		c := p.client(database)
		for _, text := range []string{
			"SELECT v FROM points WHERE id = 1", "SELECT v FROM points WHERE u = 'u2'", "SELECT * FROM points WHERE id = 77777", "SELECT v FROM points WHERE n = 1 AND id = 8",
			"/* with a comment */ SELECT id, n FROM points p WHERE p.id = '5'",
		} {
			learn(t, p, c, text)
		}
		must(t, c, "BEGIN")
		before := p.Totals().Shared
		must(t, c, "SELECT v FROM points WHERE id = 1")
		must(t, c, "COMMIT")
		for range 20 {
			for _, text := range []string{
				"SELECT v FROM points WHERE n = 1", "SELECT v FROM points WHERE u = 2", "SELECT v FROM points WHERE id = 1 FOR UPDATE", "SELECT v FROM points", "SELECT 1",
				"SELECT SLEEP(0) FROM points WHERE id = 1", "SELECT v FROM points WHERE id = 1 OR id = 2", "SELECT v FROM points WHERE id IN (1, 2)", "SELECT @a FROM points WHERE id = 1",
				"SELECT v FROM points WHERE id = 1 UNION SELECT v FROM points WHERE id = 2", "UPDATE points SET n = 1 WHERE id = 1", "SELECT v FROM points WHERE id > 3 LIMIT 1",
			} {
				must(t, c, text)
			}
			time.Sleep(time.Millisecond) // for the questions to be answered
		}
		if after := p.Totals().Shared; after != before {
			t.Errorf("%d statements shared a connection that must not", after-before)
		}
		must(t, c, "SET autocommit = 0")
		must(t, c, "SELECT v FROM points WHERE id = 1")
		must(t, c, "COMMIT")
		if after := p.Totals().Shared; after != before {
			t.Error("a statement that begins a transaction shared a connection")
		}
	})
}

// Statements behind one that waits for a lock are answered all the same, and it can be killed.
func TestPipelinedWaitIsBounded(t *testing.T) {
	onPoints(t, 20, func(t *testing.T, p *testProxy, direct *mysqltest.RawClient) {
		must(t, direct, "DROP TABLE IF EXISTS locked")
		must(t, direct, "CREATE TABLE locked AS SELECT * FROM points")
		must(t, direct, "ALTER TABLE locked ADD PRIMARY KEY (id)")
		var clients []*mysqltest.RawClient
		for range 16 {
			clients = append(clients, p.client(database))
		}
		learn(t, p, clients[0], "SELECT v FROM points WHERE id = 1")
		learn(t, p, clients[0], "SELECT v FROM locked WHERE id = 1")
		var all sync.WaitGroup
		var stop atomic.Bool
		var fine atomic.Int64
		for _, c := range clients[4:] {
			all.Go(func() {
				for !stop.Load() {
					k := rand.IntN(pointRows)
					wantPoint(t, must(t, c, fmt.Sprintf("SELECT v FROM points WHERE id = %d", k)), k)
					fine.Add(1)
				}
			})
		}
		must(t, direct, "LOCK TABLES locked WRITE")
		answers := make(chan *mysqltest.RawResult, 4)
		for k, c := range clients[:4] {
			go func() {
				r, _ := c.Query(fmt.Sprintf("SELECT v FROM locked WHERE id = %d", k))
				answers <- r
			}()
		}
		killer := p.client(database)
		waiting := func() int {
			n := 0
			for _, row := range must(t, killer, "SHOW PROCESSLIST").Rows {
				if strings.Contains(fmt.Sprint(row), "FROM locked") {
					n++
				}
			}
			return n
		}
		mysqltest.WaitFor(t, "the statements to wait for the lock", func() bool { return waiting() == 4 })
		for round := range 3 {
			from := fine.Load()
			mysqltest.WaitFor(t, "the others to go on", func() bool { return fine.Load() > from+200 })
			if n := waiting(); n != 4 {
				t.Errorf("round %d: %d statements wait for the lock", round, n)
			}
		}
		must(t, killer, fmt.Sprintf("KILL QUERY %d", clients[0].Greeting.ConnectionID))
		if r := <-answers; r == nil || r.Err == nil || r.Err.Code != mysql.ERQueryInterrupted {
			t.Errorf("the statement that was killed: %+v", r)
		}
		must(t, direct, "UNLOCK TABLES")
		for range 3 {
			if r := <-answers; r == nil || r.Err != nil || len(r.Rows) != 1 {
				t.Errorf("behind the lock: %+v", r)
			}
		}
		stop.Store(true)
		all.Wait()
		p.quiet(17)
	})
}

// Errors and warnings of such statements are those of one server, and SHOW WARNINGS tells of the client's own.
func TestPipelinedErrorsAndWarnings(t *testing.T) {
	onPoints(t, 6, func(t *testing.T, p *testProxy, direct *mysqltest.RawClient) {
		c := p.client(database)
		text := "SELECT v FROM points WHERE id = 4 AND v = %s"
		learn(t, p, c, fmt.Sprintf(text, "'v4'"))
		learn(t, p, c, "SELECT v + 1 FROM points WHERE n = 9 AND id = 4")
		want := must(t, direct, "SELECT v + 1 FROM points WHERE n = 4 AND id = 4")
		shown := must(t, direct, "SHOW WARNINGS")
		got := must(t, c, "SELECT v + 1 FROM points WHERE n = 4 AND id = 4")
		if fmt.Sprint(got.Rows) != fmt.Sprint(want.Rows) || len(shown.Rows) == 0 {
			t.Errorf("%v, warnings %v; want %v", got.Rows, shown.Rows, want.Rows)
		}
		if got := must(t, c, "SHOW WARNINGS"); fmt.Sprint(got.Rows) != fmt.Sprint(shown.Rows) {
			t.Errorf("warnings %v, want %v", got.Rows, shown.Rows)
		}
		must(t, direct, "DROP TABLE points")
		fails(t, c, fmt.Sprintf(text, "'v4'"), 1146)
		p.quiet(1)
	})
}

// The server dies with statements of many under way: each is asked again, and none gets another's answer.
func TestPipelinedConnectionsBreak(t *testing.T) {
	onPoints(t, 4, func(t *testing.T, p *testProxy, direct *mysqltest.RawClient) {
		learn(t, p, p.client(database), "SELECT v FROM points WHERE id = 3")
		var all sync.WaitGroup
		var stop atomic.Bool
		var reads, broken atomic.Int64
		for range 16 {
			c := p.client(database)
			all.Go(func() {
				for !stop.Load() {
					k := rand.IntN(pointRows)
					r, err := c.Query(fmt.Sprintf("SELECT v FROM points WHERE id = %d", k))
					switch {
					case err != nil:
						t.Error(err)
						return
					case r.Err != nil:
						broken.Add(1) // killed when it was asked again, alone
					default:
						wantPoint(t, r, k)
					}
					reads.Add(1)
				}
			})
		}
		for range 20 {
			from := reads.Load()
			mysqltest.WaitFor(t, "reads", func() bool { return reads.Load() > from+50 })
			for _, row := range must(t, direct, "SELECT id FROM information_schema.processlist WHERE db = '"+database+"' AND id <> CONNECTION_ID()").Rows {
				_, _ = direct.Query(fmt.Sprint("KILL ", row[0]))
			}
		}
		stop.Store(true)
		all.Wait()
		if broken.Load() > reads.Load()/20 {
			t.Errorf("%d of %d reads failed", broken.Load(), reads.Load())
		}
		p.quiet(17)
	})
}

// pointServer answers what may be shared after a while, with a value of so many bytes; the row with id = 2 may take longer.
func pointServer(t *testing.T, after, second time.Duration, size int) (server *mysqltest.ScriptServer, kills *atomic.Int64) {
	t.Helper()
	base := answers("n")
	kills = new(atomic.Int64)
	return mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		text := strings.TrimLeft(string(payload), "\x00\x01")
		switch {
		case strings.HasPrefix(text, "KILL"):
			kills.Add(1)
			c.OK()
		case strings.HasPrefix(text, "EXPLAIN"):
			c.Rows([]string{"id", "type", "extra"}, []any{"1", "const", ""})
		case text == "SELECT v FROM points WHERE id = 2":
			time.Sleep(second)
			c.Rows([]string{"v"}, []any{"two"})
		case strings.HasPrefix(text, "SELECT v FROM points"):
			time.Sleep(after)
			c.Rows([]string{"v"}, []any{strings.Repeat("x", size)})
		default:
			base(c, cmd, payload)
		}
	}}), kills
}

// A client that is killed or vanishes while its statement shares a connection costs nobody else anything.
func TestPipelinedClientGoes(t *testing.T) {
	for _, how := range []string{"KILL", "reset"} {
		t.Run(how, func(t *testing.T) {
			server, _ := pointServer(t, 20*time.Millisecond, 20*time.Millisecond, 5)
			p := startLane(t, oneNode(server.Addr, 4)+pipelined+"\n")
			other := p.client("")
			learn(t, p, other, "SELECT v FROM points WHERE id = 1")
			for range 5 {
				c := p.client("")
				learn(t, p, c, "SELECT v FROM points WHERE id = 1") // each loop does for itself
				if err := c.Send(mysql.ComQuery, "SELECT v FROM points WHERE id = 2"); err != nil {
					t.Fatal(err)
				}
				mysqltest.WaitFor(t, "the statement to run", func() bool {
					return strings.Contains(fmt.Sprint(must(t, other, "SHOW PROCESSLIST").Rows), "id = 2")
				})
				if how == "KILL" {
					must(t, other, fmt.Sprintf("KILL %d", c.Greeting.ConnectionID))
				} else {
					_ = c.Conn.Net.NetConn().(*net.TCPConn).SetLinger(0)
					c.Close()
				}
				must(t, other, "SELECT v FROM points WHERE id = 1")
			}
			p.quiet(1)
			// On a busy machine a statement may be late: then a KILL of it is told to the server.
			if n := closedConns(p); n > 0 && p.Totals().Late == 0 {
				t.Errorf("%d backend connections were closed", n)
			}
		})
	}
}

// A KILL of a statement that has only begun on a shared connection reaches the server when it does not end by itself.
func TestPipelinedKillReachesTheServer(t *testing.T) {
	server, kills := pointServer(t, 0, 2*time.Second, 5)
	p := startLane(t, oneNode(server.Addr, 4)+pipelined+"\n")
	c, killer := p.client(""), p.client("")
	learn(t, p, c, "SELECT v FROM points WHERE id = 1")
	before := p.Totals().Shared
	if err := c.Send(mysql.ComQuery, "SELECT v FROM points WHERE id = 2"); err != nil {
		t.Fatal(err)
	}
	mysqltest.WaitFor(t, "the statement to run", func() bool { return p.Totals().Shared > before })
	must(t, killer, fmt.Sprintf("KILL %d", c.Greeting.ConnectionID))
	mysqltest.WaitFor(t, "the session to end", func() bool { return p.Clients() == 1 })
	mysqltest.WaitFor(t, "the server to be told", func() bool { return kills.Load() > 0 })
	p.quiet(1)
}

// Rows too large to be shared with others close no connection again and again.
func TestPipelinedLargeRows(t *testing.T) {
	server, _ := pointServer(t, 0, 0, 100_000)
	p := startLane(t, oneNode(server.Addr, 4)+pipelined+"\n")
	c := p.client("")
	learn(t, p, c, "SELECT v FROM points WHERE id = 1")
	for range 100 {
		if r := must(t, c, "SELECT v FROM points WHERE id = 1"); len(fmt.Sprint(r.Rows[0][0])) != 100_000 {
			t.Fatalf("a row of %d bytes", len(fmt.Sprint(r.Rows[0][0])))
		}
	}
	p.quiet(1)
	if n := closedConns(p); n > 2 { // which may be of late ones
		t.Errorf("%d backend connections were closed", n)
	}
}

// closedConns counts the connections that the pool has closed.
func closedConns(p *testProxy) (n uint64) {
	for _, c := range p.primary("n").Stats().Closed {
		n += c
	}
	return n
}
