package session

import (
	"errors"
	"fmt"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
	"kingshard/proxy/txn/twophase"
	"kingshard/router/plan"
)

// composed carries a statement of the client's out by several others, all or none of them: each runs as one of the client's would, but for the answer. The
// statements are planned, placed and made part of the transaction by what does so for every other; the text of each is the proxy's own, with the client's
// names of tables.
type composed struct {
	*Session
	// own says that the transaction is the statement's own.
	own bool
	// apart says that the statements are the client's, each for itself.
	apart bool
	// begin is the client's BEGIN, where no server has heard of it yet; next is what SET TRANSACTION said of it.
	begin string
	next  txn.Characteristics
	// open says that the transaction is on a server.
	open bool
	// saved says that the client's transaction has a savepoint to go back to.
	saved bool
	// had is what the statement before left, for one that fails.
	had left
}

// composer carries out the session's composed statements. Their parts run as statements of the goroutine's do, which only the whole session can.
type composer struct{ *Session }

// composes reports whether an error says that a statement is carried out by others.
func composes(err error) bool {
	return errors.Is(err, plan.ErrTransfers) || errors.Is(err, plan.ErrPicks)
}

// inParts carries out a statement of which composes told, with its values in the text.
func (s composer) inParts(q *query, text string) (failed bool, err error) {
	text = strings.Clone(text)
	p, err := s.client.schema.Plans.build(text, false, s.client.state.DB(), s.client.mode())
	switch {
	case err != nil:
		return true, planError(err)
	case p == nil:
		return true, replanned()
	case s.client.task().composed: // it is a part of one already
		return true, newError(KSRefusedSharding, p.Reason)
	}
	warned, err := crossShard(&s.client, q, p)
	if err != nil {
		return true, err
	}
	defer partVariables(&s.client)()
	switch o := p.Operator.(type) {
	case *plan.Transfer:
		return s.transfer(text, p, o, warned)
	case *plan.Pick:
		return s.pick(p, o, warned)
	}
	return true, replanned()
}

// replanned is the error of a statement that the rules have changed for meanwhile.
func replanned() error {
	return newError(KSRefusedSharding, "the statement is planned in another way by now: send it again")
}

// composedSavepoint is where a composed statement goes back to in a client's transaction.
const composedSavepoint = "ks_composed"

// left is what a statement leaves for LAST_INSERT_ID() and FOUND_ROWS().
type left struct {
	id    state.InsertID
	found state.FoundRows
}

func (c *composed) left() left { return left{c.client.state.InsertID, c.client.state.Found} }

// result is the answer to one of the statements.
type result struct {
	ok      mysql.OKPacket
	columns []mysql.ColumnDefinition41
	rows    [][]value.Cell
	// warnings are those of a statement that gives no rows.
	warnings []state.Warning
	// binary says that the client expects the rows as those of an execution.
	binary bool
	// ids are those of the rows of an INSERT.
	ids rowIDs
}

// compose runs the statements of do in one transaction: the client's, which do leaves as it was if it fails, or one of its own. do is tried again where
// that loses a deadlock. The error is what the client hears, or ends the session.
func (s composer) compose(do func(c *composed) error) error {
	for attempt := 1; ; attempt++ {
		c := &composed{Session: s.Session, own: s.client.txn.Begin == "" && s.client.state.Autocommit && !s.client.txn.InTransaction()}
		err := c.started()
		if err == nil {
			if err = do(c); err == nil {
				err = c.kept()
			}
			if err != nil {
				err = c.undone(err)
			}
		}
		var again anew
		var refused *mysql.SQLError
		switch {
		case !errors.As(err, &again) && !(c.own && errors.As(err, &refused) && refused.Code == mysql.ERLockDeadlock):
			return err
		case s.client.entry.IsCancelled():
			return interrupted()
		case attempt < composeMax:
			continue
		case again.error != nil:
			return again.error
		}
		return err
	}
}

// anew has a composed statement begin anew, as it has learned something, or as another one came between its parts. It is the error where that goes on.
type anew struct{ error }

// composeMax is how often a statement is tried.
const composeMax = 10

func (c *composed) started() error {
	c.had = c.left()
	switch {
	case c.own:
		_, err := c.run("BEGIN")
		return err
	case c.client.txn.Holding():
		_, err := c.run("SAVEPOINT " + composedSavepoint)
		c.saved = err == nil
		return err
	}
	c.begin, c.next = c.client.txn.Begin, c.client.txn.Next
	return nil
}

// kept ends what has succeeded.
func (c *composed) kept() error {
	switch {
	case c.own:
		_, err := c.run("COMMIT AND NO CHAIN NO RELEASE")
		return err
	case c.saved:
		_, err := c.run("RELEASE SAVEPOINT " + composedSavepoint)
		return err
	}
	return nil
}

// undone undoes what failed with cause, and returns what the client hears.
func (c *composed) undone(cause error) error {
	var refused *mysql.SQLError
	if !errors.As(cause, &refused) {
		if again := (anew{}); !errors.As(cause, &again) {
			return cause
		}
		refused = new(mysql.SQLError)
	}
	var err error
	switch open := c.client.txn.Begin != "" || c.client.txn.InTransaction() || c.client.txn.Holding(); {
	case !open:
	case c.own:
		err = c.leases.rollBack()
	case c.saved && c.client.spread.savepoint(composedSavepoint) >= 0:
		err = c.backToSavepoint()
	case !c.saved && !twophase.RollsBack(refused.Code):
		if err = c.leases.rollBack(); err == nil {
			c.client.txn.Begin, c.client.txn.Next = c.begin, c.next
		}
	}
	if ended := (*endError)(nil); errors.As(err, &ended) {
		return err
	}
	c.client.state.InsertID, c.client.state.Found = c.had.id, c.had.found
	return cause
}

// backToSavepoint undoes the statement in the client's transaction, on all of its nodes: those that only read, in a transaction that changes one node at
// most, know no savepoint. It asks nobody whether the statement was killed.
func (c *composed) backToSavepoint() error {
	nodes := c.client.txn.All()
	if !c.client.txn.Branches {
		nodes = []backend.Pooled{c.client.txn.Held()}
	}
	for _, p := range nodes {
		for _, verb := range [...]string{"ROLLBACK TO SAVEPOINT ", "RELEASE SAVEPOINT "} {
			if err := c.client.run(p, verb+composedSavepoint); err != nil {
				c.client.spread.broken = true // the nodes are not alike any more
				return c.leases.lost(p, err)
			}
		}
	}
	s := c.client.spread
	s.savepoints = s.savepoints[:s.savepoint(composedSavepoint)]
	return nil
}

// run carries out a statement of the proxy's own. The error is the statement's, or ends the session.
func (c *composed) run(text string) (r result, err error) {
	if c.client.entry.IsCancelled() {
		return r, interrupted()
	}
	defer func() {
		if err == nil && c.open && !c.client.txn.InTransaction() && !c.ends(text) {
			err = newError(KSBackendLost, "The transaction of the statement ended ahead of it, and nothing was changed.")
		}
		c.open = c.client.txn.InTransaction() && c.client.txn.Begin == ""
	}()
	outer, conn, more, observed := c.client.tasked, c.client.conn, c.client.more, c.client.observed
	inner := taskPool.Get().(*task)
	inner.composed = !c.apart
	out := newSink(int(finishMaxBytes(&c.client)))
	out.conn.Capabilities |= conn.Capabilities & mysql.ClientFoundRows
	c.client.tasked, c.client.conn, c.client.more = inner, out.conn, false
	defer func() {
		outer.moved.add(inner.moved.rows, inner.moved.bytes)
		if r.columns != nil {
			outer.moved.add(uint64(len(r.rows)), uint64(len(out.kept.bytes)))
			if outer.held.memory = &c.client.shared.Stats.Collected; err == nil && !outer.held.set(outer.held.n+len(out.kept.bytes)) {
				err = newError(KSFinishLimit, fmt.Sprintf("all statements under way would have collected more than %v (finish_total_bytes): rows go through the proxy", c.client.snap.Config.FinishTotalBytes))
			}
		}
		c.client.releaseTask()
		c.client.tasked, c.client.conn, c.client.more, c.client.observed = outer, conn, more, observed
		if ended := (*endError)(nil); errors.As(err, &ended) {
			c.saidLast(out)
		} else if out.kept.closed {
			_ = c.client.conn.Close()
			err = &endError{process.EndBackendLost, errGivenUp}
		}
	}()
	q := &inner.query
	info := sqltext.Classify(text, c.client.mode())
	q.begin(text, &info)
	c.client.observed.Class = info.Class
	if c.apart {
		if err := c.rights.allow(q); err != nil {
			return r, err
		}
	}
	if _, err = c.carryOut(q); err != nil {
		return r, err
	}
	if err := out.take(&r); err != nil {
		return r, err
	}
	if q.ids != nil {
		r.ids = *q.ids
	}
	if r.ok.Warnings > 0 && r.columns == nil && !strings.HasPrefix(text, "SHOW") && !c.ends(text) {
		err = c.warnings(&r)
	}
	return r, err
}

// ends reports whether a statement ends the transaction.
func (c *composed) ends(text string) bool {
	return strings.HasPrefix(text, "COMMIT") || strings.HasPrefix(text, "ROLLBACK AND")
}

// saidLast has the client hear the error that ended the session, if there was one.
func (c *composed) saidLast(out *sink) {
	var said *mysql.SQLError
	if errors.As(out.take(new(result)), &said) && said.Code != KSFinishLimit {
		c.client.writeError(said, observe.OriginBackend)
		c.client.lastWords()
	}
}

// warnings asks for the warnings of the statement that has just run.
func (c *composed) warnings(r *result) error {
	if d := &c.client.state.Diagnostics; len(d.Warnings) == int(r.ok.Warnings) {
		r.warnings = append(r.warnings, d.Warnings...)
		return nil
	}
	shown, err := c.run("SHOW WARNINGS")
	for _, row := range shown.rows {
		r.warnings = append(r.warnings, warningOf(row))
	}
	return err
}

func warningOf(row []value.Cell) state.Warning {
	w := state.Warning{Level: string(row[0]), Message: string(row[2])}
	for _, digit := range row[1] {
		w.Code = w.Code*10 + uint16(digit-'0')
	}
	return w
}

// packet writes a row for the client.
func (r *result) packet(row []value.Cell) (packet []byte) {
	if r.binary {
		return appendBinaryCells(nil, r.columns, row)
	}
	for _, cell := range row {
		if cell == nil {
			packet = append(packet, 0xfb)
		} else {
			packet = append(mysql.AppendLenenc(packet, uint64(len(cell))), cell...)
		}
	}
	return packet
}

// answer tells the client that the statement is done, which r is the answer to, and l what it leaves.
func (c *composed) answer(r *result, l left) {
	st := &c.client.state
	st.InsertID, st.Found = l.id, l.found
	st.Diagnostics.Forget()
	st.Diagnostics.Add(r.warnings)
	st.Diagnostics.RowCount = int64(r.ok.AffectedRows)
	c.client.txn.LastOnHeld = false
	st.Found.Known(c.client.txn.Conn(), false)
	r.ok.Status, r.ok.Warnings = c.client.status(), uint16(len(r.warnings))
	c.client.task().countWarned(&r.ok, c.client.mode())
	st.Diagnostics.WarningCount = int(r.ok.Warnings)
	r.ok.StateChanges = nil
	if r.columns == nil {
		c.client.conn.WriteOK(&r.ok)
		return
	}
	r.write(&c.client)
}

// write tells the client the rows.
func (r *result) write(c *client) {
	rt := returned{columns: r.columns}
	for _, row := range r.rows {
		rt.rows = append(rt.rows, returnedRow{packet: r.packet(row)})
	}
	rt.write(c, &mysql.OKPacket{Status: c.status(), Warnings: r.ok.Warnings})
}
