package load

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func loginTo(s *mysqltest.ScriptServer) Login { return Login{Addr: s.Addr, User: "u", Password: "p"} }

// rowServer answers every statement with three rows, and prepares any with one parameter.
func rowServer(t *testing.T, answer func(c *mysqltest.ScriptConn)) *mysqltest.ScriptServer {
	return mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		switch cmd {
		case mysql.ComStmtPrepare:
			c.Prepared(7, 1, "a")
		case mysql.ComStmtExecute:
			c.BinaryRows([]string{"a"}, []any{"1"}, []any{"2"}, []any{"3"})
		default:
			answer(c)
		}
	}})
}

func threeRows(c *mysqltest.ScriptConn) { c.Rows([]string{"a"}, []any{"1"}, []any{nil}, []any{""}) }

func TestDo(t *testing.T) {
	s := rowServer(t, threeRows)
	c, err := Dial(loginTo(s))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 2 {
		if rows, err := c.Query("SELECT a"); err != nil || rows != 3 {
			t.Fatalf("%d rows, %v", rows, err)
		}
	}
	s.SetHandler(func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		c.Status |= mysql.ServerMoreResultsExists
		threeRows(c)
		c.Status &^= mysql.ServerMoreResultsExists
		c.OK()
	})
	if rows, err := c.Query("SELECT a; DO 1"); err != nil || rows != 3 {
		t.Errorf("two results: %d rows, %v", rows, err)
	}
	s.SetHandler(func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) { c.Error(1064, "no") })
	if _, err := c.Query("x"); err == nil || !goesOn(err) {
		t.Errorf("refused: %v", err)
	}
	s.SetHandler(func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) { c.Cut() })
	if _, err := c.Query("x"); err == nil || goesOn(err) {
		t.Errorf("cut: %v", err)
	}
}

// TestSerialKeys: no key comes twice, in whichever protocol, and those of a later run are larger.
func TestSerialKeys(t *testing.T) {
	last := uint64(0)
	for _, prepared := range []bool{false, true, false} {
		s := rowServer(t, threeRows)
		_, err := Closed{
			Login: loginTo(s), Clients: 4, Statement: Statement{Text: "SELECT a FROM t WHERE id = ? AND 1", Serial: true, Prepared: prepared},
			Warmup: 5 * time.Millisecond, Duration: 20 * time.Millisecond,
		}.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		keys := make(map[uint64]bool)
		for _, c := range s.Commands() {
			var key uint64
			switch c.Command {
			case mysql.ComQuery:
				if _, err := fmt.Sscanf(string(c.Payload), "SELECT a FROM t WHERE id = %d AND 1", &key); err != nil {
					t.Fatalf("%q: %v", c.Payload, err)
				}
			case mysql.ComStmtExecute:
				key = binary.LittleEndian.Uint64(c.Payload[len(c.Payload)-8:])
			default:
				continue
			}
			if keys[key] || key <= last {
				t.Fatalf("prepared %v: the key %d comes again, or is not above %d", prepared, key, last)
			}
			keys[key] = true
		}
		for key := range keys {
			last = max(last, key)
		}
		if len(keys) < 10 {
			t.Errorf("prepared %v: %d keys", prepared, len(keys))
		}
	}
}

func TestClosed(t *testing.T) {
	for _, prepared := range []bool{false, true} {
		s := rowServer(t, threeRows)
		var begun, ended int
		r, err := Closed{
			Login: loginTo(s), Clients: 4, Statement: Statement{Text: "SELECT a FROM t WHERE id = ?", Keys: 10, Prepared: prepared},
			Warmup: 20 * time.Millisecond, Duration: 100 * time.Millisecond,
			Window: Window{Begin: func() { begun++ }, End: func() { ended++ }},
		}.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if r.Queries == 0 || r.Errors != 0 || r.Seconds < 0.1 || r.QPS() <= 0 || r.Latency.P50 <= 0 || begun != 1 || ended != 1 {
			t.Errorf("prepared %v: %+v, window %d %d", prepared, r, begun, ended)
		}
		if n := s.Accepted(); n != 4 {
			t.Errorf("%d connections", n)
		}
		keys := make(map[string]bool)
		for _, c := range s.Commands() {
			switch c.Command {
			case mysql.ComQuery:
				keys[strings.TrimPrefix(string(c.Payload), "SELECT a FROM t WHERE id = ")] = true
			case mysql.ComStmtExecute:
				keys[string(c.Payload[len(c.Payload)-8:])] = true
			}
		}
		if len(keys) != 10 {
			t.Errorf("prepared %v: %d keys", prepared, len(keys))
		}
	}
}

// TestClosedErrors: refusals are counted and go on; lost connections are counted and made again.
func TestClosedErrors(t *testing.T) {
	var n atomic.Int64
	s := rowServer(t, func(c *mysqltest.ScriptConn) {
		switch n.Add(1) % 10 {
		case 1:
			c.Error(1213, "Deadlock found")
		case 2:
			c.Cut()
		default:
			threeRows(c)
		}
	})
	r, err := Closed{
		Login: loginTo(s), Clients: 2, Statement: Statement{Text: "SELECT 1"}, Duration: 100 * time.Millisecond,
	}.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if r.Queries == 0 || r.Errors == 0 || r.FirstError == "" || s.Accepted() <= 2 {
		t.Errorf("%+v, %d connections", r, s.Accepted())
	}
}

func TestCannotBegin(t *testing.T) {
	refuse := mysqltest.StartScript(t, mysqltest.ScriptConfig{Refuse: mysql.NewSQLError(mysql.ERConCount, "Too many connections")})
	for name, l := range map[string]Closed{
		"refused":   {Login: loginTo(refuse), Clients: 3, Statement: Statement{Text: "SELECT 1"}},
		"no text":   {Login: loginTo(refuse), Clients: 3},
		"no keys":   {Login: loginTo(refuse), Clients: 3, Statement: Statement{Text: "SELECT ?"}},
		"two keys":  {Login: loginTo(refuse), Clients: 3, Statement: Statement{Text: "SELECT ?, ?", Keys: 1}},
		"no server": {Login: Login{Addr: "127.0.0.1:1"}, Clients: 1, Statement: Statement{Text: "SELECT 1"}},
	} {
		l.Window.Begin = func() { t.Errorf("%s: it began", name) }
		if _, err := l.Run(context.Background()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := (Open{Login: loginTo(refuse), Clients: 1, Statement: Statement{Text: "SELECT 1"}}).Run(context.Background()); err == nil {
		t.Error("a rate of 0")
	}
}

// TestOpenSeesStalls: while the server stands still statements become due, and each counts the time since it was.
func TestOpenSeesStalls(t *testing.T) {
	const stall = 200 * time.Millisecond
	var once sync.Once
	var stallNow atomic.Bool
	var stalled sync.Mutex
	s := rowServer(t, func(c *mysqltest.ScriptConn) {
		if stallNow.Load() {
			once.Do(func() {
				stalled.Lock()
				time.AfterFunc(stall, stalled.Unlock)
			})
		}
		stalled.Lock()
		defer stalled.Unlock()
		threeRows(c)
	})
	r, err := Open{
		Login: loginTo(s), Clients: 4, Statement: Statement{Text: "SELECT 1"}, Rate: 500, Warmup: 50 * time.Millisecond,
		Duration: 600 * time.Millisecond, Window: Window{Begin: func() { stallNow.Store(true) }},
	}.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	// 300 statements, of which 100 were due during the stall: a closed loop of 4 clients would have seen 4.
	if r.Queries != 300 || r.Errors != 0 {
		t.Errorf("%d statements, %d errors: %s", r.Queries, r.Errors, r.FirstError)
	}
	if l := r.Latency; l.Max < 190_000 || l.P90 < 80_000 {
		t.Errorf("a stall of %v is not seen: %+v", stall, l)
	}
}

// TestOpenOverload: what a server too slow never took counts as an error and with the time it had waited.
func TestOpenOverload(t *testing.T) {
	s := rowServer(t, func(c *mysqltest.ScriptConn) {
		c.Delay(50 * time.Millisecond)
		threeRows(c)
	})
	r, err := Open{
		Login: loginTo(s), Clients: 1, Statement: Statement{Text: "SELECT 1"}, Rate: 1000, Duration: 200 * time.Millisecond,
	}.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if r.Queries+r.Errors != 200 || r.Errors < 100 || r.Latency.P99 < 1e6 {
		t.Errorf("%+v", r)
	}
}

// TestOpenErrors: refusals are counted and go on, lost connections are counted and made again, and every statement is
// answered, refused or lost.
func TestOpenErrors(t *testing.T) {
	var n, refused, cut atomic.Uint64
	s := rowServer(t, func(c *mysqltest.ScriptConn) {
		switch n.Add(1) % 10 {
		case 1:
			refused.Add(1)
			c.Error(1213, "Deadlock found")
		case 2:
			cut.Add(1)
			c.Cut()
		default:
			threeRows(c)
		}
	})
	r, err := Open{
		Login: loginTo(s), Clients: 2, Statement: Statement{Text: "SELECT 1"}, Rate: 200, Duration: 500 * time.Millisecond,
	}.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if r.Queries+r.Errors != 100 || r.Errors != refused.Load()+cut.Load() || cut.Load() == 0 || s.Accepted() <= 2 {
		t.Errorf("%+v, %d refused, %d cut, %d connections", r, refused.Load(), cut.Load(), s.Accepted())
	}
	if !strings.Contains(r.FirstError, "Deadlock") {
		t.Errorf("the first error is %q", r.FirstError)
	}
}

// TestOpenManyCuts: a connection that is closed again does nothing to another that has its descriptor by now.
func TestOpenManyCuts(t *testing.T) {
	var n, cut atomic.Uint64
	s := rowServer(t, func(c *mysqltest.ScriptConn) {
		if n.Add(1)%4 == 0 {
			cut.Add(1)
			c.Cut()
			return
		}
		threeRows(c)
	})
	r, err := Open{
		Login: loginTo(s), Clients: 64, Statement: Statement{Text: "SELECT 1"}, Rate: 4000, Duration: time.Second,
	}.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if r.Errors != cut.Load() || r.Queries+r.Errors != 4000 {
		t.Errorf("%d statements, %d errors: %s; %d connections cut", r.Queries, r.Errors, r.FirstError, cut.Load())
	}
}

// TestOpenOnce: each statement that is due is sent once, prepared ones, too.
func TestOpenOnce(t *testing.T) {
	for _, prepared := range []bool{false, true} {
		s := rowServer(t, func(c *mysqltest.ScriptConn) {
			c.Delay(2 * time.Millisecond)
			threeRows(c)
		})
		r, err := Open{
			Login: loginTo(s), Clients: 8, Statement: Statement{Text: "SELECT a FROM t WHERE id = ?", Keys: 10, Prepared: prepared},
			Rate: 1000, Warmup: 100 * time.Millisecond, Duration: 200 * time.Millisecond,
		}.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if r.Queries != 200 || r.Errors != 0 || r.Latency.P50 <= 0 {
			t.Errorf("prepared %v: %+v", prepared, r)
		}
		sent := 0
		for _, c := range s.Commands() {
			if c.Command == mysql.ComQuery || c.Command == mysql.ComStmtExecute {
				sent++
			}
		}
		if sent != 300 {
			t.Errorf("prepared %v: %d statements sent", prepared, sent)
		}
	}
}

// TestOpenEnds: it ends with its context, and tells why.
func TestOpenEnds(t *testing.T) {
	s := rowServer(t, threeRows)
	ctx, cancel := context.WithCancel(context.Background())
	l := Open{
		Login: loginTo(s), Clients: 2, Statement: Statement{Text: "SELECT 1"}, Rate: 100, Duration: time.Hour, Window: Window{Begin: cancel},
	}
	if _, err := l.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestDialStops: when a server takes no more clients, the others are not tried, and those that are in are closed.
func TestDialStops(t *testing.T) {
	var tried atomic.Int64
	s := rowServer(t, threeRows)
	_, err := dialAll(context.Background(), 5000, func(i int) (*Client, error) {
		if tried.Add(1) > 3 {
			return nil, mysql.NewSQLError(mysql.ERConCount, "Too many connections")
		}
		return Dial(loginTo(s))
	})
	if err == nil || !strings.Contains(err.Error(), "3 of 5000 clients") || !strings.Contains(err.Error(), "Too many") {
		t.Errorf("%v", err)
	}
	if n := tried.Load(); n > 3+dialAtOnce {
		t.Errorf("%d tried", n)
	}
	for range 1000 {
		if s.Open() == 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if n := s.Open(); n != 0 {
		t.Errorf("%d connections are open", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := dialAll(ctx, 10, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestIdle(t *testing.T) {
	s := rowServer(t, threeRows)
	release, err := Idle{Login: loginTo(s), Clients: 40, Text: "SELECT 1"}.Hold(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if s.Open() != 40 || len(s.Queries()) != 40 {
		t.Errorf("%d connections, %d statements", s.Open(), len(s.Queries()))
	}
}
