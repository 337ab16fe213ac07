package pool

import (
	"errors"
	"fmt"
	"time"
)

// What Get may answer, besides a *DialError.
var (
	ErrTimeout        = errors.New("no connection was free in time")
	ErrClosed         = errors.New("the connection pool is closed")
	ErrTooManyWaiters = errors.New("too many are waiting for a connection")
	ErrCancelled      = errors.New("the wait for a connection was cancelled")
	ErrDown           = errors.New("instance is down")
)

// ErrIdle is Enqueue's answer where there is nothing to wait for: Get has a connection at once.
var ErrIdle = errors.New("a connection is idle")

// TimeoutError is an ErrTimeout with what an operator needs to know: whether connections were busy, or could not be
// opened.
type TimeoutError struct {
	Waited   time.Duration
	InUse    int   // connections on loan at the end
	Max      int   // that may be
	LastDial error // why the last dial failed; nil if it did not
}

// Error says how long and for what.
func (e *TimeoutError) Error() string {
	s := fmt.Sprintf("%v: waited %v, %d of %d in use", ErrTimeout, e.Waited.Round(time.Millisecond), e.InUse, e.Max)
	if e.LastDial != nil {
		s += "; last dial: " + e.LastDial.Error()
	}
	return s
}

// Is makes it an ErrTimeout for errors.Is.
func (e *TimeoutError) Is(target error) bool { return target == ErrTimeout }

// Unwrap gives the cause of the last dial's failure.
func (e *TimeoutError) Unwrap() error { return e.LastDial }

// DialError says that a connection could not be opened.
type DialError struct{ Err error }

// Error says why.
func (e *DialError) Error() string { return "open a connection: " + e.Err.Error() }

// Unwrap gives the cause.
func (e *DialError) Unwrap() error { return e.Err }

// timeoutLocked describes a Get whose deadline has passed.
func (p *Pool[C, K]) timeoutLocked(waited time.Duration) *TimeoutError {
	e := &TimeoutError{Waited: waited, InUse: p.lentLocked(), Max: p.lendableLocked()}
	if p.backoff.last != nil {
		e.LastDial = p.backoff.last.Err
	}
	return e
}

// fail counts a Get that ends with err, after having waited in line for waited.
func (p *Pool[C, K]) fail(err error, waited time.Duration) error {
	p.counts.got(outcomeOf(err), waited)
	return err
}

// outcomeOf maps the errors of Get.
func outcomeOf(err error) Outcome {
	switch err {
	case ErrClosed, ErrDown:
		return Refused
	case ErrCancelled:
		return Cancelled
	}
	switch err.(type) {
	case *DialError:
		return DialFailed
	case *CrowdedError:
		return Rejected
	}
	return TimedOut
}
