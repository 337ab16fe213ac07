package fastlane

import (
	"net"
	"os"
	"sync/atomic"
	"time"
)

// The states of one direction of a connection.
const (
	idle    uint32 = iota // nobody waits
	ready                 // nobody waits; the loop has seen an event since the last system call began
	waiting               // a goroutine waits
	parked                // plus the loop's index: the loop's handler waits; of the reading direction only
)

// side is one direction of a connection.
type side struct {
	state    atomic.Uint32
	deadline atomic.Int64  // in nanoseconds since 1970; 0: none
	wake     chan struct{} // of capacity 1, for the goroutine that waits; made by the first
}

// ready notes an event and tells whether it woke a goroutine.
func (s *side) ready() bool {
	for {
		switch s.state.Load() {
		case idle:
			if s.state.CompareAndSwap(idle, ready) {
				return false
			}
		case waiting:
			if s.state.CompareAndSwap(waiting, ready) {
				s.wake <- struct{}{}
				return true
			}
		default:
			return false
		}
	}
}

// parkedIn gives the loop that the connection is parked in, nil for none.
func (s *side) parkedIn(g *Group) *Loop {
	if st := s.state.Load(); st >= parked {
		return g.loops[st-parked]
	}
	return nil
}

// setDeadline changes the deadline, for one who waits too.
func (s *side) setDeadline(t time.Time) {
	var at int64
	if !t.IsZero() {
		at = t.UnixNano()
	}
	if s.deadline.Swap(at) == at {
		return
	}
	if s.state.Load() == waiting {
		s.ready() // whoever waits finds nothing and looks at the deadline
	}
}

// wait waits for an event, the deadline or the end of the connection. It returns nil at once for an event not used up.
func (c *Conn) wait(s *side) error {
	if s.wake == nil {
		s.wake = make(chan struct{}, 1)
	}
	deadline := s.deadline.Load()
	var left time.Duration
	if deadline != 0 {
		if left = time.Until(time.Unix(0, deadline)); left <= 0 {
			return os.ErrDeadlineExceeded
		}
	}
	if c.closed() {
		return net.ErrClosed
	}
	if !s.state.CompareAndSwap(idle, waiting) {
		return nil
	}
	// A Close or SetDeadline that came just before has not seen that somebody waits.
	if c.closed() || s.deadline.Load() != deadline {
		s.ready()
	}
	if deadline == 0 {
		<-s.wake
		return nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-s.wake:
		return nil
	case <-timer.C:
	}
	if s.state.CompareAndSwap(waiting, idle) {
		return os.ErrDeadlineExceeded
	}
	<-s.wake
	return nil
}
