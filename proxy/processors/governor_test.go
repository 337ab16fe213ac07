package processors

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// load is what a governor sees for a while: processors used, threads that wait for one, processors of the machine that idle.
type load struct{ seconds, used, waited, idle float64 }

// watched is a governor with what the kernel says.
type watched struct {
	*governor
	waited, idle time.Duration // in all
	periods      int           // that ended or began
	changes      int
}

// see has a governor see it.
func (g *watched) see(l load, cheap bool) {
	g.live(l.seconds, cheap, func(int, time.Duration) load { return l })
}

// live has a governor see what follows from the number of processors and the time, in windows as Govern makes them; at any time
// within a window it is as at its end.
func (g *watched) live(seconds float64, cheap bool, world func(n int, at time.Duration) load) {
	for at := time.Duration(0); at < time.Duration(seconds*float64(time.Second)+0.5); {
		took := window
		if g.calm > 0 {
			took = idleWindow
		}
		var used time.Duration
		const step = 10 * time.Millisecond
		for end := at + took; at < end; {
			at += step
			l := world(g.n, at)
			used += time.Duration(l.used * float64(step))
			g.waited += time.Duration(l.waited * float64(step))
			g.idle += time.Duration(l.idle * float64(step))
		}
		n := g.n
		g.look(used, took, func() (waited, idle time.Duration, ok bool) { return g.waited, g.idle, true }, func() bool { return cheap }, func(int) { g.periods++ })
		if g.n != n {
			g.changes++
		}
	}
}

func governorOf(n, max int) *watched {
	g := newGovernor(max)
	g.n, g.machine, g.known = n, 2, true
	return &watched{governor: g}
}

func TestGovernor(t *testing.T) {
	type stretch struct {
		load
		want int // at its end
	}
	for name, c := range map[string]struct {
		n, max    int
		cheap     bool
		stretches []stretch
	}{
		"nothing to do":          {16, 16, true, []stretch{{load{1.9, 0, 0, 8}, 16}, {load{0.1, 0, 0, 8}, 1}, {load{100, 0, 0, 8}, 1}}},
		"as many as it needs":    {16, 16, false, []stretch{{load{2, 2, 0, 0}, 3}, {load{100, 2, 0, 0}, 3}}},
		"one does it":            {2, 2, true, []stretch{{load{2, 0.65, 0, 0.2}, 1}, {load{100, 0.65, 0.1, 0.2}, 1}}},
		"a processor is full":    {1, 16, false, []stretch{{load{0.05, 1, 0, 0}, 1}, {load{0.05, 1, 0, 0}, 2}}},
		"from one to all":        {1, 16, false, []stretch{{load{0.1, 1, 0, 0}, 2}, {load{0.1, 2, 0, 0}, 4}, {load{0.2, 8, 0, 0}, 16}, {load{5, 16, 3, 0}, 16}}},
		"a moment is too short":  {1, 2, false, []stretch{{load{0.05, 1, 0, 0}, 1}, {load{0.05, 0.5, 0, 0}, 1}, {load{0.05, 1, 0, 0}, 1}}},
		"between the two bounds": {2, 4, true, []stretch{{load{100, 1.5, 0.1, 2}, 2}}},
		"less for a second":      {4, 4, false, []stretch{{load{1, 0.1, 0, 3}, 4}, {load{0.5, 4, 0, 0}, 4}, {load{1.5, 0.1, 0, 3}, 4}}},
		"the worst of the time":  {8, 8, false, []stretch{{load{1, 2, 0, 3}, 8}, {load{1, 0.1, 0, 3}, 3}}},
		"a trial in vain": {1, 8, false, []stretch{
			{load{4.5, 0.6, 0.5, 0.3}, 1}, {load{0.5, 0.6, 0.5, 0.3}, 2}, {load{2, 0.62, 1.4, 0}, 1}, {load{9, 0.6, 0.5, 0.3}, 1}, {load{1, 0.6, 0.5, 0.3}, 2},
		}},
		"waiting beside idle ones": {1, 4, true, []stretch{{load{0.5, 0.5, 0.5, 0.2}, 2}, {load{4, 0.6, 1.4, 0}, 2}, {load{0.7, 0.9, 1.1, 0.2}, 3}}},
		"a load from nothing":      {1, 2, true, []stretch{{load{10, 0.02, 0, 1.9}, 1}, {load{0.2, 0.6, 0.5, 0.3}, 2}, {load{4, 0.6, 1.4, 0}, 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := governorOf(c.n, c.max)
			for k, s := range c.stretches {
				if g.see(s.load, c.cheap); g.n != s.want {
					t.Fatalf("stretch %d, %v: %d processors, want %d", k, s.load, g.n, s.want)
				}
			}
		})
	}
}

// Worlds in which the use follows from the number: it settles where it should, and does not change often.
func TestGovernorSettles(t *testing.T) {
	// Each thread is always ready to run and gets a share of a processor beside other programs.
	shared := func(share float64) func(n int, at time.Duration) load {
		return func(n int, _ time.Duration) load {
			return load{used: share * float64(n), waited: (1 - share) * float64(n)}
		}
	}
	// Client, proxy and server keep two processors busy together; a second processor for the proxy does hardly more.
	together := func(idle float64) func(n int, at time.Duration) load {
		return func(n int, _ time.Duration) load {
			if n == 1 {
				return load{used: 0.6, waited: 0.45, idle: idle}
			}
			return load{used: 0.66, waited: 1.4}
		}
	}
	for name, c := range map[string]struct {
		n, max    int
		cheap     bool
		world     func(n int, at time.Duration) load
		low, high float64 // bounds of the mean number
	}{
		"a third of 16":               {16, 16, false, shared(0.3), 14, 16},
		"a third of 16, from one":     {1, 16, false, shared(0.3), 14, 16},
		"a third of 16 in the lane":   {16, 16, true, shared(0.3), 14, 16},
		"half of two, from one":       {1, 2, false, shared(0.5), 1.8, 2},
		"half of eight":               {8, 8, false, shared(0.5), 7.4, 8},
		"together, from two":          {2, 2, false, together(0), 1, 1.1},
		"together, idle":              {2, 2, false, together(0.28), 1, 1.1},
		"together in the lane":        {2, 2, true, together(0), 1, 1.1},
		"together in the lane, idle":  {1, 2, true, together(0.28), 1.9, 2},
		"together in the lane, idle2": {2, 2, true, together(0.28), 1.9, 2},
	} {
		t.Run(name, func(t *testing.T) {
			g := governorOf(c.n, c.max)
			g.live(120, c.cheap, c.world)
			const hour = 3600 * 2 // in periods
			sum, changes := 0, 0
			for range hour {
				was := g.n
				g.live(period.Seconds(), c.cheap, c.world)
				if sum += g.n; g.n != was {
					changes++
				}
			}
			if mean := float64(sum) / hour; mean < c.low || mean > c.high {
				t.Errorf("%.2f processors in the mean, want %v to %v", mean, c.low, c.high)
			}
			if changes > 60 {
				t.Errorf("%d changes in an hour", changes)
			}
		})
	}
}

// Load that comes and goes several times a second is no new load each time.
func TestGovernorPulses(t *testing.T) {
	pulse := func(used float64, on, of time.Duration) func(n int, at time.Duration) load {
		return func(n int, at time.Duration) load {
			if at%of < on {
				return load{used: min(used, float64(n))}
			}
			return load{idle: 2}
		}
	}
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		world   func(n int, at time.Duration) load
		changes int // in two minutes, at most
		mean    float64
	}{
		"a burst of all":      {pulse(4, 100*ms, 300*ms), 40, 4},
		"a burst of two":      {pulse(2, 100*ms, 300*ms), 40, 2.1},
		"a short one":         {pulse(3, 60*ms, 250*ms), 40, 2},
		"at the bound of use": {pulse(1, 40*ms, 150*ms), 40, 1.5},
	} {
		g := governorOf(4, 4)
		sum := 0
		for range 120 {
			g.live(1, true, c.world)
			sum += g.n
		}
		if g.changes > c.changes || g.periods < 120 || g.periods > 500 || float64(sum)/120 > c.mean {
			t.Errorf("%s: %d changes, %d periods, %v processors in the mean", name, g.changes, g.periods, float64(sum)/120)
		}
	}
}

// When those who took the processors have ended, fewer are enough.
func TestGovernorAfterContention(t *testing.T) {
	g := governorOf(1, 2)
	g.see(load{5, 0.5, 0.5, 0}, false)
	g.see(load{30, 1, 1, 0}, false)
	if g.n != 2 {
		t.Fatalf("%d processors", g.n)
	}
	if g.see(load{4, 0.5, 0, 0}, false); g.n != 1 {
		t.Errorf("%d processors in the end", g.n)
	}
}

// noPolls is of a process that never looks for something to do.
func noPolls() (took, used time.Duration) { return 0, 0 }

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

// Govern sees the process: it lowers the number while nothing happens, and raises it while all processors calculate.
func TestGovern(t *testing.T) {
	const most = 4
	stop, ended, numbers := make(chan struct{}), make(chan struct{}), make(chan int, 100)
	go func() {
		defer close(ended)
		Govern(most, stop, noPolls, func() bool { return true }, func(n int) { numbers <- n })
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

// What threads use to look for something to do, and wait meanwhile, needs no further processor.
func TestGovernPolls(t *testing.T) {
	stop, ended, numbers := make(chan struct{}), make(chan struct{}), make(chan int, 100)
	go func() {
		defer close(ended)
		polls := func() (took, used time.Duration) {
			waited, _, _ := pressure()
			return Time() + waited, Time()
		}
		Govern(4, stop, polls, func() bool { return false }, func(n int) { numbers <- n })
	}()
	for n := 4; n != 1; {
		n = <-numbers
	}
	calculate(t)
	for range 3 { // half a second each
		if n := <-numbers; n != 1 {
			t.Errorf("%d processors", n)
		}
	}
	close(stop)
	<-ended
}

// The kernel's figures grow as they should.
func TestUsage(t *testing.T) {
	before := Time()
	for began := time.Now(); time.Since(began) < 20*time.Millisecond; {
	}
	if after := Time(); after <= before {
		t.Errorf("%v of processor time before, %v after", before, after)
	}
	if runtime.GOOS != "linux" {
		return
	}
	waited, idle, ok := pressure()
	if !ok || waited < 0 || idle < 0 {
		t.Fatalf("pressure: %v, %v, %v", waited, idle, ok)
	}
	// More threads that calculate than processors: some wait.
	stop := make(chan struct{})
	defer close(stop)
	n := 2 * runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	for range n {
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
			}
		}()
	}
	for more := waited; more < waited+20*time.Millisecond; time.Sleep(10 * time.Millisecond) {
		if more, _, ok = pressure(); !ok {
			t.Fatal("no figures")
		}
	}
}
