package proxy_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy"
	"kingshard/proxy/session"
)

const laneOn = "fast_lane: true"

// startLane runs a proxy with the fast lane. There is none on other systems than Linux.
func startLane(t testing.TB, text string, replace ...string) *testProxy {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the fast lane is for Linux")
	}
	return startProxy(t, text+laneOn+"\n", replace...)
}

// randomOf gives random numbers from a seed that a failed test tells; KS_SEED gives it another.
func randomOf(t *testing.T) *rand.Rand {
	seed := uint64(1)
	if text := os.Getenv("KS_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal("KS_SEED: ", err)
		}
	}
	t.Logf("KS_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// looped runs f and wants n of its statements to have gone through the loops.
func looped(t *testing.T, p *testProxy, n uint64, f func()) {
	t.Helper()
	before := p.Totals().Looped
	f()
	if got := p.Totals().Looped - before; got < n {
		t.Errorf("%d statements were in the fast lane, want %d", got, n)
	}
}

// onGoroutine reports whether a goroutine serves a session of any proxy of the process, rather than a loop.
func onGoroutine(t *testing.T) bool {
	t.Helper()
	stacks := make([]byte, 4<<20)
	n := runtime.Stack(stacks, true)
	if n == len(stacks) {
		t.Fatal("more stacks than are looked through")
	}
	return bytes.Contains(stacks[:n], []byte("session.(*Session).goOn("))
}

// settled waits until loops hold all sessions, and pools all connections: then a plain statement begins in a loop and finds a connection
// there. That is so some time after the client has its answer.
func settled(t *testing.T, p *testProxy) {
	t.Helper()
	mysqltest.WaitFor(t, "the sessions to be held by loops", func() bool { return !onGoroutine(t) })
	p.quiet(p.Clients())
}

// loopedAll runs f, which sends n plain statements, and wants loops to have sent each of them.
func loopedAll(t *testing.T, p *testProxy, n uint64, f func()) {
	t.Helper()
	settled(t, p)
	before := p.Totals().Looped
	f()
	if got := p.Totals().Looped - before; got != n {
		t.Errorf("%d statements were in the fast lane, want %d", got, n)
	}
}

// A plain statement goes through a loop and gives what it gives else; what is not plain goes on a goroutine.
func TestLaneAnswersAsTheServer(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p := startLane(t, oneNode(server.Addr, 4))
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		c := p.client(database)
		must(t, direct, "CREATE TABLE lane (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(200)) CHARACTER SET utf8mb4")
		must(t, direct, "INSERT INTO lane (v) VALUES ('a'), (NULL), (REPEAT('b', 200))")
		for _, text := range []string{
			"SELECT * FROM lane WHERE id = 1", "SELECT * FROM lane WHERE id > 1 ORDER BY id", "SELECT id FROM lane WHERE FALSE", "SELECT 1 + 1",
			"SELECT REPEAT('x', 20000)", "SELECT REPEAT('x', 70000)", "SELECT REPEAT('x', 300000), v FROM lane", "SELECT nothing", "SELECT CAST('x' AS SIGNED)",
			"SELECT '' FROM lane", "SELECT NULL", "UPDATE lane SET v = 'c' WHERE id = 77", "SELECT 1; SELECT 2", "SELECT 9223372036854775807", "SELECT",
			longSelect(12_000), longSelect(16_380), longSelect(20_000), longSelect(48_000), longSelect(60_000), longSelect(200_000),
		} {
			for range 3 {
				want, err := direct.Query(text)
				if err != nil {
					t.Fatal(err)
				}
				got, err := c.Query(text)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				if fmt.Sprint(got.Rows) != fmt.Sprint(want.Rows) || fmt.Sprint(got.Names()) != fmt.Sprint(want.Names()) ||
					(got.Err == nil) != (want.Err == nil) || got.Err != nil && got.Err.Code != want.Err.Code {
					t.Errorf("%s: %.200v, error %v; want %.200v, error %v", text, got.Rows, got.Err, want.Rows, want.Err)
				}
			}
		}
		before := p.Totals().Looped
		for range 5 {
			must(t, c, longSelect(20_000))
		}
		if p.Totals().Looped == before {
			t.Error("no statement of 20,000 bytes was in the fast lane")
		}
		// A connection that is on its way back to its pool when the next statement comes sends that one to a goroutine: that
		// is rare, but a machine that is busy may do it several times in a row.
		updates, looped := 0, uint64(0)
		for before = p.Totals().Looped; looped < 15 && updates < 50; looped = p.Totals().Looped - before {
			must(t, c, "SELECT v FROM lane WHERE id = 1")
			must(t, c, "UPDATE lane SET v = CONCAT(v, 'd') WHERE id = 1")
			updates++
		}
		if looped < 15 {
			t.Errorf("%d of %d statements were in the fast lane", looped, 2*updates)
		}
		if got := value(t, direct, "SELECT v FROM lane WHERE id = 1"); got != "a"+strings.Repeat("d", updates) {
			t.Errorf("after %d updates: %q", updates, got)
		}
		must(t, c, "SET autocommit = 0")
		must(t, c, "UPDATE lane SET v = 'uncommitted' WHERE id = 2")
		if got := value(t, direct, "SELECT v FROM lane WHERE id = 2"); got != "NULL" {
			t.Errorf("seen by others before the commit: %q", got)
		}
		must(t, c, "ROLLBACK")
		must(t, c, "SET autocommit = 1")
		insert := must(t, c, "INSERT INTO lane (v) VALUES ('last')").OK.LastInsertID
		for range 3 {
			if got := number(t, c, "SELECT LAST_INSERT_ID()"); insert == 0 || got != int(insert) {
				t.Errorf("LAST_INSERT_ID() is %d, want %d", got, insert)
			}
		}
		p.quiet(1)
	})
}

// longSelect is a statement of n bytes and some.
func longSelect(n int) string {
	return "SELECT 1 + 1 FROM lane WHERE id NOT IN (" + strings.Repeat("-1234567, ", n/10) + "0) ORDER BY id"
}

// laneServer is a scripted server with statements that misbehave.
func laneServer(t testing.TB) *mysqltest.ScriptServer {
	base := answers("n")
	return mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		text := strings.TrimLeft(string(payload), "\x00\x01")
		switch {
		case text == "SELECT cut":
			c.Cut()
		case text == "SELECT half":
			c.Columns(mysqltest.Strings("a")...)
			c.Row("one")
			_ = c.Conn.Flush()
			c.Cut()
		case text == "SELECT pieces":
			c.Columns(mysqltest.Strings("a")...)
			for k := range 5 {
				c.Row(k)
				_ = c.Conn.Flush()
				time.Sleep(time.Millisecond)
			}
			c.End()
		case strings.HasPrefix(text, "BEGIN"), strings.HasPrefix(text, "START TRANSACTION"):
			c.Status |= mysql.ServerStatusInTrans
			c.OK()
		case text == "COMMIT", text == "ROLLBACK":
			c.Status &^= mysql.ServerStatusInTrans
			c.OK()
		case strings.HasPrefix(text, "SELECT large"):
			c.Rows([]string{"a"}, []any{strings.Repeat("l", 16<<20)})
		case strings.HasPrefix(text, "SELECT slow"):
			time.Sleep(30 * time.Millisecond)
			base(c, cmd, payload)
		default:
			base(c, cmd, payload)
		}
	}})
}

// readAnswer reads the answer to one command, which was not sent by the client's own means.
func readAnswer(t *testing.T, c *mysqltest.RawClient) {
	t.Helper()
	c.Conn.Discard(1) // the sequence id that it begins with
	for {
		b, err := c.Read()
		if err != nil {
			t.Fatal(err)
		}
		switch b[0] {
		case mysql.OKHeader, mysql.EOFHeader:
			return
		case mysql.ErrHeader:
			t.Fatalf("answered with %q", b)
		}
	}
}

// Commands come in any pieces, and several at once.
func TestLaneTakesAnyPieces(t *testing.T) {
	random := randomOf(t)
	server := laneServer(t)
	p := startLane(t, oneNode(server.Addr, 4))
	c := p.client("")
	must(t, c, "SELECT 1")
	command := append([]byte{9, 0, 0, 0, 3}, "SELECT 1"...)
	looped(t, p, 1, func() {
		for range 20 {
			c.Conn.NetConn().Write(command)
			readAnswer(t, c)
		}
	})
	for range 3 {
		for k := range command {
			c.Conn.NetConn().Write(command[k : k+1])
			time.Sleep(time.Duration(random.IntN(300)) * time.Microsecond)
		}
		readAnswer(t, c)
		// A command and a half, then the rest; three at once; a ping in front.
		c.Conn.NetConn().Write(append(bytes.Clone(command), command[:7]...))
		time.Sleep(time.Millisecond)
		c.Conn.NetConn().Write(command[7:])
		readAnswer(t, c)
		readAnswer(t, c)
		c.Conn.NetConn().Write(bytes.Repeat(command, 3))
		for range 3 {
			readAnswer(t, c)
		}
		c.Conn.NetConn().Write(append([]byte{1, 0, 0, 0, byte(mysql.ComPing)}, command...))
		readAnswer(t, c)
		readAnswer(t, c)
	}
	// A command that comes while the one before is at the server.
	c.Conn.NetConn().Write(append([]byte{12, 0, 0, 0, 3}, "SELECT slow"...))
	time.Sleep(5 * time.Millisecond)
	c.Conn.NetConn().Write(command)
	readAnswer(t, c)
	readAnswer(t, c)
}

func TestLaneOfABackendThatMisbehaves(t *testing.T) {
	server := laneServer(t)
	p := startLane(t, oneNode(server.Addr, 4))
	c := p.client("")
	for range 3 {
		must(t, c, "SELECT 1")
		must(t, c, "SELECT 1")
		if r := must(t, c, "SELECT pieces"); len(r.Rows) != 5 {
			t.Errorf("%d rows", len(r.Rows))
		}
		fails(t, c, "SELECT cut", session.KSBackendLost) // asked twice: it has no effects
	}
	// Part of the rows are with the client already: it hears why no more come, and is cut off.
	fails(t, c, "SELECT half", session.KSStatementBroken)
	if _, err := c.Query("SELECT 1"); err == nil {
		t.Error("the session goes on")
	}
	p.quiet(0)
}

// Connections that the server closes while they lie unused are not given to anybody.
func TestLaneDropsDeadConnections(t *testing.T) {
	random := randomOf(t)
	server := laneServer(t)
	p := startLane(t, oneNode(server.Addr, 4))
	c := p.client("")
	for range 20 {
		must(t, c, "SELECT 1")
		must(t, c, "SELECT 1")
		server.CutAll()
		// Seen dead on a loop's shelf, in the pool, or not yet: then the statement is sent again.
		time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
	}
	p.quiet(1)
}

// A client that does not read keeps nobody else waiting, and gets all in the end.
func TestLaneOfAClientThatDoesNotRead(t *testing.T) {
	server := laneServer(t)
	p := startLane(t, oneNode(server.Addr, 8))
	var stalled []*mysqltest.RawClient
	for k := range 4 {
		c := p.client("")
		must(t, c, "SELECT 1")
		if err := c.Send(mysql.ComQuery, fmt.Sprintf("SELECT large %d", k)); err != nil {
			t.Fatal(err)
		}
		stalled = append(stalled, c)
	}
	c := p.client("")
	looped(t, p, 50, func() {
		for range 100 {
			must(t, c, "SELECT 1")
		}
	})
	for _, c := range stalled {
		longest := 0
		for longest < 16<<20 {
			b, err := c.Read()
			if err != nil {
				t.Fatal(err)
			}
			longest = max(longest, len(b))
		}
		if _, err := c.Read(); err != nil {
			t.Fatal(err)
		}
		must(t, c, "SELECT 1")
	}
	p.quiet(5)
}

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

// Who is in line hears at once that the instance goes down, however long the connections in use stay busy.
func TestLaneLineOfAnInstanceThatGoesDown(t *testing.T) {
	server, long := startLong(t)
	p := startLane(t, oneNode(server.Addr, 1), "pool_wait_timeout: 1h")
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
		fails(t, waiter, "SELECT 1", session.KSBackendUnreachable)
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
	fails(t, waiter, "SELECT 1", session.KSPoolTimeout)
	answered := make(chan *mysqltest.RawResult, 1)
	go func() {
		r, _ := victim.Query("SELECT 1")
		answered <- r
	}()
	mysqltest.WaitFor(t, "the statement to wait", func() bool {
		return strings.Contains(fmt.Sprint(must(t, holder, "SHOW PROCESSLIST").Rows), "SELECT 1")
	})
	must(t, holder, fmt.Sprintf("KILL QUERY %d", victim.Greeting.ConnectionID))
	if r := <-answered; r == nil || r.Err == nil || r.Err.Code != mysql.ERQueryInterrupted && r.Err.Code != session.KSPoolTimeout {
		t.Errorf("the statement that was killed: %+v", r)
	}
	must(t, holder, "COMMIT")
	must(t, victim, "SELECT 1")
	must(t, waiter, "SELECT 1")
}

// An idle client costs no goroutine. Time-out, KILL and drain reach it.
func TestLaneOfIdleClients(t *testing.T) {
	server := laneServer(t)
	text := oneNode(server.Addr, 4)
	p := startLane(t, text)
	before := runtime.NumGoroutine()
	var clients []*mysqltest.RawClient
	for range 200 {
		c := p.client("")
		must(t, c, "SELECT 1")
		clients = append(clients, c)
	}
	mysqltest.WaitFor(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() < before+60 })
	killer := p.client("")
	must(t, killer, fmt.Sprintf("KILL %d", clients[0].Greeting.ConnectionID))
	if _, err := clients[0].Read(); err == nil {
		t.Error("a client that was killed is connected")
	}
	p.reload(text + laneOn + "\nidle_timeout: 1s\n")
	mysqltest.WaitFor(t, "the idle time-out", func() bool {
		must(t, killer, "SELECT 1")
		return p.Clients() == 1
	})
	if _, err := clients[199].Read(); err == nil {
		t.Error("an idle client is connected")
	}
}

func TestLaneDrains(t *testing.T) {
	server := laneServer(t)
	p := startLane(t, oneNode(server.Addr, 4))
	idle, busy, inTransaction := p.client(""), p.client(""), p.client("")
	must(t, idle, "SELECT 1")
	must(t, busy, "SELECT 1")
	must(t, inTransaction, "BEGIN")
	must(t, inTransaction, "SELECT 1")
	if err := busy.Send(mysql.ComQuery, "SELECT slow"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Millisecond)
	over := make(chan error, 1)
	go func() {
		over <- p.stop(10 * time.Second)
	}()
	if _, err := idle.Read(); err == nil {
		t.Error("an idle client got an answer")
	}
	readAnswer(t, busy)
	must(t, inTransaction, "SELECT 2")
	must(t, inTransaction, "COMMIT")
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// Clients under load hear of no reload.
func TestLaneReloads(t *testing.T) {
	servers := []*mysqltest.ScriptServer{laneServer(t), laneServer(t)}
	text := oneNode(servers[0].Addr, 4) + laneOn + "\n"
	p := startLane(t, oneNode(servers[0].Addr, 4))
	var all sync.WaitGroup
	var stop atomic.Bool
	for range 8 {
		c := p.client("")
		all.Go(func() {
			for !stop.Load() {
				must(t, c, "SELECT 1")
			}
		})
	}
	for k := range 20 {
		time.Sleep(10 * time.Millisecond)
		p.reload(strings.ReplaceAll(text, servers[0].Addr, servers[k%2].Addr))
	}
	stop.Store(true)
	all.Wait()
	p.quiet(8)
	if n := len(servers[0].Queries()) + len(servers[1].Queries()); n < 100 {
		t.Errorf("%d queries", n)
	}
}

// Clients that work, leave, vanish and are killed at random: every statement has its own answer, and nothing is left behind.
func TestLaneAtRandom(t *testing.T) {
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		text := string(payload)
		if at := strings.Index(text, "SELECT n"); cmd == mysql.ComQuery && at >= 0 {
			if rand.IntN(50) == 0 {
				time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond)
			}
			if rand.IntN(200) == 0 {
				c.Cut()
				return
			}
			c.Rows([]string{"a"}, []any{text[at:]})
			return
		}
		answers("n")(c, cmd, payload)
	}})
	p := startLane(t, oneNode(server.Addr, 6))
	killer := p.client("")
	must(t, killer, "SELECT 1") // the server is known from here on
	var all sync.WaitGroup
	var ids sync.Map
	stop := time.Now().Add(2 * time.Second)
	for w := range 12 {
		all.Go(func() {
			for n := 0; time.Now().Before(stop); {
				c, err := mysqltest.DialRaw(p.addr, rootClient())
				if err != nil {
					continue // killed at the door
				}
				ids.Store(c.Greeting.ConnectionID, true)
				for range rand.IntN(100) {
					n++
					text := fmt.Sprintf("SELECT n%d_%d", w, n)
					r, err := c.Query(text)
					if err != nil {
						break
					}
					if r.Err != nil {
						if r.Err.Code != mysql.ERQueryInterrupted && r.Err.Code != session.KSBackendLost {
							t.Errorf("%s: %v", text, r.Err)
						}
						continue
					}
					if len(r.Rows) != 1 || r.Rows[0][0] != text {
						t.Errorf("%s: %v", text, r.Rows)
					}
				}
				ids.Delete(c.Greeting.ConnectionID)
				switch rand.IntN(3) {
				case 0:
					_ = c.Send(mysql.ComQuery, "SELECT n and gone")
					_ = c.Conn.Close()
				case 1:
					_ = c.Conn.Close()
				default:
					_ = c.Close()
				}
			}
		})
	}
	for time.Now().Before(stop) {
		ids.Range(func(id, _ any) bool {
			text := "KILL %d"
			if rand.IntN(2) == 0 {
				text = "KILL QUERY %d"
			}
			_, _ = killer.Query(fmt.Sprintf(text, id))
			return rand.IntN(4) > 0
		})
		time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond)
	}
	all.Wait()
	p.quiet(1)
	if p.Totals().Looped < 100 {
		t.Errorf("%d statements were in the fast lane", p.Totals().Looped)
	}
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

// Sessions move between loops at any moment as the number of processors changes, and nobody notices.
func TestLaneWithProcessorsThatChange(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p := startLane(t, oneNode(server.Addr, 4)+"pipelined_sharing: true\n")
		defer p.UseProcessors(proxy.ProcessorsMax)
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, direct, "CREATE TABLE moves (id INT PRIMARY KEY, n INT)")
		must(t, direct, "INSERT INTO moves VALUES (0,0),(1,0),(2,0),(3,0),(4,0),(5,0),(6,0),(7,0)")
		const clients, rounds = 8, 150
		before := p.Totals().Looped
		var all sync.WaitGroup
		stop := make(chan struct{})
		for id := range clients {
			c := p.client(database)
			all.Go(func() {
				for k := range rounds {
					for _, text := range []string{
						fmt.Sprintf("UPDATE moves SET n = n + 1 WHERE id = %d", id), fmt.Sprintf("SELECT n FROM moves WHERE id = %d", id),
						"BEGIN", fmt.Sprintf("SELECT n FROM moves WHERE id = %d", id), "COMMIT", "SET @a = 1", "SELECT n FROM moves WHERE id = -1",
					}[:2+k%6] {
						r, err := c.Query(text)
						if err == nil && r.Err != nil {
							err = r.Err
						}
						if err != nil {
							t.Errorf("client %d, %s: %v", id, text, err)
							return
						}
						if len(r.Rows) == 1 && fmt.Sprint(r.Rows[0]) != fmt.Sprintf("[%d]", k+1) {
							t.Errorf("client %d: %v in round %d", id, r.Rows[0], k)
							return
						}
					}
				}
			})
		}
		flipped := make(chan struct{})
		go func() {
			defer close(flipped)
			for n := 1; ; n = n%proxy.ProcessorsMax + 1 {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
					p.UseProcessors(n)
				}
			}
		}()
		all.Wait()
		close(stop)
		<-flipped
		if n := p.Totals().Looped - before; n < clients*rounds {
			t.Errorf("%d statements were in the fast lane", n)
		}
	})
}
