package session

import (
	"errors"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/backend/stored"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/faultpoint"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
	"kingshard/proxy/queryrule"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
	"kingshard/router"
	"kingshard/router/plan"
)

// comQuery runs the statements of a COM_QUERY one by one. The proxy splits the text itself, so each part is classified,
// checked and routed on its own. MySQL manual: "COM_QUERY".
func (s *Session) comQuery(arg []byte) error {
	attributes, text, err := s.client.splitAttributes(arg)
	if err != nil {
		return err
	}
	if t := s.client.snap.Tracer; t != nil && observe.ChooseQuery(t, &s.client.task().choice, attributes, text) {
		s.client.beginTrace(mysql.ComQuery, text)
	}
	for {
		if err := s.rights.readyForText(text); err != nil {
			return err
		}
		info := s.client.classify(text)
		rest := ""
		// What begins with ';' is an error of syntax, which the server words.
		if info.Traits&sqltext.Multi != 0 && sqltext.SplitSafe(info) && info.Class != sqltext.Empty {
			if !s.client.conn.Capabilities.Has(mysql.ClientMultiStatements) || !s.client.account.MultiStatements {
				return s.multiDenied(text[info.Next:])
			}
			rest = text[info.Next:]
			if info.Class == sqltext.LoadDataLocal {
				rest = strings.Clone(rest) // the file comes into the buffer that it lies in
			}
			info.Traits &^= sqltext.Multi
		}
		empty := rest == "" && info.Next < len(text) && s.client.conn.Capabilities.Has(mysql.ClientMultiStatements) && s.client.account.MultiStatements
		s.client.more, s.client.passed = rest != "" || empty, false
		q := &s.client.task().query
		q.begin(text[info.First:info.End], &info)
		q.attributes = attributes
		if rest == "" && info.Next >= len(text) || info.Class == sqltext.Empty {
			// Alone in its packet, a statement goes on byte for byte, comments and blanks around it included.
			q.text = text
			if info.Class != sqltext.Empty && info.End+1 < len(text) {
				q.text = withoutEnd(text)
			}
		}
		failed, err := s.statement(q)
		if err != nil || failed || rest == "" {
			if empty && err == nil && !failed {
				s.emptyStatement()
			}
			return err
		}
		text = rest
	}
}

// withoutEnd is a text without the ';' and blanks at its end, which servers take off before they read it.
func withoutEnd(text string) string { return strings.TrimRight(text, "; \t\r\n\v\f") }

// emptyStatement answers the comments behind the last ';' of a text: to servers they are a statement that does nothing.
func (s *Session) emptyStatement() {
	s.client.more = false
	s.client.writeOK()
}

// multiDenied answers a text of several statements from a client that did not ask for them, as the server does.
func (s *Session) multiDenied(rest string) error {
	near := strings.TrimSpace(rest)
	if len(near) > 80 {
		near = near[:80]
	}
	return mysql.NewSQLError(mysql.ERParse, "You have an error in your SQL syntax; several statements in one text are not enabled, near '%s'", near)
}

// query is one statement on its way.
type query struct {
	text string // aliases the read buffer
	info sqltext.Info
	// attributes are the encoded query attributes of the client, without their counts' defaults; nil when there are none.
	attributes []byte
	// pinned are the reasons that local has added for this statement.
	pinned txn.Pins
	// reached is what stored objects may do to the connection that the statement runs on.
	reached stored.Effects
	// node, if set, is where the plan sends the statement; rename are the physical names in its answers.
	node   *backend.Node
	rename []mysql.TableName
	// rows, if set, changes the rows of the answer.
	rows mysql.RowChanger
	// st is the prepared statement that is executed, and ex its values; both are nil of a text.
	st *stmt
	ex *execution
	// plan and route are those of a statement on several shards, else nil; the plan is there of a query, too, that an index is asked for.
	plan  *plan.Plan
	route *plan.Route
	// ids are those of an INSERT into a table that has a sequence.
	ids *rowIDs
	// draws is how often other ids were drawn for it, as some were there already.
	draws uint8
	// logical is the client's text of a prepared statement that names sharded tables.
	logical string
	// source is the text before own functions and names of tables are replaced; given that of a statement to be prepared as it came, if
	// rules rewrote it.
	source, given string
	// own is set for a statement to be prepared that the proxy answers.
	own bool
	// verdict is what query rules want to be done with it, without their hits.
	verdict queryrule.Decision
	// quota bounds the rows of the answer; nil without a limit.
	quota *mysql.Quota
	cut   bool // the answer was more
	// warned says that its warnings are the session's already.
	warned bool
	// asked says that its connection was asked something behind it.
	asked bool
	// arrived says that its answer has begun to come on the connection that it is given.
	arrived bool
	// watched are the tables whose rows it changes on one server, of those that DDL may give keys over all shards.
	watched []*router.Table
	// within are the statements that it contains; nil if its class contains none.
	within *sqltext.Contents
	// value is the text that a server computed of what it prepares, if known.
	value string
	known bool
	// named is what a PREPARE, which it is, prepares.
	named *namedStmt
	// learns says that it may have changed how texts are read, unseen: the server is to be asked.
	learns bool
}

// begin makes q a new statement, in place: it is long for a copy.
func (q *query) begin(text string, info *sqltext.Info) {
	*q = query{}
	q.text, q.info = text, *info
}

// onlyReads tells a query that gives rows and leaves nothing behind in its session but how many these were.
func (q *query) onlyReads() bool {
	return q.info.Class == sqltext.Select && q.info.Traits&stateful == 0 && q.reached == 0
}

// splitAttributes takes the query attributes off a COM_QUERY payload. MySQL manual: "COM_QUERY", CLIENT_QUERY_ATTRIBUTES.
func (c *client) splitAttributes(arg []byte) (attributes []byte, text string, err error) {
	if !c.conn.Capabilities.Has(mysql.ClientQueryAttributes) {
		return nil, alias(arg), nil
	}
	cur := mysql.NewCursor(arg)
	n, sets := cur.Lenenc(), cur.Lenenc()
	if cur.Err() != nil || sets != 1 || n > 65535 {
		return nil, "", malformed()
	}
	if n == 0 {
		return nil, alias(cur.Rest()), nil
	}
	cur.Bytes(int(n+7) / 8)
	if cur.Uint8() != 1 {
		return nil, "", malformed()
	}
	types := make([]uint16, n)
	for k := range types {
		types[k] = cur.Uint16()
		cur.LenencBytes()
	}
	bitmapAt := lenencLen(n) + 1
	for k := range types {
		if arg[bitmapAt+k/8]&(1<<(k%8)) == 0 {
			mysql.SkipBinaryValue(&cur, mysql.ColumnType(types[k]))
		}
	}
	if cur.Err() != nil {
		return nil, "", malformed()
	}
	return arg[:cur.Pos()], alias(cur.Rest()), nil
}

func lenencLen(n uint64) int { return len(mysql.AppendLenenc(nil, n)) }

func malformed() *mysql.SQLError {
	return mysql.NewSQLError(mysql.ERMalformedPacket, "Malformed communication packet")
}

// statement answers one statement, or one execution of a prepared one, locally or by a backend. failed says that the client heard an error.
func (s *Session) statement(q *query) (failed bool, err error) {
	s.client.observed.Class = q.info.Class
	if err := s.rights.allow(q); err != nil {
		return true, err
	}
	if q.st != nil {
		if err := s.stmts.closeCursor(q.st); err != nil {
			return true, err
		}
	}
	if s.client.account.Limited() && !s.rights.beyondRules(q.text) {
		if err := s.rights.beginLimited(q); err != nil {
			return true, err
		}
		defer s.client.account.End()
	}
	return composer{s}.admitted(q)
}

// admitted runs a statement that the client may send: what SET STATEMENT, EXECUTE or a block has the proxy carry out in their place.
func (s composer) admitted(q *query) (failed bool, err error) {
	if q.setsFor() {
		back, err := s.settings().setFor(q)
		if err != nil {
			return true, err
		}
		if back != nil {
			if failed = true; q.st == nil {
				err = s.rights.allow(q)
			}
			if err == nil {
				failed, err = s.admitted(q)
			}
			if isSQLError(err) { // which is ahead of the warnings that back adds
				if end := s.client.settle(err); end != nil {
					return true, end
				}
				failed, err = true, nil
			}
			if ended := back(failed || err != nil); ended != nil {
				return true, ended
			}
			return failed, err
		}
	}
	if q.info.Class == sqltext.Execute && q.st == nil {
		if err := s.unfold(q); err != nil {
			return true, err
		}
	}
	if q.info.Class == sqltext.CompoundBegin && q.st == nil {
		if block := s.blockOf(q); block != nil {
			return s.block(q, block)
		}
	}
	if q.verdict.Timeout > 0 {
		x := s.client.entry.ExpireAfter(q.verdict.Timeout)
		failed, err = s.carryOut(q)
		return failed, expired(x, err)
	}
	return s.carryOut(q)
}

// carryOut runs a statement that the query rules let pass.
func (s *Session) carryOut(q *query) (failed bool, err error) {
	defer s.leases.endFallback()
	if s.client.schema.Plans != nil && (q.info.Class == sqltext.DDL || q.info.Class == sqltext.Truncate) {
		freshness{&s.client}.defines()
	}
	failed, err = s.throttled(q)
	if s.client.spread != nil || q.info.Class == sqltext.Savepoint {
		s.exchanges.branches().settle(q, failed, err)
	}
	return failed, err
}

// throttled runs a statement when the rule that bounds how many run at a time lets it.
func (s *Session) throttled(q *query) (failed bool, err error) {
	if r := q.verdict.Throttle; r != nil {
		if err := s.rights.enterRule(r); err != nil {
			return true, err
		}
		defer r.Leave()
	}
	if handled, err := s.exchanges.branches().aheadOf(q); handled || err != nil {
		return err != nil, err
	}
	if handled, err := s.local(q); handled || err != nil {
		return err != nil, err
	}
	if err := s.leases.startOfStatement(); err != nil {
		return true, err
	}
	if q.st == nil {
		q.source = q.text
	}
	failed, err = s.run(q)
	for s.drawsAgain(q, err) {
		failed, err = s.run(q)
	}
	return failed, err
}

// run decides what is to be done with a statement, and does it.
func (s *Session) run(q *query) (failed bool, err error) {
	n, err := s.routing.decide(q)
	switch {
	case err != nil:
		return true, err
	case n == actionExchange:
		return s.exchanges.forward(q)
	case n == actionShards:
		failed, err = s.manyShards(q)
		if q.st == nil {
			err = s.leases.ofClientsText(err, q.source)
		}
		return failed, err
	case q.st != nil:
		return s.executionProcedure(q)
	}
	return s.textProcedure(q)
}

// textProcedure runs a text that is no plain statement, or whose plan is still to be made.
func (s *Session) textProcedure(q *query) (failed bool, err error) {
	if err := s.exchanges.admit(q); err != nil {
		return true, err
	}
	if err := s.client.substitute(q); err != nil {
		return true, err
	}
	if s.client.schema.Plans == nil || !planned(q.info.Class) {
		return s.exchanges.forward(q)
	}
	if handled, failed, err := s.sharded(q); handled || err != nil {
		return failed || err != nil, s.leases.ofClientsText(err, q.source)
	}
	return s.exchanges.forward(q)
}

// wantsCursor reports whether the client fetches the rows of an execution by COM_STMT_FETCH.
func (q *query) wantsCursor() bool { return q.ex != nil && q.ex.flags&cursorTypes != 0 }

// forward runs a statement on a backend and its responses to the client.
func (xs *exchanges) forward(q *query) (failed bool, err error) {
	t := xs.routing.route(q)
	if xs.client.txn.Holding() {
		if t, err = bringElsewhere(xs, q, t); err != nil {
			return true, err
		}
	}
	if instances := xs.anywhere(q, t); severally(instances) {
		failed, err = xs.forwardAnywhere(t, q, instances)
	} else {
		failed, err = xs.forwardTo(t, q, 0)
	}
	if !failed && err == nil {
		xs.mirrored(q, t)
	}
	return failed, err
}

// forwardTo is forward to a target, from the attempt-th try, from 0.
func (xs *exchanges) forwardTo(t txn.Target, q *query, attempt int) (failed bool, err error) {
	for ; ; attempt++ {
		held := xs.client.txn.Held().Pooled
		taken := xs.replay().ahead(q)
		p, err := xs.leases.acquire(t)
		if err != nil {
			return true, err
		}
		if (p.Pooled != held || attempt > 0) && len(q.watched) > 0 { // it may have waited
			if err := xs.leases.stillHeard(q.watched); err != nil {
				return true, xs.leases.unprepared(p, err)
			}
		}
		x := exchange{target: t, p: p, attempt: attempt, take: taken, waits: t.After != nil && !backend.Has(p.Instance, t.After)}
		if t.Asks {
			err = xs.routing.freshness().ask(p)
		}
		if err == nil {
			err = xs.clearDiagnostics(p, q)
		}
		if err == nil && q.st != nil {
			x.bs, err = xs.backendStmt(p, q.text, q.st, q.ex)
		}
		if xs.leases.replaces(p, attempt, err) {
			continue
		} else if err != nil {
			return true, xs.notPrepared(p, err, q.rename)
		}
		if err := faultpoint.Fail(faultpoint.BeforeSend); err != nil {
			return true, xs.leases.lostBefore(p, err)
		}
		if q.st != nil {
			xs.pinMixed(x.bs, q.st)
		}
		if err := xs.start(&x, q); err != nil {
			return true, err
		}
		if x.waits {
			if applied, err := xs.waited(&x, q); err != nil {
				return true, err
			} else if !applied {
				t.Replica = false
				continue
			}
		}
		failed, again, err := xs.finish(&x, q)
		if !again {
			return failed, err
		}
	}
}

// waited reports whether the replica has what the statement of x must find. If not, the connection is closed, on which the statement is under way, and the
// session is as it was before: another one is to serve it.
func (xs *exchanges) waited(x *exchange, q *query) (applied bool, err error) {
	applied, err = backend.ReadWait(x.p.Conn)
	refused, isRefused := errors.AsType[*mysql.SQLError](err)
	switch {
	case applied:
		xs.client.observed.CountFresh(observe.FreshWaited)
		return true, nil
	case isRefused && refused.Code == mysql.ERQueryInterrupted:
		xs.leases.drop(x.p)
		return false, refused
	case err == nil || isRefused:
		x.p.Instance.GTIDs.SetLate()
		xs.leases.drop(x.p)
		xs.client.txn.Pins = x.pins
		return false, nil
	case xs.leases.repeats(x, q, err):
		return false, nil
	}
	return false, xs.broken(x.p, err, x.sent)
}

// broken deals with a connection that failed while a response was on its way. sent is the client's sequence id before it.
func (xs *exchanges) broken(p backend.Pooled, err error, sent uint8) error {
	if isClientSide(err) {
		if le := xs.leases.sharing(); le != nil {
			le.given = true // its response is there whole, and can be passed over
		} else {
			xs.leases.drop(p)
		}
		return clientEnd(err)
	}
	if xs.client.conn.Sequence() == sent {
		return xs.leases.lost(p, err)
	}
	// Part of a result has gone out: an ERR packet ends it where the client reads rows, and the session with it, since
	// nobody can say how much of it arrived.
	xs.leases.drop(p)
	xs.client.txn.Pins = 0
	xs.client.writeError(newError(KSStatementBroken, ""), observe.OriginBackend)
	xs.client.lastWords()
	return &endError{process.EndBackendLost, err}
}

// send queues the statement's COM_QUERY packet. A long one it begins to send.
func (xs *exchanges) send(p backend.Pooled, q *query) {
	c := p.Conn
	if len(q.text) >= largeText {
		xs.sendLarge(p, q)
		return
	}
	c.ResetSequence()
	b := append(c.StartPacket(), byte(mysql.ComQuery))
	b = appendAttributes(b, c.Capabilities, q.attributes)
	c.EndPacket(append(b, q.text...))
}

// largeText is the length in bytes from which a statement is not copied into the write buffer.
const largeText = 8 << 10

// sendLarge sends a long statement from where it lies.
func (xs *exchanges) sendLarge(p backend.Pooled, q *query) {
	c := p.Conn
	c.ResetSequence()
	prefix := appendAttributes([]byte{byte(mysql.ComQuery)}, c.Capabilities, q.attributes)
	c.WritePacketParts(prefix, q.text)
}

// appendAttributes puts the client's query attributes in front of the text, where the server knows them.
func appendAttributes(b []byte, caps mysql.Capability, attributes []byte) []byte {
	if !caps.Has(mysql.ClientQueryAttributes) {
		return b
	}
	if attributes == nil {
		return append(b, 0, 1)
	}
	return append(b, attributes...)
}

// awake is how long a connection may have rested for its server to be taken for alive.
const awake = 50 * time.Millisecond

// sendRequest sends what is queued for a server, or leaves it to the read of the response. That one would not see that the server closed the
// connection before: so not where it has rested.
func (xs *exchanges) sendRequest(p backend.Pooled) error {
	if !xs.client.txn.Holds(p) && p.Rest < awake {
		return p.Conn.FlushWithRead()
	}
	return p.Conn.Flush()
}

// responses forwards all responses to one command. failed says that the last was an error.
func (xs *exchanges) responses(x *exchange, q *query) (failed bool, err error) {
	p := x.p
	if !q.arrived {
		if err := xs.sendRequest(p); err != nil {
			return true, err
		}
		if err := p.Conn.ReadAhead(); err != nil {
			return true, err
		}
	}
	o := mysql.ForwardOptions{Status: xs.client.status(), Patch: xs.client.patchFn, Rename: q.rename, Rows: q.rows, Quota: xs.client.quota(q), Hold: q.held(xs.mayAwaitWrites(x, q))}
	if q.verdict.Timeout > 0 {
		o.PatchError = xs.client.patchExpired
	}
	if expired := o.PatchError; xs.client.txn.Branches {
		o.PatchError = func(e *mysql.SQLError) {
			if xs.leases.branches().gaveWay(e); expired != nil {
				expired(e)
			}
		}
	}
	if x.take != nil && x.take.keeps {
		o.Sum = &x.take.sum
	}
	if xs.client.ahead().lease != nil {
		o.Arrived = &xs.client.ahead().lease.walk
	}
	if err := faultpoint.Fail(faultpoint.AfterSend); err != nil {
		return true, err
	}
	for {
		res, err := mysql.ForwardResult(xs.client.out(), p.Conn.Conn, o)
		if err != nil {
			return true, err
		}
		if res.Cut || res.Held || res.Kind == mysql.ResponseLocalInfile {
			x.take = nil
		}
		if res.Cut {
			return true, xs.client.cutOff(p, q, &res)
		}
		if res.Held {
			if q.draws < drawsMax && q.ids.met(res.Err) {
				p.Conn.Diagnosed, q.ids.collided = xs.client.id, true
				return true, nil
			}
			if isReadOnly(res.Err.Code) {
				p.Conn.Diagnosed, x.readOnly = xs.client.id, res.Err
				return true, nil
			}
			if err := xs.client.tellHeld(p, q, &res); err != nil {
				return true, err
			}
		}
		xs.observe(p, q, &res)
		if res.Kind == mysql.ResponseLocalInfile {
			if err := xs.client.localInfile(p, q, res.LocalInfile); err != nil {
				return true, err
			}
			continue
		}
		if res.Kind == mysql.ResponseErr {
			return true, nil
		}
		if !p.Conn.Status.Has(mysql.ServerMoreResultsExists) {
			return false, nil
		}
		if err := faultpoint.Fail(faultpoint.InResult); err != nil {
			return true, err
		}
	}
}

// observe notes what a response says of the session.
func (xs *exchanges) observe(p backend.Pooled, q *query, res *mysql.Response) {
	xs.client.observed.Forward(res.Rows, res.Bytes)
	switch res.Kind {
	case mysql.ResponseErr:
		p.Conn.Diagnosed = xs.client.id
		p.Conn.Status &^= mysql.ServerMoreResultsExists
		xs.client.heard(res.Err, observe.OriginBackend)
		xs.client.spread.failed(&xs.client.txn, p, res.Err.Code)
		q.ids.failed(&xs.client.shared.Sequences, res.Err.Code)
		xs.client.state.InsertID.Failed(&q.info, q.text, xs.client.mode(), res.Err.Code)
		xs.client.state.Found.Failed(q.info.Class, q.text, xs.client.mode().MariaDB, res.Err.Code)
		return
	case mysql.ResponseLocalInfile:
		return
	case mysql.ResponseRows:
		xs.client.state.Diagnostics.RowCount = -1
	case mysql.ResponseOK:
		xs.client.state.Diagnostics.RowCount = int64(res.OK.AffectedRows)
	}
	if q.onlyReads() && res.Kind == mysql.ResponseRows {
		xs.client.state.Found.Found(res.Rows)
	} else if q.tellIDs(xs.client, res) {
		info, text := xs.carriedOut(q)
		xs.client.state.Found.Answered(p.Conn, info, text, xs.client.mode(), res)
	} else {
		given := res.Kind == mysql.ResponseOK && res.OK.LastInsertID != 0 && state.InsertsRows(q.info.Class) && xs.mayGiveID(q, res.OK.LastInsertID)
		xs.client.state.InsertID.Answered(p.Conn, &q.info, q.reached, res, given)
		info, text := xs.carriedOut(q)
		xs.client.state.Found.Answered(p.Conn, info, text, xs.client.mode(), res)
	}
	p.Conn.Status = xs.client.state.ServerStatus
	if d := &xs.client.state.Diagnostics; (d.WarningCount > 0 || xs.client.txn.Holding() && !xs.client.txn.LastOnHeld) && leavesDiagnostics(p, q, res, xs.client.mode()) {
		xs.keepDiagnostics(p, q)
	} else {
		d.Clear()
		if d.WarningCount = int(res.OK.Warnings); d.WarningCount > 0 {
			p.Conn.Diagnosed = xs.client.id
		}
	}
	if len(res.OK.StateChanges) > 0 && xs.client.state.Track(res.OK.StateChanges, q.info.Class == sqltext.Set || q.info.Class == sqltext.SetStatement) {
		xs.client.txn.Pin(txn.PinTracker)
		q.learns = true
	}
	if t := xs.client.tasked; t != nil {
		if len(t.told) > 0 {
			p.Instance.GTIDs.Told(t.told)
			t.told = nil
		}
		if t.changed {
			xs.suspect(p, q)
		}
	}
}
