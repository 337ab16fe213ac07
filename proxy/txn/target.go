package txn

import "kingshard/backend"

// Target is where a statement goes.
type Target struct {
	Node    *backend.Node
	Replica bool // a replica may serve it
	Reads   bool // it changes nothing and locks nothing
	// Stateless says that it neither uses nor leaves state of its connection, so that it may run beside a pinned one.
	Stateless bool
}

// Instance returns the server for the attempt-th try, from 0.
func (t Target) Instance(attempt int) *backend.Instance {
	if t.Replica {
		return t.Node.Reader(attempt)
	}
	return t.Node.Primary
}
