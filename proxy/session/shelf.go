package session

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kingshard/backend"
	"kingshard/proxy/fastlane"
	"kingshard/proxy/observe"
)

const (
	// shelfTick is how often a loop looks after the connections that it keeps.
	shelfTick = 5 * time.Millisecond
	// spareMax is how long a connection lies unused before it goes back to its pool.
	spareMax = 10 * time.Millisecond
	// leaseMax is how long a loop uses a connection before it goes back to its pool, which may find it too old, or have
	// others that wait.
	leaseMax = time.Second
)

// shelves are the backend connections that a loop has borrowed, by what they carry. They belong to the loop.
type shelves struct {
	lanes *Lanes
	loop  *fastlane.Loop
	byKey map[shelfKey]*shelf
	last  *shelf // that was asked for last
	start time.Time
	now   time.Duration // of the last tick, since start
	armed bool          // a tick is to come
	// leaving are the shelves whose gathered statements leave at the end of the round.
	leaving []*shelf
	outbox
	merging []*merging // of which answers are to come, and some that are over since the last tick
	points  points
	spares  spares
	snap    *Snapshot // that points are of
	// labelled says that the loop carries the labels of a statement.
	labelled bool
	// holding tells others that a connection may lie unused.
	holding atomic.Bool

	mu       sync.Mutex       // guards what follows
	answered []*backend.Place // of the pools, for the next tick
}

// relabel gives the loop the labels of the command that it goes on with, if it has any.
func (h *shelves) relabel(c *observe.Command) {
	if c.Labelled() {
		c.Relabel()
		h.labelled = true
	}
}

type shelfKey struct {
	instance *backend.Instance
	setting  *backend.Setting
}

// shelf are the connections to one instance in one state, and the sessions that wait for one.
type shelf struct {
	key  shelfKey
	h    *shelves
	idle []*lease // the one used last is at the end
	out  int      // that run a statement
	// line are the sessions that wait in the pool's queue, which knows them as queue, in its order.
	line  []*laned
	queue backend.Line
	// Of pipelined sharing: sessions whose statements leave at the end of the round, and connections that have some.
	gathered []*laned
	shared   []*lease
}

// lease is a connection that a loop has borrowed from its pool.
type lease struct {
	p     backend.Pooled
	conn  *fastlane.Conn
	shelf *shelf
	// session is the one whose statement it runs; nil if it lies unused.
	session *laned
	// queue are the sessions that share it, in the order of their statements, instead of session; see pipeline.go.
	queue []*laned
	pipeline
	walk  walk
	began time.Duration // of the loan, as of shelves.now
	used  time.Duration // of the last use
}

func newShelves(l *Lanes, loop *fastlane.Loop) *shelves {
	return &shelves{lanes: l, loop: loop, byKey: make(map[shelfKey]*shelf), points: points{}, start: time.Now()}
}

// shelf gives the shelf of a key.
func (h *shelves) shelf(k shelfKey) *shelf {
	if h.last != nil && h.last.key == k {
		return h.last
	}
	sh := h.byKey[k]
	if sh == nil {
		sh = &shelf{key: k, h: h, queue: backend.Line{Tell: h.tell}}
		h.now = time.Since(h.start)
		h.byKey[k] = sh
		k.instance.WhenWanted(h.lanes.wanted)
		h.arm()
	}
	h.last = sh
	return sh
}

// arm has the loop tick.
func (h *shelves) arm() {
	if !h.armed {
		h.armed = true
		h.loop.After(shelfTick)
	}
}

// take gives a connection for a session's statement. Without one, wait tells that all are in use, so that the session waits
// in line for one; else one may be opened, or given another setting, which is the work of a goroutine.
func (sh *shelf) take(la *laned) (le *lease, wait bool) {
	if len(sh.line) > 0 {
		return nil, true
	}
	if le, wait = sh.lend(); le != nil {
		le.session = la
	}
	return le, wait
}

// lend gives a connection that runs nothing. Without one, wait is that of take.
func (sh *shelf) lend() (le *lease, wait bool) {
	if n := len(sh.idle); n > 0 {
		le = sh.idle[n-1]
		sh.idle[n-1] = nil
		sh.idle = sh.idle[:n-1]
		sh.h.loop.Unpark(le.conn)
	} else {
		p, full := sh.key.instance.TryGet(sh.key.setting)
		if p.Pooled == nil {
			return nil, full
		}
		if le = sh.borrow(p); le == nil {
			return nil, false
		}
	}
	sh.out++
	le.walk, le.used = walk{}, sh.h.now
	return le, false
}

// borrow brings a connection into the loop; nil if that cannot be.
func (sh *shelf) borrow(p backend.Pooled) *lease {
	loop := sh.h.loop
	c, ok := p.Conn.Net.Poller().(*fastlane.Conn)
	if ok {
		if err := loop.Take(c); err != nil {
			p.Taint()
			return nil
		}
	} else {
		nc := p.Conn.Net.Bare()
		if nc == nil {
			sh.key.instance.KeepFromLoops()
			p.Put()
			return nil
		}
		var err error
		if c, err = loop.Adopt(nc); err != nil {
			p.Put()
			return nil
		}
		p.Conn.Rebase(c)
	}
	p.Conn.NoWait(&sh.h.spares.buffers)
	sh.h.arm()
	return &lease{p: p, conn: c, shelf: sh, began: sh.h.now}
}

// Put takes a connection back after a statement: for the session whose turn it is, or for later. It goes to the pool when it has been away
// for long, or others wait longer.
func (le *lease) Put() {
	if le.session != nil {
		le.session.client.ahead().lease, le.session = nil, nil
	}
	le.p.Conn.Release() // the next response begins in a buffer that is in use, and at its front
	sh := le.shelf
	sh.out--
	switch {
	case le.p.Key != sh.key.setting, le.p.Conn.Marked, sh.key.instance.State() == backend.Down, sh.h.now-le.began >= leaseMax:
		le.giveBack()
		return
	case sh.key.instance.Wanted():
		le.p.Conn.MayWait()
		if pl := le.p.PutFrom(&sh.queue); pl != nil {
			le.p.Conn.NoWait(&sh.h.spares.buffers)
			sh.out++
			le.walk, le.used = walk{}, sh.h.now
			sh.serve(le, sh.leave(pl.Owner.(*laned)))
		}
		return
	}
	le.used = sh.h.now
	sh.idle = append(sh.idle, le)
	sh.h.loop.Park(le.conn, le)
	if !sh.h.holding.Load() {
		sh.h.holding.Store(true)
		if sh.key.instance.Wanted() {
			// Whoever began to wait in between has not seen that there is one to spare.
			sh.h.loop.Poke()
		}
	}
	sh.h.arm()
}

// serve gives a connection that runs nothing to a session that has waited, or to it and others who share it.
func (sh *shelf) serve(le *lease, la *laned) {
	if la.client.ahead().point != nil {
		le.fill(la)
		return
	}
	le.session = la
	la.launch(le)
}

// stand puts a session in the pool's queue, or hands it to a goroutine, which hears why it may not wait there.
func (sh *shelf) stand(la *laned) {
	pl := &la.client.task().place
	pl.Owner = la
	sh.line = append(sh.line, la) // ahead of the answer, which another thread may give at once
	if err := sh.key.instance.Enqueue(pl, &sh.queue, la.client.ahead().since.Add(la.client.snap.Config.PoolWaitTimeout.Duration())); err != nil {
		sh.leave(la)
		la.handOver(sh.h.loop, stepServe)
		return
	}
	sh.h.arm()
}

// leave takes a session off the line, and returns it.
func (sh *shelf) leave(la *laned) *laned {
	if k := slices.Index(sh.line, la); k == 0 {
		sh.line[0] = nil
		sh.line = sh.line[1:]
	} else {
		sh.line = slices.Delete(sh.line, k, k+1)
	}
	if len(sh.line) == 0 {
		sh.line = nil
	}
	return la
}

// tell notes that a pool has answered a place. The pool's mutex is held.
func (h *shelves) tell(pl *backend.Place) {
	h.mu.Lock()
	h.answered = append(h.answered, pl)
	h.mu.Unlock()
	h.loop.Poke()
}

// receive takes what the pools have answered.
func (h *shelves) receive() {
	h.mu.Lock()
	list := h.answered
	h.answered = nil
	h.mu.Unlock()
	for _, pl := range list {
		s := pl.Owner.(*laned)
		h.byKey[shelfKey{s.client.ahead().instance, s.client.state.Setting()}].receive(s, pl)
	}
}

// receive takes the pool's answer to a session of the line. What is not a connection with the setting wanted is for a goroutine to deal with.
func (sh *shelf) receive(la *laned, pl *backend.Place) {
	sh.leave(la)
	la.client.task().placed = sh.key.instance
	if sh.key.instance.State() != backend.Down {
		if p, ok := sh.key.instance.AnsweredWith(pl, sh.key.setting); ok {
			la.client.task().placed = nil
			if le := sh.borrow(p); le != nil {
				sh.out++
				le.used = sh.h.now
				sh.serve(le, la)
				return
			}
		}
	}
	la.handOver(sh.h.loop, stepServe)
}

// giveBack returns a connection to its pool. It is neither under way nor on the shelf any more.
func (le *lease) giveBack() {
	le.p.Conn.MayWait()
	if le.p.Conn.Marked {
		le.p.Taint() // a loop does not wait for a reset
	} else {
		le.p.Put()
	}
}

// Leave ends the loan of a connection that is under way: whoever has the session has it too, or it is closed.
func (le *lease) Leave() {
	le.shelf.out--
	le.session.client.ahead().lease, le.session = nil, nil
	le.p.Conn.MayWait()
}

// discard closes an unused connection that its server closed, or on which it said something unasked.
func (le *lease) discard() {
	sh := le.shelf
	for k, other := range sh.idle {
		if other == le {
			sh.idle = append(sh.idle[:k], sh.idle[k+1:]...)
			break
		}
	}
	le.p.Taint()
}

// Tick gives connections back that are not used or that others wait for, and sends those on who waited too long.
func (h *shelves) Tick(*fastlane.Loop) {
	h.now = time.Since(h.start)
	h.armed = false
	h.holding.Store(false)
	h.receive()
	h.sweepMerges()
	for k, sh := range h.byKey {
		sh.sweep()
		if len(sh.idle) > 0 {
			h.holding.Store(true)
		}
		if sh.out == 0 && len(sh.idle) == 0 && len(sh.line) == 0 && len(sh.gathered) == 0 {
			delete(h.byKey, k)
			h.last = nil
		}
	}
	if left := h.spares.trim(); left || len(h.byKey) > 0 {
		h.arm()
	}
}

// sweep looks after one shelf.
func (sh *shelf) sweep() {
	down := sh.key.instance.State() == backend.Down
	all := down || sh.key.instance.Wanted()
	kept := sh.idle[:0]
	for _, le := range sh.idle {
		if all || sh.h.now-le.used > spareMax || sh.h.now-le.began >= leaseMax {
			sh.h.loop.Unpark(le.conn)
			defer le.giveBack()
			continue
		}
		kept = append(kept, le)
	}
	clear(sh.idle[len(kept):])
	sh.idle = kept
	sh.sweepShared()
	for _, s := range slices.Clone(sh.line) { // which leave changes
		// Who has been answered meanwhile is received at the next tick.
		if (down || s.lineOver()) && s.client.task().place.Leave() {
			sh.leave(s)
			s.handOver(sh.h.loop, stepServe) // where it hears why, or finds another instance
		}
	}
}

// Stop gives all connections back.
func (h *shelves) Stop(*fastlane.Loop) {
	for _, sh := range h.byKey {
		for _, le := range sh.idle {
			h.loop.Unpark(le.conn)
			le.p.Conn.MayWait()
			le.p.Put()
		}
		sh.idle = nil
	}
}
