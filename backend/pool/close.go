package pool

// Taint closes a connection that is not to be used again. Its slot is free when Taint returns, and goes to the first
// waiter.
func (p *Pool[C, K]) Taint(pc *Pooled[C, K]) { p.retire(pc, ClosedTainted) }

// retire closes a connection on loan and frees its slot.
func (p *Pool[C, K]) retire(pc *Pooled[C, K], cause CloseCause) {
	p.mu.Lock()
	p.mustBeLentLocked(pc)
	p.markClosingLocked(pc, cause)
	p.mu.Unlock()
	p.finishClose(pc)
}

// markClosingLocked begins the end of a connection, which the caller finishes with finishClose.
func (p *Pool[C, K]) markClosingLocked(pc *Pooled[C, K], cause CloseCause) {
	if pc.state == idle {
		p.idle.remove(pc)
	} else {
		p.shown.Add(-1)
	}
	pc.state = closing
	p.closing++
	p.counts.closed[cause].Add(1)
}

// finishClose closes connections marked so, then frees their slots: not earlier, or there would be more connections
// than the ceiling for a moment.
func (p *Pool[C, K]) finishClose(pcs ...*Pooled[C, K]) {
	for _, pc := range pcs {
		_ = pc.Conn.Close() // nobody is left to whom its error would matter
		p.mu.Lock()
		p.open--
		p.closing--
		p.settleLocked(p.now())
		p.mu.Unlock()
	}
}

// closeOldestLocked marks up to n idle connections, those unused for longest first, for finishClose.
func (p *Pool[C, K]) closeOldestLocked(n int) []*Pooled[C, K] {
	n = min(n, p.idle.len)
	if n <= 0 {
		return nil
	}
	pcs := make([]*Pooled[C, K], 0, n)
	for range n {
		pc := p.idle.oldest
		p.markClosingLocked(pc, ClosedRetired)
		pcs = append(pcs, pc)
	}
	return pcs
}

// CloseIdle closes the connections there are, after a change of the server's role for example: the idle ones at once,
// those on loan or being dialled when they come back.
func (p *Pool[C, K]) CloseIdle() {
	p.mu.Lock()
	p.generation++
	pcs := p.closeOldestLocked(p.idle.len)
	p.mu.Unlock()
	p.finishClose(pcs...)
}

// Dismiss gives ErrDown to those who wait, once Config.Down tells so. Places are left to their event loops, which look for it themselves.
func (p *Pool[C, K]) Dismiss() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := p.queue.first; w != nil; {
		next := w.next
		if w.place == nil {
			p.queue.remove(w)
			w.err = ErrDown
			w.answer()
		}
		w = next
	}
}

// SetMax changes the ceiling, to 1 at least. Connections beyond it are closed, idle ones at once, those on loan when
// they come back.
func (p *Pool[C, K]) SetMax(n int) {
	p.mu.Lock()
	p.max = max(1, n)
	pcs := p.closeOldestLocked(p.open - p.closing - p.max)
	p.settleLocked(p.now())
	p.mu.Unlock()
	p.finishClose(pcs...)
}

// Close ends the pool: Get fails with ErrClosed, also for those who wait, idle connections are closed before Close
// returns, those on loan when they come back. It waits for the pool's goroutine, not for borrowers, and may be called
// again.
func (p *Pool[C, K]) Close() {
	p.Drain()
	<-p.done
}

// Drain does as Close, but does not wait for the pool's goroutine.
func (p *Pool[C, K]) Drain() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	close(p.stop)
	for w := p.queue.first; w != nil; w = p.queue.first {
		p.queue.remove(w)
		w.err = ErrClosed
		w.answer()
	}
	pcs := p.closeOldestLocked(p.idle.len)
	p.mu.Unlock()
	p.finishClose(pcs...)
}
