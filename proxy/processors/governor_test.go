package processors

import (
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seconds has a governor see windows of 50 ms in which so many processors were used and threads waited for so many more.
func (g *governor) seconds(seconds, used, waited float64) {
	var wait time.Duration
	for range int(seconds / window.Seconds()) {
		wait += time.Duration(waited * float64(window))
		if g.window(time.Duration(used*float64(window)), window) {
			g.period(wait)
			wait = 0
		}
	}
}

func newGovernor(n, max int) *governor { return &governor{n: n, max: max, patience: patienceMin} }

func TestGovernor(t *testing.T) {
	type stretch struct {
		seconds, used, waited float64
		want                  int // at its end
	}
	for name, c := range map[string]struct {
		n, max    int
		stretches []stretch
	}{
		"nothing to do":            {16, 16, []stretch{{2.1, 0, 0, 1}, {100, 0, 0, 1}}},
		"as many as it needs":      {16, 16, []stretch{{2.1, 2, 0, 3}, {100, 2, 0, 3}}},
		"one does it":              {2, 2, []stretch{{2.1, 0.65, 0, 1}, {100, 0.65, 0.1, 1}}},
		"a processor is full":      {1, 16, []stretch{{0.05, 1, 0, 1}, {0.05, 1, 0, 2}}},
		"from one to all":          {1, 16, []stretch{{0.1, 1, 0, 2}, {0.1, 2, 0, 4}, {0.1, 4, 0, 8}, {0.1, 8, 0, 16}, {5, 16, 3, 16}}},
		"a moment is not enough":   {1, 2, []stretch{{0.05, 1, 0, 1}, {0.05, 0.5, 0, 1}, {0.05, 1, 0, 1}, {0.05, 0.5, 0, 1}}},
		"between the two bounds":   {2, 4, []stretch{{100, 1.5, 0, 2}}},
		"less for a second":        {4, 4, []stretch{{1, 0.1, 0, 4}, {0.1, 4, 0, 4}}},
		"others have them, vainly": {1, 8, []stretch{{2.05, 0.6, 0.5, 2}, {2, 0.62, 1.4, 1}, {29, 0.6, 0.5, 1}, {4, 0.6, 0.5, 2}}},
		"waiting, all in use":      {2, 2, []stretch{{100, 1.45, 1, 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGovernor(c.n, c.max)
			for k, s := range c.stretches {
				if g.seconds(s.seconds, s.used, s.waited); g.n != s.want {
					t.Fatalf("stretch %d, %v: %d processors, want %d", k, s, g.n, s.want)
				}
			}
		})
	}
}

// Beside other programs each thread gets half a processor: a trial shows that two get one, and it stays so.
func TestGovernorTrialThatPays(t *testing.T) {
	g := newGovernor(1, 2)
	g.seconds(2.05, 0.5, 0.5)
	if g.n != 2 {
		t.Fatalf("%d processors in the trial", g.n)
	}
	g.seconds(2, 1, 1)
	g.seconds(28, 1, 1)
	if g.n != 2 || g.trying {
		t.Errorf("%d processors after it", g.n)
	}
	g.seconds(40, 0.5, 0) // the others have ended
	if g.n != 1 {
		t.Errorf("%d processors in the end", g.n)
	}
}

// Trials in vain become rare.
func TestGovernorVainTrials(t *testing.T) {
	g := newGovernor(1, 2)
	trials := 0
	for range 1800 {
		was := g.n
		g.seconds(2, 0.6, 1.5)
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
		Govern(most, stop, func(n int) { numbers <- n })
	}()
	if n := <-numbers; n != 1 {
		t.Errorf("idle: %d processors", n)
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

// One processor needs nobody who watches it.
func TestGovernOne(t *testing.T) { Govern(1, nil, nil) }

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
}
