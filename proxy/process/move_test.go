package process

import (
	"slices"
	"testing"
	"time"

	"kingshard/mysql"
)

// Idle sessions that can move are called away from their wait, by what waits.
func TestCallToMove(t *testing.T) {
	e, c := idle(new(List))
	e.CallToMove() // a loop waits
	e.BeginAwait()
	e.CallToMove()
	e.CallToMove() // called already
	if called, closing := e.EndAwait(); !called || closing || !slices.Equal(c.calls, []bool{false, true, false}) {
		t.Errorf("called %v, closing %v: %v", called, closing, c.calls)
	}
	e.BeginAwait()
	if called, _ := e.EndAwait(); called {
		t.Error("called by nobody")
	}
	e.BeginAwait()
	e.CallToMove()
	e.Interrupt(true)
	if called, closing := e.EndAwait(); !called || !closing {
		t.Errorf("killed: called %v, closing %v", called, closing)
	}
	for name, change := range map[string]func(e *Entry){
		"busy": func(e *Entry) { e.Begin(mysql.ComQuery, "", time.Now()) }, "in a transaction": func(e *Entry) { e.Finish(Kept{InTransaction: true}) },
		"pinned": func(e *Entry) { e.Finish(Kept{Pins: 1}) }, "stays": func(e *Entry) { e.LoggedIn(true) }, "ended": func(e *Entry) { e.End(EndQuit) },
	} {
		e, c := idle(new(List))
		change(e)
		if e.CallToMove(); c.calls != nil {
			t.Errorf("%s: called", name)
		}
	}
	if e, c := connected(new(List)); true {
		if e.CallToMove(); c.calls != nil {
			t.Error("called from a login")
		}
	}
}

// A session that moved is another process's to end; one that could not stays.
func TestMove(t *testing.T) {
	e, c := idle(new(List))
	if e.Move(func() (gone, stays bool) { return false, true }) {
		t.Error("gone")
	}
	if e.CallToMove(); c.calls != nil {
		t.Error("one that stays is asked again")
	}
	if e.Move(func() (gone, stays bool) { return false, false }) {
		t.Error("gone")
	}
	if e.CallToMove(); len(c.calls) != 1 {
		t.Error("one that may go later is not asked again")
	}
	if !e.Move(func() (gone, stays bool) { return true, false }) || e.Interrupt(true) || c.closes.Load() != 0 {
		t.Error("another process's session is ended")
	}
	lost, c := idle(new(List))
	if !lost.Move(func() (gone, stays bool) { return true, true }) || !lost.Interrupt(true) || c.closes.Load() != 1 {
		t.Error("a session that was lost on its way is not ended")
	}
	if lost.Move(func() (gone, stays bool) { t.Error("moves while it is closing"); return true, false }) {
		t.Error("gone")
	}
}

// A KILL that comes while the session moves waits for what becomes of it.
func TestKillWaitsForTheMove(t *testing.T) {
	e, _ := idle(new(List))
	moving, killed := make(chan struct{}), make(chan bool)
	go func() {
		<-moving
		killed <- e.Interrupt(true)
	}()
	e.Move(func() (gone, stays bool) {
		close(moving)
		select {
		case <-killed:
			t.Error("killed while it moves")
		case <-time.After(20 * time.Millisecond):
		}
		return true, false
	})
	if <-killed {
		t.Error("killed here")
	}
}

// A loop takes the client's connection unless somebody has closed it, and a channel that is no use any more goes.
func TestSwapClient(t *testing.T) {
	e, _ := idle(new(List))
	wait := e.Cancelled()
	if e.SwapClient(func() bool { return false }); e.cancel == nil {
		t.Error("nothing was swapped")
	}
	if e.SwapClient(func() bool { return true }); e.cancel != nil || e.Cancelled() == wait {
		t.Error("keeps a channel that nobody waits on")
	}
	e.CloseIfIdle(EndDrained)
	e.SwapClient(func() bool { t.Error("swapped behind its end"); return true })
}
