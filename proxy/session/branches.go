package session

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
	"kingshard/proxy/txn/driver"
	"kingshard/proxy/txn/twophase"
)

// spread is a client's transaction as far as it may be, or is, one over several nodes.
type spread struct {
	// parts are those of the transaction, once it has a second node; see package driver.
	parts *driver.Transaction
	// changed are the nodes that may have changed rows, in the mode best_effort, in which there are no parts; else nil.
	changed map[string]bool
	// savepoints are the client's, by name, the oldest first: a node that joins later gets them, too.
	savepoints []string
	// broken says that a part of it is lost, or may not be as the others are: the rest may only be rolled back.
	broken bool
	// idled says that there was one, which was rolled back as it idled, and that the client is still to hear so.
	idled bool
}

// branches carry a client's transaction out on several nodes: the first one has a plain transaction, each further one a branch of package driver.
type branches struct {
	client    *client
	leases    *leases
	exchanges *exchanges // nil where no statement ends
}

// branches are those of the session's transaction, for who takes part in it.
func (ls *leases) branches() branches { return branches{ls.client, ls, nil} }

// branches are those of the session's transaction.
func (xs *exchanges) branches() branches { return branches{xs.client, xs.leases, xs} }

// mode is the transaction_mode in force.
func (b branches) mode() string { return ownTransactionMode.value(b.client) }

// inForce is the mode, with what the servers say where it is left to them. They are asked where nobody has yet.
func (b branches) inForce() string {
	mode := b.mode()
	switch {
	case mode != config.TransactionAuto:
		return mode
	case b.client.shared.Atomic.Ask(b.deadline()) == driver.Qualified:
		return config.TransactionAtomic
	}
	return config.TransactionSingle
}

// deadline is how long servers are waited for that nobody has asked yet.
func (b branches) deadline() time.Time {
	return b.client.entry.Now().Add(b.client.snap.Config.PoolWaitTimeout.Duration())
}

// unready is the error of a transaction over several nodes whose servers are not ready for it.
func (b branches) unready(err error) error {
	mode := b.mode()
	if mode == config.TransactionAuto {
		return onlyOneNode(err.Error())
	}
	return newError(KSNotCarriedOut, "transaction_mode is "+mode+": "+err.Error())
}

// otherNode is the error of a change of a second node in a transaction that may not have one.
func (b branches) otherNode() error {
	if b.mode() == config.TransactionAuto {
		if reason := b.client.shared.Atomic.Reason(); reason != "" {
			return onlyOneNode(reason)
		}
	}
	return txn.ErrOtherNode
}

// onlyOneNode says why transactions change rows of one node where it is left to the servers.
func onlyOneNode(reason string) error {
	return newError(KSTransactionNodes, "transaction in multi node: transaction_mode is auto, and "+reason)
}

// joins reports whether a transaction may change rows of further nodes: what the client has begun by XA START or LOCK TABLES may not.
func (b branches) joins() bool {
	own := b.client.txn.Pins.Has(txn.PinXA) || b.client.txn.Pins.Has(txn.PinLockTables)
	return b.client.txn.Branches || !own && (!b.client.txn.HasOthers() || b.client.txn.Forbids()) && b.inForce() != config.TransactionSingle
}

// stepAside has a change of a node go ahead of what the session has elsewhere; see [txn.Connections.StepAside].
func (b branches) stepAside(node string) {
	if !b.client.txn.Holding() || b.client.txn.Held().Instance.Node == node {
		return
	}
	undo := b.client.run
	if !b.joins() {
		undo = nil
	}
	b.client.txn.StepAside(node, undo)
	if s := b.client.spread; undo == nil && (s == nil || len(s.savepoints) == 0) && b.changesRows() {
		b.client.txn.MoveOn(node)
	}
}

// changesRows reports whether the statement changes or locks rows, in the transaction that is open: others may end that, or wait for what it holds on a node that
// it has only read from.
func (b branches) changesRows() bool {
	switch b.client.observed.Class {
	case sqltext.Insert, sqltext.Replace, sqltext.Update, sqltext.Delete, sqltext.LoadData, sqltext.LoadDataLocal, sqltext.Select, sqltext.With:
		return true
	}
	return false
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
	if !s.spreads() && b.mode() == config.TransactionBestEffort {
		s.changed = map[string]bool{}
		if b.client.txn.Changed {
			s.changed[b.client.txn.Held().Instance.Node] = true
		}
	}
	if s.parts == nil && s.changed == nil {
		held := b.client.txn.Held()
		anchor := b.client.snap.Nodes[held.Instance.Node]
		if anchor == nil || anchor.Primary.Addr != held.Instance.Addr {
			return newError(KSTransactionNodes, "transaction in multi node: another server is the primary of node "+held.Instance.Node+" since the transaction began")
		}
		parts, err := b.client.shared.Atomic.BeginAt(anchor, []*backend.Node{anchor, n}, b.deadline())
		if err != nil {
			return b.unready(err)
		}
		parts.Strict = b.serializable()
		parts.Join(held)
		if b.client.txn.Changed {
			parts.Changed(held)
		}
		s.parts = parts
	}
	if err := b.boundWaits(p); err != nil {
		return err
	}
	begin := txn.SQLBegin
	if s.parts != nil {
		begin = s.parts.BranchBegins(p)
	}
	if err := b.client.run(p, begin); err != nil {
		return err
	}
	for _, name := range s.savepoints {
		if err := b.client.run(p, "SAVEPOINT "+b.quote(name)); err != nil {
			return err
		}
	}
	if s.parts != nil {
		s.parts.Join(p)
	}
	return nil
}

// boundWaits has the transaction, of which p is about to become a part, wait for row locks for some seconds only, unless the client has said for how long, where
// a server does not tell who waits for whom: a circle over several nodes would last as long as a server waits by default, which is most of a minute.
func (b branches) boundWaits(p backend.Pooled) error {
	conns := append(b.client.txn.All(), p)
	var instances []*backend.Instance
	for _, one := range conns {
		instances = append(instances, one.Instance)
	}
	short := func(i *backend.Instance) bool {
		seconds, err := strconv.Atoi(i.Variables.Value(state.LockWaitTimeout))
		return err == nil && seconds <= state.LockWaitBound
	}
	if !b.client.shared.LockWaits.Blind(instances) || !slices.ContainsFunc(instances, func(i *backend.Instance) bool { return !short(i) }) {
		return nil
	}
	b.client.state.BoundWaits(true)
	for _, one := range conns {
		if err := b.client.observed.Apply(one, b.client.state.DB(), b.client.state.Setting()); err != nil {
			return err
		}
	}
	return nil
}

// forget forgets what was of the transaction alone.
func (b branches) forget() {
	b.client.spread = nil
	b.client.state.BoundWaits(false)
}

// spreads reports whether the transaction has further nodes. They end together.
func (s *spread) spreads() bool { return s != nil && (s.parts != nil || s.changed != nil) }

// doomed reports whether nothing but a rollback is allowed.
func (s *spread) doomed() bool { return s.broken || s.parts != nil && s.parts.Doomed() }

// serializable reports whether the transaction's level is SERIALIZABLE.
func (b branches) serializable() bool {
	if level := b.client.txn.Current.Level(); level != "" {
		return level == "SERIALIZABLE"
	}
	return strings.Contains(strings.ToUpper(b.client.state.Value("transaction_isolation")+b.client.state.Value("tx_isolation")), "SERIALIZABLE")
}

// changes notes that a statement for p, a connection of the transaction if there is one, may change rows.
func (b branches) changes(p backend.Pooled) {
	s := b.client.spread
	switch {
	case !s.spreads():
		b.client.txn.Changed = true
	case !b.client.txn.Holds(p) && !b.client.txn.Beside(p):
	case s.parts != nil:
		s.parts.Changed(p)
	default:
		s.changed[p.Instance.Node] = true
	}
}

// callsNothing reports whether the statement is a SET or a SHOW without functions and queries: it changes and locks no rows.
func (b branches) callsNothing() bool {
	q := &b.client.task().query
	return (q.info.Class == sqltext.Set || q.info.Class == sqltext.Show) && q.st == nil && !strings.Contains(q.text, "(")
}

// uses is changes, but for a statement that only reads, and reaches nothing that may change rows: the function of a view, say.
func (b branches) uses(p backend.Pooled, reads bool) {
	if b.callsNothing() {
		return
	}
	freshness{b.client}.uses(p, reads)
	if !reads || (b.client.txn.InTransaction() || !b.client.state.Autocommit) && !reachesNone(p.Instance.Stored(), &b.client.task().query.info, p.Key.Database()) {
		b.changes(p)
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
	if !s.spreads() || !c.Holds(p) && !c.Beside(p) {
		return
	}
	s.broken = s.broken || twophase.RollsBack(code)
	if code == erLockWaitTimeout && p.Instance.Variables.Value("innodb_rollback_on_timeout") == "ON" {
		s.broken = true
	}
}

// aheadOf does what a statement wants of a transaction over several nodes before it runs: those that end one end all of its parts. handled says that
// this was all.
func (b branches) aheadOf(q *query) (handled bool, err error) {
	if s := b.client.spread; s != nil && s.idled {
		b.client.spread = nil
		if q.info.Class == sqltext.Rollback {
			return false, nil // it was
		}
		return true, b.errIdled()
	}
	if !b.client.txn.Branches {
		return false, nil
	}
	switch class := q.info.Class; {
	case class == sqltext.Commit, class == sqltext.Rollback:
		return b.end(q)
	case class == sqltext.Begin, commitsByItself(class), class == sqltext.LockTables, class == sqltext.Set && b.endedByAutocommit(q):
		_, err := b.keep()
		return false, err
	case class == sqltext.Savepoint, class == sqltext.RollbackTo, class == sqltext.ReleaseSavepoint:
		return false, b.savepoint(q)
	case class == sqltext.XA && !xaVerb(q.text, "RECOVER"):
		return true, &mysql.SQLError{Code: erXAOutside, State: "XAE09", Message: "XAER_OUTSIDE: Some work is done outside global transaction"}
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
	return !ok || slices.ContainsFunc(list, func(a sqltext.Assignment) bool { return a.Name == "autocommit" && !isOff(a.Value) })
}

// isOff reports whether a value is one of those that switch a variable off.
func isOff(value string) bool {
	switch strings.ToLower(strings.Trim(value, `'"`)) {
	case "0", "off", "false":
		return true
	}
	return false
}

// end runs the client's COMMIT or ROLLBACK.
func (b branches) end(q *query) (handled bool, err error) {
	t, ok := sqltext.ParseTransaction(q.text, b.client.mode())
	if !ok {
		return false, nil // a server words the error
	}
	keepWarnings(b.client)
	switch b.client.state.Value("completion_type") {
	case "CHAIN", "'CHAIN'", "1":
		t.Chain = t.Chain || !sqltext.Mentions(q.text, "chain")
	case "RELEASE", "'RELEASE'", "2":
		t.Release = t.Release || !sqltext.Mentions(q.text, "release")
	}
	current, readOnly, each := b.client.txn.Current, b.client.txn.ReadOnly, false
	if q.info.Class == sqltext.Rollback {
		b.undo()
	} else if each, err = b.keep(); err != nil {
		return true, err
	}
	if t.Chain {
		b.client.txn.Begin, b.client.txn.Next, b.client.txn.ReadOnly = txn.SQLBegin, current, readOnly
	}
	b.client.noWarnings()
	b.client.state.Diagnostics.RowCount = 0
	answer := mysql.OKPacket{Status: b.client.status()}
	if each {
		b.client.state.Diagnostics.Warnings = append(b.client.state.Diagnostics.Warnings, noteBestEffort)
		b.client.state.Diagnostics.WarningCount, answer.Warnings = 1, 1
	}
	b.client.conn.WriteOK(&answer)
	if t.Release {
		return true, errQuit
	}
	return true, nil
}

// noteBestEffort is what SHOW WARNINGS gives behind a COMMIT that some nodes might have carried out and others not.
var noteBestEffort = state.Warning{Level: "Note", Code: KSTransactionNodes, Message: "transaction_mode is best_effort: the nodes committed one behind the other"}

// keep has all nodes keep the transaction, or none. An error that ends the session, or that the client hears, says which. each says that several nodes
// have committed one behind the other, as the mode best_effort has it.
func (b branches) keep() (each bool, err error) {
	s := b.client.spread
	if s.doomed() {
		b.undo()
		return false, errGaveWay()
	}
	held := b.client.txn.Held()
	b.client.entry.TransactionOver() // a client that goes away now changes nothing
	if s.parts == nil {
		return b.keepEach(held)
	}
	conns := b.client.txn.All()
	clocks, err := b.exchanges.several().shards.startClocks(conns)
	if err != nil {
		for _, p := range conns {
			b.leases.drop(p) // and so it is rolled back
		}
		b.after(held)
		return false, b.leases.lostWith(newError(KSNotCarriedOut, "No node has kept the transaction: "+err.Error()), true, err)
	}
	o := s.parts.Commit()
	stateful := false
	for k, p := range conns {
		if s.parts.Usable(p) {
			if clocks == nil || clocks[k]() {
				continue
			}
			p.Taint()
		} else {
			freshness{b.client}.unfinished(p)
		}
		stateful = stateful || b.client.txn.Holds(p) && b.client.txn.Pins&^txn.OfTransaction != 0
		b.client.txn.Remove(p)
	}
	b.after(held)
	if o.End == twophase.Commit && !stateful {
		return false, nil
	}
	e := outcomeError(&o, s.parts.GTRID(), "transaction")
	return false, b.leases.lostWith(e, stateful, e)
}

// keepEach has one node after the other keep the transaction, in the mode best_effort. It is the changes that deal with one that some may have kept.
func (b branches) keepEach(held backend.Pooled) (several bool, err error) {
	c := &change{text: "COMMIT", undo: txn.SQLRollback, end: txn.SQLCommit}
	for _, p := range b.client.txn.All() {
		if b.client.spread.changed[p.Instance.Node] {
			c.loans = append(c.loans, txn.Lease{Pooled: p, Node: p.Instance.Node, Kept: true})
		} else if b.client.run(p, txn.SQLCommit) != nil {
			b.leases.drop(p) // it was only read there
		}
	}
	b.client.txn.Branches = false
	err = b.exchanges.several().changes.keepWhole(c)
	var refused *mysql.SQLError
	if err == nil || errors.As(err, &refused) {
		b.after(held)
	}
	if several = len(c.loans) > 1; several {
		b.client.observed.Counters.BestEffort.Add(1)
	}
	return several, err
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
	b.forget()
	if held.Pooled != nil && b.client.txn.Holds(held) {
		b.leases.release(held)
	}
	b.client.txn.LastOnHeld = false
}

// undo rolls all parts of the transaction back.
func (b branches) undo() {
	s, held := b.client.spread, b.client.txn.Held()
	for _, p := range b.client.txn.All() {
		if b.undoOn(s, p) == nil {
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

// undoOn rolls the part of the transaction back that is on p.
func (b branches) undoOn(s *spread, p backend.Pooled) error {
	if s.parts != nil {
		return s.parts.Undo(p, b.client.run)
	}
	return b.client.run(p, txn.SQLRollback)
}

// settle follows a statement that is over. It ends what is left of a transaction over several nodes after which nothing but a rollback is allowed: a
// server has rolled its part back, or it is lost. The client has heard, or is about to hear, the error that says so.
func (b branches) settle(q *query, failed bool, err error) {
	s := b.client.spread
	var ended *endError
	if errors.As(err, &ended) {
		return // the session's end rolls back
	}
	if !failed && err == nil {
		b.noteSavepoint(q)
		s = b.client.spread
	}
	if s == nil {
		return
	}
	held := b.client.txn.Held()
	if !b.client.txn.Branches {
		switch over := !b.client.txn.InTransaction() && !b.client.txn.Pins.Has(txn.PinAutocommit); {
		case s.broken && s.spreads():
			b.undo() // its further nodes are lost
		case over, !failed && endsTransaction(q.info.Class):
			b.forget() // another one may have begun
		default:
			s.parts, s.changed = nil, nil // no further node took part after all
		}
		return
	}
	var refused *mysql.SQLError
	if errors.As(err, &refused) && held.Pooled != nil {
		s.failed(&b.client.txn, held, refused.Code)
	}
	if held.Pooled == nil || s.doomed() {
		b.undo()
	}
}
