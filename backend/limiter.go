package backend

import (
	"math"
	"time"
)

const (
	// limitStart is the first limit, or the least if that is more.
	limitStart = 16
	// crowdedBy is how many times as long as alone statements may take. A server that is so slow because they wait for each other has three times as many as it
	// can serve at a time: half of them are more than enough to keep it busy.
	crowdedBy = 3
	// renewAfter is after how many windows it is learned anew what statements take alone.
	renewAfter = 120
)

// limiter finds how many statements a server serves best at a time, from what they take. The limit grows by its square root while somebody waits, and is halved
// once statements take three times as long as they do alone: additive increase and multiplicative decrease, as TCP has them (Chiu and Jain, "Analysis of the
// increase and decrease algorithms", 1989), with latency for lost packets (Brakmo and Peterson, "TCP Vegas", 1995).
//
// Whether they take long because of each other is tried rather than guessed: if they take as long with half as many, they are slow by themselves, and the limit is
// as it was; twice, and that is what they take alone. For the same reason it is lowered at first and now and then where many wait, as BBR does to learn of a path ("BBR:
// congestion-based congestion control", 2016), since what was learned under load is too much.
type limiter struct {
	least, most int // bounds of the limit
	limit       int
	alone       time.Duration // what statements take where they do not wait for each other; 0: not known
	age         int           // windows since that was learned
	crowded     bool          // they have taken too long once: the limit is not doubled any more
	tried       window        // that the limit was lowered after, of the limit that it had; no limit: it was not
	doubted     bool          // the last trial has found that alone they take much more than was known
}

// window is what was seen of a server for some time.
type window struct {
	took   time.Duration // by its statements; 0: they were too few to tell
	lent   int           // connections at a time, at the most
	waited bool          // somebody did
	limit  int           // in its time
}

func newLimiter(least, most int) limiter {
	return limiter{least: least, most: most, limit: min(max(least, limitStart), most), age: renewAfter}
}

// next sets the limit after a window.
func (l *limiter) next(w window) {
	w.limit = l.limit
	l.age++
	if l.tried.limit > 0 {
		l.judge(w)
		return
	}
	if w.took > 0 && (l.alone == 0 || w.took < l.alone) {
		if l.alone == 0 {
			l.alone = w.took
		}
		l.alone -= (l.alone - w.took) / 4 // a window may be an exception
	}
	used := w.waited && w.lent >= l.limit
	switch {
	case w.took > crowdedBy*l.alone && 2*w.lent >= l.limit:
		l.crowded = true
		l.lower(w)
	case w.took > 0 && used && l.age >= renewAfter:
		l.lower(w)
	case used && l.crowded:
		l.limit += int(math.Sqrt(float64(l.limit)))
	case used:
		l.limit *= 2
	}
	l.limit = min(l.limit, l.most)
}

// lower halves the limit, for a trial.
func (l *limiter) lower(w window) {
	used := min(l.limit, w.lent)
	if used/2 < l.least {
		l.alone, l.age = w.took, 0 // it can be tried no further
		return
	}
	l.limit, l.tried = used/2, w
}

// judge ends a trial.
func (l *limiter) judge(w window) {
	tried := l.tried
	l.tried = window{}
	switch {
	case w.took == 0:
		l.limit = tried.limit
	case tried.took < w.took+w.took/4:
		l.limit = tried.limit
		if !l.doubted && w.took > crowdedBy*l.alone {
			l.doubted = true // a server that became slow just then looks the same, once
			return
		}
		l.alone, l.age, l.doubted = w.took, 0, false
	default:
		l.alone, l.doubted = min(l.alone, w.took), false
		if l.age >= renewAfter {
			l.lower(w)
		}
	}
}
