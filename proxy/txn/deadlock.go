package txn

import (
	"errors"
	"slices"
	"sync"
	"time"

	"kingshard/backend"
	"kingshard/backend/pool"
)

// ErrDeadlock says that a wait for a connection gave way to others.
var ErrDeadlock = errors.New("deadlock between sessions that wait for connections")

// deadlockAfter is how long a session that holds connections waits for a further one before it looks whether it ever can get it.
const deadlockAfter = 5 * time.Millisecond

// Detector finds sessions that wait for each other's connections. An application decides in which order its transactions come to the
// nodes, so that all connections of two nodes may be held by sessions that wait for the other one. As between the rows of a server, one
// of them has to give way.
//
// What it knows is a graph of who waits for whom, with the instances between: a session that holds connections waits for an instance, and
// the instance for the sessions that hold its connections. Zero is ready; any goroutine may use it.
type Detector struct {
	mu    sync.Mutex
	waits map[*wait]struct{}
}

// wait is one session's wait for a further connection.
type wait struct {
	session uint32              // its id
	holds   []*backend.Instance // one for each connection
	wants   *backend.Instance
	// Under the lock of the detector: it is over, and it was because it gave way.
	over, victim bool
}

// Get borrows a connection that carries want for a session that holds connections to the instances of holds, one for each. It waits until
// the deadline or until cancel is closed, and ends with ErrDeadlock where waiting would be in vain: then the session gives back all that it
// holds. Without holds, nobody waits for the session, and the wait is an ordinary one in the pool's line; else it is ahead of these.
func (d *Detector) Get(session uint32, i *backend.Instance, want *backend.Setting, holds []*backend.Instance, deadline time.Time, cancel <-chan struct{}) (backend.Pooled, error) {
	switch {
	case len(holds) == 0:
		return i.Get(want, deadline, cancel)
	case isClosed(cancel):
		return i.GetAhead(want, deadline, cancel)
	}
	w := &wait{session: session, holds: holds, wants: i}
	end, through := make(chan struct{}), make(chan struct{})
	look := time.AfterFunc(deadlockAfter, func() {
		if !d.stuck(w) {
			select {
			case <-through:
				return
			case <-cancel:
			}
		}
		close(end)
	})
	p, err := i.GetAhead(want, deadline, end)
	if look.Stop() {
		return p, err // it was not long enough for a look, nor for a lock that all sessions share
	}
	close(through)
	if d.leave(w) && errors.Is(err, pool.ErrCancelled) && !isClosed(cancel) {
		return p, ErrDeadlock
	}
	return p, err
}

// stuck adds a wait and reports whether it can only end if one of those that wait gives way: this one does.
func (d *Detector) stuck(w *wait) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w.over {
		return false
	}
	if d.waits == nil {
		d.waits = make(map[*wait]struct{})
	}
	d.waits[w] = struct{}{}
	// Take every wanted instance for stuck, then drop those of which a connection may yet come back: not all are held by
	// sessions that wait for a stuck one.
	stuck := make(map[*backend.Instance]bool)
	for other := range d.waits {
		stuck[other.wants] = true
	}
	for changed := true; changed && stuck[w.wants]; {
		held := make(map[*backend.Instance]int)
		for other := range d.waits {
			if stuck[other.wants] {
				for _, i := range other.holds {
					held[i]++
				}
			}
		}
		changed = false
		for i := range stuck {
			if held[i] < i.Stats().Max {
				delete(stuck, i)
				changed = true
			}
		}
	}
	if !stuck[w.wants] {
		return false
	}
	w.over, w.victim = true, true
	delete(d.waits, w)
	return true
}

// leave ends a wait and reports whether it was to give way.
func (d *Detector) leave(w *wait) (victim bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w.over = true
	delete(d.waits, w)
	return w.victim
}

// Holds returns the instances of the connections of the sessions that hold some and have waited for a further one for some time, by
// session; one for each connection. The caller owns it.
func (d *Detector) Holds() map[uint32][]*backend.Instance {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make(map[uint32][]*backend.Instance, len(d.waits))
	for w := range d.waits {
		all[w.session] = slices.Clone(w.holds)
	}
	return all
}

// isClosed reports whether a channel that nobody sends on was closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
