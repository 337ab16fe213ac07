package pool

import "time"

// LimitInterval is how often Config.Limit is asked.
const LimitInterval = 250 * time.Millisecond

// Use is what was used of a pool since the last time that its limit was asked for.
type Use struct {
	Lent   int  // connections at a time, at the most
	Waited bool // somebody did
}

// Adapt asks Config.Limit how many connections may be lent at a time, and lends those that there are more. Fewer take effect as connections come back.
func (p *Pool[C, K]) Adapt() {
	if p.cfg.Limit == nil {
		return
	}
	p.mu.Lock()
	used := p.used
	used.Waited = used.Waited || p.queue.len > 0
	p.used = Use{Lent: p.lentLocked()}
	p.mu.Unlock()
	limit := p.cfg.Limit(used)
	p.mu.Lock()
	p.limit = max(1, limit)
	p.settleLocked(p.now())
	p.mu.Unlock()
}

// lendableLocked is how many connections may be lent at a time, but to those who wait ahead.
func (p *Pool[C, K]) lendableLocked() int { return min(p.limit, p.max) }

// roomLocked reports whether one more connection may be lent: below the limit, or to a borrower that waits ahead because others may wait for what it
// holds. Were that bound by the limit too, sessions that hold connections of two pools could wait for each other below their ceilings.
func (p *Pool[C, K]) roomLocked(ahead bool) bool {
	return ahead || p.open-p.idle.len < p.lendableLocked()
}
