package session

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/process"
	"kingshard/proxy/txn"
	"kingshard/router"
	"kingshard/router/plan"
)

// savepoint is where a change of several shards on one node goes back to when it fails in the middle.
const savepoint = "ks_statement"

// writeMany runs a change on several shards, all or nothing as far as one error goes: under a transaction on every node, a
// failure rolls all of them back before the client hears of it. What remains is a crash between the commits of two nodes.
func (s *Session) writeMany(q *query, p *plan.Plan, r *plan.Route, ex *boundExecution) (failed bool, err error) {
	return s.untilLocked(func() (*change, bool, error) { return s.tryWrite(q, p, r, ex) })
}

// tryWrite makes one attempt; the change that it returns says what held locks.
func (s *Session) tryWrite(q *query, p *plan.Plan, r *plan.Route, ex *boundExecution) (_ *change, failed bool, err error) {
	c, err := s.openChange(q.text, s.routing.nodesOf(r.Queries))
	if err != nil {
		return c, true, err
	}
	total, err := s.writeAll(c.loans, p, r, ex)
	if _, inserts := r.Operator.(*plan.Insert); inserts && err != nil {
		err = s.firstFault(c, s.client.lookup().execution.InOrder(runsMax), ex, err)
		err = s.refuseNull(p, err)
	}
	if err != nil {
		return c, true, s.writeFailed(c, err, allRenames(p, r.Queries))
	}
	if err := s.insertedOnShards(q, c.loans, ex); err != nil {
		return c, true, s.writeFailed(c, err, nil)
	}
	if err := s.commitChange(c); err != nil {
		return c, true, err
	}
	if q.info.Class == sqltext.Update && !s.client.mode().MariaDB {
		s.client.state.Found.FoundBy(total.Info) // MySQL counts the rows that an UPDATE matched
	}
	return c, false, s.wrote(c, total)
}

// allRenames are the renames of several statements.
func allRenames(p *plan.Plan, queries []plan.Query) (names []mysql.TableName) {
	for _, query := range queries {
		names = append(names, renames(p, query.Shards)...)
	}
	return names
}

// change is a change of several shards that has begun.
type change struct {
	// text is the client's, as long as its command runs.
	text  string
	loans []txn.Lease
	// begin, undo and end are the statements that begin it, roll it back and keep it, or a savepoint's.
	begin, undo, end string
	// next is what SET TRANSACTION said of it.
	next txn.Characteristics
	// at is when the first node was told to keep it, of a change of several nodes.
	at time.Time
	// hurried says that some of its nodes wait for row locks for a moment only: see hurry.
	hurried bool
}

// openChange borrows connections to the nodes and begins a transaction on each, or sets a savepoint in the client's. After
// it the caller ends with writeFailed, or with commitChange and wrote. The text is the statement's.
func (s *Session) openChange(text string, nodes []*backend.Node) (c *change, err error) {
	c = &change{text: text}
	inTransaction := s.client.txn.InTransaction() || !s.client.state.Autocommit
	if len(nodes) == 1 && s.client.state.InsertID.OnlyOn() == nil {
		s.client.txn.StepAside(nodes[0].Name)
	}
	if inTransaction && (len(nodes) > 1 || s.client.txn.Holding() && s.client.txn.Held().Instance.Node != nodes[0].Name) {
		return c, newError(KSTransactionNodes, "transaction in multi node")
	}
	if !inTransaction && s.client.txn.Pins.Has(txn.PinNextTransaction) {
		return c, s.client.txn.NextIsElsewhere("this change")
	}
	if inTransaction && !s.client.txn.Holding() {
		// The transaction begins here.
		if _, err := s.borrow(nodes, true); err != nil {
			return c, err
		}
	}
	s.client.observed.Counters.Scattered.Add(1)
	s.client.state.Diagnostics.Clear()
	c.begin, c.undo, c.end = txn.SQLBegin, txn.SQLRollback, txn.SQLCommit
	if inTransaction {
		c.begin, c.undo, c.end = "SAVEPOINT "+savepoint, "ROLLBACK TO "+savepoint, "RELEASE SAVEPOINT "+savepoint
	}
	// Before anything is borrowed: it may find the held connection broken, and end it.
	if err := s.leases.learnHeldInsertID(); err != nil {
		return c, err
	}
	if !inTransaction {
		c.next, s.client.txn.Next = s.client.txn.Next, txn.Characteristics{} // for all of the nodes, not for the one that is held
	}
	for attempt := 0; ; attempt++ {
		if c.loans, err = s.borrow(nodes, false); err != nil {
			s.client.txn.Next = c.next
			return c, err
		}
		if !s.publish(c.loans) {
			s.leases.giveBack(c.loans)
			return c, interrupted()
		}
		s.watchRowLocks()
		if err = s.bringNext(c); err == nil {
			err = s.beginAll(c)
		}
		if err == nil {
			return c, nil
		}
		if !s.replacesAll(c.loans, attempt, err) {
			return c, s.writeFailed(c, err, nil)
		}
	}
}

// bringNext has a transaction of the proxy's own be what SET TRANSACTION said of the session's next one.
func (s *Session) bringNext(c *change) error {
	if !c.next.IsSet() {
		return nil
	}
	for k := range c.loans {
		if err := s.client.observed.Run(c.loans[k].Pooled, s.client.state.DB(), c.next.Text()); err != nil {
			return err
		}
	}
	return nil
}

// beginAll sends what begins the change to all nodes at a time: it waits for no locks.
func (s *Session) beginAll(c *change) (failure error) {
	sent := 0
	for k := range c.loans {
		l := &c.loans[k]
		s.client.state.InsertID.Queue(l.Conn)
		l.Span = s.client.observed.OwnSpan(l.Instance, s.client.state.DB(), c.begin)
		l.Conn.Command(mysql.ComQuery, c.begin)
		if failure = l.Conn.Flush(); failure != nil {
			l.Ended(failure)
			break
		}
		sent++
	}
	for k := range c.loans[:sent] {
		l := &c.loans[k]
		_, err := l.Conn.ReadChange()
		l.Ended(err)
		if err != nil && (failure == nil || isConnError(err)) {
			failure = err
		}
	}
	return failure
}

// commitChange keeps a change on all of its nodes.
func (s *Session) commitChange(c *change) error {
	if s.client.entry.EndRowWait() {
		return s.writeFailed(c, errGaveWay(), nil) // it was told so too late to notice
	}
	intent := s.intend(c)
	err := s.commitEach(c)
	s.client.shared.HalfDone.End(intent)
	return err
}

// commitEach has one node after the other keep a change.
func (s *Session) commitEach(c *change) error {
	var o outcome
	for k := range c.loans {
		l := &c.loans[k]
		if len(o.done) == 0 && len(o.unknown) > 0 {
			o.undone = append(o.undone, k)
			continue // the first one may not have it: better none than some
		}
		err := s.client.observed.Run(l.Pooled, s.client.state.DB(), c.end)
		var sqlErr *mysql.SQLError
		switch {
		case err == nil:
			o.done = append(o.done, k)
			continue
		case !errors.As(err, &sqlErr) && !l.Conn.NeverArrived():
			o.unknown = append(o.unknown, k)
		case len(o.done) == 0:
			return s.writeFailed(c, err, nil)
		default:
			o.undone = append(o.undone, k)
		}
		o.cause = err
	}
	if len(o.done) == len(c.loans) {
		return nil
	}
	return s.commitFailed(c, &o)
}

// wrote gives the connections back and tells the client.
func (s *Session) wrote(c *change, total mysql.OKPacket) error {
	killed := s.client.entry.Unpublish() // too late for the statement; a transaction of the client's goes on
	lost := false
	for k := range c.loans {
		l := &c.loans[k]
		unhurried := s.unhurried(l)
		if !l.Kept && (killed || !unhurried) {
			l.Ended(errGivenUp)
			l.Taint()
			continue
		}
		s.leases.giveBack(c.loans[k : k+1])
		lost = lost || !unhurried
	}
	s.client.txn.LastOnHeld = false
	s.client.state.Diagnostics.SortByRow()
	total.Status = s.client.status()
	total.Info = infoWarnings(total.Info, total.Warnings)
	s.client.state.Diagnostics.WarningCount = int(total.Warnings)
	s.client.state.Diagnostics.RowCount = int64(total.AffectedRows)
	s.client.conn.WriteOK(&total)
	if lost {
		return &endError{process.EndBackendLost, errGivenUp}
	}
	return nil
}

// writeAll sends the changes, to one node after the other in the order of their names, each when the one before is answered: so no two
// statements, of whichever proxies, wait for each other's rows on different nodes.
func (s *Session) writeAll(loans []txn.Lease, p *plan.Plan, r *plan.Route, ex *boundExecution) (total mysql.OKPacket, err error) {
	queries := slices.Clone(r.Queries)
	slices.SortStableFunc(queries, func(a, b plan.Query) int { return strings.Compare(a.Node, b.Node) })
	for k := range queries {
		query := &queries[k]
		first := k == 0
		l := txn.Find(loans, query.Node)
		if k > 0 && s.client.entry.IsCancelled() {
			return total, interrupted()
		}
		if err := s.sendTo(l, query.Text, query.Args, ex); err != nil {
			return total, err
		}
		ok, err := l.Conn.ReadChange()
		l.Ended(err)
		if err != nil {
			return total, err
		}
		if _, inserts := r.Operator.(*plan.Insert); inserts && len(ok.Info) == 0 {
			// A server says nothing of a single row, but here it is one of several.
			ok.Info = fmt.Appendf(nil, infoForms[1], 1, duplicates(p, ok.AffectedRows), ok.Warnings)
		}
		counts := p.Target.Table.Kind != router.Reference || first
		if ok.Warnings > 0 && counts {
			had := len(s.client.state.Diagnostics.Warnings)
			if err := s.client.addWarnings(l.Pooled, renames(p, query.Shards)); err != nil {
				return total, err
			}
			for i := range s.client.state.Diagnostics.Warnings[had:] {
				w := &s.client.state.Diagnostics.Warnings[had+i]
				w.Message, w.Row = ofRow(w.Message, query)
			}
			if !first {
				ok.Warnings -= s.client.state.Diagnostics.DropRepeated(had, s.client.mode().MariaDB)
			}
		}
		if counts {
			addChange(&total, ok)
		}
	}
	return total, nil
}

// addChange adds what a change of one shard did to the sum.
func addChange(total *mysql.OKPacket, ok mysql.OKPacket) {
	total.AffectedRows += ok.AffectedRows
	total.Warnings += min(ok.Warnings, 65535-total.Warnings)
	if ok.LastInsertID != 0 && (total.LastInsertID == 0 || ok.LastInsertID < total.LastInsertID) {
		total.LastInsertID = ok.LastInsertID
	}
	total.Info = []byte(addInfo(string(total.Info), string(ok.Info)))
}

// infoForms are the texts that servers add to an OK packet, with numbers in them.
var infoForms = []string{"Rows matched: %d  Changed: %d  Warnings: %d", "Records: %d  Duplicates: %d  Warnings: %d",
	"Records: %d  Deleted: %d  Skipped: %d  Warnings: %d"}

// addInfo adds up the numbers of two such texts.
func addInfo(a, b string) string {
	for _, form := range infoForms {
		count := strings.Count(form, "%d")
		var x, y [4]int
		if n, _ := fmt.Sscanf(b, form, pointers(&y)[:count]...); n != count {
			continue
		}
		_, _ = fmt.Sscanf(a, form, pointers(&x)[:count]...)
		sums := make([]any, count)
		for k := range sums {
			sums[k] = x[k] + y[k]
		}
		return fmt.Sprintf(form, sums...)
	}
	return b
}

func pointers(n *[4]int) []any { return []any{&n[0], &n[1], &n[2], &n[3]} }

// infoWarnings puts the number of warnings into the text of an OK packet.
func infoWarnings(info []byte, warnings uint16) []byte {
	if k := bytes.LastIndex(info, []byte("Warnings: ")); k >= 0 {
		return fmt.Appendf(info[:k:k], "Warnings: %d", warnings)
	}
	return info
}

// erReadOnlyTransaction is the code of a change that its transaction forbids. MySQL manual: "Server Error Message Reference".
const erReadOnlyTransaction = 1792

// writeFailed undoes a change and gives the connections back. The error is what the client hears.
func (s *Session) writeFailed(c *change, cause error, names []mysql.TableName) error {
	victim := s.client.entry.EndRowWait()
	s.client.entry.Unpublish()
	var sqlErr *mysql.SQLError
	if !errors.As(cause, &sqlErr) {
		return s.loseChange(c, cause)
	}
	if victim && sqlErr.Code == mysql.ERQueryInterrupted {
		sqlErr = errGaveWay()
	}
	for k := range c.loans {
		l := &c.loans[k]
		err := s.client.observed.Run(l.Pooled, s.client.state.DB(), c.undo)
		var e *mysql.SQLError
		switch {
		case err != nil && l.Kept && !errors.As(err, &e):
			return s.loseChange(c, err)
		case err != nil && !l.Kept, !s.unhurried(l):
			l.Ended(errGivenUp)
			l.Taint()
		default: // a deadlock has rolled back the client's transaction already, savepoints included
			s.giveBackHeld(c.loans[k : k+1])
		}
	}
	if sqlErr.Code == erReadOnlyTransaction && c.next.IsSet() {
		s.client.txn.Next = c.next // a server finds that out before it begins
	}
	e := *sqlErr
	mysql.RenameError(&e, names)
	return &e
}

// giveBackHeld gives connections back, the held one too where its transaction has ended.
func (s *Session) giveBackHeld(loans []txn.Lease) {
	for _, l := range loans {
		if l.Kept && s.client.txn.Holds(l.Pooled) && !l.Conn.Status.Has(mysql.ServerStatusInTrans) && s.client.txn.Pins == 0 {
			s.client.txn.Remove(l.Pooled)
			l.Put()
			s.client.txn.EndOthers(s.client.run)
			continue
		}
		s.leases.giveBack([]txn.Lease{l})
	}
}
