package process

import (
	"slices"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/lockwaits"
)

// cancelledSoon waits for a channel of Cancelled to be closed.
func cancelledSoon(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		t.Fatal("the wait does not end")
	}
}

// KILL QUERY ends the statement under way, wherever it is, and nothing of the next one.
func TestKillQuery(t *testing.T) {
	s := startServer(t)
	p, q := s.borrow(t), s.borrow(t)

	e, c := idle(new(List))
	if !e.Interrupt(false) || e.IsCancelled() {
		t.Error("an idle session notices")
	}
	if !e.Begin(mysql.ComQuery, "SELECT 1", time.Now()) || !e.SetRunningUnsent(p) || e.TakeRunning() {
		t.Error("a KILL of an idle session is for its next statement")
	}

	e.Finish(Kept{})
	e.Begin(mysql.ComQuery, "SELECT 1", time.Now())
	wait := e.Cancelled()
	e.Interrupt(false) // while it waits for a connection
	cancelledSoon(t, wait)
	if e.SetRunningUnsent(p) || e.Publish([]backend.Pooled{p, q}) || !e.IsCancelled() {
		t.Error("a statement that was killed is sent")
	}
	if !e.SetRunning(p) || !e.TakeRunning() {
		t.Error("a session that lives cannot end its statement")
	}
	if len(s.kills()) != 0 {
		t.Errorf("a server was told %v", s.kills())
	}
	e.Finish(Kept{})
	if e.IsCancelled() {
		t.Error("the next statement is killed, too")
	}

	e.Begin(mysql.ComQuery, "SELECT 1", time.Now())
	e.SetRunning(p)
	e.Interrupt(false)
	if got := s.kills(); !slices.Equal(got, []string{killOf(p)}) {
		t.Errorf("the server was told %v", got)
	}
	if killed, ok := e.TryTake(); !killed || !ok || e.TryCover() || !e.TakeRunning() {
		t.Error("the KILL is not known of")
	}
	e.Interrupt(false) // after its connection went back
	e.Finish(Kept{})
	if len(s.kills()) != 1 {
		t.Errorf("the server was told %v", s.kills())
	}

	s.Forget()
	e.Begin(mysql.ComQuery, "SELECT 1", time.Now())
	if !e.Publish([]backend.Pooled{p, q}) || !e.Published() {
		t.Fatal("not published")
	}
	e.Interrupt(false)
	if got := s.kills(); !slices.Equal(got, []string{killOf(p), killOf(q)}) {
		t.Errorf("the servers were told %v", got)
	}
	if !e.Unpublish() || e.Published() {
		t.Error("the KILL is not known of")
	}
	e.Finish(Kept{})
	if c.closes.Load() != 0 || e.CloseIfIdle(EndDrained) != true || c.closes.Load() != 1 {
		t.Errorf("closed %d times", c.closes.Load())
	}
}

// A server that takes no KILL loses its connection.
func TestKillInVain(t *testing.T) {
	s := startServer(t)
	p := s.borrow(t)
	e, _ := running(t)
	e.SetRunning(p)
	s.SetHandler(func(c *mysqltest.ScriptConn, _ mysql.Command, _ []byte) {
		c.Error(mysql.ERKillDenied, "not yours")
	})
	e.KillOn(p)
	s.SetHandler(nil)
	if err := p.Conn.Exec("DO 0"); err == nil || len(s.kills()) != 1 {
		t.Errorf("goes on: %v, told %v", err, s.kills())
	}
}

// KILL ends the session: between its statements at once, else its statement as well.
func TestKillConnection(t *testing.T) {
	s := startServer(t)
	p := s.borrow(t)
	e, c := idle(new(List))
	e.Interrupt(true)
	if c.closes.Load() != 1 || e.Begin(mysql.ComQuery, "", time.Now()) || e.End(EndClientGone) != EndKilled {
		t.Error("an idle session goes on")
	}
	e, c = running(t)
	wait := e.Cancelled()
	e.SetRunning(p)
	e.Interrupt(true)
	cancelledSoon(t, wait)
	if c.closes.Load() != 1 || len(s.kills()) != 1 || e.SetRunning(p) || e.SetRunningUnsent(p) || e.Publish([]backend.Pooled{p}) {
		t.Errorf("a busy session goes on; the server was told %v", s.kills())
	}
	e.Finish(Kept{})
	if !e.IsCancelled() || e.End(EndQuit) != EndKilled {
		t.Error("forgets that it was killed")
	}
	e, c = connected(new(List))
	e.Interrupt(true)
	e.CloseIfIdle(EndDrained)
	if c.closes.Load() != 1 || e.End(EndHandshake) != EndKilled {
		t.Errorf("a login: closed %d times", c.closes.Load())
	}
}

// A drain ends who has nothing under way, and nobody else.
func TestCloseIfIdle(t *testing.T) {
	e, c := running(t)
	if e.CloseIfIdle(EndDrained) || c.closes.Load() != 0 {
		t.Error("a statement was ended")
	}
	e.Finish(Kept{InTransaction: true})
	if e.CloseIfIdle(EndDrained) || c.closes.Load() != 0 {
		t.Error("a transaction was ended")
	}
	e.Finish(Kept{Pins: 1})
	if !e.CloseIfIdle(EndDrained) || !e.CloseIfIdle(EndIdle) || c.closes.Load() != 1 || e.End(EndQuit) != EndDrained {
		t.Error("an idle session was not ended")
	}
}

// An event loop does not wait for a KILL that is being told.
func TestTryTakeDuringAKill(t *testing.T) {
	s := startServer(t)
	p := s.borrow(t)
	e, _ := running(t)
	e.SetRunning(p)
	told, goOn := make(chan struct{}), make(chan struct{})
	s.SetHandler(func(c *mysqltest.ScriptConn, _ mysql.Command, _ []byte) {
		close(told)
		<-goOn
		c.OK()
	})
	done := make(chan bool)
	go func() { done <- e.Interrupt(false) }()
	<-told
	if _, ok := e.TryTake(); ok || e.TryCover() {
		t.Error("taken while the server is told")
	}
	close(goOn)
	<-done
	if killed, ok := e.TryTake(); !killed || !ok {
		t.Error("not taken afterwards")
	}
	if e.Running().Pooled != nil {
		t.Error("something runs")
	}
	e.Finish(Kept{})
	e.Publish([]backend.Pooled{p, p})
	if !e.TryCover() || e.Published() {
		t.Error("connections of several shards are still published")
	}
}

// A statement ends when its time is over, and no other one does.
func TestExpiry(t *testing.T) {
	s := startServer(t)
	p := s.borrow(t)
	e, _ := running(t)
	x := e.ExpireAfter(time.Millisecond)
	e.SetRunning(p)
	cancelledSoon(t, e.Cancelled())
	mysqltest.WaitFor(t, "the server to hear of it", func() bool { return len(s.kills()) == 1 })
	if !e.Expired() || !x.Stop() || e.Expired() || !e.TakeRunning() {
		t.Error("the statement does not know why it ended")
	}
	e.Finish(Kept{})
	e.Begin(mysql.ComQuery, "SELECT 1", time.Now())
	if left, limited := TimeLeft(e); limited {
		t.Errorf("%v are left of no limit", left)
	}
	x = e.ExpireAfter(time.Hour)
	if left, limited := TimeLeft(e); !limited || left > time.Hour || left < 59*time.Minute {
		t.Errorf("%v are left of an hour: %v", left, limited)
	}
	e.SetRunning(p)
	if e.Expired() || x.Stop() {
		t.Error("expired at once")
	}
	x.expire() // the timer had begun
	if e.IsCancelled() || e.TakeRunning() || len(s.kills()) != 1 {
		t.Error("a limit that was over ends a statement")
	}
}

// circles has what statements enter.
type circles struct{ entered, left chan *lockwaits.Wait }

func (c *circles) Enter(w *lockwaits.Wait) { c.entered <- w }
func (c *circles) Leave(w *lockwaits.Wait) { c.left <- w }

// A statement on several nodes that waits is known to those who look for circles, and gives way once when it is told so.
func TestRowLocks(t *testing.T) {
	s := startServer(t)
	p, q := s.borrow(t), s.borrow(t)
	e, _ := running(t)
	look := &circles{make(chan *lockwaits.Wait, 1), make(chan *lockwaits.Wait, 1)}
	victims := 0
	e.Publish([]backend.Pooled{p})
	e.WatchRowLocks(look, nil, func() { victims++ })
	if e.EndRowWait() || e.several.rowWait != nil {
		t.Error("one server is watched")
	}
	e.Unpublish()
	e.Publish([]backend.Pooled{p, q})
	e.WatchRowLocks(look, nil, func() { victims++ })
	w := <-look.entered
	if w.ID != e.ID() || !slices.Equal(w.Instances, []*backend.Instance{p.Instance, q.Instance}) ||
		!slices.Equal(w.Threads, []lockwaits.Thread{{Addr: p.Instance.Addr, ID: p.Conn.ThreadID}, {Addr: q.Instance.Addr, ID: q.Conn.ThreadID}}) {
		t.Errorf("%+v", w)
	}
	w.GiveWay()
	w.GiveWay()
	if victims != 1 || !slices.Equal(s.kills(), []string{killOf(p), killOf(q)}) {
		t.Errorf("gave way %d times, the servers were told %v", victims, s.kills())
	}
	if !e.EndRowWait() || <-look.left != w || !e.Unpublish() {
		t.Error("the victim does not know of it")
	}
	w.GiveWay()
	if victims != 1 || e.IsCancelled() {
		t.Error("gives way behind its end")
	}
	e.Finish(Kept{})
	e.Publish([]backend.Pooled{p, q})
	e.WatchRowLocks(look, nil, func() { victims++ })
	w = <-look.entered
	if e.Unpublish() || <-look.left != w {
		t.Error("the end of the statement does not end the watch")
	}
}
