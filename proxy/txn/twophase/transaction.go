package twophase

import "fmt"

// Error numbers of the MySQL manual that decide something.
const (
	errCheckRead     = 1020 // ER_CHECKREAD, with MariaDB's innodb_snapshot_isolation
	errDuplicate     = 1062 // ER_DUP_ENTRY
	errNull          = 1048 // ER_BAD_NULL_ERROR
	errNoSuchThread  = 1094 // ER_NO_SUCH_THREAD
	errLockWait      = 1205 // ER_LOCK_WAIT_TIMEOUT
	errDeadlock      = 1213 // ER_LOCK_DEADLOCK
	errUnknownXID    = 1397 // ER_XAER_NOTA
	errXARolledBack  = 1402 // ER_XA_RBROLLBACK
	errXATimeout     = 1613 // ER_XA_RBTIMEOUT
	errXADeadlock    = 1614 // ER_XA_RBDEADLOCK
	errLockTableFull = 1206 // ER_LOCK_TABLE_FULL
)

// Branch is what a transaction has on one node.
type Branch struct {
	Node    NodeID
	Holder  Holder
	Changed bool // rows were changed, or may have been
	// Holds says that what is prepared stays with its connection, as in MariaDB, and in MySQL without xa_detach_on_prepare.
	Holds bool
	// Compounds says that the server takes compound statements outside of procedures, as MariaDB does.
	Compounds bool
}

// Transaction is a transaction while it is open. Its anchor, the first node that it touches, has a plain transaction; what begins later is
// the branch of an XA transaction, as a server cannot make one of the other. The zero Transaction is of no use; see [Begin].
type Transaction struct {
	GTRID GTRID
	// Deadline is what the answer to [DoClock] would be when the transaction begins to commit, where that is known well enough; "" has the
	// coordinator ask. Clocks decide nothing alone: one that jumps has a decision refused as late, or accepted later.
	Deadline string
	branches []Branch // the anchor first
	doomed   Cause
}

// Begin returns a transaction whose anchor, on the node g.Anchor, is on the connection given.
func Begin(g GTRID, anchor Holder) *Transaction {
	return &Transaction{GTRID: g, branches: []Branch{{Node: g.Anchor, Holder: anchor}}}
}

// Branches returns the nodes touched, the anchor first.
func (t *Transaction) Branches() []Branch { return t.branches }

// BeginsWith returns the statement that begins the transaction on the node n. The isolation level must be set ahead of it.
func (t *Transaction) BeginsWith(n NodeID) string {
	if n == t.GTRID.Anchor {
		return "START TRANSACTION"
	}
	return "XA START " + XID{t.GTRID, n}.String()
}

// Enlist adds a branch that was begun. A node is enlisted once.
func (t *Transaction) Enlist(b Branch) {
	if t.branch(b.Node) != nil {
		panic(fmt.Sprintf("twophase: node %s is part of the transaction already", b.Node))
	}
	t.branches = append(t.branches, b)
}

// Change notes that a statement sent to the node n may change rows there.
func (t *Transaction) Change(n NodeID) {
	if b := t.branch(n); b != nil {
		b.Changed = true
	}
}

// Failed notes that a statement on the node n was answered with an error. After some of them the server has rolled the transaction back
// there: statements sent behind would be transactions of their own (MySQL bug #99045), so the whole transaction may only be rolled back.
func (t *Transaction) Failed(n NodeID, code uint16) {
	if RollsBack(code) {
		t.Doom(Cause{Reason: Refused, Node: n, Code: code})
	}
}

// RollsBack reports whether a server that answers with the error has rolled the whole transaction back. MySQL manual: "InnoDB Error Handling".
func RollsBack(code uint16) bool {
	switch code {
	case errDeadlock, errXADeadlock, errXARolledBack, errXATimeout, errLockTableFull, errCheckRead:
		return true
	}
	return false
}

// Lost notes that the connection of the node n broke, and its branch with it.
func (t *Transaction) Lost(n NodeID) { t.Doom(Cause{Reason: Vanished, Node: n}) }

// Spans reports whether rows of several nodes were changed, so that there is a decision.
func (t *Transaction) Spans() bool {
	changed := 0
	for k := range t.branches {
		if t.branches[k].Changed {
			changed++
		}
	}
	return changed > 1
}

// Doom notes for another reason that nothing but a rollback is allowed. Error 1205 is one where innodb_rollback_on_timeout is on.
func (t *Transaction) Doom(c Cause) {
	if t.doomed.Reason == 0 {
		t.doomed = c
	}
}

// Doomed reports whether nothing but a rollback is allowed any more, and why.
func (t *Transaction) Doomed() (Cause, bool) { return t.doomed, t.doomed.Reason != 0 }

func (t *Transaction) branch(n NodeID) *Branch {
	for k := range t.branches {
		if t.branches[k].Node == n {
			return &t.branches[k]
		}
	}
	return nil
}
