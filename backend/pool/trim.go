package pool

import "time"

// The interval of the trimming passes is a tenth of the shorter timeout, within these bounds.
const (
	trimIntervalMin = 50 * time.Millisecond
	trimIntervalMax = 10 * time.Second
)

// run is the pool's goroutine: it trims, asks for the limit, and at the end of a back-off lets the first waiter dial.
func (p *Pool[C, K]) run() {
	defer close(p.done)
	defer p.retry.Stop()
	var tick <-chan time.Time
	if d := trimInterval(p.cfg.IdleTimeout, p.cfg.MaxLifetime); d > 0 {
		ticker := time.NewTicker(d)
		defer ticker.Stop()
		tick = ticker.C
	}
	var adapt <-chan time.Time
	if p.cfg.Limit != nil {
		ticker := time.NewTicker(LimitInterval)
		defer ticker.Stop()
		adapt = ticker.C
	}
	for {
		select {
		case <-adapt:
			p.Adapt()
		case <-p.stop:
			return
		case <-tick:
			p.trim()
		case <-p.retry.C:
			p.mu.Lock()
			p.settleLocked(p.now())
			p.mu.Unlock()
		}
	}
}

// trimInterval is 0 if neither timeout is set.
func trimInterval(idleTimeout, maxLifetime time.Duration) time.Duration {
	shorter := idleTimeout
	if shorter <= 0 || maxLifetime > 0 && maxLifetime < shorter {
		shorter = maxLifetime
	}
	if shorter <= 0 {
		return 0
	}
	return min(max(shorter/10, trimIntervalMin), trimIntervalMax)
}

// trim closes idle connections that have been unused or alive for too long, a tenth of the idle ones at the most (but
// one if there is any), so that a pool does not lose all its warmth at once.
func (p *Pool[C, K]) trim() {
	now := p.now()
	var pcs []*Pooled[C, K]
	p.mu.Lock()
	budget := max(1, p.idle.len/10)
	for pc := p.idle.oldest; pc != nil && len(pcs) < budget; {
		next := pc.newer
		switch {
		case pc.expired(now):
			p.markClosingLocked(pc, ClosedLifetime)
			pcs = append(pcs, pc)
		case p.cfg.IdleTimeout > 0 && now-pc.idleSince >= p.cfg.IdleTimeout:
			p.markClosingLocked(pc, ClosedIdle)
			pcs = append(pcs, pc)
		}
		pc = next
	}
	p.mu.Unlock()
	p.finishClose(pcs...)
}
