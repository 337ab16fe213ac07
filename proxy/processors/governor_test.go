package processors

import (
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// load is what a governor sees for a while: processors used, threads that wait for one, processors of the machine that idle.
type load struct{ seconds, used, waited, idle float64 }

// see has a governor see it in windows of 50 ms.
func (g *governor) see(l load, cheap bool) {
	var wait, idle time.Duration
	for range int(l.seconds/window.Seconds() + 0.5) {
		wait += time.Duration(l.waited * float64(window))
		idle += time.Duration(l.idle * float64(window))
		if g.window(time.Duration(l.used*float64(window)), window) {
			g.period(wait, idle, cheap)
			wait, idle = 0, 0
		}
	}
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
			{load{4.5, 0.6, 0.5, 0.3}, 1}, {load{0.5, 0.6, 0.5, 0.3}, 2}, {load{2, 0.62, 1.4, 0}, 1}, {load{29, 0.6, 0.5, 0.3}, 1}, {load{2, 0.6, 0.5, 0.3}, 2},
		}},
		"waiting, all in use": {2, 2, true, []stretch{{load{100, 1.45, 1, 1}, 2}}},
		"waiting beside idle ones": {1, 4, true, []stretch{
			{load{0.5, 0.5, 0.5, 0.2}, 2}, {load{30, 0.6, 1, 0}, 2}, {load{2, 0.6, 1, 0}, 1}, {load{0.5, 0.5, 0.5, 0.2}, 2}, {load{0.5, 0.9, 1.1, 0.2}, 3},
		}},
		"all busy, a trial in vain": {1, 4, true, []stretch{{load{5, 0.6, 0.5, 0.01}, 2}, {load{2, 0.6, 0.5, 0.01}, 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGovernor(c.max)
			g.n = c.n
			for k, s := range c.stretches {
				if g.see(s.load, c.cheap); g.n != s.want {
					t.Fatalf("stretch %d, %v: %d processors, want %d", k, s.load, g.n, s.want)
				}
			}
		})
	}
}

// Beside other programs each thread gets half a processor: a trial shows that two get one, and it stays so.
func TestGovernorTrialThatPays(t *testing.T) {
	g := newGovernor(2)
	g.n = 1
	g.see(load{5, 0.5, 0.5, 0}, false)
	if g.n != 2 {
		t.Fatalf("%d processors in the trial", g.n)
	}
	g.see(load{32, 1, 1, 0}, false)
	if g.n != 2 || g.trial > 0 {
		t.Errorf("%d processors after it", g.n)
	}
	g.see(load{4, 0.5, 0, 0}, false) // the others have ended
	if g.n != 1 {
		t.Errorf("%d processors in the end", g.n)
	}
}

// Trials in vain become rare.
func TestGovernorVainTrials(t *testing.T) {
	g := newGovernor(2)
	trials := 0
	for range 7200 {
		was := g.n
		g.see(load{0.5, 0.6, 1.5, 0}, true)
		if g.n == 2 && was == 1 {
			trials++
		}
	}
	if trials < 5 || trials > 12 {
		t.Errorf("%d trials in an hour", trials)
	}
}

// Govern sees the process: it lowers the number while nothing happens, and raises it while all processors calculate.
func TestGovern(t *testing.T) {
	const most = 4
	stop, ended, numbers := make(chan struct{}), make(chan struct{}), make(chan int, 100)
	go func() {
		defer close(ended)
		Govern(most, stop, func() bool { return true }, func(n int) { numbers <- n })
	}()
	for n := most; n != 1; {
		n = <-numbers
	}
	busy := make(chan struct{})
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for {
				select {
				case <-busy:
					return
				default:
				}
			}
		}()
	}
	for n := 1; n == 1; {
		n = <-numbers
	}
	close(busy)
	for n := 2; n != 1; {
		n = <-numbers
	}
	close(stop)
	<-ended
}

// The kernel's figures grow as they should.
func TestUsage(t *testing.T) {
	before := processorTime()
	for began := time.Now(); time.Since(began) < 20*time.Millisecond; {
	}
	if after := processorTime(); after <= before {
		t.Errorf("%v of processor time before, %v after", before, after)
	}
	if runtime.GOOS == "linux" && waitingTime() <= 0 {
		t.Error("no thread has ever waited for a processor")
	}
	if runtime.GOOS == "linux" && idleTime() <= 0 {
		t.Error("no processor has ever been idle")
	}
}
