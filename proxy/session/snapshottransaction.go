package session

import (
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/txn"
	"kingshard/proxy/txn/driver"
)

// START TRANSACTION WITH CONSISTENT SNAPSHOT begins on all nodes of the user's schema at once, so that what is read later is of one moment on all of them.
// Where it may change rows of several nodes, each but the first has a branch from the beginning: XA START takes no snapshot, but the first read in it does.

// opensEverywhere reports whether a transaction that begins with a snapshot begins on several nodes. With SERIALIZABLE there is no snapshot; of tables that
// are locked, an XA transaction and what SET TRANSACTION said the held connection's server knows best.
func (se settings) opensEverywhere() bool {
	pins := se.client.txn.Pins
	return len(se.client.schema.Nodes) > 1 && se.client.schema.Plans != nil && !pins.Has(txn.PinLockTables) && !pins.Has(txn.PinXA) && !pins.Has(txn.PinNextTransaction) &&
		se.leases.branches().levelOn(se.client.schema.Default.Primary) != "SERIALIZABLE"
}

// levelOn returns the isolation level that the session's next transaction has on a server, "" if it is not known yet.
func (b branches) levelOn(i *backend.Instance) string {
	level := b.client.txn.Next.Level()
	for _, name := range [...]string{"transaction_isolation", "tx_isolation"} {
		if level == "" {
			level = b.client.state.Value(name)
		}
	}
	for _, name := range [...]string{"transaction_isolation", "tx_isolation"} {
		if level == "" {
			level = i.Variables.Value(name)
		}
	}
	return strings.ReplaceAll(strings.ToUpper(strings.Trim(level, "'")), "-", " ")
}

// openEverywhere begins a transaction with a snapshot on each node.
func (se settings) openEverywhere(tx *sqltext.Transaction) error {
	if err := se.endOpen(); err != nil {
		return err
	}
	next, b, sh := se.client.txn.Next, se.exchanges.branches(), &se.exchanges.several().shards
	o := &openingEverywhere{snapshots: snapshots{shards: sh}, next: next.Text(), text: sqlSnapshot}
	switch {
	case tx.ReadOnly:
		o.text += ", READ ONLY"
	case tx.ReadWrite:
		o.text += ", READ WRITE"
	}
	for _, n := range se.client.schema.Nodes {
		o.nodes = append(o.nodes, n)
	}
	anchor := se.client.schema.Default
	if p := se.client.txn.Held(); p.Pooled != nil {
		if anchor = se.client.schema.Nodes[p.Instance.Node]; anchor == nil || anchor.Primary != p.Instance {
			return newError(KSTransactionNodes, "the session has state ("+se.client.txn.Pins.String()+") on a server that is not the primary of one of its nodes any more")
		}
	}
	mode := b.inForce()
	changes := !tx.ReadOnly && !next.Forbids() && mode != config.TransactionSingle
	var err error
	if changes && mode == config.TransactionAtomic {
		if o.parts, err = se.client.shared.Atomic.BeginAt(anchor, o.nodes, b.deadline()); err != nil {
			return b.unready(err)
		}
	}
	if b.readsAtomic() {
		for _, n := range o.nodes {
			if level := b.levelOn(n.Primary); level != "REPEATABLE READ" {
				return newError(KSRefusedStatement, "START TRANSACTION WITH CONSISTENT SNAPSHOT takes no snapshot on node "+n.Name+", where the isolation level is "+level+
					", and ks_read_consistency is atomic: SET TRANSACTION ISOLATION LEVEL REPEATABLE READ ahead of it")
			}
		}
		if o.reading, err = b.reading(o.nodes); err != nil {
			return err
		}
	}
	if err := o.open(anchor); err != nil {
		return err
	}
	se.client.txn.Opened(o.loans, next, changes)
	se.client.txn.ReadOnly = tx.ReadOnly
	for k := range o.loans {
		o.loans[k].Conn.Release()
	}
	switch {
	case o.parts != nil:
		b.spread().parts = o.parts
	case changes:
		b.spread().changed = map[string]bool{}
	}
	return se.answerOpened(o)
}

// answerOpened tells the client that the transaction has begun.
func (se settings) answerOpened(o *openingEverywhere) error {
	se.client.noWarnings()
	se.client.state.Diagnostics.RowCount = 0
	answer := mysql.OKPacket{Status: se.client.status()}
	if first := &o.loans[0]; o.warnings > 0 && !o.asks(first) {
		if err := se.client.fetchWarnings(first.Pooled, nil); err != nil {
			return se.leases.lost(first.Pooled, err)
		}
		d := &se.client.state.Diagnostics
		d.WarningCount, answer.Warnings = int(o.warnings), o.warnings
	}
	se.client.conn.WriteOK(&answer)
	return nil
}

// endOpen commits what is open, as a statement that begins a transaction does.
func (se settings) endOpen() error {
	c := &se.client.txn
	if c.Begin != "" && se.client.mode().MariaDB {
		c.Next = txn.Characteristics{} // it was for the one that was begun; MySQL keeps it for the first that does something
	}
	c.Begin, c.Current = "", txn.Characteristics{}
	if p := c.Held(); p.Pooled != nil {
		if p.Conn.Status.Has(mysql.ServerStatusInTrans) {
			if err := c.Commit(se.client.run); err != nil {
				return se.leases.afterFailure(p, err)
			}
		}
		c.Pins &^= txn.OfTransaction
		se.leases.release(p)
	}
	c.EndOthers(se.client.run)
	se.client.spread = nil
	return nil
}

// openingEverywhere is a transaction that begins on all nodes.
type openingEverywhere struct {
	snapshots
	next, text string              // what begins it on a node without a branch
	parts      *driver.Transaction // nil where no node has a branch
}

// open begins it, with the anchor's connection as the first loan.
func (o *openingEverywhere) open(anchor *backend.Node) error {
	next := o.shards.client.txn.Next
	o.shards.client.txn.Next = txn.Characteristics{}
	err := o.borrow()
	if err == nil {
		slices.SortStableFunc(o.loans, func(a, b txn.Lease) int {
			switch anchor.Name {
			case a.Node:
				return -1
			case b.Node:
				return 1
			}
			return 0
		})
		if o.parts != nil {
			o.parts.Join(o.loans[0].Pooled)
			o.renew = func() {
				o.parts = o.parts.Again()
				o.parts.Join(o.loans[0].Pooled)
			}
		}
		o.begin, o.undo, o.asks = o.begins, o.undoes, func(l *txn.Lease) bool { return o.reading != nil || o.branch(l) }
		err = o.snapshots.open()
	}
	if err != nil {
		o.shards.client.txn.Next = next
		return err
	}
	for k := range o.loans {
		if o.branch(&o.loans[k]) {
			o.parts.Join(o.loans[k].Pooled)
		}
	}
	return nil
}

// branch reports whether a loan has a branch.
func (o *openingEverywhere) branch(l *txn.Lease) bool {
	return o.parts != nil && l.Pooled != o.loans[0].Pooled
}

func (o *openingEverywhere) begins(l *txn.Lease) (list []string) {
	if o.next != "" {
		list = append(list, o.next)
	}
	if o.branch(l) {
		return append(list, o.parts.BranchBegins(l.Pooled))
	}
	return append(list, o.text)
}

func (o *openingEverywhere) undoes(l *txn.Lease) []string {
	if o.branch(l) {
		return o.parts.Undoes(l.Pooled)
	}
	return []string{txn.SQLRollback}
}
