package backend

import (
	"errors"
	"time"

	"kingshard/backend/pool"
)

// Place is where a session of an event loop stands in the queue for an instance's connections; see [pool.Place].
type Place = pool.Place[*Conn, *Setting]

// Line is the sessions of one event loop that wait for a connection to an instance with one setting; see [pool.Line].
type Line = pool.Line[*Conn, *Setting]

// Enqueue has a session wait for a connection until the deadline, without a goroutine; see [pool.Pool.Enqueue].
func (i *Instance) Enqueue(pl *Place, l *Line, deadline time.Time) error {
	return i.pool.Enqueue(pl, l, deadline)
}

// AnsweredWith gives the connection of a place that was answered, if that carries want; else Take is to be called, or Decline, on a goroutine.
func (i *Instance) AnsweredWith(pl *Place, want *Setting) (p Pooled, ok bool) {
	pc := i.pool.Answered(pl, want)
	return Pooled{pc, i}, pc != nil
}

// Take ends the wait of a place that was answered as Get ends: it opens a connection if there is none, and makes it carry want.
func (i *Instance) Take(pl *Place, want *Setting, deadline time.Time, cancel <-chan struct{}) (Pooled, error) {
	pc, err := i.pool.Take(pl, deadline, cancel)
	if errors.Is(err, pool.ErrClosed) || errors.Is(err, ErrDown) || lacksPrimary(i, err) {
		return i.get(want, deadline, cancel, false)
	}
	return i.carrying(pc, err, want, func() (*pool.Pooled[*Conn, *Setting], error) { return i.pool.Get(want, deadline, cancel) })
}

// PutFrom gives a connection of a line back, which is not Marked. If a place of the line is the next to be served, it is returned and has the
// connection, else it is nil.
func (p Pooled) PutFrom(l *Line) *Place {
	p.Conn.Diagnosed = 0
	p.Conn.Release()
	return p.Instance.pool.PutFrom(p.Pooled, l)
}
