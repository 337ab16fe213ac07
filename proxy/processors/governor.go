package processors

import (
	"math"
	"time"
)

const (
	// window is how often the use is looked at, and idleWindow while less than idleUse of a processor is used.
	window     = 50 * time.Millisecond
	idleWindow = 250 * time.Millisecond
	idleUse    = 0.3
	// fullUse of the processors in each of fullWindows: more of them are needed.
	fullUse     = 0.85
	fullWindows = 2
	// Fewer processors are enough if in each of lowPeriods the use fitted into filledUse of them.
	period     = 500 * time.Millisecond
	lowPeriods = 4
	filledUse  = 0.7
	// Threads that used processors or were ready to run for wantUse of the time of all that the process has want more than they get.
	wantUse = 0.95
	// idleLeft of the machine's processors have nothing to run meanwhile: then the process has one more, for keepPeriods at least.
	idleLeft    = 0.1
	keepPeriods = 60
	// Else, after wantPeriods of that in a row, a trial of trialPeriods shows whether it gets one more. It succeeds with gainShare of the gain that a free processor would give;
	// else the next one comes after patienceMin periods, twice as many after each failure, up to patienceMax.
	wantPeriods  = 10
	trialPeriods = 4
	gainShare    = 0.5
	patienceMin  = 60
	patienceMax  = 960
)

// Govern calls use with the number of processors that the process is to have, 1 to max, each time that it changes and at the end of
// each period, some half second, until stop is closed. At the beginning it has max. Where cheap tells that one more costs little, it is had
// for the little that idle processors would add.
func Govern(max int, stop <-chan struct{}, cheap func() bool, use func(n int)) {
	g := newGovernor(max)
	timer := time.NewTimer(window)
	defer timer.Stop()
	began, used := time.Now(), processorTime()
	waited, idle := waitingTime(), idleTime()
	for {
		select {
		case <-stop:
			return
		case <-timer.C:
		}
		now, total := time.Now(), processorTime()
		took := now.Sub(began)
		n := g.n
		over := g.window(total-used, took)
		if over {
			w, i := waitingTime(), idleTime()
			g.period(w-waited, i-idle, cheap())
			waited, idle = w, i
		}
		if over || g.n != n {
			use(g.n)
		}
		next := window
		if total-used < time.Duration(idleUse*float64(took)) {
			next = idleWindow
		}
		began, used = now, total
		timer.Reset(next)
	}
}

// governor decides. Its times are processor time, unless they are said to be others.
type governor struct {
	n, max int
	full   int           // windows in a row that were full
	used   time.Duration // in the period
	took   time.Duration // of the period, by the clock
	low    int           // periods in a row that fewer processors would have done for
	fit    int           // as many in the worst of them

	keep     int     // periods for which there are not to be fewer
	hold     int     // periods until there may be a trial
	want     int     // periods in a row in which threads wanted more than they got
	patience int     // hold after the next failure
	trial    int     // periods left of a trial
	before   float64 // processors used before it
	tried    float64 // the sum of those used in its periods
}

func newGovernor(max int) *governor { return &governor{n: max, max: max, patience: patienceMin} }

// window takes what was used in a window and how long that was; true when a period is over.
func (g *governor) window(used, took time.Duration) (over bool) {
	g.used += used
	g.took += took
	if float64(used) <= fullUse*float64(g.n)*float64(took) {
		g.full = 0
	} else if g.full++; g.full >= fullWindows && g.n < g.max {
		g.n = min(2*g.n, g.max)
		g.full, g.low, g.trial = 0, 0, 0
	}
	return g.took >= period
}

// period takes a period's end; waited is how long threads were ready to run in it but did not, idle how long processors of the machine
// had nothing to run, cheap that one more costs little.
func (g *governor) period(waited, idle time.Duration, cheap bool) {
	took := float64(g.took)
	use, wanted := float64(g.used)/took, float64(g.used+max(waited, 0))/took
	g.used, g.took = 0, 0
	wants := g.n < g.max && wanted >= wantUse*float64(g.n)
	if g.want++; !wants {
		g.want = 0
	}
	switch {
	case g.trial > 0:
		g.judge(use)
	case wants && cheap && float64(idle) >= idleLeft*took:
		g.n++
		g.keep, g.low = keepPeriods, 0
	case g.keep > 0:
		g.keep--
	case g.fewer(use):
		g.n, g.low = g.fit, 0
	case g.hold > 0:
		g.hold--
	case g.want >= wantPeriods:
		g.n++
		g.trial, g.before, g.tried = trialPeriods, use, 0
	}
}

// fewer tells whether fewer processors have been enough for long: fit.
func (g *governor) fewer(use float64) bool {
	fit := max(1, int(math.Ceil(use/filledUse)))
	if fit >= g.n {
		g.low = 0
		return false
	}
	if g.low == 0 {
		g.fit = 0
	}
	g.low++
	g.fit = max(g.fit, fit)
	return g.low >= lowPeriods
}

// judge takes a period of a trial.
func (g *governor) judge(use float64) {
	g.tried += use
	if g.trial--; g.trial > 0 {
		return
	}
	if g.tried/trialPeriods >= g.before*(1+gainShare/float64(g.n-1)) {
		g.keep, g.low, g.patience = keepPeriods, 0, patienceMin
		return
	}
	g.n--
	g.hold, g.patience = g.patience, min(2*g.patience, patienceMax)
}
