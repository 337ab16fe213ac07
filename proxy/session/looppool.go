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
	// loopTick is how often a loop looks after the connections that it keeps.
	loopTick = 5 * time.Millisecond
	// spareMax is how long a connection lies unused before it goes back to its pool.
	spareMax = 10 * time.Millisecond
	// leaseMax is how long a loop uses a connection before it goes back to its pool, which may find it too old, or have
	// others that wait.
	leaseMax = time.Second
)

// loopState is what an event loop has: pools of the backend connections that it has borrowed, by what they carry, and what is to be sent at the
// end of the round. It belongs to the loop.
type loopState struct {
	lanes *Lanes
	loop  *fastlane.Loop
	byKey map[loopPoolKey]*loopPool
	last  *loopPool // that was asked for last
	start time.Time
	now   time.Duration // of the last tick, since start
	armed bool          // a tick is to come
	// leaving are the pools whose gathered statements leave at the end of the round.
	leaving []*loopPool
	outbox
	merging []*merging // of which answers are to come, and some that are over since the last tick
	points  points
	scratch scratch
	snap    *Snapshot // that points are of
	// labelled says that the loop carries the labels of a statement.
	labelled bool
	// holding tells others that a connection may lie unused.
	holding atomic.Bool

	mu       sync.Mutex       // guards what follows
	answered []*backend.Place // of the pools, for the next tick
}

// relabel gives the loop the labels of the command that it goes on with, if it has any.
func (h *loopState) relabel(c *observe.Command) {
	if c.Labelled() {
		c.Relabel()
		h.labelled = true
	}
}

type loopPoolKey struct {
	instance *backend.Instance
	setting  *backend.Setting
}

// loopPool are the connections to one instance in one state that a loop has borrowed from its pool, and the sessions that wait for one.
type loopPool struct {
	key  loopPoolKey
	h    *loopState
	idle []*loopConn // the one used last is at the end
	out  int         // that run a statement
	// line are the sessions that wait in the pool's queue, which knows them as queue, in its order.
	line  []*laned
	queue backend.Line
	// Of pipelined sharing: sessions whose statements leave at the end of the round, and connections that have some.
	gathered []*laned
	shared   []*loopConn
}

// loopConn is a connection that a loop has borrowed from its pool.
type loopConn struct {
	p    backend.Pooled
	conn *fastlane.Conn
	pool *loopPool
	// laned is the session whose statement it runs; nil if it lies unused.
	laned *laned
	// queue are the sessions that share it, in the order of their statements, instead of laned; see pipeline.go.
	queue []*laned
	pipeline
	walk  walk
	began time.Duration // of the loan, as of loopState.now
	used  time.Duration // of the last use
}

func newLoopState(l *Lanes, loop *fastlane.Loop) *loopState {
	return &loopState{lanes: l, loop: loop, byKey: make(map[loopPoolKey]*loopPool), points: points{}, start: time.Now()}
}

// poolOf returns the pool of a key.
func (h *loopState) poolOf(k loopPoolKey) *loopPool {
	if h.last != nil && h.last.key == k {
		return h.last
	}
	lp := h.byKey[k]
	if lp == nil {
		lp = &loopPool{key: k, h: h, queue: backend.Line{Tell: h.tell}}
		h.now = time.Since(h.start)
		h.byKey[k] = lp
		k.instance.WhenWanted(h.lanes.wanted)
		h.arm()
	}
	h.last = lp
	return lp
}

// arm has the loop tick.
func (h *loopState) arm() {
	if !h.armed {
		h.armed = true
		h.loop.After(loopTick)
	}
}

// take gives a connection for a session's statement. Without one, wait tells that all are in use, so that the session waits
// in line for one; else one may be opened, or given another setting, which is the work of a goroutine.
func (lp *loopPool) take(la *laned) (le *loopConn, wait bool) {
	if len(lp.line) > 0 {
		return nil, true
	}
	if le, wait = lp.lend(); le != nil {
		le.laned = la
	}
	return le, wait
}

// lend gives a connection that runs nothing. Without one, wait is that of take.
func (lp *loopPool) lend() (le *loopConn, wait bool) {
	if n := len(lp.idle); n > 0 {
		le = lp.idle[n-1]
		lp.idle[n-1] = nil
		lp.idle = lp.idle[:n-1]
		lp.h.loop.Unpark(le.conn)
	} else {
		p, full := lp.key.instance.TryGet(lp.key.setting)
		if p.Pooled == nil {
			return nil, full
		}
		if le = lp.borrow(p); le == nil {
			return nil, false
		}
	}
	lp.out++
	le.walk, le.used = walk{}, lp.h.now
	return le, false
}

// borrow brings a connection into the loop; nil if that cannot be.
func (lp *loopPool) borrow(p backend.Pooled) *loopConn {
	loop := lp.h.loop
	c, ok := p.Conn.Net.Poller().(*fastlane.Conn)
	if ok {
		if err := loop.Take(c); err != nil {
			p.Taint()
			return nil
		}
	} else {
		nc := p.Conn.Net.Bare()
		if nc == nil {
			lp.key.instance.KeepFromLoops()
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
	p.Conn.NoWait(&lp.h.scratch.buffers)
	lp.h.arm()
	return &loopConn{p: p, conn: c, pool: lp, began: lp.h.now}
}

// Put takes a connection back after a statement: for the session whose turn it is, or for later. It goes to the pool when it has been away
// for long, or others wait longer.
func (le *loopConn) Put() {
	if le.laned != nil {
		le.laned.client.ahead().lease, le.laned = nil, nil
	}
	le.p.Conn.Release() // the next response begins in a buffer that is in use, and at its front
	lp := le.pool
	lp.out--
	switch {
	case le.p.Key != lp.key.setting, le.p.Conn.Marked, lp.key.instance.State() == backend.Down, lp.h.now-le.began >= leaseMax:
		le.giveBack()
		return
	case lp.key.instance.Waiters() > 0:
		le.p.Conn.MayWait()
		if pl := le.p.PutFrom(&lp.queue); pl != nil {
			le.p.Conn.NoWait(&lp.h.scratch.buffers)
			lp.out++
			le.walk, le.used = walk{}, lp.h.now
			lp.serve(le, lp.leave(pl.Owner.(*laned)))
		}
		return
	}
	le.used = lp.h.now
	lp.idle = append(lp.idle, le)
	lp.h.loop.Park(le.conn, le)
	if !lp.h.holding.Load() {
		lp.h.holding.Store(true)
		if lp.key.instance.Waiters() > 0 {
			// Whoever began to wait in between has not seen that there is one to spare.
			lp.h.loop.TickNow()
		}
	}
	lp.h.arm()
}

// serve gives a connection that runs nothing to a session that has waited, or to it and others who share it.
func (lp *loopPool) serve(le *loopConn, la *laned) {
	if la.client.ahead().point != nil {
		le.fill(la)
		return
	}
	le.laned = la
	la.launch(le)
}

// stand puts a session in the pool's queue, or hands it to a goroutine, which hears why it may not wait there.
func (lp *loopPool) stand(la *laned) {
	pl := &la.client.task().place
	pl.Owner = la
	lp.line = append(lp.line, la) // ahead of the answer, which another thread may give at once
	if err := lp.key.instance.Enqueue(pl, &lp.queue, la.client.ahead().since.Add(la.client.snap.Config.PoolWaitTimeout.Duration())); err != nil {
		lp.leave(la)
		la.handOver(lp.h.loop, stepServe)
		return
	}
	lp.h.arm()
}

// leave takes a session off the line, and returns it.
func (lp *loopPool) leave(la *laned) *laned {
	if k := slices.Index(lp.line, la); k == 0 {
		lp.line[0] = nil
		lp.line = lp.line[1:]
	} else {
		lp.line = slices.Delete(lp.line, k, k+1)
	}
	if len(lp.line) == 0 {
		lp.line = nil
	}
	return la
}

// tell notes that a pool has answered a place. The pool's mutex is held.
func (h *loopState) tell(pl *backend.Place) {
	h.mu.Lock()
	h.answered = append(h.answered, pl)
	h.mu.Unlock()
	h.loop.TickNow()
}

// receive takes what the pools have answered.
func (h *loopState) receive() {
	h.mu.Lock()
	list := h.answered
	h.answered = nil
	h.mu.Unlock()
	for _, pl := range list {
		s := pl.Owner.(*laned)
		h.byKey[loopPoolKey{s.client.ahead().instance, s.client.state.Setting()}].receive(s, pl)
	}
}

// receive takes the pool's answer to a session of the line. What is not a connection with the setting wanted is for a goroutine to deal with.
func (lp *loopPool) receive(la *laned, pl *backend.Place) {
	lp.leave(la)
	la.client.task().placed = lp.key.instance
	if lp.key.instance.State() != backend.Down {
		if p, ok := lp.key.instance.AnsweredWith(pl, lp.key.setting); ok {
			la.client.task().placed = nil
			if le := lp.borrow(p); le != nil {
				lp.out++
				le.used = lp.h.now
				lp.serve(le, la)
				return
			}
		}
	}
	la.handOver(lp.h.loop, stepServe)
}

// giveBack returns a connection to its pool. It is neither under way nor idle any more.
func (le *loopConn) giveBack() {
	le.p.Conn.MayWait()
	if le.p.Conn.Marked {
		le.p.Taint() // a loop does not wait for a reset
	} else {
		le.p.Put()
	}
}

// Leave ends the loan of a connection that is under way: whoever has the session has it too, or it is closed.
func (le *loopConn) Leave() {
	le.pool.out--
	le.laned.client.ahead().lease, le.laned = nil, nil
	le.p.Conn.MayWait()
}

// discard closes an unused connection that its server closed, or on which it said something unasked.
func (le *loopConn) discard() {
	lp := le.pool
	for k, other := range lp.idle {
		if other == le {
			lp.idle = append(lp.idle[:k], lp.idle[k+1:]...)
			break
		}
	}
	le.p.Taint()
}

// Tick gives connections back that are not used or that others wait for, and sends those on who waited too long.
func (h *loopState) Tick(*fastlane.Loop) {
	h.now = time.Since(h.start)
	h.armed = false
	h.holding.Store(false)
	h.receive()
	h.sweepMerges()
	for k, lp := range h.byKey {
		lp.sweep()
		if len(lp.idle) > 0 {
			h.holding.Store(true)
		}
		if lp.out == 0 && len(lp.idle) == 0 && len(lp.line) == 0 && len(lp.gathered) == 0 {
			delete(h.byKey, k)
			h.last = nil
		}
	}
	if left := h.scratch.trim(); left || len(h.byKey) > 0 {
		h.arm()
	}
}

// sweep looks after one pool.
func (lp *loopPool) sweep() {
	down := lp.key.instance.State() == backend.Down
	all := down || lp.key.instance.Waiters() > 0
	kept := lp.idle[:0]
	for _, le := range lp.idle {
		if all || lp.h.now-le.used > spareMax || lp.h.now-le.began >= leaseMax {
			lp.h.loop.Unpark(le.conn)
			defer le.giveBack()
			continue
		}
		kept = append(kept, le)
	}
	clear(lp.idle[len(kept):])
	lp.idle = kept
	lp.sweepShared()
	for _, s := range slices.Clone(lp.line) { // which leave changes
		// Who has been answered meanwhile is received at the next tick.
		if (down || s.lineOver()) && s.client.task().place.Leave() {
			lp.leave(s)
			s.handOver(lp.h.loop, stepServe) // where it hears why, or finds another instance
		}
	}
}

// Stop gives all connections back.
func (h *loopState) Stop(*fastlane.Loop) {
	for _, lp := range h.byKey {
		for _, le := range lp.idle {
			h.loop.Unpark(le.conn)
			le.p.Conn.MayWait()
			le.p.Put()
		}
		lp.idle = nil
	}
}
