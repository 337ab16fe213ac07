package session

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Pause makes new statements wait, so that an operator can switch servers. Those under way, transactions and the like go on.
// Zero is not paused; any goroutine may use it.
type Pause struct {
	now      atomic.Pointer[paused] // nil: not paused
	waiting  atomic.Int64
	timeouts atomic.Uint64

	mu sync.Mutex // guards changes of now
}

// paused is a pause under way.
type paused struct {
	since time.Time
	wait  time.Duration // how long each statement waits at most
	// over is closed when the pause ends; cut says that it ended with the proxy, so that what waits is not run.
	over chan struct{}
	cut  *atomic.Bool
}

// PauseState is what Pause does now and has done.
type PauseState struct {
	Since    time.Time     // zero: not paused
	Wait     time.Duration // how long each statement waits at most
	Waiting  int           // statements
	Timeouts uint64        // statements that waited in vain
}

// Begin pauses; of a pause under way it changes only how long statements wait that begin to from now on.
func (p *Pause) Begin(wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := &paused{since: time.Now(), wait: wait, over: make(chan struct{}), cut: new(atomic.Bool)}
	if before := p.now.Load(); before != nil {
		next.since, next.over, next.cut = before.since, before.over, before.cut
	}
	p.now.Store(next)
}

// End lets the statements go on.
func (p *Pause) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if before := p.now.Swap(nil); before != nil && !before.cut.Load() {
		close(before.over)
	}
}

// Cut ends the wait of all statements, which fail: the proxy stops, and nobody could end the pause any more.
func (p *Pause) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if before := p.now.Load(); before != nil && !before.cut.Swap(true) {
		close(before.over)
	}
}

// State tells what there is.
func (p *Pause) State() PauseState {
	s := PauseState{Waiting: int(p.waiting.Load()), Timeouts: p.timeouts.Load()}
	if now := p.now.Load(); now != nil {
		s.Since, s.Wait = now.since, now.wait
	}
	return s
}

// on tells whether new statements have to wait.
func (p *Pause) on() bool { return p.now.Load() != nil }

// gate is passed by every statement before it has a connection, and only once. It waits while the proxy is paused, unless
// the session is in the middle of something that must end first. waited tells that a reload may have come in between.
func (ls *leases) gate() (waited bool, err error) {
	if ls.client.passed {
		return false, nil
	}
	ls.client.passed = true
	p := ls.client.shared.Pause.now.Load()
	if p == nil || ls.client.txn.Engaged() {
		return false, nil
	}
	return true, ls.waitPaused(p)
}

// waitPaused waits for the end of a pause, and of further ones, for the time of the first at most.
func (ls *leases) waitPaused(p *paused) error {
	now := time.Now()
	ls.client.observed.Ask(now.Sub(ls.client.entry.Since()))
	pause := &ls.client.shared.Pause
	pause.waiting.Add(1)
	ls.client.entry.HoldUp(true)
	enough := time.NewTimer(p.wait)
	defer func() {
		enough.Stop()
		ls.client.entry.HoldUp(false)
		pause.waiting.Add(-1)
	}()
	for first := p; p != nil; p = pause.now.Load() {
		select {
		case <-p.over:
			if p.cut.Load() {
				return newError(KSPaused, "the proxy is paused and shuts down")
			}
		case <-ls.client.entry.Cancelled():
			return interrupted()
		case <-enough.C:
			pause.timeouts.Add(1)
			return newError(KSPaused, fmt.Sprintf("the proxy is paused (KS PAUSE), and the statement has waited for %v; nothing was sent", first.wait))
		}
	}
	return nil
}

// startOfStatement is the gate where nothing has been chosen yet: after a wait the configuration in force is taken, as at
// the begin of the command.
func (ls *leases) startOfStatement() error {
	waited, err := ls.gate()
	if err != nil || !waited {
		return err
	}
	ls.client.snap = ls.client.shared.Snapshot.Load()
	if end := ls.client.refreshSchema(); end != nil {
		return end
	}
	return nil
}
