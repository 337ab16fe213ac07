package account

import (
	"errors"
	"math"
	"sync/atomic"
	"time"

	"kingshard/config"
	"kingshard/proxy/throttle"
)

// Limit names what a user may have no more than so much of.
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
	throttle.Bounds
	time time.Duration // of one statement
	// Of the rows that answer one statement.
	rows, bytes uint64
}

func limitsOf(u *config.User) limits {
	return limits{
		Bounds: throttle.Of(u.MaxConcurrent, u.MaxQPS, u.MaxWait.Duration()),
		time:   time.Duration(u.MaxSeconds) * time.Second, rows: uint64(u.MaxRows), bytes: uint64(u.MaxBytes),
	}
}

// load is what a user's statements do now and did; it is handed on from account to account at a reload.
type load struct {
	flow    throttle.Flow
	refused [limitsCount]atomic.Uint64
	tallies tallies
}

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

// Exceeded counts a statement that was refused, or an answer that was cut off, because of l.
func (a *Account) Exceeded(l Limit) { a.load.refused[l].Add(1) }

// Begin counts one more statement of the user, once its limits let it: it waits for that as long as they say. After an error, one of
// [throttle.Flow.Enter], l is the limit that it was refused by, if it was. Without one it is paired with End.
func (a *Account) Begin(cancel <-chan struct{}) (l Limit, err error) {
	err = a.load.flow.Enter(a.limits.Bounds, cancel)
	switch {
	case errors.Is(err, throttle.ErrConcurrent):
		l = LimitConcurrent
	case errors.Is(err, throttle.ErrRate):
		l = LimitQPS
	default:
		return 0, err
	}
	a.Exceeded(l)
	return l, err
}

// End ends what Begin began.
func (a *Account) End() { a.load.flow.Leave() }

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
