package txn

import (
	"time"

	"kingshard/backend"
	"kingshard/mysql"
)

// The statements of transactions of the proxy's own. With completion_type the client has COMMIT begin another one, or close the connection,
// where it does not say otherwise; in MariaDB's Oracle mode BEGIN is a block's. MySQL manual: "START TRANSACTION, COMMIT, and ROLLBACK
// Statements".
const (
	SQLBegin    = "START TRANSACTION"
	SQLCommit   = "COMMIT AND NO CHAIN NO RELEASE"
	SQLRollback = "ROLLBACK AND NO CHAIN NO RELEASE"
)

// CleanupTimeout bounds what is sent to a connection that the session has no more use for.
const CleanupTimeout = 5 * time.Second

// Exec carries out a statement of the proxy's own, which gives no rows. An error that is no *mysql.SQLError says that the connection broke.
type Exec func(p backend.Pooled, sql string) error

// Forget forgets the transaction that the client has asked for, and what SET TRANSACTION said of any.
func (c *Connections) Forget() {
	c.Begin, c.Next, c.Current = "", Characteristics{}, Characteristics{}
}

// NextUsedUp forgets what SET TRANSACTION said behind a statement that a server would have run, in a transaction of its own.
func (c *Connections) NextUsedUp(autocommit bool) {
	if autocommit && !c.InTransaction() {
		c.Next = Characteristics{}
	}
}

// Begun notes that p carries the session's state for the statement that it is about to run, and has been told what Next and Begin say.
// begins says that the statement may begin a transaction: SET does not, nor do commands other than statements.
func (c *Connections) Begun(p backend.Pooled, begins, autocommit bool) {
	inTransaction, pinned := p.Conn.Status.Has(mysql.ServerStatusInTrans), c.Pins.Has(PinNextTransaction)
	if c.Begin != "" || !inTransaction {
		c.began()
	}
	switch {
	case begins && c.Next.IsSet():
		if c.Begin == "" {
			c.Pin(PinNextTransaction) // whether the statement begins a transaction, the server alone knows
		}
		c.Current, c.Next = c.Next, Characteristics{}
	case c.Begin != "" || !inTransaction && !pinned:
		c.Current = Characteristics{}
	case autocommit && pinned && !inTransaction:
		c.Current = Characteristics{Unknown: true} // the statement before may have used it up
	}
	c.Begin = ""
}

// Joining says how a connection becomes part of the open transaction.
type Joining struct {
	// Reads says that what is to run there changes and locks nothing.
	Reads      bool
	Autocommit bool // the session's
	Exec       Exec
	// Branch begins a part of the transaction on a node other than the first one, where its parts end together; nil where one node alone may change
	// rows.
	Branch func(p backend.Pooled) error
}

// sqlBeginReads begins a transaction on a further node where the client's forbids changes.
const sqlBeginReads = SQLBegin + " READ ONLY"

// Join makes p, a connection just borrowed to a node, part of the open transaction if there is one, and returns its lease. The session's
// first one becomes the held one. With an error p is the pool's again, or closed.
func (c *Connections) Join(p backend.Pooled, node string, j Joining) (Lease, error) {
	l := Lease{Pooled: p, Node: node}
	if !c.InTransaction() && j.Autocommit {
		return l, nil
	}
	if !j.Reads && j.Branch == nil {
		p.Put()
		return Lease{}, ErrOtherNode
	}
	further := c.held.Pooled != nil
	branch := further && j.Branch != nil && !c.Forbids()
	if branch && !c.InTransaction() {
		if err := c.beginOnHeld(j.Exec); err != nil {
			p.Put()
			return Lease{}, err
		}
	}
	first, next := c.Begin, c.Next
	if first == "" {
		first = SQLBegin
		if further {
			next = c.Current
		}
	}
	if next.Unknown {
		p.Put()
		return Lease{}, c.NextIsElsewhere("this transaction")
	}
	switch {
	case branch:
		first = ""
	case further && c.Forbids():
		first = sqlBeginReads
	}
	if err := begin(p, next, first, j.Exec); err != nil {
		p.Taint()
		return Lease{}, err
	}
	if branch {
		if err := j.Branch(p); err != nil {
			p.Taint()
			return Lease{}, err
		}
		c.Branches = true
	}
	if l.Kept = true; !further {
		c.began()
		c.held, c.Begin, c.Current, c.Next = p, "", next, Characteristics{}
		return l, nil
	}
	c.addOther(node, p)
	return l, nil
}

// begin sends what SET TRANSACTION said of a transaction and the statement that begins it, where there are such.
func begin(p backend.Pooled, next Characteristics, statement string, exec Exec) error {
	for _, sql := range [...]string{next.Text(), statement} {
		if sql == "" {
			continue
		}
		if err := exec(p, sql); err != nil {
			return err
		}
	}
	return nil
}

// beginOnHeld begins the transaction of a session with autocommit off on the connection that it holds for something else: a statement there would else
// find none, and the transaction be over.
func (c *Connections) beginOnHeld(exec Exec) error {
	if err := begin(c.held, c.Next, SQLBegin, exec); err != nil {
		return err
	}
	c.began()
	if c.Next.IsSet() || !c.Pins.Has(PinNextTransaction) { // else the server was told before
		c.Current, c.Next = c.Next, Characteristics{}
	}
	c.Unpin(PinNextTransaction)
	return nil
}

// began notes that a transaction begins, on its first node. One that the client did not ask for is not READ ONLY.
func (c *Connections) began() { c.Changed, c.ReadOnly = false, c.ReadOnly && c.Begin != "" }

// Forbids reports whether the open transaction is READ ONLY, as far as its own statements say.
func (c *Connections) Forbids() bool { return c.ReadOnly || c.Current.Forbids() }

// addOther notes a connection that the transaction reads from.
func (c *Connections) addOther(node string, p backend.Pooled) {
	if c.others == nil {
		c.others = make(map[string]backend.Pooled)
	}
	c.others[node] = p
}

// Commit has the held connection's server keep the transaction. The caller ends with Release, or with Remove where the connection broke.
func (c *Connections) Commit(exec Exec) error { return exec(c.held, SQLCommit) }

// Rollback undoes the transaction on the held connection. The error is of the connection, or the server's.
func (c *Connections) Rollback(exec Exec) error { return exec(c.held, SQLRollback) }

// EndOthers ends the transaction on the nodes that were only read, and gives their connections back. Branches are undone: who keeps them has done
// so before.
func (c *Connections) EndOthers(exec Exec) {
	branches := c.Branches
	c.Branches = false
	for node, p := range c.others {
		delete(c.others, node)
		if branches {
			p.Taint()
			continue
		}
		p.Conn.Net.SetDeadline(time.Now().Add(CleanupTimeout))
		if err := exec(p, SQLCommit); err != nil {
			p.Taint()
			continue
		}
		p.Conn.Net.SetDeadline(time.Time{})
		p.Put()
	}
}

// End gives back the connections of a session that ends or is reset: transactions are rolled back; locks, temporary tables and variables go
// with a reset of the connection.
func (c *Connections) End(exec Exec) {
	p, pins := c.held, c.Pins
	c.held, c.Pins, c.LastOnHeld = backend.Pooled{}, 0, false
	c.EndOthers(exec)
	if p.Pooled == nil {
		return
	}
	p.Conn.Net.SetDeadline(time.Now().Add(CleanupTimeout))
	var err error
	if pins&^OfTransaction != 0 {
		err = p.Cleanse()
	} else if pins != 0 || p.Conn.Status.Has(mysql.ServerStatusInTrans) {
		err = p.Conn.Exec(SQLRollback)
	}
	if err != nil {
		p.Taint()
		return
	}
	p.Conn.Net.SetDeadline(time.Time{})
	p.Put()
}

// Ended notes that the statement just run on p has ended the transaction of a session with autocommit off, if the server agrees.
func (c *Connections) Ended(p backend.Pooled) {
	if c.Pins.Has(PinAutocommit) && !p.Conn.Status.Has(mysql.ServerStatusInTrans) {
		c.Pins &^= OfTransaction
	}
}

// UsesUpNext reports whether what SET TRANSACTION said was for the statement just run on p, which was about a table. The connection is to
// be told COMMIT, so that nothing is left there for an engine without transactions.
func (c *Connections) UsesUpNext(p backend.Pooled, autocommit bool) bool {
	if !c.Pins.Has(PinNextTransaction) || !autocommit || p.Conn.Status.Has(mysql.ServerStatusInTrans) {
		return false
	}
	c.Unpin(PinNextTransaction)
	c.Current = Characteristics{}
	return true
}

// LeavesCurrent reports whether the transaction on p, which SET TRANSACTION was for, has ended otherwise than by COMMIT, ROLLBACK or a
// statement that commits by itself. SET autocommit = 1 ends one, and servers have what was said go for the next one, too; that is the
// session's, and p is to be told COMMIT, so that it is not another client's. failed says that the statement failed.
func (c *Connections) LeavesCurrent(p backend.Pooled, failed bool) bool {
	if !c.Current.IsSet() || c.Beside(p) || c.held.Pooled != nil && c.held.Pooled != p.Pooled ||
		p.Conn.Status.Has(mysql.ServerStatusInTrans) || c.Pins.Has(PinNextTransaction) {
		return false
	}
	if !failed && !c.Next.IsSet() && !c.Current.Unknown {
		c.Next = c.Current
	}
	c.Current = Characteristics{}
	return true
}

// Replayed makes p, on which what was lost with the held connection has been carried out anew, the held one, with the reasons that the session had.
func (c *Connections) Replayed(p backend.Pooled, pins Pins) { c.held, c.Pins = p, pins }

// OwnsXA reports whether xid, as it is written, is the XA transaction that the held connection has begun.
func (c *Connections) OwnsXA(xid string) bool {
	return c.Pins.Has(PinXA) && c.held.Pooled != nil && xid == c.held.Conn.XID
}

// Opened makes leases, on each of which a transaction has begun, the open one: with current, what SET TRANSACTION had said, and with parts that end together,
// where branches says so. The first lease's connection is held if none is.
func (c *Connections) Opened(leases []Lease, current Characteristics, branches bool) {
	c.began()
	for k := range leases {
		switch l := &leases[k]; {
		case c.held.Pooled == l.Pooled.Pooled:
		case c.held.Pooled == nil:
			c.held = l.Pooled
		default:
			c.addOther(l.Node, l.Pooled)
		}
		leases[k].Kept = true
	}
	c.Begin, c.Current, c.Next, c.Branches, c.LastOnHeld = "", current, Characteristics{}, branches, false
}
