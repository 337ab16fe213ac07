package processors

import (
	"math"
	"time"
)

const (
	// window is how often the use is looked at, and idleWindow while less than idleUse of a processor is used.
	window     = 50 * time.Millisecond
	idleWindow = 100 * time.Millisecond
	idleUse    = 0.3
	// fullUse of the processors in each of fullWindows: more of them are needed.
	fullUse     = 0.85
	fullWindows = 2
	// Fewer processors are enough if in each of lowPeriods, each of them a period long, the use fitted into filledUse of them.
	period     = 500 * time.Millisecond
	lowPeriods = 4
	filledUse  = 0.7
)

// Govern calls use with the number of processors that the process is to have, 1 to max, when it changes and at the end of each period,
// some half second, until stop is closed. At the beginning it has max, and where the system does not tell what it uses for all the time.
func Govern(max int, stop <-chan struct{}, use func(n int)) {
	if Time() == 0 {
		<-stop
		return
	}
	g := governor{n: max, max: max}
	timer := time.NewTimer(window)
	defer timer.Stop()
	began, used := time.Now(), Time()
	for {
		select {
		case <-stop:
			return
		case <-timer.C:
		}
		now, total := time.Now(), Time()
		n := g.n
		if over := g.window(total-used, now.Sub(began)); over || g.n != n {
			use(g.n)
		}
		if float64(total-used) < idleUse*float64(now.Sub(began)) {
			timer.Reset(idleWindow)
		} else {
			timer.Reset(window)
		}
		began, used = now, total
	}
}

// governor decides how many processors are used: twice as many as soon as those that there are have been full for two windows, fewer
// once two seconds of use fitted into fewer. The worst of these seconds counts.
type governor struct {
	n, max int
	full   int           // windows in a row that were full
	used   time.Duration // processor time, in the period
	took   time.Duration // of the period, by the clock
	low    int           // periods in a row that fewer processors would have done for
	fit    int           // as many in the worst of them
}

// window takes what was used in a window and how long that was, and reports whether a period is over with it.
func (g *governor) window(used, took time.Duration) (over bool) {
	g.used += used
	g.took += took
	if float64(used) <= fullUse*float64(g.n)*float64(took) {
		g.full = 0
	} else if g.full++; g.full >= fullWindows && g.n < g.max {
		g.set(min(2*g.n, g.max))
	}
	if g.took < period {
		return false
	}
	g.fewer(max(1, int(math.Ceil(float64(g.used)/float64(g.took)/filledUse))))
	g.used, g.took = 0, 0
	return true
}

// set sets the number, with what was seen of another one forgotten.
func (g *governor) set(n int) { g.n, g.full, g.low = n, 0, 0 }

// fewer takes a period for which fit processors would have done.
func (g *governor) fewer(fit int) {
	if fit >= g.n {
		g.low = 0
		return
	}
	if g.low == 0 {
		g.fit = 0
	}
	g.low++
	if g.fit = max(g.fit, fit); g.low >= lowPeriods {
		g.set(g.fit)
	}
}
