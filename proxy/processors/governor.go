package processors

import (
	"math"
	"runtime"
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
	// A period is what all else is decided by. The first one of a load that comes after a calm one is short: that it has too few processors
	// shows soon.
	period      = 500 * time.Millisecond
	firstPeriod = 100 * time.Millisecond
	// Fewer processors are enough if in each of lowPeriods the use fitted into filledUse of them.
	lowPeriods = 4
	filledUse  = 0.7
	// Threads that used processors or were ready to run for shortUse of the time of all that the process has want more than they get:
	// the use says nothing then.
	shortUse = 0.95
	// idleShare of the machine's processors, and idleTicks of the clock by which the kernel counts it, have nothing to run meanwhile: then
	// the process has one more.
	idleShare = 0.05
	idleTicks = 2
	tick      = 10 * time.Millisecond // USER_HZ is 100 on every Linux that Go runs on
	// Else, after shortPeriods of it in a row, a trial of trialPeriods shows whether another number is better. It is if the use becomes what
	// gainShare of the difference in processors would make it. After a trial comes none for patienceMin periods, twice as many after each that
	// changed nothing, up to patienceMax.
	shortPeriods = 10
	trialPeriods = 4
	gainShare    = 0.5
	patienceMin  = 20
	patienceMax  = 960
)

// Govern calls use with the number of processors that the process is to have, 1 to max, when it changes, when a load begins and at the
// end of each period, some half second, until stop is closed. At the beginning it has max. Where cheap tells that one more costs
// little, it is had for the little that idle processors would add. Polled is how long threads have looked for something to do so far, and
// for how much of that they had a processor: neither that nor the rest, in which they let others go first, is use.
func Govern(max int, stop <-chan struct{}, polled func() (took, used time.Duration), cheap func() bool, use func(n int)) {
	worked := func() time.Duration {
		total := Time()
		_, vain := polled()
		return total - vain
	}
	pressure := func() (waited, idle time.Duration, ok bool) {
		waited, idle, ok = pressure()
		took, used := polled()
		return waited - (took - used), idle + used, ok
	}
	g := newGovernor(max)
	g.waited, g.idle, g.known = pressure()
	timer := time.NewTimer(window)
	defer timer.Stop()
	began, used := time.Now(), worked()
	for {
		select {
		case <-stop:
			return
		case <-timer.C:
		}
		now, total := time.Now(), worked()
		g.look(total-used, now.Sub(began), pressure, cheap, use)
		began, used = now, total
		if g.calm == 0 {
			timer.Reset(window)
		} else {
			timer.Reset(idleWindow)
		}
	}
}

// governor decides. Its times are processor time, unless they are said to be others.
type governor struct {
	n, max  int
	machine int           // processors of the machine
	full    int           // windows in a row that were full
	calm    time.Duration // since when less than idleUse is used
	first   bool          // the period is the first of a load
	used    time.Duration // in the period
	took    time.Duration // of the period, by the clock
	waited  time.Duration // pressure at its begin
	idle    time.Duration
	known   bool
	low     int // periods in a row that fewer processors would have done for
	fit     int // as many in the worst of them

	short    int     // periods in a row in which threads wanted more than they got
	use      float64 // the sum of processors used in them
	hold     int     // periods until there may be a trial
	patience int     // hold after the next trial that changes nothing
	up       bool    // the last trial was one of more
	from     int     // processors before the trial under way; 0: there is none
	before   float64 // used before it
	left     int     // periods of it
	idled    bool    // processors of the machine idled in one of them
}

func newGovernor(max int) *governor {
	return &governor{n: max, max: max, machine: runtime.NumCPU(), patience: patienceMin}
}

// look takes what was used in a window and how long that was.
func (g *governor) look(used, took time.Duration, pressure func() (waited, idle time.Duration, ok bool), cheap func() bool, use func(n int)) {
	n := g.n
	over, begins := g.window(used, took)
	if over || begins {
		waited, idle, ok := pressure()
		if over && g.known && ok {
			g.period(waited-g.waited, idle-g.idle, cheap())
		}
		g.used, g.took, g.first = 0, 0, begins
		g.waited, g.idle, g.known = waited, idle, ok
	}
	if over || begins || g.n != n {
		use(g.n)
	}
}

// window tells whether a period is over with a window, or a load begins, and with it a period.
func (g *governor) window(used, took time.Duration) (over, begins bool) {
	g.used += used
	g.took += took
	if g.calm > 0 || float64(used) <= fullUse*float64(g.n)*float64(took) {
		g.full = 0
	} else if g.full++; g.full >= fullWindows && g.n < g.max {
		g.set(min(2*g.n, g.max))
	}
	if float64(used) < idleUse*float64(took) {
		g.calm += took
	} else {
		begins = g.calm >= period
		g.calm = 0
	}
	return !begins && (g.took >= period || g.first && g.took >= firstPeriod), begins
}

// set sets the number, with what was seen of another one forgotten.
func (g *governor) set(n int) { g.n, g.full, g.low, g.short, g.use, g.from = n, 0, 0, 0, 0, 0 }

// period takes a period's end; waited is how long threads were ready to run in it but did not, idle how long processors of the machine
// had nothing to run, cheap that one more costs little.
func (g *governor) period(waited, idle time.Duration, cheap bool) {
	took := float64(g.took)
	use, wanted := float64(g.used)/took, float64(g.used+max(waited, 0))/took
	idles := cheap && idle >= idleTicks*tick && float64(idle) >= idleShare*float64(g.machine)*took
	if g.first {
		// It is short, and says enough for one thing only.
		if g.from == 0 && wanted >= shortUse*float64(g.n) && idles && g.n < g.max {
			g.set(g.n + 1)
		}
		return
	}
	g.hold = max(g.hold-1, 0)
	if g.from > 0 {
		g.judge(use, idles)
		return
	}
	fit := max(1, int(math.Ceil(use/filledUse)))
	if wanted < shortUse*float64(g.n) {
		g.short, g.use = 0, 0
		g.fewer(fit)
		return
	}
	g.low = 0
	g.short++
	g.use += use
	switch {
	case idles && g.n < g.max:
		g.set(g.n + 1)
	case g.short >= shortPeriods && g.hold == 0:
		g.try(fit)
	}
}

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

// try begins a trial: of more and of fewer processors in turn, where there can be both.
func (g *governor) try(fit int) {
	from, before := g.n, g.use/float64(g.short)
	up := g.n < g.max && (!g.up || fit >= g.n)
	switch {
	case up:
		g.set(min(g.n+max(1, g.n/2), g.max))
	case fit < g.n:
		g.set(fit)
	default:
		return
	}
	g.up, g.from, g.before, g.left, g.idled = up, from, before, trialPeriods, false
}

// judge takes a period of a trial.
func (g *governor) judge(use float64, idles bool) {
	g.use += use
	g.idled = g.idled || idles
	if g.left--; g.left > 0 {
		return
	}
	gain := float64(g.n)/float64(g.from) - 1 // of free processors
	if g.use/trialPeriods >= g.before*(1+gainShare*gain) && (g.n > g.from || !g.idled) {
		g.set(g.n)
		g.hold, g.patience = 0, patienceMin
		return
	}
	g.set(g.from)
	g.hold, g.patience = g.patience, min(2*g.patience, patienceMax)
}
