package session

import (
	"slices"

	"kingshard/backend"
)

// Errors of a server that takes no writes. MySQL manual: "Server Error Message Reference".
const (
	erOptionPreventsStatement = 1290 // --read-only, --super-read-only
	erReadOnlyMode            = 1836 // innodb_read_only
)

// readOnlyErrors are those of a server that has the role of the primary no more, or has it not yet.
var readOnlyErrors = []uint16{erOptionPreventsStatement, erReadOnlyMode}

func isReadOnly(code uint16) bool { return slices.Contains(readOnlyErrors, code) }

// readOnlyTries is how often a statement is sent to servers that take no writes.
const readOnlyTries = 4

// mayAwaitWrites reports whether a statement that its server refuses, as it takes no writes, is sent again when the node has a primary that
// does: nothing of the session is on the connection.
func (xs *exchanges) mayAwaitWrites(x *exchange, q *query) bool {
	return x.target.Node != nil && x.target.Node.Roles != nil && x.p.Instance.Role == backend.Primary && x.attempt < readOnlyTries && !x.wasHeld &&
		xs.client.sink == nil && xs.leases.sharing() == nil && xs.client.txn.Disposable(x.p) && !q.info.ReadOnly()
}

// awaitWrites waits until the statement can be sent to a primary that takes writes. In vain, the client hears what the server said.
func (xs *exchanges) awaitWrites(x *exchange) (again bool, err error) {
	refused := x.readOnly
	x.readOnly = nil
	if err := x.target.Node.AwaitWrites(x.p.Instance.Addr, refused, xs.client.entry.Cancelled()); err == nil {
		return true, nil
	}
	if xs.client.entry.IsCancelled() {
		return false, interrupted()
	}
	return false, refused
}
