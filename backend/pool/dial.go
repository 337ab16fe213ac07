package pool

import (
	"math/rand/v2"
	"time"
)

// The delays between dials while they fail: doubled each time, ±20 % by lot so that proxies do not knock in step.
const (
	backoffMin = 50 * time.Millisecond
	backoffMax = 5 * time.Second
)

// backoff holds dials back after one failed. While failures is not 0 one dial at a time finds out whether the server
// is well again.
type backoff struct {
	failures int           // in a row
	until    time.Duration // on the pool's clock: no dial before
	last     *DialError    // of the last failure; nil after a success
}

// failed counts a failure of a dial that began after as many failures as seen. Of dials that were under way together
// only the first counts, else one incident would pass for many.
func (b *backoff) failed(err *DialError, seen int, now time.Duration) (delay time.Duration, counts bool) {
	b.last = err
	if seen != b.failures {
		return 0, false
	}
	delay = backoffDelay(b.failures)
	b.failures++
	b.until = now + delay
	return delay, true
}

// backoffDelay is the delay after one more failure than failures.
func backoffDelay(failures int) time.Duration {
	d := min(backoffMax, backoffMin<<min(failures, 30))
	return d - d/5 + rand.N(2*d/5)
}

// slot is the right to open one connection.
type slot struct {
	generation uint64
	failures   int // dials failed in a row when it was taken
}

// mayDialLocked tells whether another connection may be opened now.
func (p *Pool[C, K]) mayDialLocked(now time.Duration) bool {
	dialsMax := p.cfg.DialsMax
	if p.backoff.failures > 0 {
		dialsMax = 1
	}
	return p.open < p.max && p.dialling < dialsMax && now >= p.backoff.until && !p.closed
}

// hopelessLocked tells whether nothing can come before the back-off ends: no dial may begin, none is under way, nothing is idle and
// nobody has a connection to give back.
func (p *Pool[C, K]) hopelessLocked(now time.Duration) bool {
	return now < p.backoff.until && p.dialling == 0 && p.idle.len == 0 && p.lentLocked() == 0
}

// reserveLocked takes a slot. It ends in dial or freeSlot.
func (p *Pool[C, K]) reserveLocked() slot {
	p.open++
	p.dialling++
	return slot{p.generation, p.backoff.failures}
}

// freeSlot gives back a slot that was not dialled into.
func (p *Pool[C, K]) freeSlot() {
	p.mu.Lock()
	p.open--
	p.dialling--
	p.settleLocked(p.now())
	p.mu.Unlock()
}

// dial opens a connection into s, which it frees on failure. The error is a *DialError, a *TimeoutError if it was the
// borrower's deadline that ended the dial, ErrCancelled or ErrClosed.
func (p *Pool[C, K]) dial(s slot, r *request) (*Pooled[C, K], error) {
	if r.cancelled() {
		p.freeSlot()
		return nil, ErrCancelled
	}
	returned := false
	defer func() {
		if !returned { // Dial panicked, which may end one session but must not cost the others a slot
			p.freeSlot()
		}
	}()
	limit := p.now() + p.cfg.DialTimeout
	hurried := r.until < limit
	conn, err := p.cfg.Dial(p.start.Add(min(limit, r.until)))
	returned = true
	if err != nil {
		return nil, p.dialFailed(s, r, err, hurried)
	}
	return p.dialled(conn, s, r)
}

// dialFailed accounts for a failure. Where a hurried borrower's own deadline has passed the server is not to blame.
func (p *Pool[C, K]) dialFailed(s slot, r *request, err error, hurried bool) error {
	p.counts.dialFailures.Add(1)
	failure := &DialError{err}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open--
	p.dialling--
	now := p.now()
	defer p.settleLocked(now)
	if hurried && now >= r.until {
		return &TimeoutError{Waited: now - r.began, InUse: p.lentLocked(), Max: p.lendableLocked(), LastDial: err}
	}
	if delay, counts := p.backoff.failed(failure, s.failures, now); counts {
		p.retry.Reset(delay)
	}
	return failure
}

// dialled takes a new connection in and lends it.
func (p *Pool[C, K]) dialled(conn C, s slot, r *request) (*Pooled[C, K], error) {
	now := p.now()
	pc := &Pooled[C, K]{Conn: conn, generation: s.generation, expires: p.expiry(now)}
	p.mu.Lock()
	p.dialling--
	p.lendLocked(pc)
	p.backoff = backoff{}
	closed := p.closed
	p.settleLocked(now)
	p.mu.Unlock()
	switch {
	case closed:
		p.retire(pc, ClosedRetired)
		return nil, ErrClosed
	case r.cancelled():
		p.Put(pc)
		return nil, ErrCancelled
	}
	return pc, nil
}

// expiry draws the end of a lifetime that begins now; 0 for none.
func (p *Pool[C, K]) expiry(now time.Duration) time.Duration {
	d := p.cfg.MaxLifetime
	if d <= 0 {
		return 0
	}
	return now + d - d/10 + rand.N(d/5+1)
}
