package txn

import (
	"kingshard/backend"
	"kingshard/backend/gtid"
)

// Target is where a statement goes.
type Target struct {
	Node    *backend.Node
	Replica bool // a replica may serve it
	Reads   bool // it changes nothing and locks nothing
	// Stateless says that it neither uses nor leaves state of its connection, so that it may run beside a pinned one.
	Stateless bool
	// Bound says that a replica serves it only if it has After, which may be empty. Asks says that the primary is to be asked what it has.
	Bound, Asks bool
	After       *gtid.Set
}

// Instance returns the server for the attempt-th try, from 0.
func (t Target) Instance(attempt int) *backend.Instance {
	if t.Replica {
		return t.Node.ReaderWith(t.After, attempt)
	}
	return t.Node.Primary
}
