package session

import (
	"sync"
	"sync/atomic"
	"time"

	"kingshard/backend"
	"kingshard/proxy/fastlane"
)

const (
	// shelfTick is how often a loop looks after the connections that it keeps.
	shelfTick = 5 * time.Millisecond
	// spareMax is how long a connection lies unused before it goes back to its pool.
	spareMax = 10 * time.Millisecond
	// leaseMax is how long a loop uses a connection before it goes back to its pool, which may find it too old, or have
	// others that wait.
	leaseMax = time.Second
	// lineMax is how long a line stands still before the pool is asked for a connection.
	lineMax = 2 * time.Millisecond
	// lineLong is how long the first of a moving line has waited when the pool is asked for one more connection, so that
	// loops with many in line get more of them; and how long it takes until the pool is asked again.
	lineLong = 20 * time.Millisecond
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

	mu      sync.Mutex // guards what follows
	fetched []fetched  // for the next tick
	stopped bool       // nothing more is taken
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
	line []*Session
	// fetching are goroutines that ask the pool for a connection, since asked at the latest.
	fetching int
	asked    time.Duration // as of shelves.now
	// served counts those in line who got a connection; seen is that of the last tick.
	served, seen uint
	// Of pipelined sharing: sessions whose statements leave at the end of the round, and connections that have some.
	gathered []*Session
	shared   []*lease
	// credit is how many of the line are served before a connection is for those who wait at the pool.
	credit int
}

// lease is a connection that a loop has borrowed from its pool.
type lease struct {
	p     backend.Pooled
	conn  *fastlane.Conn
	shelf *shelf
	// session is the one whose statement it runs; nil if it lies unused.
	session *Session
	// queue are the sessions that share it, in the order of their statements, instead of session; see pipeline.go.
	queue []*Session
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
		sh = &shelf{key: k, h: h}
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
func (sh *shelf) take(s *Session) (le *lease, wait bool) {
	if len(sh.line) > 0 {
		return nil, true
	}
	if le, wait = sh.lend(); le != nil {
		le.session = s
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
	c, ok := p.Conn.Poller().(*fastlane.Conn)
	if ok {
		if err := loop.Take(c); err != nil {
			p.Taint()
			return nil
		}
	} else {
		nc := p.Conn.Bare()
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

// put takes a connection back after a statement: for the next session in line, or for later. It goes to the pool when
// others wait there, or when it has been away for long.
func (le *lease) put() {
	if le.session != nil {
		le.session.lane.lease, le.session = nil, nil
	}
	le.p.Conn.Release() // the next response begins in a buffer that is in use, and at its front
	sh := le.shelf
	sh.out--
	waiters := sh.key.instance.Waiters()
	switch {
	case le.p.Key != sh.key.setting, le.p.Conn.Marked, sh.key.instance.State() == backend.Down, sh.h.now-le.began >= leaseMax:
		le.giveBack()
		return
	case waiters > 0 && (len(sh.line) == 0 || sh.credit <= 0):
		sh.credit = max(1, len(sh.line)/waiters) // to each of them one, to each in line one
		le.giveBack()
		return
	}
	sh.credit--
	if len(sh.line) > 0 {
		sh.out++
		le.walk, le.used = walk{}, sh.h.now
		sh.serve(le)
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

// serve gives a connection that runs nothing to the first in line, or to several who share it.
func (sh *shelf) serve(le *lease) {
	if sh.line[0].lane.point != nil {
		le.fill()
		return
	}
	le.session = sh.admit()
	le.session.launch(le)
}

// stand puts a session in line.
func (sh *shelf) stand(s *Session) {
	sh.key.instance.Lined(1)
	if sh.line = append(sh.line, s); len(sh.line) == 1 {
		sh.h.loop.After(lineMax)
		sh.settle()
	}
}

// admit takes the first of the line, for whom there is a connection.
func (sh *shelf) admit() *Session {
	sh.served++
	return sh.next()
}

// next takes the first of the line; nil if nobody waits.
func (sh *shelf) next() *Session {
	if len(sh.line) == 0 {
		return nil
	}
	sh.key.instance.Lined(-1)
	s := sh.line[0]
	sh.line[0] = nil
	if sh.line = sh.line[1:]; len(sh.line) == 0 {
		sh.line = nil
	}
	return s
}

// giveBack returns a connection to its pool. It is neither under way nor on the shelf any more.
func (le *lease) giveBack() {
	le.p.Conn.MayWait()
	if le.p.Conn.Marked {
		le.p.Taint() // a loop does not wait for a reset
	} else {
		le.p.Put()
	}
	le.shelf.settle()
}

// leave ends the loan of a connection that is under way: whoever has the session has it too, or it is closed.
func (le *lease) leave() {
	le.shelf.out--
	le.session.lane.lease, le.session = nil, nil
	le.p.Conn.MayWait()
	le.shelf.settle()
}

// settle has a connection fetched for those in line when none will come back here.
func (sh *shelf) settle() {
	if sh.out == 0 && len(sh.idle) == 0 && len(sh.line) > 0 {
		sh.fetch(1)
	}
}

// dissolve hands those in line to goroutines.
func (sh *shelf) dissolve() {
	for s := sh.next(); s != nil; s = sh.next() {
		s.handOver(sh.h.loop, stepServe)
	}
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
	sh.settle()
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
		if sh.out == 0 && len(sh.idle) == 0 && len(sh.line) == 0 && len(sh.gathered) == 0 && sh.fetching == 0 {
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
	line := sh.line[:0]
	for _, s := range sh.line {
		if s.lineOver() {
			sh.key.instance.Lined(-1)
			s.handOver(sh.h.loop, stepServe)
			continue
		}
		line = append(line, s)
	}
	clear(sh.line[len(line):])
	sh.line = line
	if down {
		sh.dissolve() // each hears of it, or finds another instance
	}
	sh.hurry()
	sh.seen = sh.served
	if len(sh.line) > 0 {
		sh.h.loop.After(lineMax)
	}
}

// hurry looks for connections for those in line, who wait for others to come back.
func (sh *shelf) hurry() {
	for len(sh.line) > 0 {
		le, wait := sh.lend()
		if le == nil {
			first, asked := time.Since(sh.line[0].lane.since), sh.h.now-sh.asked
			switch {
			case asked < lineMax:
			case !wait:
				sh.fetch(min(len(sh.line), fetchesMax))
			case first >= lineMax && sh.served == sh.seen, first >= lineLong && asked >= lineLong:
				sh.fetch(1)
			}
			return
		}
		sh.serve(le)
	}
}

// Stop gives all connections back.
func (h *shelves) Stop(*fastlane.Loop) {
	h.mu.Lock()
	h.stopped = true
	for _, f := range h.fetched {
		f.giveBack()
	}
	h.fetched = nil
	h.mu.Unlock()
	for _, sh := range h.byKey {
		for _, le := range sh.idle {
			h.loop.Unpark(le.conn)
			le.p.Conn.MayWait()
			le.p.Put()
		}
		sh.idle = nil
	}
}
