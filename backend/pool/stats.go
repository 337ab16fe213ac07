package pool

import (
	"sync/atomic"
	"time"
)

// Outcome is how a Get ended. Each ends in exactly one way.
type Outcome uint8

// The outcomes; the first five gave a connection.
const (
	Hit        Outcome = iota // idle, with the setting wanted
	HitClean                  // idle, clean, where a setting was wanted
	HitOther                  // idle, with another setting
	Dialled                   // opened without having waited
	Waited                    // received after having waited in line, or opened then
	TimedOut                  // ErrTimeout
	Rejected                  // ErrTooManyWaiters
	Cancelled                 // ErrCancelled
	DialFailed                // *DialError
	Refused                   // ErrClosed
	outcomes
)

// String gives the outcome as a metric label.
func (o Outcome) String() string {
	return [outcomes]string{
		"hit", "hit_clean", "hit_other", "dialled", "waited",
		"timed_out", "rejected", "cancelled", "dial_failed", "closed",
	}[o]
}

// CloseCause is why a connection was closed.
type CloseCause uint8

// The causes.
const (
	ClosedIdle     CloseCause = iota // unused for too long
	ClosedLifetime                   // too old
	ClosedTainted                    // by its borrower
	ClosedDead                       // found dead when it was to be lent
	ClosedRetired                    // by CloseIdle, a lower ceiling or the end of the pool
	closeCauses
)

// String gives the cause as a metric label.
func (c CloseCause) String() string {
	return [closeCauses]string{"idle", "lifetime", "tainted", "dead", "retired"}[c]
}

// Count is how many there were, and the time they spent in line together.
type Count struct {
	N    uint64
	Wait time.Duration
}

// Stats is what a pool has done since it was opened, and its state now. A Get is counted when it ends.
type Stats struct {
	Gets         [outcomes]Count     // by Outcome
	Closed       [closeCauses]uint64 // by CloseCause
	DialFailures uint64

	Max      int // the ceiling
	Limit    int // of InUse, but for GetAhead
	Open     int // slots taken: Idle, InUse, Dialling and those being closed
	Idle     int
	InUse    int // on loan
	Dialling int
	Waiting  int // Gets and places in the queue
}

// Stats takes a snapshot. The numbers of the present are of one moment, the counts are not.
func (p *Pool[C, K]) Stats() Stats {
	p.mu.Lock()
	s := Stats{
		Max: p.max, Limit: p.lendableLocked(), Open: p.open, Idle: p.idle.len, InUse: p.lentLocked(), Dialling: p.dialling, Waiting: p.queue.len,
	}
	p.mu.Unlock()
	for o := range s.Gets {
		c := &p.counts.gets[o]
		s.Gets[o] = Count{c.n.Load(), time.Duration(c.wait.Load())}
	}
	for c := range s.Closed {
		s.Closed[c] = p.counts.closed[c].Load()
	}
	s.DialFailures = p.counts.dialFailures.Load()
	return s
}

// counts are the numbers that only grow.
type counts struct {
	gets [outcomes]struct {
		n    atomic.Uint64
		wait atomic.Int64 // nanoseconds
	}
	closed       [closeCauses]atomic.Uint64
	dialFailures atomic.Uint64
}

// got counts a Get that has ended.
func (c *counts) got(o Outcome, waited time.Duration) {
	c.gets[o].n.Add(1)
	if waited != 0 {
		c.gets[o].wait.Add(int64(waited))
	}
}
