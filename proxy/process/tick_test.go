package process

import (
	"log/slog"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// Sessions end that idle for longer than they may: the shorter of the proxy's time and the client's own counts.
func TestIdleTicks(t *testing.T) {
	for _, test := range []struct {
		name  string
		idled time.Duration
		limit time.Duration
		own   uint32
		ends  bool
	}{
		{"in time", time.Second, time.Minute, 0, false}, {"too long", 2 * time.Minute, time.Minute, 0, true},
		{"no limit", 1000 * time.Hour, 0, 0, false}, {"its own", 3 * time.Second, time.Minute, 2, true}, {"its own alone", 3 * time.Second, 0, 2, true},
		{"its own is longer", 3 * time.Second, 2 * time.Second, 100, true},
	} {
		e, c := new(Entry), new(phone)
		e.Adopt(c, Who{User: "app"}, nil, "", 0, time.Now().Add(-test.idled))
		e.SetWaitTimeout(test.own)
		e.Tick(Limits{Idle: test.limit, Stall: time.Hour}, spawn)
		if ended := c.closes.Load() == 1; ended != test.ends || ended && e.End(EndQuit) != EndIdle {
			t.Errorf("%s: ended %v", test.name, ended)
		}
	}
	e, c := connected(new(List))
	e.since = time.Now().Add(-time.Hour)
	if e.Tick(Limits{Idle: time.Second, Stall: time.Second}, spawn); c.closes.Load() != 0 {
		t.Error("a login idles")
	}
	e, c = running(t)
	e.since = time.Now().Add(-time.Hour)
	if e.Tick(Limits{Idle: time.Second, Stall: time.Hour}, spawn); c.closes.Load() != 0 {
		t.Error("a statement idles")
	}
}

// A client that takes less than it must, or sends nothing of its file, is given the time of a stall; one that goes on has it anew.
func TestStallTicks(t *testing.T) {
	for _, test := range []struct {
		name            string
		step            uint32 // bytes a second
		writing, upload bool
		ends            bool
	}{
		{"takes nothing", 0, true, false, true}, {"takes too little", RateMin / 2, true, false, true}, {"is slow", 3 * RateMin, true, false, false},
		{"waits for a server", 0, false, false, false}, {"sends nothing", 0, false, true, true}, {"sends a byte", 1, false, true, false},
	} {
		e, c := running(t)
		c.writing = test.writing
		e.Upload(test.upload)
		for range 10 {
			c.moved += test.step
			e.Tick(Limits{Idle: time.Second, Stall: 3 * time.Second}, spawn)
		}
		if ended := c.closes.Load() == 1; ended != test.ends || ended && e.End(EndQuit) != EndStalled {
			t.Errorf("%s: ended %v", test.name, ended)
		}
	}
}

// A client that vanished does not keep the locks of its transaction, or those of a statement that no server has as a whole.
func TestTicksOfTheVanished(t *testing.T) {
	s := startServer(t)
	p, q := s.borrow(t), s.borrow(t)
	for _, test := range []struct {
		name  string
		begin func(e *Entry)
		ends  bool
	}{
		{"a statement", func(e *Entry) { e.SetRunning(p) }, false},
		{"in a transaction", func(e *Entry) {
			e.Finish(Kept{InTransaction: true})
			e.Begin(mysql.ComQuery, "", time.Now())
			e.SetRunning(p)
		}, true},
		{"behind a transaction", func(e *Entry) {
			e.Finish(Kept{InTransaction: true})
			e.Begin(mysql.ComQuery, "", time.Now())
			e.SetRunning(p)
			e.TransactionOver()
		}, false},
		{"on several shards", func(e *Entry) { e.Publish([]backend.Pooled{p, q}) }, true},
		{"to its end", func(e *Entry) { e.Publish([]backend.Pooled{p, q}); e.GoOn() }, false},
		{"a change that is being kept", func(e *Entry) { e.Publish([]backend.Pooled{p, q}); e.EndRowWait() }, false},
		{"after one that went on", func(e *Entry) {
			e.Publish([]backend.Pooled{p, q})
			e.GoOn()
			e.Unpublish()
			e.Publish([]backend.Pooled{p, q})
		}, true},
	} {
		s.Forget()
		e, c := running(t)
		c.gone = true
		test.begin(e)
		e.Tick(Limits{Stall: time.Hour}, spawn)
		if !test.ends {
			if time.Sleep(10 * time.Millisecond); c.closes.Load() != 0 || len(s.kills()) != 0 {
				t.Errorf("%s: ended", test.name)
			}
			continue
		}
		mysqltest.WaitFor(t, test.name+": the server to hear of it", func() bool { return c.closes.Load() == 1 && len(s.kills()) > 0 })
		if e.Unpublish(); e.End(EndQuit) != EndClientGone {
			t.Errorf("%s: ended otherwise", test.name)
		}
	}
}

// The connections of a transaction over several nodes are closed when it has idled for too long, and of no other one; its session stays.
func TestTicksOfIdleTransactions(t *testing.T) {
	s := startServer(t)
	for _, test := range []struct {
		name  string
		limit time.Duration
		kept  func(p, q backend.Pooled) Kept
		ends  bool
	}{
		{"in time", time.Hour, func(p, q backend.Pooled) Kept { return Kept{InTransaction: true, Whole: []backend.Pooled{p, q}} }, false},
		{"no limit", 0, func(p, q backend.Pooled) Kept { return Kept{InTransaction: true, Whole: []backend.Pooled{p, q}} }, false},
		{"too long", time.Minute, func(p, q backend.Pooled) Kept { return Kept{InTransaction: true, Whole: []backend.Pooled{p, q}} }, true},
		{"of one node", time.Minute, func(p, q backend.Pooled) Kept {
			return Kept{InTransaction: true, Instance: p.Instance, Others: map[string]backend.Pooled{"q": q}}
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, q := s.borrow(t), s.borrow(t)
			e, c := running(t)
			e.log = slog.New(slog.DiscardHandler)
			e.Finish(test.kept(p, q))
			e.since = time.Now().Add(-2 * time.Minute)
			for range 2 {
				e.Tick(Limits{Transaction: test.limit, Stall: time.Hour}, spawn)
			}
			broken := p.Conn.Exec("DO 1") != nil && q.Conn.Exec("DO 1") != nil
			if e.GaveUp() != test.ends || broken != test.ends || c.closes.Load() != 0 {
				t.Errorf("gave up %v, broken %v", e.GaveUp(), broken)
			}
			e.Begin(mysql.ComQuery, "", time.Now())
			if e.Finish(Kept{}); e.GaveUp() {
				t.Error("the next one, too")
			}
		})
	}
}

// A server that had not begun the statement when it was told to end it is told again, though the session is closing.
func TestKillsAreRepeated(t *testing.T) {
	s := startServer(t)
	p := s.borrow(t)
	for _, connection := range []bool{false, true} {
		s.Forget()
		e, _ := running(t)
		e.SetRunning(p)
		e.Interrupt(connection)
		e.Tick(Limits{Stall: time.Hour}, spawn)
		mysqltest.WaitFor(t, "a second KILL", func() bool { return len(s.kills()) == 2 })
		e.TakeRunning()
		e.InterruptAgain()
		if len(s.kills()) != 2 {
			t.Errorf("told %v", s.kills())
		}
	}
}

// spawn runs what a tick has to wait for.
func spawn(f func()) { go f() }
