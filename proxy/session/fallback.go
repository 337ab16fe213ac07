package session

import (
	"time"

	"kingshard/backend"
	"kingshard/proxy/txn"
)

// fallBack has a read that the primary is to serve in place of a replica wait until it may go there.
func (ls *leases) fallBack(n *backend.Node, deadline time.Time) error {
	t := ls.client.task()
	if _, is := t.fallen[n]; is {
		return nil // its first try has failed
	}
	leave, err := n.Fallback.Enter(deadline, ls.client.entry.Cancelled())
	if err != nil {
		return backendError(err)
	}
	if t.fallen == nil {
		t.fallen = make(map[*backend.Node]func(), 1)
	}
	t.fallen[n] = leave
	return nil
}

// endFallback is called at the end of a statement.
func (ls *leases) endFallback() {
	if t := ls.client.tasked; t != nil {
		t.endFallback()
	}
}

// endFallback gives up the places that the statement has on primaries.
func (t *task) endFallback() {
	for n, leave := range t.fallen {
		leave()
		delete(t.fallen, n)
	}
}

// fallsBack reports whether i, which was chosen for t, is the primary only because no replica can serve.
func fallsBack(t txn.Target, i *backend.Instance) bool {
	return t.Replica && i.Role == backend.Primary && len(t.Node.Replicas) > 0
}
