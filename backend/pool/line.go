package pool

import "time"

// lineAhead is by how much a borrower may have come sooner than one of a line, who gets the connection that comes back from there all the
// same: to hand it over, one event loop must let go of it and another one be woken to take it in, which costs more than a short statement.
const lineAhead = 2 * time.Millisecond

// Line is the borrowers of one event loop that want the same setting. What the loop gives back goes to the first of them, unless somebody
// else has waited for more than 2 ms longer.
type Line[C Conn, K comparable] struct {
	// Tell is called once for each answer to a place of the line, by whichever goroutine gives it, and under the pool's mutex: it must neither
	// wait nor use the pool.
	Tell func(*Place[C, K])

	first, last *waiter[C, K] // guarded by the pool's mutex
}

func (l *Line[C, K]) push(w *waiter[C, K]) {
	w.lineNext, w.linePrev = nil, l.last
	if l.last != nil {
		l.last.lineNext = w
	} else {
		l.first = w
	}
	l.last = w
}

func (l *Line[C, K]) remove(w *waiter[C, K]) {
	if w.linePrev != nil {
		w.linePrev.lineNext = w.lineNext
	} else {
		l.first = w.lineNext
	}
	if w.lineNext != nil {
		w.lineNext.linePrev = w.linePrev
	} else {
		l.last = w.linePrev
	}
	w.lineNext, w.linePrev = nil, nil
}

// Place is where a borrower stands in the queue for whom no goroutine waits. Zero is ready. A place belongs to the borrower, who may use it
// again once it was answered and taken, or left.
type Place[C Conn, K comparable] struct {
	// Owner is the borrower's own.
	Owner any

	pool   *Pool[C, K]
	waiter waiter[C, K]
}

// Enqueue has a borrower wait among all others, until the deadline at the latest. The line's Tell says when the place is answered, which may
// be before Enqueue returns. Errors are those that [Pool.Get] has for those who may not wait, and [ErrIdle]: with a connection idle, nobody
// may be left to give one back.
func (p *Pool[C, K]) Enqueue(pl *Place[C, K], l *Line[C, K], deadline time.Time) error {
	now := p.now()
	w := &pl.waiter
	*w, pl.pool = waiter[C, K]{line: l, place: pl}, p
	p.mu.Lock()
	var err error
	switch {
	case p.closed:
		err = ErrClosed
	case p.idle.len > 0 && p.roomLocked(false):
		p.mu.Unlock()
		return ErrIdle
	default:
		err = p.enqueueLocked(w, &request{began: now, until: deadline.Sub(p.start)}, now)
	}
	p.mu.Unlock()
	if err != nil {
		return p.fail(err, 0)
	}
	if f := p.wanted.Load(); f != nil {
		(*f)()
	}
	return nil
}

// Leave takes a place out of the queue; false if it was answered before, so that its answer is to be taken.
func (pl *Place[C, K]) Leave() bool {
	p := pl.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if !pl.waiter.queued {
		return false
	}
	p.queue.remove(&pl.waiter)
	return true
}

// Share takes a place out of the queue, as Leave does, for a borrower who gets a connection that others of its loop use.
func (pl *Place[C, K]) Share() bool {
	p := pl.pool
	now := p.now()
	p.mu.Lock()
	queued := pl.waiter.queued
	if queued {
		p.servedLocked(&pl.waiter, now)
	}
	p.mu.Unlock()
	if queued {
		p.counts.got(Waited, now-pl.waiter.began)
	}
	return queued
}

// Answered gives the connection that a place was answered with, which is the caller's if it carries want and is sound; else nil: Take or Decline is to follow.
func (p *Pool[C, K]) Answered(pl *Place[C, K], want K) *Pooled[C, K] {
	pc := pl.waiter.conn
	if pc == nil || pc.Key != want || !p.sound(pc) {
		return nil
	}
	p.counts.got(Waited, p.now()-pl.waiter.began)
	return pc
}

// Take ends the wait of a place that was answered: by its connection, by an error, or by a connection that it opens, by the deadline at the
// latest. Closing cancel, which may be nil, keeps it from that.
func (p *Pool[C, K]) Take(pl *Place[C, K], deadline time.Time, cancel <-chan struct{}) (*Pooled[C, K], error) {
	return p.accept(&pl.waiter, &request{began: pl.waiter.began, until: deadline.Sub(p.start), cancel: cancel})
}

// Decline gives back the answer of a place whose borrower does not want it any more.
func (pl *Place[C, K]) Decline() { pl.pool.decline(&pl.waiter) }

// PutFrom is Put of a connection that comes from a line. Where a place of the line is the next to be served, it is returned, and the
// connection stays lent: it is that borrower's.
func (p *Pool[C, K]) PutFrom(pc *Pooled[C, K], l *Line[C, K]) *Place[C, K] { return p.put(pc, l) }

// nextLocked gives the one who is to have a connection that comes back from a line, or from elsewhere if that is nil. Whoever it is
// stays in the queue; nil if nobody waits who may have it.
func (p *Pool[C, K]) nextLocked(l *Line[C, K], now time.Duration) *waiter[C, K] {
	w := p.firstLiveLocked(now)
	switch {
	case w == nil || w.ahead:
		return w
	case p.open-p.idle.len > p.lendableLocked():
		return nil
	case l == nil:
		return w
	}
	if own := l.first; own != nil && own.began-w.began <= lineAhead && now < own.deadline {
		return own
	}
	return w
}
