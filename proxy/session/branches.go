package session

import (
	"errors"
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/txn"
	"kingshard/proxy/txn/driver"
	"kingshard/proxy/txn/twophase"
)

// spread is a client's transaction as far as it may be, or is, one over several nodes.
type spread struct {
	// parts are those of the transaction, once it has a second node; see package driver.
	parts *driver.Transaction
	// savepoints are the client's, by name, the oldest first: a node that joins later gets them, too.
	savepoints []string
	// broken says that a part of it is lost, or may not be as the others are: the rest may only be rolled back.
	broken bool
}

// branches carry a client's transaction out on several nodes: the first one has a plain transaction, each further one a branch of package driver.
type branches struct {
	client *client
	leases *leases
}

// branches are those of the session's transaction.
func (ls *leases) branches() branches { return branches{ls.client, ls} }

// joins reports whether a transaction may change rows of further nodes.
func (b branches) joins() bool {
	return b.client.txn.Branches || b.client.snap.Config.Atomic() && (!b.client.txn.HasOthers() || b.client.txn.Forbids())
}

// stepAside has a change of a node go ahead of what the session has elsewhere; see [txn.Connections.StepAside].
func (b branches) stepAside(node string) {
	undo := b.client.run
	if !b.joins() {
		undo = nil
	}
	b.client.txn.StepAside(node, undo)
}

// joining says how a connection becomes part of the client's transaction.
func (b branches) joining(n *backend.Node, reads bool) txn.Joining {
	j := txn.Joining{Reads: reads, Autocommit: b.client.state.Autocommit, Exec: b.client.run}
	if b.joins() {
		j.Branch = func(p backend.Pooled) error { return b.begin(p, n) }
	}
	return j
}

// begin begins the part of the transaction on a further node.
func (b branches) begin(p backend.Pooled, n *backend.Node) error {
	s := b.spread()
	if s.parts == nil {
		held := b.client.txn.Held()
		anchor := b.client.snap.Nodes[held.Instance.Node]
		if anchor == nil || anchor.Primary.Addr != held.Instance.Addr {
			return newError(KSTransactionNodes, "transaction in multi node: another server is the primary of node "+held.Instance.Node+" since the transaction began")
		}
		parts, err := b.client.shared.Atomic.BeginAt(anchor, []*backend.Node{anchor, n}, b.client.entry.Now().Add(b.client.snap.Config.PoolWaitTimeout.Duration()))
		if err != nil {
			return newError(KSNotCarriedOut, "transaction_mode is atomic: "+err.Error())
		}
		parts.Join(held)
		if b.client.txn.Changed {
			parts.Changed(held)
		}
		s.parts = parts
	}
	if err := b.client.run(p, s.parts.BranchBegins(p)); err != nil {
		return err
	}
	for _, name := range s.savepoints {
		if err := b.client.run(p, "SAVEPOINT "+b.quote(name)); err != nil {
			return err
		}
	}
	s.parts.Join(p)
	return nil
}

// quote writes the name of a savepoint.
func (b branches) quote(name string) string {
	text, _ := sqltext.QuoteIdent(name, b.client.mode())
	return text
}

// changes notes that a statement for p, a connection of the transaction if there is one, may change rows.
func (b branches) changes(p backend.Pooled) {
	s := b.client.spread
	switch {
	case s == nil || s.parts == nil:
		b.client.txn.Changed = true
	case b.client.txn.Holds(p) || b.client.txn.Beside(p):
		s.parts.Changed(p)
	}
}

// spread returns what the client's transaction has, or gets, on several nodes.
func (b branches) spread() *spread {
	if b.client.spread == nil {
		b.client.spread = new(spread)
	}
	return b.client.spread
}

// watchRowLocks begins to watch a statement that may wait for row locks, which runs on the connections that runs says, for circles with statements on
// other nodes where its transaction has locks.
func (b branches) watchRowLocks(runs func(p backend.Pooled) bool) {
	var beside []backend.Pooled
	if b.client.txn.Branches {
		beside = slices.DeleteFunc(b.client.txn.All(), runs)
	}
	b.client.entry.WatchRowLocks(&b.client.shared.LockWaits, beside, func() { b.client.observed.Counters.RowDeadlocks.Add(1) })
}

// gaveWay makes the error of a statement that was told to give way the one that ends a transaction.
func (b branches) gaveWay(e *mysql.SQLError) {
	if e.Code == mysql.ERQueryInterrupted && b.client.entry.EndRowWait() {
		*e = *errGaveWay()
	}
}

// failed notes that a statement on p, a connection of the transaction if there is one, was answered with an error.
func (s *spread) failed(c *txn.Connections, p backend.Pooled, code uint16) {
	if s == nil || s.parts == nil || !c.Holds(p) && !c.Beside(p) {
		return
	}
	s.parts.Failed(p, code)
	if code == erLockWaitTimeout && p.Instance.Variables.Value("innodb_rollback_on_timeout") == "ON" {
		s.broken = true
	}
}

// aheadOf does what a statement wants of a transaction over several nodes before it runs: those that end one end all of its parts. handled says that
// this was all.
func (b branches) aheadOf(q *query) (handled bool, err error) {
	if !b.client.txn.Branches {
		return false, nil
	}
	switch class := q.info.Class; {
	case class == sqltext.Commit, class == sqltext.Rollback:
		return b.end(q)
	case class == sqltext.Begin, commitsByItself(class), class == sqltext.LockTables, class == sqltext.Set && b.endedByAutocommit(q):
		return false, b.keep()
	case class == sqltext.Savepoint, class == sqltext.RollbackTo, class == sqltext.ReleaseSavepoint:
		return false, b.savepoint(q)
	case class == sqltext.XA && !xaVerb(q.text, "RECOVER"):
		return true, mysql.NewSQLError(erXAOutside, "XAER_OUTSIDE: Some work is done outside global transaction")
	case class == sqltext.CreateTemporary, q.unseen():
		return true, newError(KSTransactionNodes, "the transaction is on several nodes, and the statement may leave or end it unseen: send COMMIT ahead of it")
	}
	return false, nil
}

// erXAOutside is the code of an XA statement in a transaction. MySQL manual: "XA Transaction States".
const erXAOutside = 1400

// unseen reports whether a statement may carry out others that its text does not tell of, or ones that end a transaction.
func (q *query) unseen() bool {
	switch q.info.Class {
	case sqltext.Call, sqltext.CompoundBegin, sqltext.Other:
		return true
	}
	if q.info.Has(sqltext.Doubt) || q.carriesOut() && q.within == nil && q.info.Class != sqltext.Execute || q.unknown() {
		return true
	}
	return q.within != nil && slices.ContainsFunc(q.within.Inner, func(in sqltext.Inner) bool {
		return !in.Later && (endsTransaction(in.Info.Class) || in.Info.Class == sqltext.Call || in.Info.Class == sqltext.XA || in.Info.Class == sqltext.LockTables ||
			in.Info.Class == sqltext.Savepoint || in.Info.Class == sqltext.RollbackTo || in.Info.Class == sqltext.ReleaseSavepoint)
	})
}

// endedByAutocommit reports whether a SET switches autocommit on, which ends a transaction.
func (b branches) endedByAutocommit(q *query) bool {
	if b.client.state.Autocommit {
		return false
	}
	list, ok := sqltext.ParseSet(q.text, b.client.mode())
	return !ok || slices.ContainsFunc(list, func(a sqltext.Assignment) bool { return a.Name == "autocommit" && a.Value != "0" })
}

// end runs the client's COMMIT or ROLLBACK.
func (b branches) end(q *query) (handled bool, err error) {
	t, ok := sqltext.ParseTransaction(q.text, b.client.mode())
	if !ok {
		return false, nil // a server words the error
	}
	switch b.client.state.Value("completion_type") {
	case "CHAIN", "'CHAIN'", "1":
		t.Chain = t.Chain || !sqltext.Mentions(q.text, "chain")
	case "RELEASE", "'RELEASE'", "2":
		t.Release = t.Release || !sqltext.Mentions(q.text, "release")
	}
	current, readOnly := b.client.txn.Current, b.client.txn.ReadOnly
	if q.info.Class == sqltext.Rollback {
		b.undo()
	} else if err := b.keep(); err != nil {
		return true, err
	}
	if t.Release {
		b.client.writeOK()
		return true, errQuit
	}
	if t.Chain {
		b.client.txn.Begin, b.client.txn.Next, b.client.txn.ReadOnly = txn.SQLBegin, current, readOnly
	}
	b.client.writeOK()
	return true, nil
}

// keep has all nodes keep the transaction, or none. An error that ends the session, or that the client hears, says which.
func (b branches) keep() error {
	s := b.client.spread
	if s.broken || s.parts.Doomed() {
		b.undo()
		return errGaveWay()
	}
	held := b.client.txn.Held()
	b.client.entry.TransactionOver() // a client that goes away now changes nothing
	o := s.parts.Commit()
	stateful := false
	for _, p := range b.client.txn.All() {
		if s.parts.Usable(p) {
			continue
		}
		stateful = stateful || b.client.txn.Holds(p) && b.client.txn.Pins&^txn.OfTransaction != 0
		b.client.txn.Remove(p)
	}
	b.after(held)
	if o.End == twophase.Commit && !stateful {
		return nil
	}
	e := outcomeError(&o, s.parts.GTRID(), "transaction")
	return b.leases.lostWith(e, stateful, e)
}

// after gives back what is left of the connections of a transaction that has ended, and forgets it. held is the one that the session had.
func (b branches) after(held backend.Pooled) {
	for _, p := range b.client.txn.Others() {
		b.client.txn.Remove(p)
		p.Put()
	}
	b.client.txn.Pins &^= txn.OfTransaction
	b.client.txn.Forget()
	b.client.txn.Unpin(txn.PinNextTransaction)
	b.client.spread = nil
	if held.Pooled != nil && b.client.txn.Holds(held) {
		b.leases.release(held)
	}
	b.client.txn.LastOnHeld = false
}

// undo rolls all parts of the transaction back.
func (b branches) undo() {
	s, held := b.client.spread, b.client.txn.Held()
	for _, p := range b.client.txn.All() {
		if s.parts.Undo(p, b.client.run) == nil {
			continue
		}
		if b.client.txn.Holds(p) && b.client.txn.Pins&^txn.OfTransaction != 0 {
			b.leases.dropAnswered(p, errGivenUp)
			continue
		}
		b.leases.drop(p)
	}
	b.after(held)
}

// settle follows a statement that is over. It ends what is left of a transaction over several nodes after which nothing but a rollback is allowed: a
// server has rolled its part back, or it is lost. The client has heard, or is about to hear, the error that says so.
func (b branches) settle(q *query, failed bool, err error) {
	if !failed && err == nil {
		b.noteSavepoint(q)
	}
	s := b.client.spread
	var ended *endError
	if s == nil || errors.As(err, &ended) {
		return // the session's end rolls back
	}
	held := b.client.txn.Held()
	if !b.client.txn.Branches {
		switch {
		case s.broken && s.parts != nil:
			b.undo() // its further nodes are lost
		case s.parts != nil, !b.client.txn.InTransaction() && !b.client.txn.Pins.Has(txn.PinAutocommit):
			b.client.spread = nil // it is over
		}
		return
	}
	var refused *mysql.SQLError
	if errors.As(err, &refused) && held.Pooled != nil {
		s.failed(&b.client.txn, held, refused.Code)
	}
	if held.Pooled == nil || s.broken || s.parts.Doomed() {
		b.undo()
	}
}

// savepoint carries out a statement about a savepoint on all nodes but the first, which answers the client.
func (b branches) savepoint(q *query) error {
	t, ok := sqltext.ParseTransaction(q.text, b.client.mode())
	if !ok {
		return nil // a server words the error
	}
	words := map[sqltext.Class]string{sqltext.Savepoint: "SAVEPOINT ", sqltext.RollbackTo: "ROLLBACK TO SAVEPOINT ", sqltext.ReleaseSavepoint: "RELEASE SAVEPOINT "}
	for _, p := range b.client.txn.Others() {
		err := b.client.run(p, words[q.info.Class]+b.quote(t.Name))
		var refused *mysql.SQLError
		switch {
		case err == nil:
		case errors.As(err, &refused):
			if refused.Code != erNoSavepoint { // which the first node says, too
				b.client.spread.broken = true
				return refused
			}
		default:
			return b.leases.lost(p, err)
		}
	}
	return nil
}

// erNoSavepoint is the code of a savepoint that does not exist. MySQL manual: "Server Error Message Reference".
const erNoSavepoint = 1305

// noteSavepoint follows the savepoints of a transaction that may come to further nodes, behind a statement that has succeeded.
func (b branches) noteSavepoint(q *query) {
	switch q.info.Class {
	case sqltext.Savepoint, sqltext.RollbackTo, sqltext.ReleaseSavepoint:
	default:
		return
	}
	if !b.joins() || !b.client.txn.InTransaction() {
		return
	}
	t, ok := sqltext.ParseTransaction(q.text, b.client.mode())
	if !ok {
		return
	}
	s, name := b.spread(), strings.Clone(t.Name)
	at := slices.IndexFunc(s.savepoints, func(other string) bool { return strings.EqualFold(other, name) })
	switch {
	case q.info.Class == sqltext.Savepoint && at >= 0:
		s.savepoints = append(slices.Delete(s.savepoints, at, at+1), name)
	case q.info.Class == sqltext.Savepoint:
		s.savepoints = append(s.savepoints, name)
	case q.info.Class == sqltext.RollbackTo && at >= 0:
		s.savepoints = s.savepoints[:at+1]
	case at >= 0:
		s.savepoints = s.savepoints[:at]
	}
}
