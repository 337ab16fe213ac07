package queryrule

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kingshard/config"
)

// Errors of Enter.
var (
	ErrThrottled = errors.New("throttled")
	ErrCancelled = errors.New("cancelled")
)

// burst is how far statements may run ahead of their even intervals.
const burst = time.Second

// throttle bounds how many statements pass a rule; 0 is no bound.
type throttle struct {
	concurrent int
	interval   time.Duration // between two statements in the long run
	wait       time.Duration // that a statement takes for its place at the most
}

func throttleOf(q *config.QueryRule) throttle {
	t := throttle{concurrent: q.MaxConcurrent, wait: q.MaxWait.Duration()}
	if q.MaxQPS > 0 {
		t.interval = time.Second / time.Duration(q.MaxQPS)
	}
	return t
}

func (t *throttle) set() bool { return t.concurrent > 0 || t.interval > 0 }

// flow is what passes a throttled rule and waits for it; it is handed on at a reload.
type flow struct {
	mu      sync.Mutex
	running int
	waiting []*turn // in the order in which they came
	// due is when the next statement would come if all so far had come at even intervals.
	due     time.Time
	refused atomic.Uint64
}

// turn is a wait for a place among the running.
type turn struct {
	concurrent int // the bound that it waits for
	come       chan struct{}
	taken      bool // under the flow's mu: it counts as running
}

// Throttled is how many statements the rule refused since the proxy started because their wait for a place would be too long.
func (r *Rule) Throttled() uint64 { return r.flow.refused.Load() }

// Enter waits until one more statement may pass the rule, not longer than the rule says: then, and at once if that is known, it gives
// ErrThrottled; ErrCancelled when cancel is closed. Without an error it is paired with Leave.
func (r *Rule) Enter(cancel <-chan struct{}) error {
	began := time.Now()
	err := r.flow.enter(r.throttle.concurrent, r.throttle.wait, cancel)
	if err == nil && r.throttle.interval > 0 {
		if err = r.flow.pace(r.throttle.interval, began, r.throttle.wait, cancel); err != nil {
			r.Leave()
		}
	}
	if errors.Is(err, ErrThrottled) {
		r.flow.refused.Add(1)
	}
	return err
}

// Leave ends what Enter began.
func (r *Rule) Leave() {
	f := r.flow
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running--
	f.admitLocked()
}

// admitLocked lets those in front of the queue pass as far as there is room.
func (f *flow) admitLocked() {
	for len(f.waiting) > 0 && f.running < f.waiting[0].concurrent {
		w := f.waiting[0]
		f.waiting = f.waiting[1:]
		f.running++
		w.taken = true
		close(w.come)
	}
}

// enter takes a place among the running.
func (f *flow) enter(concurrent int, wait time.Duration, cancel <-chan struct{}) error {
	f.mu.Lock()
	if concurrent == 0 || f.running < concurrent && len(f.waiting) == 0 {
		f.running++
		f.mu.Unlock()
		return nil
	}
	if wait == 0 {
		f.mu.Unlock()
		return ErrThrottled
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
		err = ErrThrottled
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
func (f *flow) pace(interval time.Duration, began time.Time, wait time.Duration, cancel <-chan struct{}) error {
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
		return ErrThrottled
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
