package processors

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// live has a governor see, for so many seconds, what follows from the number of processors and the time: processors used. changes is
// how often the number was another.
func (g *governor) live(seconds float64, world func(n int, at time.Duration) float64) (changes int) {
	const step = 10 * time.Millisecond
	for at := time.Duration(0); at < time.Duration(seconds*float64(time.Second)+0.5); {
		var used time.Duration
		for end := at + window; at < end; {
			at += step
			used += time.Duration(world(g.n, at) * float64(step))
		}
		n := g.n
		if g.window(used, window); g.n != n {
			changes++
		}
	}
	return changes
}

func TestGovernor(t *testing.T) {
	type stretch struct {
		seconds, used float64
		want          int // at its end
	}
	for name, c := range map[string]struct {
		n, max    int
		stretches []stretch
	}{
		"nothing to do":          {16, 16, []stretch{{1.9, 0, 16}, {0.1, 0, 1}, {100, 0, 1}}},
		"as many as it needs":    {16, 16, []stretch{{2, 2, 3}, {100, 2, 3}}},
		"one does it":            {2, 2, []stretch{{2, 0.65, 1}, {100, 0.65, 1}}},
		"a processor is full":    {1, 16, []stretch{{0.05, 1, 1}, {0.05, 1, 2}}},
		"from one to all":        {1, 16, []stretch{{0.1, 1, 2}, {0.1, 2, 4}, {0.2, 8, 16}, {5, 16, 16}}},
		"a moment is too short":  {1, 2, []stretch{{0.05, 1, 1}, {0.05, 0.5, 1}, {0.05, 1, 1}}},
		"between the two bounds": {2, 4, []stretch{{100, 1.5, 2}}},
		"less for a second":      {4, 4, []stretch{{1, 0.1, 4}, {0.5, 4, 4}, {1.5, 0.1, 4}}},
		"the worst of the time":  {8, 8, []stretch{{1, 2, 8}, {1, 0.1, 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := &governor{n: c.n, max: c.max}
			for k, s := range c.stretches {
				if g.live(s.seconds, func(int, time.Duration) float64 { return s.used }); g.n != s.want {
					t.Fatalf("stretch %d, %v: %d processors, want %d", k, s, g.n, s.want)
				}
			}
		})
	}
}

// TestGovernorPulses has load that comes and goes several times a second: the number follows the worst, and changes seldom.
func TestGovernorPulses(t *testing.T) {
	const ms = time.Millisecond
	pulse := func(used float64, on, of time.Duration) func(n int, at time.Duration) float64 {
		return func(n int, at time.Duration) float64 {
			if at%of < on {
				return min(used, float64(n))
			}
			return 0
		}
	}
	for name, c := range map[string]struct {
		world func(n int, at time.Duration) float64
		most  float64 // processors in the mean
	}{
		"a burst of all":      {pulse(4, 100*ms, 300*ms), 4},
		"a burst of two":      {pulse(2, 100*ms, 300*ms), 2.1},
		"a short one":         {pulse(3, 60*ms, 250*ms), 2},
		"at the bound of use": {pulse(1, 40*ms, 150*ms), 1.5},
	} {
		g := &governor{n: 4, max: 4}
		sum, changes := 0, 0
		for range 120 {
			changes += g.live(1, c.world)
			sum += g.n
		}
		if mean := float64(sum) / 120; changes > 120 || mean > c.most {
			t.Errorf("%s: %d changes in two minutes, %v processors in the mean", name, changes, mean)
		}
	}
}

// TestGovern has Govern see the process: it lowers the number while nothing happens, and raises it while all processors calculate.
func TestGovern(t *testing.T) {
	const most = 4
	stop, ended, numbers := make(chan struct{}), make(chan struct{}), make(chan int, 100)
	go func() {
		defer close(ended)
		Govern(most, stop, func(n int) { numbers <- n })
	}()
	for n := most; n != 1; {
		n = <-numbers
	}
	rest := calculate(t)
	for n := 1; n == 1; {
		n = <-numbers
	}
	rest()
	for n := 2; n != 1; {
		n = <-numbers
	}
	close(stop)
	<-ended
}

// calculate keeps all processors busy until the test calls stop, or ends.
func calculate(t *testing.T) (stop func()) {
	over := make(chan struct{})
	stop = sync.OnceFunc(func() { close(over) })
	t.Cleanup(stop)
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for {
				select {
				case <-over:
					return
				default:
				}
			}
		}()
	}
	return stop
}

// TestTime has the process calculate: its time grows.
func TestTime(t *testing.T) {
	before := Time()
	for began := time.Now(); time.Since(began) < 20*time.Millisecond; {
	}
	if after := Time(); after <= before {
		t.Errorf("%v of processor time before, %v after", before, after)
	}
}
