package session

import (
	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/observe"
	"kingshard/proxy/session/state"
	"kingshard/proxy/tracing"
	"kingshard/proxy/txn"
)

// exchange is a statement of a client on one backend connection: its start queues it there, its finish takes its responses to the
// client and gives the connection back. In between the session waits for the server, on its goroutine or in a loop.
type exchange struct {
	target  txn.Target
	p       backend.Pooled
	attempt int // from 0; see repeats
	wasHeld bool
	added   txn.Pins
	pins    txn.Pins // those before
	sent    uint8    // the client's sequence id before the response
	had     uint64   // what was read of the server before
	span    *tracing.Span
	waits   bool // the replica is asked ahead of the statement whether it has what this must find

	readOnly *mysql.SQLError // of a server that takes no writes any more, of which the client has not heard

	take *take // what is kept of it for a replay, nil for nothing

	bs *backend.Stmt // what a prepared statement is on the connection; nil of a text
}

// exchanges run a client's statements on connections of its own or of pools, each on one.
type exchanges struct {
	client  *client
	effects *effects
	leases  *leases
	routing *routing
	// parts are those for statements on several shards; nil until there is one.
	parts *several
}

// begun notes what the end of the exchange needs to know, and pins the connection for what q is about to do on it.
func (xs *exchanges) begun(x *exchange, q *query) {
	if x.p.Instance.Role == backend.Replica {
		xs.client.observed.CountReplica()
	}
	switch {
	case !x.target.Bound || x.waits:
	case x.p.Instance.Role == backend.Replica:
		xs.client.observed.CountFresh(observe.FreshAtOnce)
	default:
		xs.client.observed.CountFresh(observe.FreshPrimary)
	}
	xs.note(x, q)
	if class := q.info.Class; class == sqltext.Execute || class == sqltext.CompoundBegin || class == sqltext.Call || class == sqltext.SetStatement && !plainClass(q.info.Target) {
		x.p.Conn.Marked = true // whatever becomes of the pins
	}
	x.span = xs.client.observed.ShardSpan(x.p.Instance, xs.client.state.DB(), q.text)
}

// note is begun without what is counted.
func (xs *exchanges) note(x *exchange, q *query) {
	x.wasHeld = xs.client.txn.Holds(x.p)
	x.sent = xs.client.conn.Sequence()
	x.had = x.p.Conn.Net.Received()
	x.pins = xs.client.txn.Pins
	x.added = xs.before(q)
	xs.leases.branches().uses(x.p, x.target.Reads)
	if x.added.Has(txn.PinXA) { // one that it has already keeps its name: a server refuses a second
		x.p.Conn.XID = ""
		if q.info.Class == sqltext.XA {
			_, x.p.Conn.XID = xaParts(&sqltext.Inner{Text: q.text, Mode: xs.client.mode()})
		}
	}
}

// start queues the statement on the exchange's connection.
func (xs *exchanges) start(x *exchange, q *query) error {
	db := x.p.Key.Database()
	if q.st != nil {
		db = q.st.setting.Database()
	}
	xs.effects.reach(x.p, q, db)
	if q.info.Class == sqltext.DDL {
		xs.effects.defining(x.p, q, false)
	}
	if err := xs.bringInsertID(x.p, q); err != nil {
		return err
	}
	xs.begun(x, q)
	if q.ids != nil {
		q.ids.sent = true
	}
	if x.waits {
		backend.QueueWait(x.p.Conn, x.target.After)
	}
	if q.st == nil {
		xs.send(x.p, q)
		return nil
	}
	if q.info.Class == sqltext.Set {
		xs.client.txn.Pin(txn.PinVariable)
		xs.pinBound(state.BoundUnseen(q.text, q.st.mode))
		q.learns = true
	}
	xs.sendExecution(x.p, x.bs, q.st, q.ex)
	return nil
}

// finish takes the responses to the statement to the client. failed says that the client heard an error, again that the statement is to be
// sent on another connection; see repeats.
func (xs *exchanges) finish(x *exchange, q *query) (failed, again bool, err error) {
	spread := xs.client.txn.Branches && !x.target.Reads
	if spread {
		xs.leases.branches().watchRowLocks(func(p backend.Pooled) bool { return p.Pooled == x.p.Pooled })
	}
	failed, err = xs.responses(x, q)
	if spread {
		xs.client.entry.EndRowWait()
	}
	xs.client.observed.EndResponse(x.span, failed, err)
	if err != nil {
		if xs.leases.repeats(x, q, err) {
			return true, true, nil
		}
		if r := xs.replay(); r.may(x, q, err) {
			err = r.anew(x, err)
			return true, err == nil, err
		}
		return true, false, xs.broken(x.p, err, x.sent)
	}
	if q.st != nil {
		xs.finishExecution(x, q, failed)
	}
	xs.after(x.p, q, failed, x.added)
	xs.replay().note(x)
	if x.readOnly != nil {
		again, err = xs.awaitWrites(x)
	}
	return failed, again, err
}

// finishExecution notes what the execution of a prepared statement has left on its connection.
func (xs *exchanges) finishExecution(x *exchange, q *query, failed bool) {
	if failed && len(q.st.long) > 0 {
		x.p.Conn.CloseStmt(x.bs) // MySQL keeps long data for the next execution, another session's, where this one failed early
	}
	if q.wantsCursor() && !failed && x.p.Conn.Status.Has(mysql.ServerStatusCursorExists) {
		q.st.cursor, q.st.quota = x.bs, q.quota
		xs.client.txn.Cursors++
		xs.client.txn.Pin(txn.PinCursor)
	}
}
