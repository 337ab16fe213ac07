package session

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/txn"
)

// A connection comes from the pool and goes back there, in the session's state.
func TestLeasesAcquire(t *testing.T) {
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: transactions})
	a := newApart(t, "app", server)
	ls := &leases{client: a.client}
	for _, db := range []string{"shop", "shop", "books"} {
		a.state.SetDB(db)
		a.says("SELECT 1")
		p, err := ls.acquire(txn.Target{Node: a.nodes["n1"]})
		if err != nil {
			t.Fatal(err)
		}
		if a.inUse("n1") != 1 || p.Key != a.state.Setting() || p.Key.Database() != db || a.entry.Running().Pooled != p.Pooled {
			t.Errorf("in %s: %d in use, carries %v", db, a.inUse("n1"), p.Key.Database())
		}
		if ls.release(p); a.inUse("n1") != 0 || a.txn.Holding() || a.entry.Running().Pooled != nil {
			t.Errorf("in %s: %d in use behind the statement", db, a.inUse("n1"))
		}
	}
	if server.Accepted() != 1 {
		t.Errorf("%d connections", server.Accepted())
	}
}

// A transaction begins with its first statement, has one connection until it ends, and cannot change rows on another node.
func TestLeasesTransaction(t *testing.T) {
	server, other := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: transactions}), mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: transactions})
	a := newApart(t, "app", server, other)
	ls := &leases{client: a.client}
	a.txn.Begin = "BEGIN /* the client's */"
	var first uint32
	for _, text := range []string{"UPDATE x SET a = 1", "UPDATE x SET a = 2", "COMMIT"} {
		a.says(text)
		p, err := ls.acquire(txn.Target{Node: a.nodes["n1"]})
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 {
			first = p.Conn.ThreadID
		}
		if p.Conn.ThreadID != first || a.txn.Begin != "" {
			t.Errorf("%s on connection %d, behind %d; still to begin: %q", text, p.Conn.ThreadID, first, a.txn.Begin)
		}
		if err := p.Conn.Exec(text); err != nil {
			t.Fatal(err)
		}
		if ls.release(p); a.txn.Holding() != (text != "COMMIT") || a.inUse("n1") != map[bool]int{true: 1}[text != "COMMIT"] {
			t.Errorf("behind %s the session holds a connection: %v, of %d", text, a.txn.Holding(), a.inUse("n1"))
		}
		if !a.txn.Holding() {
			continue
		}
		a.says("UPDATE y SET a = 1")
		if _, err := ls.acquire(txn.Target{Node: a.nodes["n2"]}); sqlCode(err) != KSTransactionNodes {
			t.Errorf("a change on another node: %v", err)
		}
		a.says("SELECT 1")
		beside, err := ls.acquire(txn.Target{Node: a.nodes["n2"], Reads: true})
		if err != nil || !a.txn.Beside(beside) {
			t.Fatalf("a read on another node: %v", err)
		}
		ls.release(beside)
	}
	if got, want := queriesOf(server), "BEGIN /* the client's */; UPDATE x SET a = 1; UPDATE x SET a = 2; COMMIT"; got != want {
		t.Errorf("the server got %s", got)
	}
	if got, want := queriesOf(other), "START TRANSACTION; "+txn.SQLCommit; got != want || a.inUse("n2") != 0 {
		t.Errorf("the server that was read got %s, %d in use", got, a.inUse("n2"))
	}
}

// A connection that breaks takes the session with it where it had state of the session, and else only the statement.
func TestLeasesLost(t *testing.T) {
	for _, tt := range []struct {
		name  string
		set   func(a *apart)
		never bool
		code  uint16
		ends  bool
	}{
		{"nothing on it", func(*apart) {}, false, KSBackendLost, false},
		{"nothing on it, and never arrived", func(*apart) {}, true, KSNotCarriedOut, false},
		{"in a transaction", func(a *apart) { a.txn.Begin = "BEGIN" }, false, KSBackendLost, true},
		{"in a transaction, and never arrived", func(a *apart) { a.txn.Begin = "BEGIN" }, true, KSNotCarriedOut, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newApart(t, "app", mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: transactions}))
			ls := &leases{client: a.client}
			tt.set(a)
			a.says("UPDATE t SET a = 1")
			p, err := ls.acquire(txn.Target{Node: a.nodes["n1"]})
			if err != nil {
				t.Fatal(err)
			}
			a.txn.Pins = 1 << txn.PinUserVariable
			err = ls.lose(p, tt.never, io.ErrUnexpectedEOF)
			told := a.told(t)
			if tt.ends && (endReason(err) != "backend_lost" || a.txn.Pins != 0) || !tt.ends && (sqlCode(err) != tt.code || told != "") {
				t.Errorf("%v, and the client was told %q", err, told)
			}
			if tt.ends && told != fmt.Sprintf("error %d", tt.code) {
				t.Errorf("the client was told %q", told)
			}
			if a.inUse("n1") != 0 || a.txn.Holding() || a.nodes["n1"].Primary.Stats().Idle != 0 {
				t.Errorf("the pool: %+v", a.nodes["n1"].Primary.Stats())
			}
		})
	}
}

// A connection that was found broken ahead of the statement is replaced, if nothing of the session was on it.
func TestLeasesReplace(t *testing.T) {
	broken := &mysql.ConnError{Side: mysql.BackendSide, Op: "write", Err: io.ErrClosedPipe}
	for _, tt := range []struct {
		name    string
		set     func(a *apart)
		attempt int
		err     error
		want    bool
	}{
		{"the first time", func(*apart) {}, 0, broken, true},
		{"the second time", func(*apart) {}, 1, broken, true},
		{"when all that there may be were tried", func(*apart) {}, apartConns, broken, false},
		{"no fault of the connection", func(*apart) {}, 0, mysql.NewSQLError(mysql.ERNoDB, ""), false},
		{"no fault", func(*apart) {}, 0, nil, false},
		{"in a transaction", func(a *apart) { a.txn.Begin = "BEGIN" }, 0, broken, false},
		{"killed meanwhile", func(a *apart) { a.entry.Interrupt(false) }, 0, broken, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newApart(t, "app", mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: transactions}))
			ls := &leases{client: a.client}
			a.says("SELECT 1")
			if tt.set(a); a.entry.IsCancelled() {
				if _, err := ls.acquire(txn.Target{Node: a.nodes["n1"]}); sqlCode(err) != mysql.ERQueryInterrupted || a.inUse("n1") != 0 {
					t.Errorf("it has a connection though it was killed: %v", err)
				}
				return
			}
			p, err := ls.acquire(txn.Target{Node: a.nodes["n1"]})
			if err != nil {
				t.Fatal(err)
			}
			if got := ls.replaces(p, tt.attempt, tt.err); got != tt.want {
				t.Errorf("replaced: %v", got)
			}
			if tt.want && !a.ahead().since.Equal(a.entry.Since()) {
				t.Errorf("for the next one it waits since %v, not %v", a.ahead().since, a.entry.Since())
			}
			if a.inUse("n1") != map[bool]int{false: 1}[tt.want] {
				t.Errorf("%d in use", a.inUse("n1"))
			}
			if !tt.want {
				ls.drop(p)
			}
		})
	}
}

// A statement waits while the proxy is paused, and passes the gate once; what would keep others waiting goes on.
func TestLeasesGate(t *testing.T) {
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: transactions})
	shared := newShared(t, partsConfig(server))
	target := func(a *apart) txn.Target { return txn.Target{Node: a.nodes["n1"]} }
	open := func(t *testing.T) (*apart, *leases) {
		a := apartOf(t, "app", shared)
		return a, &leases{client: a.client}
	}
	a, ls := open(t)
	a.txn.Begin = "BEGIN"
	a.says("SELECT 1")
	p, err := ls.acquire(target(a))
	if err != nil {
		t.Fatal(err)
	}
	ls.release(p)

	shared.Pause.Begin(20 * time.Millisecond)
	a.says("SELECT 2")
	if waited, err := ls.gate(); waited || err != nil {
		t.Errorf("a transaction waits: %v, %v", waited, err)
	}
	b, late := open(t)
	b.says("SELECT 1")
	if _, err := late.acquire(target(b)); sqlCode(err) != KSPaused || shared.Pause.State().Timeouts != 1 || shared.Pause.State().Waiting != 0 {
		t.Errorf("%v, and %+v", err, shared.Pause.State())
	}
	if waited, err := late.gate(); waited || err != nil {
		t.Errorf("the statement is at the gate a second time: %v, %v", waited, err)
	}

	shared.Pause.Begin(time.Minute)
	for name, end := range map[string]func(){"the pause ends": shared.Pause.End, "a KILL": func() { b.entry.Interrupt(false) }} {
		if !shared.Pause.on() {
			shared.Pause.Begin(time.Minute)
		}
		b.says("SELECT 1")
		done := make(chan error, 1)
		go func() {
			p, err := late.acquire(target(b))
			if err == nil {
				late.release(p)
			}
			done <- err
		}()
		mysqltest.WaitFor(t, "the statement to wait", func() bool { return shared.Pause.State().Waiting == 1 })
		end()
		if err := <-done; (name == "a KILL") != (sqlCode(err) == mysql.ERQueryInterrupted) || name != "a KILL" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		b.finishCommand()
	}
	shared.Pause.End()
}

// A statement does not wait longer for a connection than it is to.
func TestLeasesWait(t *testing.T) {
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: transactions})
	cfg := partsConfig(server)
	cfg.Nodes[0].MaxConnsLimit, cfg.PoolWaitTimeout = 1, config.Duration(50*time.Millisecond)
	a := apartOf(t, "app", newShared(t, cfg))
	ls := &leases{client: a.client}
	held := a.lend(t, "n1")
	a.says("SELECT 1")
	if _, err := ls.acquire(txn.Target{Node: a.nodes["n1"]}); sqlCode(err) != KSPoolTimeout {
		t.Errorf("%v", err)
	}
	held.Put()
	a.snap.Config.PoolWaitTimeout = config.Duration(5 * time.Second)
	a.says("SELECT 1")
	p, err := ls.acquire(txn.Target{Node: a.nodes["n1"]})
	if err != nil {
		t.Fatal(err)
	}
	// Behind an answer that the client has, only what had state of the session ends it.
	if ls.dropBehind(p, errors.New("broken")); a.far.gone() || a.inUse("n1") != 0 {
		t.Errorf("the client's connection is closed: %v", a.far.gone())
	}
	a.says("SELECT @a := 1")
	if p, err = ls.acquire(txn.Target{Node: a.nodes["n1"]}); err != nil {
		t.Fatal(err)
	}
	a.txn.Pin(txn.PinUserVariable)
	if ls.dropBehind(p, errors.New("broken")); !a.far.gone() || a.inUse("n1") != 0 || a.txn.Pins != 0 {
		t.Errorf("the client's connection is closed: %v, pins %v", a.far.gone(), a.txn.Pins)
	}
}
