package pool

import (
	"fmt"
	"time"
)

// paceWindow is for how long of the time in which somebody waits it counts how fast the line moves; what is older fades, and is forgotten where nobody
// has waited for as long.
const paceWindow = 10 * time.Second

// pace is how fast the line moves: how many were served in the time in which somebody waited.
type pace struct {
	served int
	busy   time.Duration // in which somebody waited, until since
	since  time.Duration // on the pool's clock
}

// goOn counts the time until now, in which somebody has waited if any is true.
func (p *pace) goOn(now time.Duration, any bool) {
	switch {
	case any:
		p.busy += now - p.since
	case now-p.since > paceWindow:
		*p = pace{}
	}
	p.since = now
	if p.busy > paceWindow {
		p.busy, p.served = p.busy/2, p.served/2
	}
}

// expected is how long it takes until n are served who stand ahead, by as many connections as there may be. Of each of these nobody knows when
// it comes back, or is opened: it counts as one that does so now, so that a guess from little is short rather than long.
func (p *pace) expected(n, conns int) time.Duration {
	return time.Duration(max(0, n-conns)) * p.busy / time.Duration(p.served+conns)
}

// crowdedLocked is the error of a borrower whose turn may come too late, as the line moves; nil for one who may wait. A line that has been watched for less
// than a quarter of the borrower's patience is no ground to refuse anybody. Who waits ahead of the others is let in: what it holds is to come back soon.
func (p *Pool[C, K]) crowdedLocked(r *request, now time.Duration) error {
	n, patience := p.queue.len, r.until-now
	p.pace.goOn(now, n > 0)
	expected := p.pace.expected(n, p.lendableLocked())
	expected += expected / 3 // for what cannot be foreseen
	if r.ahead || n < p.cfg.MaxWaiters && (expected <= patience || p.pace.busy < patience/4) {
		return nil
	}
	return &CrowdedError{Waiting: n, Expected: expected, Patience: patience, InUse: p.lentLocked(), Max: p.lendableLocked()}
}

// servedLocked takes the waiter whose turn it is out of the line.
func (p *Pool[C, K]) servedLocked(w *waiter[C, K], now time.Duration) {
	p.pace.goOn(now, true)
	p.pace.served++
	p.queue.remove(w)
}

// CrowdedError is an ErrTooManyWaiters with what an operator needs to know.
type CrowdedError struct {
	Waiting            int           // in line
	Expected, Patience time.Duration // how long the wait may become, and may be
	InUse              int           // connections on loan
	Max                int           // that may be
}

// Error says how many wait, and for how long one more might.
func (e *CrowdedError) Error() string {
	return fmt.Sprintf("%v: %d are, one more might for %v of the %v that it has; %d of %d in use", ErrTooManyWaiters, e.Waiting,
		e.Expected.Round(time.Millisecond), e.Patience.Round(time.Millisecond), e.InUse, e.Max)
}

// Is makes it an ErrTooManyWaiters for errors.Is.
func (e *CrowdedError) Is(target error) bool { return target == ErrTooManyWaiters }
