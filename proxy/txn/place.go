package txn

import (
	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/kserror"
)

// Place is where the connection of a statement comes from.
type Place uint8

// The places.
const (
	FromPool  Place = iota // it is borrowed, and belongs to the session's transaction or state only if it leaves some
	FromHeld               // it is the held one
	FromOther              // it is one that the transaction reads from, or becomes one; see On and Join
)

// Place decides where the connection of a statement to t comes from. begins says that the statement may begin a transaction, joins that one may change rows
// of several nodes. The error is what the client hears.
func (c *Connections) Place(t Target, begins, autocommit, joins bool) (Place, error) {
	if c.held.Pooled == nil {
		return FromPool, nil
	}
	on := c.held.Instance.Node
	if on == t.Node.Name {
		return FromHeld, nil
	}
	switch bound := !t.Stateless && c.Pins&^OfTransaction != 0; {
	case !bound && (c.InTransaction() || !autocommit):
		if !t.Reads && !joins {
			return 0, ErrOtherNode
		}
		return FromOther, nil
	case !t.Stateless:
		return 0, nodesError("the session has state (" + c.Pins.String() + ") on node " + on + ": a statement that may use or add to it cannot run on node " + t.Node.Name)
	case begins && (c.Next.IsSet() || c.Pins.Has(PinNextTransaction)):
		return 0, nodesError("SET TRANSACTION speaks of the next transaction, and the session has state (" + c.Pins.String() + ") on node " + on +
			": send COMMIT ahead of a statement on node " + t.Node.Name)
	}
	return FromPool, nil
}

// StepAside makes the held connection one that the transaction only read from, if it is on another node than the statement's and has
// nothing but that: the node that a transaction changes rows of, or that decides for all, is not chosen by a read that began nothing there. Where the
// transaction may change rows of several nodes, in which case undo is not nil, the connection is given back: a statement that failed may have begun a
// transaction unseen, which undo ends.
func (c *Connections) StepAside(node string, undo Exec) {
	p := c.held
	if p.Pooled == nil || p.Instance.Node == node || c.Pins != 1<<PinAutocommit || p.Conn.Status.Has(mysql.ServerStatusInTrans) || undo != nil && len(c.others) > 0 {
		return
	}
	c.held, c.LastOnHeld = backend.Pooled{}, false
	c.Unpin(PinAutocommit)
	switch {
	case undo == nil:
		c.addOther(p.Instance.Node, p)
	case undo(p, SQLRollback) == nil:
		p.Put()
	default:
		p.Taint()
	}
}

// MoveOn makes the held connection one that the open transaction only reads from, if it is on another node than the statement's and has changed and locked
// nothing there: the transaction begins anew on the statement's node, the only one that it may change rows of.
func (c *Connections) MoveOn(node string) {
	p := c.held
	if p.Pooled == nil || p.Instance.Node == node || c.Changed || c.Branches || c.Forbids() || c.Current.Unknown || c.Cursors > 0 || c.MixedStmts > 0 ||
		c.Pins&^(1<<PinAutocommit) != 0 || !p.Conn.Status.Has(mysql.ServerStatusInTrans) {
		return
	}
	c.held, c.LastOnHeld = backend.Pooled{}, false
	if !c.Pins.Has(PinAutocommit) {
		c.Begin = SQLBegin
	}
	c.Next, c.Current = c.Current, Characteristics{}
	c.Unpin(PinAutocommit)
	c.addOther(p.Instance.Node, p)
}

// Keep reports whether there is a reason to keep p, whose last command is through: its server says that a transaction is open, or a pin.
func (c *Connections) Keep(p backend.Pooled) bool {
	open := p.Conn.Status.Has(mysql.ServerStatusInTrans)
	if open {
		c.Unpin(PinNextTransaction)
	}
	return open || c.Pins != 0
}

// MayHold reports whether p is the held connection or, if there is a reason, would become it.
func (c *Connections) MayHold(p backend.Pooled) bool {
	return (c.held.Pooled == nil || c.held.Pooled == p.Pooled) && !c.Beside(p)
}

// Release ends the use of p by a command, and reports whether p goes: the caller gives it back. With keep, the answer of Keep, it stays where
// it can; last says that the server's diagnostics are those that the client has heard. Connections of a transaction that is over
// are given back.
func (c *Connections) Release(p backend.Pooled, keep, last bool, exec Exec) (goes bool) {
	holds := c.held.Pooled == p.Pooled
	switch {
	case c.Beside(p):
		p.Conn.Release()
		c.LastOnHeld = false
		return false
	case keep && (holds || c.held.Pooled == nil):
		c.held, c.LastOnHeld = p, last
		p.Conn.Release()
		if len(c.others) > 0 && !c.InTransaction() && !c.Pins.Has(PinAutocommit) {
			c.EndOthers(exec) // what keeps this one is no transaction
		}
		return false
	case holds:
		c.held = backend.Pooled{}
	}
	c.LastOnHeld = false
	if len(c.others) > 0 && !c.InTransaction() {
		c.EndOthers(exec)
	}
	return true
}

// Remove takes p, which is out of step and the caller closes, out of what the session has.
func (c *Connections) Remove(p backend.Pooled) {
	if c.held.Pooled == p.Pooled {
		c.held = backend.Pooled{}
	}
	if c.Beside(p) {
		delete(c.others, p.Instance.Node)
	}
	c.Branches = c.Branches && len(c.others) > 0
	c.LastOnHeld = false
}

// ErrOtherNode refuses a statement that would have a transaction change rows of a second node.
var ErrOtherNode = nodesError("transaction in multi node")

// NextIsElsewhere refuses a statement on several nodes where the held connection alone may still have what SET TRANSACTION said.
func (c *Connections) NextIsElsewhere(what string) error {
	return nodesError("SET TRANSACTION was sent to node " + c.held.Instance.Node + " for the next transaction, and " + what +
		" is of several nodes: send it again after COMMIT, or BEGIN first")
}

// nodesError is what a client hears of a statement for a node that its transaction or its state is not on.
func nodesError(text string) error { return kserror.New(kserror.TransactionNodes, text) }
