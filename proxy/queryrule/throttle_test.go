package queryrule

import (
	"errors"
	"testing"
	"time"

	"kingshard/config"
)

// throttled makes a rule, the successor of the one before.
func throttled(t *testing.T, before *Set, q config.QueryRule) (*Set, *Rule) {
	t.Helper()
	q.Name = "r"
	s, err := New(&config.Config{QueryRules: []config.QueryRule{q}}, before)
	if err != nil {
		t.Fatal(err)
	}
	return s, s.rules[0]
}

// queued waits until so many statements wait for the rule.
func queued(t *testing.T, r *Rule, n int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		r.flow.mu.Lock()
		got := len(r.flow.waiting)
		r.flow.mu.Unlock()
		if got == n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d wait, want %d", got, n)
		}
	}
}

// Places are given in the order of asking; a wait ends when it is over or cancelled, and leaves nothing.
func TestThrottleConcurrent(t *testing.T) {
	const long = config.Duration(time.Minute)
	s, r := throttled(t, nil, config.QueryRule{MaxConcurrent: 2, MaxWait: long})
	for range 2 {
		if err := r.Enter(nil); err != nil {
			t.Fatal(err)
		}
	}
	cancel, order, cancelled := make(chan struct{}), make(chan int, 3), make(chan error, 1)
	wait := func(k int) {
		if err := r.Enter(nil); err != nil {
			t.Error(err)
		}
		order <- k
	}
	go wait(1)
	queued(t, r, 1)
	go func() { cancelled <- r.Enter(cancel) }()
	queued(t, r, 2)
	go wait(2)
	queued(t, r, 3)
	close(cancel)
	if err := <-cancelled; !errors.Is(err, ErrCancelled) {
		t.Errorf("cancelled: %v", err)
	}
	for k := range 2 {
		r.Leave()
		if got := <-order; got != k+1 {
			t.Errorf("%d came, want %d", got, k+1)
		}
	}
	// After a reload those under way count, under the new bound.
	_, impatient := throttled(t, s, config.QueryRule{MaxConcurrent: 1})
	r.Leave()
	if err := impatient.Enter(nil); !errors.Is(err, ErrThrottled) || impatient.Throttled() != 1 {
		t.Errorf("%v, %d refused", err, impatient.Throttled())
	}
	r.Leave()
	if err := impatient.Enter(nil); err != nil {
		t.Error(err)
	}
	impatient.Leave()
	_, short := throttled(t, s, config.QueryRule{MaxConcurrent: 1, MaxWait: config.Duration(time.Millisecond)})
	if err := short.Enter(nil); err != nil {
		t.Error(err)
	}
	if err := short.Enter(nil); !errors.Is(err, ErrThrottled) {
		t.Errorf("waited in vain: %v", err)
	}
	if r.flow.running != 1 || len(r.flow.waiting) != 0 {
		t.Errorf("%d run, %d wait", r.flow.running, len(r.flow.waiting))
	}
}

// The statements of a second pass at once; a place that comes too late is refused without a wait, and takes none.
func TestThrottleRate(t *testing.T) {
	s, r := throttled(t, nil, config.QueryRule{MaxQPS: 3, MaxConcurrent: 100})
	passed := 0
	for range 100 {
		switch err := r.Enter(nil); {
		case err == nil:
			passed++
		case !errors.Is(err, ErrThrottled):
			t.Fatal(err)
		}
	}
	if passed < 3 || passed == 100 || r.flow.running != passed {
		t.Errorf("%d passed, %d run", passed, r.flow.running)
	}
	_, patient := throttled(t, s, config.QueryRule{MaxQPS: 100, MaxWait: config.Duration(time.Minute)})
	for range 3 {
		if err := patient.Enter(nil); err != nil {
			t.Error(err)
		}
	}
	_, slow := throttled(t, s, config.QueryRule{MaxQPS: 1, MaxWait: config.Duration(time.Minute)})
	for range 4 {
		cancel := make(chan struct{})
		close(cancel)
		if err := slow.Enter(cancel); errors.Is(err, ErrCancelled) {
			return
		}
	}
	t.Error("no wait was cancelled")
}
