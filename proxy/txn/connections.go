package txn

import (
	"kingshard/backend"
	"kingshard/mysql"
)

// Connections are those that one session has at servers between its statements, with the reasons why and the transaction that they are of.
// Its session's goroutine, or loop, owns it. Init comes first.
type Connections struct {
	counts *PinCounts
	// held is the connection that stays with the session, for its transaction or a pin; without a Conn there is none.
	held backend.Pooled
	// others are connections to further nodes that the open transaction reads from, or changes; by node.
	others map[string]backend.Pooled

	// Begin is the BEGIN that the client has sent and that goes to a server ahead of the next statement; "" for none.
	Begin string
	// lastNames is nil before there were any.
	lastNames *[]mysql.TableName
	// Pins are the reasons why the held connection is kept. Pin adds one.
	Pins Pins
	// Cursors counts statements with a cursor on the held connection, MixedStmts those that PinParameterTypes is for.
	Cursors, MixedStmts int32
	// Next is what SET TRANSACTION said of the next transaction, Current what it had said of the one that the held connection is in.
	Next, Current Characteristics
	// Changed says that the transaction may have changed rows on the held connection, ReadOnly that the client began it as READ ONLY, or will with
	// Begin. Branches says that the others are parts that end together with the held one: rows may be changed there.
	Changed, ReadOnly, Branches bool
	// LastOnHeld says that the statement before this one ran on the held connection, so that its diagnostics are there.
	LastOnHeld bool
	// Unlearned says that the server is to be asked, on the held connection, for what a statement has set unseen.
	Unlearned bool
}

// Init has reasons counted in counts, which many sessions share.
func (c *Connections) Init(counts *PinCounts) { c.counts = counts }

// Held returns the connection that stays with the session; without a Conn there is none.
func (c *Connections) Held() backend.Pooled { return c.held }

// Conn returns the held connection; nil for none.
func (c *Connections) Conn() *backend.Conn {
	if c.held.Pooled == nil {
		return nil
	}
	return c.held.Conn
}

// Holding reports whether a connection stays with the session.
func (c *Connections) Holding() bool { return c.held.Pooled != nil }

// Holds reports whether p is the held connection.
func (c *Connections) Holds(p backend.Pooled) bool { return c.held.Pooled == p.Pooled }

// HasOthers reports whether the transaction reads from further nodes.
func (c *Connections) HasOthers() bool { return len(c.others) > 0 }

// Beside reports whether p is a connection of the open transaction beside the held one.
func (c *Connections) Beside(p backend.Pooled) bool {
	if len(c.others) == 0 {
		return false
	}
	other, ok := c.others[p.Instance.Node]
	return ok && other.Pooled == p.Pooled
}

// Others returns the connections to further nodes that the transaction reads from, by node. It is not to be changed, nor kept.
func (c *Connections) Others() map[string]backend.Pooled { return c.others }

// All lists the connections of the open transaction, the held one first.
func (c *Connections) All() (list []backend.Pooled) {
	if c.held.Pooled != nil {
		list = append(list, c.held)
	}
	for _, p := range c.others {
		list = append(list, p)
	}
	return list
}

// LastNames are the physical names in the diagnostics that LastOnHeld speaks of, with the logical ones.
func (c *Connections) LastNames() []mysql.TableName {
	if c.lastNames == nil {
		return nil
	}
	return *c.lastNames
}

// SetLastNames keeps a copy of what LastNames returns.
func (c *Connections) SetLastNames(names []mysql.TableName) {
	if c.lastNames == nil {
		if len(names) == 0 {
			return
		}
		c.lastNames = new([]mysql.TableName)
	}
	*c.lastNames = append((*c.lastNames)[:0], names...)
}

// Free reports whether nothing at a server binds the session's next statement, nor a transaction that the client has asked for.
func (c *Connections) Free() bool {
	return c.held.Pooled == nil && len(c.others) == 0 && c.Pins == 0 && c.Begin == "" && !c.Next.IsSet()
}

// Pin keeps the held connection, or the one that the statement runs on, for the reason given.
func (c *Connections) Pin(r Reason) {
	if !c.Pins.Has(r) {
		c.Pins |= 1 << r
		c.counts[r].Add(1)
	}
}

// Unpin takes a reason away; the connection is given back after the command when none is left.
func (c *Connections) Unpin(r Reason) { c.Pins &^= 1 << r }

// InTransaction reports whether the client has a transaction open, or has asked for one.
func (c *Connections) InTransaction() bool {
	return c.Begin != "" || c.held.Pooled != nil && c.held.Conn.Status.Has(mysql.ServerStatusInTrans)
}

// ReadsInTransaction reports whether the transaction of a session with autocommit off has begun where it reads only: SAVEPOINT keeps the
// held connection and begins none there.
func (c *Connections) ReadsInTransaction(autocommit bool) bool {
	if autocommit {
		return false
	}
	for _, p := range c.others {
		if p.Conn.Status.Has(mysql.ServerStatusInTrans) {
			return true
		}
	}
	return false
}

// Engaged reports whether the session is in a transaction on a server, or has tables locked: others may wait for it there.
func (c *Connections) Engaged() bool {
	return c.held.Pooled != nil && (c.held.Conn.Status.Has(mysql.ServerStatusInTrans) || c.Pins.Has(PinXA) || c.Pins.Has(PinLockTables))
}

// Disposable reports whether p has nothing of the session, so that another connection serves as well. What SET TRANSACTION said of the
// next transaction is brought once, to the connection that the pin speaks of.
func (c *Connections) Disposable(p backend.Pooled) bool {
	return c.held.Pooled != p.Pooled && !c.Beside(p) && !p.Conn.Status.Has(mysql.ServerStatusInTrans) && !c.Pins.Has(PinNextTransaction)
}
