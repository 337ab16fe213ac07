package backend

import (
	"errors"
	"fmt"
	"time"

	"kingshard/backend/pool"
)

// Fallback bounds the reads that a node's primary serves because no replica can, to half of its connections: when the replicas are gone, what
// only the primary can do has the other half. Those beyond wait in line.
type Fallback struct {
	node  string
	seats *pool.Pool[seat, struct{}]
}

// seat is what a read has while it is one of those.
type seat struct{}

// Close implements pool.Conn; there is nothing to close.
func (seat) Close() error { return nil }

// Alive implements pool.Conn.
func (seat) Alive() bool { return true }

func newFallback(node string, connsMax int) *Fallback {
	return &Fallback{node, pool.Open(pool.Config[seat, struct{}]{
		Max: max(1, connsMax/2), Dial: func(time.Time) (seat, error) { return seat{}, nil },
	})}
}

// Enter waits until one more read may go to the primary, until the deadline, or until cancel is closed. The caller ends it with leave. Errors
// are those of [pool.Pool.Get].
func (f *Fallback) Enter(deadline time.Time, cancel <-chan struct{}) (leave func(), err error) {
	s, err := f.seats.Get(struct{}{}, deadline, cancel)
	switch {
	case errors.Is(err, pool.ErrClosed): // a reload has put another node in its place; who waits is let in
		return func() {}, nil
	case err != nil:
		return nil, fmt.Errorf("reads of node %s that its primary serves, as no replica can: %w", f.node, err)
	}
	return func() { f.seats.Put(s) }, nil
}

// Stats are its counts, of reads in place of connections.
func (f *Fallback) Stats() pool.Stats { return f.seats.Stats() }
