package account

import (
	"math"
	"sync/atomic"
	"time"

	"kingshard/config"
)

// Limit is one of a user's limits.
type Limit uint8

// The limits.
const (
	LimitConns Limit = iota
	LimitConcurrent
	LimitQPS
	LimitRows
	LimitBytes
	limitsCount
)

// String gives the key of the configuration.
func (l Limit) String() string {
	return [...]string{"max_conns", "max_concurrent", "max_qps", "max_rows", "max_bytes"}[l]
}

// limits are those of one user's statements; 0: none.
type limits struct {
	concurrent int64
	interval   time.Duration // between two statements in the long run
	time       time.Duration // of one statement
	// Of the rows that answer one statement.
	rows, bytes uint64
}

func limitsOf(u *config.User) limits {
	l := limits{
		concurrent: int64(u.MaxConcurrent), time: time.Duration(u.MaxSeconds) * time.Second, rows: uint64(u.MaxRows), bytes: uint64(u.MaxBytes),
	}
	if u.MaxQPS > 0 {
		l.interval = time.Second / time.Duration(u.MaxQPS)
	}
	return l
}

// load is what a user's statements do now and did; it is handed on from account to account at a reload.
type load struct {
	running atomic.Int64
	// due is when the next statement would come if all so far had come at even intervals, in nanoseconds since load's epoch.
	due     atomic.Int64
	refused [limitsCount]atomic.Uint64
	tallies tallies
}

// epoch is what due counts from: differences to it do not follow changes of the clock.
var epoch = time.Now()

// burst is how far statements may run ahead of their even intervals.
const burst = time.Second

// Limited tells whether the user's statements have limits, so that Begin must be asked.
func (a *Account) Limited() bool { return a.limits != limits{} }

// MaxTime is the longest that a statement may take; 0: no limit.
func (a *Account) MaxTime() time.Duration { return a.limits.time }

// MaxAnswer bounds the rows that answer a statement; math.MaxUint64: no limit. bounded says that one of them does.
func (a *Account) MaxAnswer() (rows, bytes uint64, bounded bool) {
	rows, bytes = a.limits.rows, a.limits.bytes
	bounded = rows > 0 || bytes > 0
	if rows == 0 {
		rows = math.MaxUint64
	}
	if bytes == 0 {
		bytes = math.MaxUint64
	}
	return rows, bytes, bounded
}

// Exceeded counts an answer that was cut off because of l.
func (a *Account) Exceeded(l Limit) { a.load.refused[l].Add(1) }

// Begin counts one more statement of the user, at the time now. ok is false if that is more than the limit. Each ok is paired
// with End.
func (a *Account) Begin(now time.Time) (l Limit, ok bool) {
	if n := a.load.running.Add(1); a.limits.concurrent > 0 && n > a.limits.concurrent {
		return LimitConcurrent, a.refuse(LimitConcurrent)
	}
	if a.limits.interval > 0 && !a.load.take(now.Sub(epoch), a.limits.interval) {
		return LimitQPS, a.refuse(LimitQPS)
	}
	return 0, true
}

// End ends what Begin began.
func (a *Account) End() { a.load.running.Add(-1) }

func (a *Account) refuse(l Limit) bool {
	a.load.running.Add(-1)
	a.load.refused[l].Add(1)
	return false
}

// take takes a place in the even intervals, if there is one less than burst ahead.
func (l *load) take(now, interval time.Duration) bool {
	for {
		due := l.due.Load()
		next := max(due, int64(now)) + int64(interval)
		if next-int64(now) > int64(burst) {
			return false
		}
		if l.due.CompareAndSwap(due, next) {
			return true
		}
	}
}

// Refusals calls f for each user and limit that has refused something since the start, with how often it did. A nil Store has none.
func (s *Store) Refusals(f func(user string, l Limit, n uint64)) {
	if s == nil {
		return
	}
	for user, a := range s.byUser {
		for l := range a.load.refused {
			if n := a.load.refused[l].Load(); n > 0 {
				f(user, Limit(l), n)
			}
		}
	}
}
