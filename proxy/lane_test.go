package proxy_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/kserror"
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
			c.Conn.Net.NetConn().Write(command)
			readAnswer(t, c)
		}
	})
	for range 3 {
		for k := range command {
			c.Conn.Net.NetConn().Write(command[k : k+1])
			time.Sleep(time.Duration(random.IntN(300)) * time.Microsecond)
		}
		readAnswer(t, c)
		// A command and a half, then the rest; three at once; a ping in front.
		c.Conn.Net.NetConn().Write(append(bytes.Clone(command), command[:7]...))
		time.Sleep(time.Millisecond)
		c.Conn.Net.NetConn().Write(command[7:])
		readAnswer(t, c)
		readAnswer(t, c)
		c.Conn.Net.NetConn().Write(bytes.Repeat(command, 3))
		for range 3 {
			readAnswer(t, c)
		}
		c.Conn.Net.NetConn().Write(append([]byte{1, 0, 0, 0, byte(mysql.ComPing)}, command...))
		readAnswer(t, c)
		readAnswer(t, c)
	}
	// A command that comes while the one before is at the server.
	c.Conn.Net.NetConn().Write(append([]byte{12, 0, 0, 0, 3}, "SELECT slow"...))
	time.Sleep(5 * time.Millisecond)
	c.Conn.Net.NetConn().Write(command)
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
		fails(t, c, "SELECT cut", kserror.BackendLost) // asked twice: it has no effects
	}
	// Part of the rows are with the client already: it hears why no more come, and is cut off.
	fails(t, c, "SELECT half", kserror.StatementBroken)
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
		// Seen dead on a loop's own pool, in the pool, or not yet: then the statement is sent again.
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
	takeLarge(t, stalled)
	p.quiet(5)
}

// takeLarge has clients take the answer of 16 MiB that waits for each of them, after which they go on.
func takeLarge(t *testing.T, stalled []*mysqltest.RawClient) {
	t.Helper()
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
}

// The time of a statement in a loop begins with the statement: those of clients that take turns are together no longer than the clients were there.
func TestTimesInTheLane(t *testing.T) {
	p := startLane(t, oneNode(mysqltest.Shared(t, mysqltest.MariaDB).Addr, 4))
	began := time.Now()
	rare, often := p.client(""), p.client("")
	looped(t, p, 400, func() {
		for range 10 {
			must(t, rare, "SELECT 1 + 1")
			for range 50 {
				must(t, often, "SELECT 1 + 1")
			}
		}
	})
	settled(t, p)
	var sum time.Duration
	for _, d := range p.Queries().Digests() {
		sum += d.Total.Sum
	}
	if took := time.Since(began); sum == 0 || sum > took {
		t.Errorf("statements took %v within %v", sum, took)
	}
}
