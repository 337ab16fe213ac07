package session

import (
	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/tracing"
)

// exchange is a statement of a client on one backend connection: its start queues it there, its finish takes its responses to the
// client and gives the connection back. In between the session waits for the server, on its goroutine or in a loop.
type exchange struct {
	target  target
	p       backend.Pooled
	attempt int // from 0; see repeats
	wasHeld bool
	added   pinSet
	pins    pinSet // those before
	sent    uint8  // the client's sequence id before the response
	had     uint64 // what was read of the server before
	span    *tracing.Span

	// Of a prepared statement, else nil.
	st     *stmt
	bs     *backend.Stmt
	cursor bool // the client wants one
}

// begin notes what the end of the exchange needs to know, and pins the connection for what q is about to do on it.
func (x *exchange) begin(s *Session, q *query) {
	if x.p.Instance.Role == backend.Replica {
		s.stats.class(s.work.class).replicas.Add(1)
	}
	x.note(s, q)
	if class := q.info.Class; class == sqltext.Execute || class == sqltext.CompoundBegin || class == sqltext.Call || class == sqltext.SetStatement && !plainClass(q.info.Target) {
		x.p.Conn.Marked = true // whatever becomes of the pins
	}
	x.span = s.shardSpan(x.p.Instance, q.text)
}

// note is begin without what is counted.
func (x *exchange) note(s *Session, q *query) {
	x.wasHeld = s.held.Pooled == x.p.Pooled
	x.sent = s.conn.Sequence()
	x.had = x.p.Conn.Received()
	x.pins = s.pins
	x.added = s.before(q)
	if x.added.has(pinXA) {
		s.beginsXA(x, q)
	}
}

// startStatement queues a statement on the exchange's connection.
func (s *Session) startStatement(x *exchange, q *query) error {
	s.reach(x.p, q, x.p.Key.Database())
	if q.info.Class == sqltext.DDL {
		s.defining(x.p, q, false)
	}
	if err := s.bringInsertID(x.p, q); err != nil {
		return err
	}
	x.begin(s, q)
	s.send(x.p, q)
	return nil
}

// startExecution queues the execution of a prepared statement on the exchange's connection.
func (s *Session) startExecution(x *exchange, q *query, ex *execution) error {
	s.reach(x.p, q, x.st.setting.Database())
	if q.info.Class == sqltext.DDL {
		s.defining(x.p, q, false)
	}
	if err := s.bringInsertID(x.p, q); err != nil {
		return err
	}
	x.begin(s, q)
	if q.info.Class == sqltext.Set {
		s.pin(pinVariable)
		pinAssigned(s, q.text, x.st.mode)
		q.learns = true
	}
	s.sendExecution(x.p, x.bs, x.st, ex)
	return nil
}

// finishStatement takes the responses to a statement to the client. again says that it is to be sent on another connection; see repeats.
func (s *Session) finishStatement(x *exchange, q *query) (failed, again bool, err error) {
	failed, err = s.responses(x.p, q)
	s.endResponse(x.span, failed, err)
	if err == nil {
		s.after(x.p, q, failed, x.added)
		return failed, false, nil
	}
	if s.repeats(x, q, err) {
		return true, true, nil
	}
	return true, false, s.broken(x.p, err, x.sent)
}

// finishExecution forwards what a server answers to the execution of a prepared statement. again says that it is to be sent once more.
func (s *Session) finishExecution(x *exchange, q *query) (again bool, err error) {
	failed, err := s.responses(x.p, q)
	s.endResponse(x.span, failed, err)
	if err != nil {
		if s.repeats(x, q, err) {
			return true, nil
		}
		return false, s.broken(x.p, err, x.sent)
	}
	if failed && len(x.st.long) > 0 {
		x.p.Conn.CloseStmt(x.bs) // MySQL keeps long data for the next execution, another session's, where this one failed early
	}
	if x.cursor && !failed && x.p.Conn.Status.Has(mysql.ServerStatusCursorExists) {
		x.st.cursor, x.st.quota = x.bs, q.quota
		s.openCursors++
		s.pin(pinCursor)
	}
	s.after(x.p, q, failed, x.added)
	return false, nil
}
