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
	// period is how long the use must have fitted into fewer processors, filledUse of them, before there are fewer.
	period    = 2 * time.Second
	filledUse = 0.7
	// Of a trial. Threads that were ready to run for wantUse of the time of all processors want more than they get. A trial succeeds with
	// gainShare of the gain that free processors would give; then it holds for keepPeriods. Else the next one comes after
	// patienceMin periods, twice as many after each failure, up to patienceMax.
	wantUse     = 0.95
	gainShare   = 0.5
	keepPeriods = 15
	patienceMin = 15
	patienceMax = 240
)

// Govern calls use with the number of processors that the process is to have, 1 to max, each time that it changes, until stop is
// closed. At the beginning it has max.
func Govern(max int, stop <-chan struct{}, use func(n int)) {
	if max <= 1 {
		return
	}
	g := governor{n: max, max: max, patience: patienceMin}
	timer := time.NewTimer(window)
	defer timer.Stop()
	began, used := time.Now(), processorTime()
	waited := waitingTime()
	for {
		select {
		case <-stop:
			return
		case <-timer.C:
		}
		now, total := time.Now(), processorTime()
		took := now.Sub(began)
		n := g.n
		if over := g.window(total-used, took); over {
			w := waitingTime()
			g.period(w - waited)
			waited = w
		}
		if g.n != n {
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

	trying   bool    // one processor more is on trial
	before   float64 // processors used before it
	keep     int     // periods for which the last trial's success holds
	hold     int     // periods until there may be another trial
	patience int     // hold after the next failure
}

// window takes what was used in a window and how long that was; true when a period is over.
func (g *governor) window(used, took time.Duration) (over bool) {
	g.used += used
	g.took += took
	if float64(used) <= fullUse*float64(g.n)*float64(took) {
		g.full = 0
	} else if g.full++; g.full >= fullWindows && g.n < g.max {
		g.n = min(2*g.n, g.max)
		g.full, g.used, g.took, g.trying = 0, 0, 0, false
	}
	return g.took >= period
}

// period takes a period's end; waited is how long threads were ready to run in it, but did not.
func (g *governor) period(waited time.Duration) {
	use := float64(g.used) / float64(g.took)
	wanted := float64(g.used+max(waited, 0)) / float64(g.took)
	fit := max(1, int(math.Ceil(use/filledUse)))
	g.used, g.took = 0, 0
	switch {
	case g.trying:
		g.trying = false
		if use >= g.before*(1+gainShare/float64(g.n-1)) {
			g.keep, g.patience = keepPeriods, patienceMin
			return
		}
		g.n--
		g.hold, g.patience = g.patience, min(2*g.patience, patienceMax)
	case g.keep > 0:
		g.keep--
	case fit < g.n:
		g.n = fit
	case g.hold > 0:
		g.hold--
	case g.n < g.max && wanted >= wantUse*float64(g.n):
		g.trying, g.before = true, use
		g.n++
	}
}
