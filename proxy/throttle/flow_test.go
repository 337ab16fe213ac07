package throttle

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Places are given in the order of asking; a wait ends when it is over or cancelled, and leaves nothing.
func TestConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Flow
		b := Of(2, 0, time.Minute)
		for range 2 {
			if err := f.Enter(b, nil); err != nil {
				t.Fatal(err)
			}
		}
		cancel, order, cancelled := make(chan struct{}), make(chan int, 3), make(chan error, 1)
		wait := func(k int) {
			if err := f.Enter(b, nil); err != nil {
				t.Error(err)
			}
			order <- k
		}
		go wait(1)
		synctest.Wait()
		go func() { cancelled <- f.Enter(b, cancel) }()
		synctest.Wait()
		go wait(2)
		synctest.Wait()
		close(cancel)
		if err := <-cancelled; !errors.Is(err, ErrCancelled) {
			t.Errorf("cancelled: %v", err)
		}
		for k := range 2 {
			f.Leave()
			if got := <-order; got != k+1 {
				t.Errorf("%d came, want %d", got, k+1)
			}
		}
		// Those under way count under other bounds.
		f.Leave()
		began := time.Now()
		if err := f.Enter(Of(1, 0, 0), nil); !errors.Is(err, ErrConcurrent) || time.Since(began) != 0 {
			t.Errorf("without patience: %v after %v", err, time.Since(began))
		}
		if err := f.Enter(Of(1, 0, time.Second), nil); !errors.Is(err, ErrConcurrent) || time.Since(began) != time.Second {
			t.Errorf("with patience for a second: %v after %v", err, time.Since(began))
		}
		if f.running != 1 || len(f.waiting) != 0 {
			t.Errorf("%d run, %d wait", f.running, len(f.waiting))
		}
	})
}

// The statements of a second may come at once, then one for each interval; a place that comes too late is refused without a wait, and takes none.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Flow
		pass := func(b Bounds, tries int) (n int) {
			for range tries {
				switch err := f.Enter(b, nil); {
				case err == nil:
					n++
					f.Leave()
				case !errors.Is(err, ErrRate):
					t.Fatal(err)
				}
			}
			return n
		}
		for _, c := range []struct {
			later time.Duration
			want  int
		}{{0, 10}, {50 * time.Millisecond, 0}, {50 * time.Millisecond, 1}, {300 * time.Millisecond, 3}, {time.Hour, 10}} {
			time.Sleep(c.later)
			began := time.Now()
			if got := pass(Of(0, 10, 0), 30); got != c.want || time.Since(began) != 0 {
				t.Errorf("after %v: %d statements within %v, want %d", c.later, got, time.Since(began), c.want)
			}
		}
		began := time.Now()
		if got := pass(Of(0, 10, 250*time.Millisecond), 3); got != 3 || time.Since(began) != 300*time.Millisecond {
			t.Errorf("%d who waited passed, within %v", got, time.Since(began))
		}
		cancel := make(chan struct{})
		close(cancel)
		if err := f.Enter(Of(0, 10, time.Second), cancel); !errors.Is(err, ErrCancelled) || f.running != 0 {
			t.Errorf("cancelled: %v, %d run", err, f.running)
		}
	})
}
