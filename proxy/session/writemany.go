package session

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/process"
	"kingshard/proxy/txn"
	"kingshard/proxy/txn/driver"
	"kingshard/router"
	"kingshard/router/plan"
)

// savepoint is where a change of several shards on one node goes back to when it fails in the middle.
const savepoint = "ks_statement"

// writeMany runs a change on several shards, all or nothing as far as one error goes: under a transaction on every node, a
// failure rolls all of them back before the client hears of it. What remains is a crash between the commits of two nodes.
func (cs *changes) writeMany(q *query, p *plan.Plan, r *plan.Route, ex *boundExecution) (failed bool, err error) {
	return cs.untilEqual(func() (*change, bool, error) { return cs.tryWrite(q, p, r, ex) })
}

// tryWrite makes one attempt; the change that it returns says what held locks.
func (cs *changes) tryWrite(q *query, p *plan.Plan, r *plan.Route, ex *boundExecution) (_ *change, failed bool, err error) {
	c, err := cs.openCopies(q.text, p, cs.routing.nodesOf(r.Queries))
	if err != nil {
		return c, true, err
	}
	if err := cs.idsFree(c, r, q.ids); err != nil {
		return c, true, cs.writeFailed(c, err, nil)
	}
	read := readChange
	if p.Statement.Returning {
		c.returned = &returned{most: uint64(finishMaxBytes(cs.client))}
		read = c.returned.read
	}
	total, err := cs.writeAll(c, p, r, ex, read)
	if err == nil && c.returned != nil {
		err = c.returned.fault(cs.client, q)
	}
	if err == nil && c.returned != nil && c.returned.columns == nil {
		c.returned = nil
	}
	if _, inserts := r.Operator.(*plan.Insert); inserts && err != nil {
		err = cs.firstFault(c, cs.client.lookup().execution.InOrder(runsMax), ex, err)
		err = cs.refuseNull(p, err)
	}
	if err == nil {
		err = cs.leases.stillHeard(p.Watches())
	}
	if err != nil {
		return c, true, cs.writeFailed(c, err, allRenames(p, r.Queries))
	}
	if err := cs.newRows(c, r, q.ids); err != nil {
		return c, true, cs.writeFailed(c, err, nil)
	}
	if !q.idsSettled() {
		if err := cs.shards.insertedOnShards(q, c.loans, ex); err != nil {
			return c, true, cs.writeFailed(c, err, nil)
		}
	}
	if err := cs.commitChange(c); err != nil {
		return c, true, err
	}
	res := mysql.Response{Kind: mysql.ResponseOK, OK: total}
	if c.returned != nil {
		res.Kind, res.Rows = mysql.ResponseRows, uint64(len(c.returned.rows))
	}
	q.tellIDs(cs.client, &res)
	if q.info.Class == sqltext.Update && !cs.client.mode().MariaDB || p.Statement.Insert != nil && p.Statement.Query != nil {
		cs.client.state.Found.FoundBy(total.Info) // MySQL counts the rows that an UPDATE matched; all servers those of INSERT ... SELECT
	}
	return c, false, cs.wrote(c, total)
}

// allRenames are the renames of several statements.
func allRenames(p *plan.Plan, queries []plan.Query) (names []mysql.TableName) {
	for _, query := range queries {
		names = append(names, renames(p, query.Shards)...)
	}
	return names
}

// changes change rows on several shards, all or none as far as the shards hold their word.
type changes struct {
	client  *client
	effects *effects
	leases  *leases
	routing *routing
	shards  *shards
}

// change is a change of several shards that has begun.
type change struct {
	// text is the client's, as long as its command runs.
	text  string
	loans []txn.Lease
	// begin, undo and end are the statements that begin it, roll it back and keep it, or a savepoint's.
	begin, undo, end string
	// within says that it is part of the client's transaction.
	within bool
	// atomic is the transaction of a change that several nodes keep or none; nil of others. See package driver.
	atomic *driver.Transaction
	// next is what SET TRANSACTION said of it.
	next txn.Characteristics
	// at is when the first node was told to keep it, of a change of several nodes.
	at time.Time
	// returned are the rows that it gives; nil where it gives none.
	returned *returned
	// copies says that it changes copies of a table: apart that they came out with different rows, and repeatable that it needs REPEATABLE READ. clock is the time at
	// which the nodes' clocks stand, "" where they go.
	copies, repeatable, apart bool
	clock                     string
	// hurried says that some of its nodes wait for row locks for a moment only: see hurry.
	hurried bool
}

// openChange borrows connections to the nodes and begins a transaction on each, or sets a savepoint in the client's. After
// it the caller ends with writeFailed, or with commitChange and wrote. The text is the statement's.
func (cs *changes) openChange(text string, nodes []*backend.Node) (*change, error) {
	c := &change{text: text}
	return c, cs.open(c, nodes)
}

// open begins a change as openChange does.
func (cs *changes) open(c *change, nodes []*backend.Node) (err error) {
	inTransaction := cs.client.txn.InTransaction() || !cs.client.state.Autocommit
	if len(nodes) == 1 && cs.client.state.InsertID.OnlyOn() == nil {
		cs.leases.branches().stepAside(nodes[0].Name)
	}
	joins := inTransaction && cs.leases.branches().joins()
	if inTransaction && !joins && (len(nodes) > 1 || cs.client.txn.Holding() && cs.client.txn.Held().Instance.Node != nodes[0].Name) {
		return cs.leases.branches().otherNode()
	}
	if !inTransaction && cs.client.txn.Pins.Has(txn.PinNextTransaction) {
		return cs.client.txn.NextIsElsewhere("this change")
	}
	if inTransaction && !cs.client.txn.Holding() {
		// The transaction begins here.
		if _, err := cs.shards.borrow(nodes, !joins); err != nil {
			return err
		}
	}
	cs.client.observed.Counters.Scattered.Add(1)
	cs.client.state.Diagnostics.Clear()
	c.begin, c.undo, c.end = txn.SQLBegin, txn.SQLRollback, txn.SQLCommit
	if c.within = inTransaction; c.within {
		c.begin, c.undo, c.end = "SAVEPOINT "+savepoint, "ROLLBACK TO "+savepoint, "RELEASE SAVEPOINT "+savepoint
	}
	// Before anything is borrowed: it may find the held connection broken, and end it.
	if err := cs.leases.learnHeldInsertID(); err != nil {
		return err
	}
	if !inTransaction && len(nodes) > 1 && cs.leases.branches().inForce() == config.TransactionAtomic {
		if c.atomic, err = cs.beginAtomic(nodes); err != nil {
			return err
		}
	}
	if !inTransaction {
		c.next, cs.client.txn.Next = cs.client.txn.Next, txn.Characteristics{} // for all of the nodes, not for the one that is held
	}
	for attempt := 0; ; attempt++ {
		if attempt > 0 && c.atomic != nil {
			c.atomic = c.atomic.Again()
		}
		if c.loans, err = cs.shards.borrow(nodes, false); err != nil {
			cs.client.txn.Next = c.next
			return err
		}
		if !cs.shards.publish(c.loans) {
			cs.leases.giveBack(c.loans)
			return interrupted()
		}
		cs.shards.watchRowLocks()
		if err = cs.bringNext(c); err == nil {
			err = cs.beginAll(c)
		}
		if err == nil {
			return nil
		}
		if !cs.shards.replacesAll(c.loans, attempt, err) {
			return cs.writeFailed(c, err, nil)
		}
	}
}

// bringNext has a transaction of the proxy's own be what SET TRANSACTION said of the session's next one.
func (cs *changes) bringNext(c *change) error {
	next := c.nextOf()
	if c.within || !next.IsSet() {
		return nil
	}
	for k := range c.loans {
		if err := cs.client.observed.Run(c.loans[k].Pooled, cs.client.state.DB(), next.Text()); err != nil {
			return err
		}
	}
	return nil
}

// beginAll sends what begins the change to all nodes at a time: it waits for no locks.
func (cs *changes) beginAll(c *change) (failure error) {
	sent := 0
	for k := range c.loans {
		l := &c.loans[k]
		cs.client.state.InsertID.Queue(l.Conn)
		begin := c.beginOn(l)
		l.Span = cs.client.observed.OwnSpan(l.Instance, cs.client.state.DB(), begin)
		l.Conn.Command(mysql.ComQuery, begin)
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
func (cs *changes) commitChange(c *change) error {
	if cs.client.entry.EndRowWait() {
		return cs.writeFailed(c, errGaveWay(), nil) // it was told so too late to notice
	}
	if err := cs.goOn(c); err != nil {
		return cs.writeFailed(c, err, nil)
	}
	if c.atomic != nil {
		return cs.commitAtomic(c)
	}
	if c.within {
		return cs.endWithin(c)
	}
	return cs.keepWhole(c)
}

// keepWhole has one node after the other keep a change, and notes what is known where some of them may not have done so.
func (cs *changes) keepWhole(c *change) error {
	intent := cs.intend(c)
	err := cs.commitEach(c)
	cs.client.shared.HalfDone.End(intent)
	return err
}

// endWithin ends a change that is part of the client's transaction, with which it is kept.
func (cs *changes) endWithin(c *change) error {
	for k := range c.loans {
		if err := cs.client.observed.Run(c.loans[k].Pooled, cs.client.state.DB(), c.end); err != nil {
			return cs.writeFailed(c, err, nil)
		}
	}
	return nil
}

// commitEach has one node after the other keep a change.
func (cs *changes) commitEach(c *change) error {
	var o outcome
	for k := range c.loans {
		l := &c.loans[k]
		if len(o.done) == 0 && len(o.unknown) > 0 {
			o.undone = append(o.undone, k)
			continue // the first one may not have it: better none than some
		}
		err := cs.client.observed.Run(l.Pooled, cs.client.state.DB(), c.end)
		var sqlErr *mysql.SQLError
		switch {
		case err == nil:
			o.done = append(o.done, k)
			continue
		case !errors.As(err, &sqlErr) && !l.Conn.NeverArrived():
			o.unknown = append(o.unknown, k)
		case len(o.done) == 0:
			return cs.writeFailed(c, err, nil)
		default:
			o.undone = append(o.undone, k)
		}
		o.cause = err
	}
	if len(o.done) == len(c.loans) {
		return nil
	}
	return cs.commitFailed(c, &o)
}

// wrote gives the connections back and tells the client.
func (cs *changes) wrote(c *change, total mysql.OKPacket) error {
	killed := cs.client.entry.Unpublish() // too late for the statement; a transaction of the client's goes on
	lost := false
	for k := range c.loans {
		l := &c.loans[k]
		unhurried := cs.shards.unhurried(l)
		if !l.Kept && (killed || !unhurried) {
			l.Ended(errGivenUp)
			l.Taint()
			continue
		}
		cs.leases.giveBack(c.loans[k : k+1])
		lost = lost || !unhurried
	}
	cs.client.txn.LastOnHeld = false
	cs.client.state.Diagnostics.SortByRow()
	total.Status = cs.client.status()
	total.Info = infoWarnings(total.Info, total.Warnings)
	cs.client.task().countWarned(&total, cs.client.mode())
	cs.client.task().query.ids.told(&total)
	cs.client.state.Diagnostics.WarningCount = int(total.Warnings)
	if c.returned != nil {
		c.returned.write(cs.client, &total)
	} else {
		cs.client.state.Diagnostics.RowCount = int64(total.AffectedRows)
		cs.client.conn.WriteOK(&total)
	}
	if lost {
		return &endError{process.EndBackendLost, errGivenUp}
	}
	return nil
}

// writeAll sends the changes, to one node after the other in the order of their names, each when the one before is answered, which read reads: so no two
// statements, of whichever proxies, wait for each other's rows on different nodes.
func (cs *changes) writeAll(c *change, p *plan.Plan, r *plan.Route, ex *boundExecution, read readAnswer) (total mysql.OKPacket, err error) {
	_, inserts := r.Operator.(*plan.Insert)
	lastRow, lastID := 0, uint64(0) // the last row of a shard that tells an id, which is 0 for sure where all rows are new, and that id
	var one count                   // of the first copy
	queries := slices.Clone(r.Queries)
	slices.SortStableFunc(queries, func(a, b plan.Query) int { return strings.Compare(a.Node, b.Node) })
	for k := range queries {
		query := &queries[k]
		first := k == 0
		l := txn.Find(c.loans, query.Node)
		if k > 0 && cs.client.entry.IsCancelled() {
			return total, interrupted()
		}
		if err := cs.shards.sendTo(l, query.Text, query.Args, ex); err != nil {
			return total, err
		}
		ok, err := read(l, p, query, first)
		l.Ended(err)
		if err != nil {
			return total, err
		}
		if inserts && len(ok.Info) == 0 && (len(queries) > 1 || query.Row(2) > 0) {
			// A server says nothing of a single row, but here it is one of several.
			ok.Info = fmt.Appendf(nil, infoForms[1], 1, cs.duplicates(p, &ok), ok.Warnings)
		}
		if c.copies && first {
			one = countOf(&ok)
		} else if c.copies && countOf(&ok) != one {
			return total, c.cameApart(p, queries[0].Node, query.Node)
		}
		counts := p.Target.Table.Kind != router.Reference || first
		if ok.Warnings > 0 && counts {
			had := len(cs.client.state.Diagnostics.Warnings)
			if err := cs.client.addWarnings(l.Pooled, renames(p, query.Shards)); err != nil {
				return total, err
			}
			for i := range cs.client.state.Diagnostics.Warnings[had:] {
				w := &cs.client.state.Diagnostics.Warnings[had+i]
				w.Message, w.Row = ofRow(w.Message, query)
			}
			if !first {
				ok.Warnings -= cs.client.state.Diagnostics.DropRepeated(had, cs.client.mode().MariaDB)
			}
		}
		if counts {
			addChange(&total, ok)
		}
		if row := query.LastRow(); inserts && row > lastRow && cs.tellsID(p, &ok) {
			lastRow, lastID = row, ok.LastInsertID
		}
	}
	if lastRow > 0 {
		total.LastInsertID = cs.client.task().query.ids.ofLastRow(lastRow, lastID)
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
func (cs *changes) writeFailed(c *change, cause error, names []mysql.TableName) error {
	victim := cs.client.entry.EndRowWait()
	killed := cs.client.entry.Unpublish()
	var sqlErr *mysql.SQLError
	if !errors.As(cause, &sqlErr) {
		return cs.loseChange(c, cause)
	}
	if killed {
		for k := range c.loans {
			if err := takeKill(c.loans[k].Pooled); err != nil { // else the KILL could be for what undoes the change
				return cs.loseChange(c, err)
			}
		}
	}
	if err := cs.goOn(c); err != nil {
		return cs.loseChange(c, err)
	}
	if victim && sqlErr.Code == mysql.ERQueryInterrupted {
		sqlErr = errGaveWay()
	}
	if c.within && cs.client.txn.Branches {
		return cs.undoWithin(c, sqlErr, names)
	}
	for k := range c.loans {
		l := &c.loans[k]
		err := cs.undoOn(c, l)
		var e *mysql.SQLError
		switch {
		case err != nil && l.Kept && !errors.As(err, &e):
			return cs.loseChange(c, err)
		case err != nil && !l.Kept, !cs.shards.unhurried(l):
			l.Ended(errGivenUp)
			l.Taint()
		default: // a deadlock has rolled back the client's transaction already, savepoints included
			cs.giveBackHeld(c.loans[k : k+1])
		}
	}
	if sqlErr.Code == erReadOnlyTransaction && c.next.IsSet() {
		cs.client.txn.Next = c.next // a server finds that out before it begins
	}
	e := *sqlErr
	mysql.RenameError(&e, names)
	return &e
}

// undoWithin undoes a change that is part of a transaction over several nodes, on each of them, unless the error ends the transaction.
func (cs *changes) undoWithin(c *change, cause *mysql.SQLError, names []mysql.TableName) error {
	s := cs.client.spread
	for k := range c.loans {
		s.failed(&cs.client.txn, c.loans[k].Pooled, cause.Code)
	}
	for k := range c.loans {
		l := &c.loans[k]
		if !s.doomed() && cs.undoOn(c, l) != nil || !cs.shards.unhurried(l) {
			s.broken = true // then it is rolled back whole: see branches.settle
		}
	}
	cs.leases.giveBack(c.loans)
	e := *cause
	mysql.RenameError(&e, names)
	return &e
}

// giveBackHeld gives connections back, the held one too where its transaction has ended.
func (cs *changes) giveBackHeld(loans []txn.Lease) {
	for _, l := range loans {
		if l.Kept && cs.client.txn.Holds(l.Pooled) && !l.Conn.Status.Has(mysql.ServerStatusInTrans) && cs.client.txn.Pins == 0 {
			cs.client.txn.Remove(l.Pooled)
			l.Put()
			cs.client.txn.EndOthers(cs.client.run)
			continue
		}
		cs.leases.giveBack([]txn.Lease{l})
	}
}
