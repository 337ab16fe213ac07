package driver

import (
	"errors"
	"strconv"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/txn"
	"kingshard/proxy/txn/twophase"
)

// Transaction is one over several nodes. One goroutine uses it at a time.
type Transaction struct {
	// Strict has nodes that were only read end ahead of the decision, so that a transaction of the level SERIALIZABLE is that over all of them.
	Strict bool

	driver *Driver
	secret twophase.Secret
	gtrid  twophase.GTRID
	open   *twophase.Transaction // nil before the anchor has begun
	parts  []*part               // the anchor first
}

// part is what a transaction has on one node.
type part struct {
	id     twophase.NodeID
	server string // what it calls itself
	conn   backend.Pooled
	// released says that nothing of the transaction is on the connection, returned that it was so when Commit returned: it is the caller's.
	released, returned bool
	closed             bool // whoever reads from the connection is told that it broke
}

// Join makes a connection to a node's primary part of the transaction, and returns the statement that begins it there. The first one is to the
// anchor's.
func (t *Transaction) Join(p backend.Pooled) string {
	server := t.driver.store.Server(p.Instance.Addr)
	one := &part{id: twophase.NodeIDOf(p.Instance.Node), server: server.Identity(), conn: p}
	t.parts = append(t.parts, one)
	holder := twophase.Holder(one.server + ":" + strconv.FormatUint(uint64(p.Conn.ThreadID), 10))
	if t.open == nil {
		t.open = twophase.Begin(t.gtrid, holder)
	} else {
		t.open.Enlist(twophase.Branch{Node: one.id, Holder: holder, Holds: !server.Detaches(), Compounds: server.MariaDB})
	}
	return t.open.BeginsWith(one.id)
}

// BranchBegins returns the statement that begins the part of the transaction which Join is told of when it was carried out: on p, a connection to a
// node that has none yet, and is not the anchor.
func (t *Transaction) BranchBegins(p backend.Pooled) string {
	return t.open.BeginsWith(twophase.NodeIDOf(p.Instance.Node))
}

// Failed notes that a statement on p was answered with an error, after some of which nothing but a rollback is allowed.
func (t *Transaction) Failed(p backend.Pooled, code uint16) {
	t.open.Failed(twophase.NodeIDOf(p.Instance.Node), code)
}

// Doomed reports whether nothing but a rollback is allowed.
func (t *Transaction) Doomed() bool {
	_, doomed := t.open.Doomed()
	return doomed
}

// Changed notes that what is sent on p may change rows.
func (t *Transaction) Changed(p backend.Pooled) { t.open.Change(twophase.NodeIDOf(p.Instance.Node)) }

// Undo rolls back what the transaction has done on p, ahead of Commit. An error that is no *mysql.SQLError says that the connection broke, which
// undoes it, too.
func (t *Transaction) Undo(p backend.Pooled, exec txn.Exec) error {
	var err error
	for _, sql := range t.Undoes(p) {
		// XA END fails where a deadlock has rolled the branch back.
		var refused *mysql.SQLError
		if err = exec(p, sql); err != nil && !errors.As(err, &refused) {
			return err
		}
	}
	return err
}

// Undoes lists the statements of Undo.
func (t *Transaction) Undoes(p backend.Pooled) []string {
	id := twophase.NodeIDOf(p.Instance.Node)
	do := twophase.DoRollbackBranch
	if id == t.gtrid.Anchor {
		do = twophase.DoRollback
	}
	return twophase.Action{Do: do, XID: twophase.XID{GTRID: t.gtrid, Node: id}}.Statements()
}

// GTRID returns the name under which the outcome is known.
func (t *Transaction) GTRID() string { return t.gtrid.String() }

// Usable reports whether p, a connection of the transaction, is the caller's again behind Commit.
func (t *Transaction) Usable(p backend.Pooled) bool {
	for _, one := range t.parts {
		if one.conn.Pooled == p.Pooled {
			return one.returned
		}
	}
	return true
}

// part returns that of a node, nil if there is none.
func (t *Transaction) part(id twophase.NodeID) *part {
	for _, one := range t.parts {
		if one.id == id {
			return one
		}
	}
	return nil
}

// Again returns a transaction with the same anchor in place of one that was undone: servers that write the name of a branch down know each one once.
func (t *Transaction) Again() *Transaction {
	g := t.gtrid
	g.Sequence = t.driver.sequence.Add(1) & twophase.SequenceMax
	return &Transaction{driver: t.driver, secret: t.secret, gtrid: g}
}
