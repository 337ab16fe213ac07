package process

import (
	"slices"
	"time"

	"kingshard/backend"
	"kingshard/proxy/lockwaits"
)

// rowWait watches a statement that may hold row locks on one node while it waits for some of another one.
type rowWait struct {
	entry   *Entry
	circles Circles
	gaveWay func()
	beside  []backend.Pooled
	began   time.Time
	timer   *time.Timer
	// Under the entry's lock.
	entered *lockwaits.Wait // nil before it has waited for some time
	victim  bool            // it was told to give way
}

// Circles looks for statements that wait for each other's rows: a [lockwaits.Watch].
type Circles interface {
	Enter(*lockwaits.Wait)
	Leave(*lockwaits.Wait)
}

// WatchRowLocks has circles know of a statement that was published, or runs, when it has gone on for [lockwaits.After]. beside are further connections
// of its transaction, on which it does not run: they may have locks. It ends with EndRowWait or Unpublish. gaveWay is called, under the entry's
// lock, if the statement is told to give way. It is the session's.
func (e *Entry) WatchRowLocks(circles Circles, beside []backend.Pooled, gaveWay func()) {
	runs := len(e.several.published())
	if e.running.Pooled != nil {
		runs++
	}
	if runs+len(beside) < 2 {
		return // a server sees its own circles
	}
	w := &rowWait{entry: e, circles: circles, gaveWay: gaveWay, beside: beside, began: time.Now()}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.severalLocked().rowWait = w
	w.timer = time.AfterFunc(lockwaits.After, w.awaited)
}

// awaited has it looked whether the statement is part of a circle.
func (w *rowWait) awaited() {
	e := w.entry
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.several.rowWait != w {
		return
	}
	w.entered = &lockwaits.Wait{ID: e.id, Began: w.began, GiveWay: w.giveWay}
	conns := slices.Concat(e.several.conns, w.beside)
	if e.running.Pooled != nil {
		conns = append(conns, e.running)
	}
	for _, p := range conns {
		w.entered.Instances = append(w.entered.Instances, p.Instance)
		w.entered.Threads = append(w.entered.Threads, lockwaits.Thread{Addr: p.Instance.Addr, ID: p.Conn.ThreadID})
	}
	w.circles.Enter(w.entered)
}

// giveWay ends a statement that is in a circle.
func (w *rowWait) giveWay() {
	e := w.entry
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.several.rowWait != w || w.victim || e.closing {
		return
	}
	w.victim, e.killed = true, true
	w.gaveWay()
	e.killRunning()
}

// EndRowWait ends what WatchRowLocks began, reports whether the statement was told to give way, and has the rest of it go on though the client
// may go: what follows ends the change, one way or the other.
func (e *Entry) EndRowWait() (victim bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.severalLocked().endRowWait()
}

func (v *several) endRowWait() (victim bool) {
	v.goesOn = true
	w := v.rowWait
	if w == nil {
		return false
	}
	v.rowWait = nil
	w.timer.Stop()
	if w.entered != nil {
		w.circles.Leave(w.entered)
	}
	return w.victim
}
