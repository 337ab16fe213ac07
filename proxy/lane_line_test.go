package proxy_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/kserror"
)

// With one connection for all, loops and goroutines take turns: everybody gets through, and nobody comes between the statements of a
// transaction.
func TestLaneSharesTheCeiling(t *testing.T) {
	const clients, rounds = 12, 40
	var mu sync.Mutex
	var texts []string
	conns := make(map[*mysqltest.ScriptConn]bool)
	base := answers("n")
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		text := string(payload)
		switch {
		case text == "BEGIN":
			c.Status |= mysql.ServerStatusInTrans
		case text == "COMMIT":
			c.Status &^= mysql.ServerStatusInTrans
		case !strings.HasPrefix(text, "SELECT client"):
			base(c, cmd, payload) // the proxy's own
			return
		}
		mu.Lock()
		texts = append(texts, text)
		conns[c] = true
		mu.Unlock()
		base(c, cmd, payload)
	}})
	p := startLane(t, oneNode(server.Addr, 1), "pool_wait_timeout: 1m")
	var all sync.WaitGroup
	for k := range clients {
		c := p.client("")
		all.Go(func() {
			for range rounds {
				text := fmt.Sprintf("SELECT client%d", k)
				if k%3 > 0 {
					must(t, c, text)
					continue
				}
				must(t, c, "BEGIN")
				must(t, c, text)
				must(t, c, text)
				must(t, c, "COMMIT")
			}
		})
	}
	all.Wait()
	p.quiet(clients)
	if len(conns) != 1 {
		t.Errorf("%d connections", len(conns))
	}
	counts := make(map[string]int)
	for k, text := range texts {
		counts[text]++
		if text == "BEGIN" && (k+3 >= len(texts) || texts[k+1] != texts[k+2] || texts[k+3] != "COMMIT") {
			t.Errorf("a transaction is not alone: %q", texts[k:min(k+4, len(texts))])
		}
	}
	for k := range clients {
		want := rounds
		if k%3 == 0 {
			want = 2 * rounds
		}
		if got := counts[fmt.Sprintf("SELECT client%d", k)]; got != want {
			t.Errorf("the server has %d statements of client %d, want %d", got, k, want)
		}
	}
	if p.Totals().Looped == 0 {
		t.Error("no statement was in the fast lane")
	}
}

// startLong starts a script that answers "SELECT long" when the channel is closed, or gives something.
func startLong(t *testing.T) (*mysqltest.ScriptServer, chan struct{}) {
	long := make(chan struct{})
	base := answers("n")
	return mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		if string(payload) == "SELECT long" {
			<-long
		}
		base(c, cmd, payload)
	}}), long
}

// Who waits for a connection gets one from another loop or from goroutines, too, while those of its own loop are busy for long.
func TestLaneDoesNotWaitForItsOwn(t *testing.T) {
	server, long := startLong(t)
	p := startLane(t, oneNode(server.Addr, 2), "pool_wait_timeout: 2s")
	var clients []*mysqltest.RawClient
	for range 8 {
		c := p.client("")
		must(t, c, "SELECT 1")
		clients = append(clients, c)
	}
	busy := clients[0]
	if err := busy.Send(mysql.ComQuery, "SELECT long"); err != nil {
		t.Fatal(err)
	}
	mysqltest.WaitFor(t, "the long statement to run", func() bool {
		return strings.Contains(fmt.Sprint(must(t, clients[1], "SHOW PROCESSLIST").Rows), "executing on")
	})
	var all sync.WaitGroup
	for _, c := range clients[1:] {
		all.Go(func() {
			for range 50 {
				must(t, c, "SELECT 1")
			}
		})
	}
	all.Wait()
	close(long)
	readAnswer(t, busy)
}

// startSlow is a server that takes so long for each statement.
func startSlow(t *testing.T, d time.Duration) *mysqltest.ScriptServer {
	base := answers("n")
	return mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		if cmd == mysql.ComQuery {
			time.Sleep(d)
		}
		base(c, cmd, payload)
	}})
}

// openAll has node n open as many connections as there are clients.
func openAll(t *testing.T, p *testProxy, clients []*mysqltest.RawClient) {
	t.Helper()
	for _, c := range clients {
		must(t, c, "BEGIN")
		must(t, c, "SELECT 1")
	}
	for _, c := range clients {
		must(t, c, "COMMIT")
	}
	if n := p.primary("n").Stats().Open; n != len(clients) {
		t.Fatalf("%d connections, want %d", n, len(clients))
	}
}

// Many clients on few connections wait in the loops: no goroutine serves any of them, however long they wait.
func TestLaneLineStaysInTheLoops(t *testing.T) {
	const clients, conns = 24, 3
	running, goOn := make(chan struct{}, clients), make(chan struct{})
	base := answers("n")
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		if string(payload) == "SELECT held" {
			running <- struct{}{}
			<-goOn
		}
		if text := string(payload); text == "BEGIN" {
			c.Status |= mysql.ServerStatusInTrans
		} else if text == "COMMIT" {
			c.Status &^= mysql.ServerStatusInTrans
		}
		base(c, cmd, payload)
	}})
	p := startLane(t, oneNode(server.Addr, conns), "pool_wait_timeout: 1h")
	var all []*mysqltest.RawClient
	for range clients {
		c := p.client("")
		must(t, c, "SELECT 1")
		all = append(all, c)
	}
	openAll(t, p, all[:conns])
	primary := p.primary("n")
	for range 3 {
		loopedAll(t, p, clients, func() {
			for _, c := range all {
				if err := c.Send(mysql.ComQuery, "SELECT held"); err != nil {
					t.Fatal(err)
				}
			}
			for range conns {
				<-running
			}
			mysqltest.WaitFor(t, "the others to be in line", func() bool { return primary.Stats().Waiting >= clients-conns })
			time.Sleep(50 * time.Millisecond) // longer than a loop waits until it asks the pool
			if onGoroutine(t) {
				t.Error("a goroutine serves one of those who wait")
			}
			for range clients {
				goOn <- struct{}{}
			}
			for range clients - conns {
				<-running
			}
			for _, c := range all {
				readAnswer(t, c)
			}
		})
	}
	if st := primary.Stats(); st.Open > conns {
		t.Errorf("%d connections", st.Open)
	}
}

// A line in a loop gets its share of few connections beside as many clients in transactions, who wait at the pool.
func TestLaneLineGetsItsShare(t *testing.T) {
	server := startSlow(t, 2*time.Millisecond)
	p := startLane(t, oneNode(server.Addr, 4))
	const clients = 30
	var running sync.WaitGroup
	var stop atomic.Bool
	var plain, transactions atomic.Int64
	for k := range 2 * clients {
		c := p.client("")
		must(t, c, "SELECT 1")
		running.Go(func() {
			for !stop.Load() {
				if k%2 == 0 {
					must(t, c, "SELECT 1")
					plain.Add(1)
					continue
				}
				must(t, c, "BEGIN")
				must(t, c, "SELECT 1")
				must(t, c, "COMMIT")
				transactions.Add(1)
			}
		})
	}
	mysqltest.WaitFor(t, "transactions", func() bool { return transactions.Load() >= 10*clients })
	stop.Store(true)
	running.Wait()
	if n, others := plain.Load(), transactions.Load(); n < others/2 || n > 20*others {
		t.Errorf("%d plain statements, %d transactions", n, others)
	}
	t.Logf("%d plain statements, %d transactions", plain.Load(), transactions.Load())
}

// Who waits for a connection hears at once that the instance goes down, however long the connections in use stay busy: in a loop's line, and on
// a goroutine.
func TestLaneLineOfAnInstanceThatGoesDown(t *testing.T) {
	for _, lane := range []string{"fast_lane: true", "fast_lane: false"} {
		t.Run(lane, func(t *testing.T) { testGoesDown(t, lane) })
	}
}

func testGoesDown(t *testing.T, lane string) {
	server, long := startLong(t)
	p := startProxy(t, oneNode(server.Addr, 1, lane), "pool_wait_timeout: 1h")
	busy, waiter, other := p.client(""), p.client(""), p.client("")
	for _, c := range []*mysqltest.RawClient{busy, waiter, other} {
		must(t, c, "SELECT 1")
	}
	if err := busy.Send(mysql.ComQuery, "SELECT long"); err != nil {
		t.Fatal(err)
	}
	mysqltest.WaitFor(t, "the long statement to run", func() bool {
		return strings.Contains(fmt.Sprint(must(t, other, "SHOW PROCESSLIST").Rows), "executing on")
	})
	over := make(chan struct{})
	go func() {
		defer close(over)
		fails(t, waiter, "SELECT 1", kserror.BackendUnreachable)
	}()
	primary := p.primary("n")
	mysqltest.WaitFor(t, "the statement to wait", func() bool { return primary.Stats().Waiting == 1 })
	primary.HoldDown(true)
	<-over
	close(long)
	readAnswer(t, busy)
}

func TestLaneWaitEnds(t *testing.T) {
	server := laneServer(t)
	p := startLane(t, oneNode(server.Addr, 1), "pool_wait_timeout: 200ms")
	holder, waiter, victim := p.client(""), p.client(""), p.client("")
	must(t, waiter, "SELECT 1")
	must(t, holder, "BEGIN")
	must(t, holder, "SELECT 1")
	fails(t, waiter, "SELECT 1", kserror.PoolTimeout)
	answered := make(chan *mysqltest.RawResult, 1)
	go func() {
		r, _ := victim.Query("SELECT 1")
		answered <- r
	}()
	mysqltest.WaitFor(t, "the statement to wait", func() bool {
		return strings.Contains(fmt.Sprint(must(t, holder, "SHOW PROCESSLIST").Rows), "SELECT 1")
	})
	must(t, holder, fmt.Sprintf("KILL QUERY %d", victim.Greeting.ConnectionID))
	if r := <-answered; r == nil || r.Err == nil || r.Err.Code != mysql.ERQueryInterrupted && r.Err.Code != kserror.PoolTimeout {
		t.Errorf("the statement that was killed: %+v", r)
	}
	must(t, holder, "COMMIT")
	must(t, victim, "SELECT 1")
	must(t, waiter, "SELECT 1")
}

// A prepared statement that stood in line and then has to be prepared first leaves nothing behind: the next statement shows as running.
func TestLaneLineOfUnprepared(t *testing.T) {
	base := answers("n")
	began, goOn := make(chan struct{}), make(chan struct{})
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		switch text := strings.TrimLeft(string(payload), "\x00\x01"); {
		case strings.HasPrefix(text, "SELECT nap"):
			time.Sleep(1500 * time.Microsecond)
		case strings.HasPrefix(text, "SELECT long"):
			began <- struct{}{}
			<-goOn
		}
		base(c, cmd, payload)
	}})
	p := startLane(t, oneNode(server.Addr, 1))
	watcher := p.client("")
	must(t, watcher, "SELECT 1")
	for range 10 {
		a := p.client("")
		var between []*mysqltest.RawClient
		for range runtime.NumCPU() - 1 { // so that the next one is of the same loop
			between = append(between, p.client(""))
		}
		b := p.client("")
		st, err := a.Prepare("SELECT server FROM t WHERE id = ?")
		if err != nil {
			t.Fatal(err)
		}
		server.CutAll()
		time.Sleep(time.Millisecond)
		must(t, b, "SELECT 1")
		must(t, b, "SELECT 1")
		if err := b.Send(mysql.ComQuery, "SELECT nap"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Microsecond)
		if _, err := st.Execute(1); err != nil {
			t.Fatal(err)
		}
		readAnswer(t, b)
		if err := a.Send(mysql.ComQuery, "SELECT long"); err != nil {
			t.Fatal(err)
		}
		<-began
		for _, row := range must(t, watcher, "SHOW PROCESSLIST").Rows {
			if fmt.Sprint(row[0]) == fmt.Sprint(a.Greeting.ConnectionID) && fmt.Sprint(row[4]) == "Sleep" {
				t.Errorf("while it runs a statement: %v", row)
			}
		}
		goOn <- struct{}{}
		readAnswer(t, a)
		for _, c := range append(between, a, b) {
			c.Close()
		}
	}
}
