package pool

import (
	"sync/atomic"
	"time"
)

// waiter is one Get in line. It is answered exactly once, under the mutex, when it leaves the queue in any other way
// than by its own goroutine's doing.
type waiter[C Conn, K comparable] struct {
	next, prev *waiter[C, K]
	queued     bool // guarded by the pool's mutex
	ahead      bool // it came by GetAhead
	began      time.Duration
	deadline   time.Duration
	timer      *time.Timer
	ready      chan struct{} // of capacity 1: whoever answers never blocks

	// Of a place: its line, in which it has neighbours, instead of timer and ready.
	line               *Line[C, K]
	place              *Place[C, K]
	lineNext, linePrev *waiter[C, K]

	// The answer, to be read after ready: an error, a connection, or else a slot to dial into.
	err  error
	conn *Pooled[C, K]
	slot slot
}

func newWaiter[C Conn, K comparable]() *waiter[C, K] {
	w := &waiter[C, K]{timer: time.NewTimer(time.Hour), ready: make(chan struct{}, 1)}
	w.timer.Stop()
	return w
}

// answer tells the waiter, which must have left the queue.
func (w *waiter[C, K]) answer() {
	if w.line != nil {
		w.line.Tell(w.place)
		return
	}
	w.ready <- struct{}{}
}

// queue is the line of waiters: those of GetAhead, then the others, each first come first served. Every operation is O(1).
type queue[C Conn, K comparable] struct {
	first, last *waiter[C, K]
	ahead       *waiter[C, K] // the last one of GetAhead
	len         int
	shown       atomic.Int32 // len, for those who do not hold the mutex
}

func (q *queue[C, K]) push(w *waiter[C, K]) {
	w.prev, w.queued = q.last, true
	if w.ahead {
		w.prev, q.ahead = q.ahead, w
	}
	before := &q.first
	if w.prev != nil {
		before = &w.prev.next
	}
	w.next, *before = *before, w
	if w.next != nil {
		w.next.prev = w
	} else {
		q.last = w
	}
	q.len++
	q.shown.Store(int32(q.len))
	if w.line != nil {
		w.line.push(w)
	}
}

func (q *queue[C, K]) remove(w *waiter[C, K]) {
	if q.ahead == w {
		q.ahead = w.prev // which is nil or came by GetAhead
	}
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		q.first = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		q.last = w.prev
	}
	w.next, w.prev, w.queued = nil, nil, false
	q.len--
	q.shown.Store(int32(q.len))
	if w.line != nil {
		w.line.remove(w)
	}
}

// enqueueLocked puts a waiter in line, or tells why it may not wait.
func (p *Pool[C, K]) enqueueLocked(w *waiter[C, K], r *request, now time.Duration) error {
	switch {
	case p.hopelessLocked(now):
		return p.backoff.last
	case now >= r.until:
		return p.timeoutLocked(now - r.began)
	case p.downLocked():
		return ErrDown
	}
	if err := p.crowdedLocked(r, now); err != nil {
		return err
	}
	w.began, w.deadline, w.ahead = r.began, r.until, r.ahead
	p.queue.push(w)
	p.used.Waited = true
	p.settleLocked(now)
	return nil
}

// await waits for the answer to w, the deadline or the end of the borrower's patience. If the answer comes together
// with one of the latter it is passed on.
func (p *Pool[C, K]) await(w *waiter[C, K], r *request) (*Pooled[C, K], error) {
	var err error
	select {
	case <-w.ready:
		return p.accept(w, r)
	case <-w.timer.C:
	case <-r.cancel:
		err = ErrCancelled
	}
	p.mu.Lock()
	if err == nil {
		err = p.timeoutLocked(p.now() - r.began)
	}
	answered := !w.queued
	if !answered {
		p.queue.remove(w)
	}
	p.mu.Unlock()
	if answered {
		<-w.ready
		if w.err != nil {
			err = w.err
		}
		p.decline(w)
	}
	p.reuse(w)
	return nil, p.fail(err, p.now()-r.began)
}

// decline passes on what a waiter was answered with, who does not want it any more.
func (p *Pool[C, K]) decline(w *waiter[C, K]) {
	switch {
	case w.err != nil:
	case w.conn != nil:
		p.Put(w.conn)
	default:
		p.freeSlot()
	}
}

// accept takes the answer to w.
func (p *Pool[C, K]) accept(w *waiter[C, K], r *request) (*Pooled[C, K], error) {
	pc, s, err := w.conn, w.slot, w.err
	waited := p.now() - r.began
	if w.line == nil {
		p.reuse(w)
	}
	switch {
	case err != nil:
	case pc == nil:
		pc, err = p.dial(s, r)
	case !p.sound(pc):
		want := pc.Key
		p.retire(pc, ClosedDead)
		return p.get(want, *r)
	}
	if err != nil {
		return nil, p.fail(err, waited)
	}
	p.counts.got(Waited, waited)
	return pc, nil
}

// reuse keeps an answered waiter for another Get.
func (p *Pool[C, K]) reuse(w *waiter[C, K]) {
	w.timer.Stop()
	w.err, w.conn, w.slot = nil, nil, slot{}
	p.spare.Put(w)
}

// firstLiveLocked answers those at the head of the line whose deadline has passed and gives the first other one, which
// stays in line; nil if there is none.
func (p *Pool[C, K]) firstLiveLocked(now time.Duration) *waiter[C, K] {
	for {
		w := p.queue.first
		if w == nil || now < w.deadline {
			return w
		}
		p.queue.remove(w)
		w.err = p.timeoutLocked(now - w.began)
		w.answer()
	}
}

// settleLocked answers the waiters that can be answered without a connection that comes back: by idle ones that were not to be lent before, by slots to dial
// into, or by the news that nothing will come. It runs after every change that may have freed a slot, made room below the limit or taken away a hope.
func (p *Pool[C, K]) settleLocked(now time.Duration) {
	for {
		w := p.firstLiveLocked(now)
		switch {
		case w == nil:
			return
		case p.idle.len > 0 && p.roomLocked(w.ahead):
			w.conn = p.idle.newest
			p.idle.remove(w.conn)
			p.lendLocked(w.conn)
			w.conn.Rest = now - w.conn.idleSince
			p.servedLocked(w, now)
		case p.roomLocked(w.ahead) && p.mayDialLocked(now):
			w.slot = p.reserveLocked()
			p.servedLocked(w, now)
		case p.hopelessLocked(now):
			w.err = p.backoff.last
			p.queue.remove(w)
		default:
			return
		}
		w.answer()
	}
}
