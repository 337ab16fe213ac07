// Package throttle bounds how many statements run at the same time and how many begin in a second. Others wait for their place, in their order:
// [Flow.Enter] takes one, [Flow.Leave] gives it back.
package throttle

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// Errors of Enter.
var (
	ErrConcurrent = errors.New("too many at the same time")
	ErrRate       = errors.New("too many in a second")
	ErrCancelled  = errors.New("cancelled")
)

// burst is how far statements may run ahead of their even intervals.
const burst = time.Second

// Bounds say how many statements pass; 0 is no bound.
type Bounds struct {
	Concurrent int
	Interval   time.Duration // between two statements in the long run
	Wait       time.Duration // that a statement takes for its place at the most
}

// Of returns the bounds of so many statements at the same time and in a second.
func Of(concurrent, perSecond int, wait time.Duration) Bounds {
	b := Bounds{Concurrent: concurrent, Wait: wait}
	if perSecond > 0 {
		b.Interval = time.Second / time.Duration(perSecond)
	}
	return b
}

// Set reports whether there is a bound.
func (b *Bounds) Set() bool { return b.Concurrent > 0 || b.Interval > 0 }

// Flow is what passes and what waits for that. Zero is ready to use; the bounds may change from one statement to the next.
type Flow struct {
	mu      sync.Mutex
	running int
	waiting []*turn // in the order in which they came
	// due is when the next statement would come if all so far had come at even intervals.
	due time.Time
}

// turn is a wait for a place among the running.
type turn struct {
	concurrent int // the bound that it waits for
	come       chan struct{}
	taken      bool // under the flow's mu: it counts as running
}

// Enter waits until one more statement may pass, not longer than the bounds say: then, and at once if that is known, it returns ErrConcurrent or
// ErrRate; ErrCancelled when cancel is closed. A statement that was let in is to call Leave.
func (f *Flow) Enter(b Bounds, cancel <-chan struct{}) error {
	began := time.Now()
	err := f.enter(b.Concurrent, b.Wait, cancel)
	if err == nil && b.Interval > 0 {
		if err = f.pace(b.Interval, began, b.Wait, cancel); err != nil {
			f.Leave()
		}
	}
	return err
}

// Leave gives up the place of a statement that was let in, which the next one that waits gets.
func (f *Flow) Leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running--
	f.admitLocked()
}

// admitLocked lets those in front of the queue pass as far as there is room.
func (f *Flow) admitLocked() {
	for len(f.waiting) > 0 && f.running < f.waiting[0].concurrent {
		w := f.waiting[0]
		f.waiting = f.waiting[1:]
		f.running++
		w.taken = true
		close(w.come)
	}
}

// enter takes a place among the running.
func (f *Flow) enter(concurrent int, wait time.Duration, cancel <-chan struct{}) error {
	f.mu.Lock()
	if concurrent == 0 || f.running < concurrent && len(f.waiting) == 0 {
		f.running++
		f.mu.Unlock()
		return nil
	}
	if wait == 0 {
		f.mu.Unlock()
		return ErrConcurrent
	}
	w := &turn{concurrent: concurrent, come: make(chan struct{})}
	f.waiting = append(f.waiting, w)
	f.mu.Unlock()
	patience := time.NewTimer(wait)
	defer patience.Stop()
	var err error
	select {
	case <-w.come:
		return nil
	case <-patience.C:
		err = ErrConcurrent
	case <-cancel:
		err = ErrCancelled
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.taken {
		return nil // the place came at the last moment
	}
	f.waiting = slices.DeleteFunc(f.waiting, func(o *turn) bool { return o == w })
	f.admitLocked() // others may have waited behind one of a stricter bound
	return err
}

// pace waits for the statement's place in the even intervals, if that comes in time.
func (f *Flow) pace(interval time.Duration, began time.Time, wait time.Duration, cancel <-chan struct{}) error {
	f.mu.Lock()
	now := time.Now()
	from := f.due
	if from.Before(now) {
		from = now
	}
	next := from.Add(interval)
	pause := next.Add(-burst).Sub(now)
	if pause > 0 && pause > wait-now.Sub(began) {
		f.mu.Unlock()
		return ErrRate
	}
	f.due = next
	f.mu.Unlock()
	if pause <= 0 {
		return nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-cancel:
		return ErrCancelled
	}
}
