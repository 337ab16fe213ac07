package session

import (
	"encoding/binary"
	"strings"
	"unique"
	"unsafe"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/observe"
	"kingshard/proxy/queryrule"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// stmts are a session's prepared statements, by the ids that the client knows.
type stmts struct {
	client    *client
	routing   *routing
	exchanges *exchanges
	rights    *rights

	byID   map[uint32]*stmt
	nextID uint32
	lastID uint32 // that of the last COM_STMT_PREPARE, 0 if it failed; ids begin at 1
	// longData is the number of bytes sent by COM_STMT_SEND_LONG_DATA and not yet used, over all statements.
	longData int
	// texts are the bytes of the statements that byID has.
	texts int
}

// setTexts has them be n; false, and as before, where there is no room for more.
func (ss *stmts) setTexts(n int) bool {
	held := heldBytes{memory: &ss.client.shared.Statements, n: ss.texts}
	ok := held.set(n)
	ss.texts = held.n
	return ok
}

// stmt is one prepared statement of a client. It is prepared on backend connections as they come to run it.
type stmt struct {
	id uint32
	// within are the statements that it contains; nil if its class contains none.
	within *sqltext.Contents
	text   string // as prepared: own functions are already the session's values
	source string // before they were: as the client sent it, or as query rules rewrote that
	given  string // as the client sent it where it was rewritten, else ""
	info   sqltext.Info
	// normal is the normal form of text, where it is short.
	normal unique.Handle[string]
	params int
	// setting is the session state that the text was prepared under: it decides what names and quotes in it mean.
	setting *backend.Setting
	// types are the parameter types that the client sent last, two bytes each; the client may leave them out after the
	// first execution.
	types []byte
	// kinds are those of the first value of each parameter, 0 as long as it had none but NULL; nil before the first execution.
	kinds []byte
	// mixed says that values of other kinds followed the first ones: what the server makes of them, it knows on one connection.
	mixed bool
	// sharded: the text names sharded tables by their logical names.
	sharded bool
	// information: it may be about the catalog.
	information bool
	// own: the proxy answers it, and no server knows it.
	own bool
	// quota bounds the rows of the open cursor; nil without a limit.
	quota *mysql.Quota
	// long holds what COM_STMT_SEND_LONG_DATA brought, by parameter; longErr what was wrong with it.
	long    map[uint16][]byte
	longErr *mysql.SQLError
	db      string       // the current one when it was prepared
	mode    sqltext.Mode // that the text was read in
	// verdict is what the rules of verdictOf say of the text.
	verdict   queryrule.Decision
	verdictOf *queryrule.View
	// plan is the one that plans made when it had forgotten so many times; nil before the first execution.
	plan      *plan.Plan
	plans     *Plans
	forgotten uint64
	// point is what the loop pointIn knows of the statement on pointOf.
	point   *pointRead
	pointOf pointKey
	pointIn *loopState
	// ids is what is executed in its place where rows need ids; nil before. See executeWithIDs.
	ids *idStmt
	// cursor is the backend connection that an open cursor lives on, and its statement there.
	cursor *backend.Stmt
}

// clearStmts forgets all statements, those on the held connection, which is given back, included.
func (ss *stmts) clearStmts() {
	ss.client.shared.Packets.Give(ss.longData)
	ss.setTexts(0)
	ss.byID, ss.lastID, ss.longData = nil, 0, 0
	ss.client.txn.Cursors, ss.client.txn.MixedStmts = 0, 0
}

// add gives a statement its id.
func (st *stmts) add(one *stmt) {
	if st.byID == nil {
		st.byID = make(map[uint32]*stmt)
	}
	st.nextID++
	one.id, st.lastID = st.nextID, st.nextID
	st.byID[one.id] = one
}

func (st *stmts) get(arg []byte) (*stmt, bool) {
	if len(arg) < 4 {
		return nil, false
	}
	id := binary.LittleEndian.Uint32(arg)
	if id == state.LastStmtID {
		id = st.lastID
	}
	s, ok := st.byID[id]
	return s, ok
}

func unknownStmt(arg []byte, command string) *mysql.SQLError {
	id := uint32(0)
	if len(arg) >= 4 {
		id = binary.LittleEndian.Uint32(arg)
	}
	return mysql.NewSQLError(mysql.ERUnknownStmtHandler, "Unknown prepared statement handler (%d) given to %s", id, command)
}

// full reports whether the client has as many statements as it may have, named ones included.
func (ss *stmts) full() bool {
	return len(ss.byID)+len(ss.client.textStmts) >= ss.client.snap.Config.MaxPreparedStmts
}

// tooMany is what the client hears of one more.
func (ss *stmts) tooMany() error {
	return mysql.NewSQLError(mysql.ERMaxPreparedStmtCount, "Can't create more than max_prepared_stmt_count statements (current value: %d)", ss.client.snap.Config.MaxPreparedStmts)
}

// stmtBytes is what a statement takes beside its text.
const stmtBytes = int(unsafe.Sizeof(stmt{}))

// bytes is what the statement counts with.
func (st *stmt) bytes() int { return stmtBytes + len(st.text) }

// comStmtPrepare prepares a text, if there is room for one more. MySQL manual: "COM_STMT_PREPARE".
func (ss *stmts) comStmtPrepare(text string) error {
	ss.lastID = 0
	if ss.full() {
		return ss.tooMany()
	}
	bytes := stmtBytes + len(text)
	if !ss.setTexts(ss.texts + bytes) {
		m := &ss.client.shared.Statements
		return mysql.NewSQLError(mysql.ERMaxPreparedStmtCount, "Can't create one more prepared statement: those of all clients take %d bytes, and packet_memory is the most (current value: %d)", m.Used(), m.Most())
	}
	defer func() {
		ss.setTexts(ss.texts - bytes)
		if st := ss.byID[ss.lastID]; st != nil {
			ss.setTexts(ss.texts + st.bytes())
		}
	}()
	return ss.prepareText(text)
}

// prepareText prepares the text on a backend, every time: only the server knows whether it is right and what its
// columns are today.
func (ss *stmts) prepareText(text string) error {
	if err := ss.rights.readyForText(text); err != nil {
		return err
	}
	q := query{text: text, source: text, info: sqltext.Classify(text, ss.client.mode())}
	if i := &q.info; i.Class != sqltext.Empty && i.End+1 < len(text) && i.Next >= len(text) {
		q.text = withoutEnd(text)
		q.source, q.info = q.text, sqltext.Classify(q.text, ss.client.mode())
	}
	q.readWithin(ss.client.mode())
	if ss.client.snap.Blacklist != nil && ss.rights.blacklisted(&q) {
		return errBlacklisted
	}
	if err := ss.rights.obeyPrepare(&q); err != nil {
		return err
	}
	if err := ss.rights.permit(q.text, &q.info); err != nil {
		return err
	}
	if err := ss.exchanges.leases.startOfStatement(); err != nil {
		return err
	}
	if err := ss.admitPrepare(&q); err != nil {
		return err
	}
	if q.setsFor() {
		set := sqltext.Contents{Inner: []sqltext.Inner{q.within.Inner[0]}}
		set.Inner[0].Text = strings.Clone(set.Inner[0].Text)
		back, err := (settings{ss.client, ss.exchanges.leases, ss.routing, ss.exchanges}).setFor(&q)
		if err != nil {
			return err
		}
		if back != nil {
			if q.source = q.text; q.within == nil {
				q.within = &set // the executions set it
			}
			if err := back(false); err != nil {
				return err
			}
		}
	}
	ss.rights.ownGrants(&q)
	if err := ss.client.substitute(&q); err != nil {
		return err
	}
	lacks, err := ss.preparePlan(&q)
	if err != nil {
		return err
	}
	if q.own {
		return ss.prepareOwn(&q)
	}
	if q.logical != "" {
		// Its columns are of the types that the variables have. What cannot be brought an execution tells of.
		if err := bringVariables(ss.exchanges.leases, &q); err != nil && !isSQLError(err) {
			return err
		}
	}
	if len(lacks) > 0 {
		return ss.prepareApart(&q, lacks)
	}
	if q.logical != "" && (!ss.client.txn.Holding() || ss.client.txn.Held().Instance.Node != q.node.Name) {
		return ss.prepareAside(&q)
	}
	told := ss.client.txn.LastOnHeld
	for attempt := 0; ; attempt++ {
		x := exchange{target: ss.routing.route(&q), attempt: attempt, take: ss.exchanges.replay().aheadOfPrepare()}
		p, err := ss.exchanges.leases.acquire(x.target)
		if err != nil {
			return err
		}
		if ss.exchanges.keptByTransaction(p) {
			if err := ss.exchanges.forgetDiagnostics(p); ss.exchanges.leases.replaces(p, attempt, err) {
				continue
			} else if err != nil {
				return ss.exchanges.leases.unprepared(p, err)
			}
		}
		x.p, x.pins, x.sent, x.had = p, ss.client.txn.Pins, ss.client.conn.Sequence(), p.Conn.Net.Received()
		err = ss.prepareOn(p, &q)
		if ss.client.conn.Sequence() == x.sent && ss.exchanges.leases.replaces(p, attempt, err) {
			continue
		}
		if r := ss.exchanges.replay(); r.may(&x, &q, err) {
			if err := r.anew(&x, err); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return ss.exchanges.broken(p, err, x.sent)
		}
		ss.exchanges.leases.release(p)
		if !told && preparedUnseen(q.text, q.info.Class, ss.client.mode()) {
			ss.client.txn.LastOnHeld = false
		}
		ss.exchanges.replay().note(&x)
		return nil
	}
}

// prepareAside prepares a statement on sharded tables on a connection that takes no part in the client's transaction: which
// node the transaction is about, the values of an execution decide.
func (ss *stmts) prepareAside(q *query) error {
	for attempt := 0; ; attempt++ {
		p, err := ss.exchanges.leases.freshConn(q.node, nil)
		if err != nil {
			return ss.exchanges.leases.notBorrowed(nil, err)
		}
		sent := ss.client.conn.Sequence()
		err = ss.prepareOn(p, q)
		if ss.client.conn.Sequence() == sent && ss.exchanges.leases.replaces(p, attempt, err) {
			continue
		}
		if err != nil {
			return ss.exchanges.broken(p, err, sent)
		}
		p.Put()
		return nil
	}
}

// admitPrepare refuses to prepare what the session must see as text to keep its state right.
func (ss *stmts) admitPrepare(q *query) error {
	if err := ss.rights.inspect(q, true); err != nil {
		return err
	}
	if err := ss.rights.admitTexts(q); err != nil {
		return err
	}
	if q.info.Class == sqltext.Set {
		if err := ss.rights.admitSetQuery(q.text, ss.client.mode()); err != nil {
			return err
		}
	}
	if err := ss.exchanges.admit(q); err != nil {
		return err
	}
	switch q.info.Class {
	case sqltext.Prepare, sqltext.Execute, sqltext.Deallocate:
		return mysql.NewSQLError(mysql.ERUnsupportedPS, "This command is not supported in the prepared statement protocol yet")
	}
	return nil
}

// prepareOn prepares on p, adds the statement to the session and answers the client with its own id.
func (ss *stmts) prepareOn(p backend.Pooled, q *query) error {
	if q.stopsClock() {
		p.Conn.Marked = true
	}
	packet, err := ss.exchanges.sendPrepare(p, q.text)
	if err != nil {
		return err
	}
	if packet[0] == mysql.ErrHeader {
		e := new(mysql.SQLError)
		if err := e.Decode(packet); err != nil {
			return err
		}
		mysql.RenameError(e, q.rename)
		if e.Code == mysql.ERParse && q.rewritten() {
			if e, err = ss.client.syntaxError(p, q, e); err != nil {
				return err
			}
		}
		ss.client.writeError(e, observe.OriginBackend)
		return nil
	}
	var ok mysql.StmtPrepareOK
	if err := ok.Decode(packet, p.Conn.Capabilities); err != nil {
		return &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: err}
	}
	st := &stmt{text: strings.Clone(q.text), info: q.info, params: int(ok.Params), db: ss.client.state.DB(), mode: ss.client.mode(), setting: ss.client.state.Setting()}
	st.info.NodeHint = strings.Clone(q.info.NodeHint) // it aliases the packet that the client sent
	p.Conn.AddStmt(&backend.Stmt{Key: backend.StmtKey{Setting: st.setting, Text: st.text}, ID: ok.StatementID, Params: int(ok.Params)})
	if q.logical != "" {
		st.text, st.sharded = strings.Clone(q.logical), true
		st.information = mayAskCatalog(st.text, st.info.Class, st.mode, st.db)
	}
	if st.source = st.text; q.source != st.text {
		st.source = strings.Clone(q.source)
	}
	st.given = strings.Clone(q.given)
	if st.readWithin(); st.within == nil {
		st.within = q.within
	}
	st.normal = normalOf(st.text, st.mode)
	ss.add(st)
	ok.StatementID = st.id
	if !preparedUnseen(st.text, st.info.Class, st.mode) {
		ss.client.state.Diagnostics.Forget()
	}
	ss.client.conn.EndPacket(ok.AppendTo(ss.client.conn.StartPacket(), ss.client.conn.Capabilities))
	if !ok.MetadataFollows {
		return nil
	}
	return mysql.ForwardDefinitions(ss.client.conn, p.Conn.Conn, []int{int(ok.Params), int(ok.Columns)}, ss.client.status(), q.rename)
}

// readWithin notes the statements that the text contains.
func (st *stmt) readWithin() {
	if st.info.Contains() {
		c := sqltext.ContentsOf(st.text, st.mode)
		st.within = &c
	}
}

// sendPrepare sends COM_STMT_PREPARE and reads the first packet of the answer. A server that is full is asked again
// after statements of this connection were closed.
func (xs *exchanges) sendPrepare(p backend.Pooled, text string) ([]byte, error) {
	span := xs.client.observed.OwnSpan(p.Instance, xs.client.state.DB(), "PREPARE")
	packet, err := xs.askPrepare(p, text)
	if e := new(mysql.SQLError); err == nil && packet[0] == mysql.ErrHeader && span != nil && e.Decode(packet) == nil {
		observe.EndSpan(span, e)
	} else {
		observe.EndSpan(span, err)
	}
	return packet, err
}

// askPrepare sends COM_STMT_PREPARE, again after statements of this connection were closed where the server is full, and returns the first packet of the answer.
func (xs *exchanges) askPrepare(p backend.Pooled, text string) ([]byte, error) {
	for {
		c := p.Conn
		c.ResetSequence()
		c.WritePacketParts([]byte{byte(mysql.ComStmtPrepare)}, text)
		if err := c.Flush(); err != nil {
			return nil, err
		}
		packet, err := c.ReadPacket()
		if err != nil {
			return nil, err
		}
		if len(packet) == 0 {
			return nil, &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: mysql.ErrMalformedPacket}
		}
		var e mysql.SQLError
		if packet[0] == mysql.ErrHeader && e.Decode(packet) == nil && e.Code == mysql.ERMaxPreparedStmtCount && c.CloseStmts() {
			continue
		}
		return packet, nil
	}
}

// backendStmt gives the statement of a text under st's setting on p for an execution, prepared there if it is not.
func (xs *exchanges) backendStmt(p backend.Pooled, text string, st *stmt, ex *execution) (*backend.Stmt, error) {
	if bs := xs.preparedStmt(p, text, st, ex); bs != nil {
		return bs, nil
	}
	key := backend.StmtKey{Setting: st.setting, Text: text}
	current := xs.client.state.Setting()
	then := st.setting.Beside(current)
	if xs.client.txn.Holds(p) && xs.client.txn.Pins.Has(txn.PinUserVariable) {
		then = then.WithUserVariables(current) // which may have changed there
	}
	if err := xs.client.observed.Apply(p, xs.client.state.DB(), then); err != nil {
		return nil, err
	}
	if st.info.Has(sqltext.HintClock) {
		p.Conn.Marked = true
	}
	packet, err := xs.sendPrepare(p, text)
	if err != nil {
		return nil, err
	}
	if packet[0] == mysql.ErrHeader {
		e := new(mysql.SQLError)
		if err := e.Decode(packet); err != nil {
			return nil, err
		}
		if err := p.Apply(current); err != nil {
			return nil, err
		}
		return nil, &stmtGone{e}
	}
	var ok mysql.StmtPrepareOK
	if err := ok.Decode(packet, p.Conn.Capabilities); err != nil {
		return nil, &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: err}
	}
	if err := p.Conn.SkipDefinitions(int(ok.Params), int(ok.Columns), ok.MetadataFollows); err != nil {
		return nil, err
	}
	key.Text = strings.Clone(text) // which lives for the command only
	bs := &backend.Stmt{Key: key, ID: ok.StatementID, Params: int(ok.Params)}
	p.Conn.AddStmt(bs)
	if err := xs.client.observed.Apply(p, xs.client.state.DB(), current); err != nil {
		return nil, err
	}
	if !xs.client.mode().MariaDB && lacks(bs, st, ex) && st.info.ReadOnly() {
		if err := xs.prime(p, bs, st); err != nil {
			return nil, err
		}
	}
	takes(bs, st, ex)
	return bs, nil
}

// preparedStmt is backendStmt where it needs nothing to be asked of the server; else it is nil.
func (xs *exchanges) preparedStmt(p backend.Pooled, text string, st *stmt, ex *execution) *backend.Stmt {
	bs := p.Conn.Stmts.Get(backend.StmtKey{Setting: st.setting, Text: text})
	if bs != nil && (xs.client.mode().MariaDB || !lacks(bs, st, ex) && takes(bs, st, ex)) {
		return bs
	}
	return nil
}

// stmtGone is the server's refusal to prepare a text again that it once took: its table is gone, say. The connection is
// in order.
type stmtGone struct{ err *mysql.SQLError }

func (e *stmtGone) Error() string { return e.err.Error() }

// comStmtClose forgets a statement; it has no answer. On backends it stays prepared for the next session that wants it.
// MySQL manual: "COM_STMT_CLOSE".
func (ss *stmts) comStmtClose(arg []byte) {
	st, ok := ss.get(arg)
	if !ok {
		return
	}
	ss.dropLongData(st)
	delete(ss.byID, st.id)
	ss.setTexts(max(0, ss.texts-st.bytes()))
	_ = ss.closeCursor(st)
	if mixed := st.mixedParams(); mixed > 0 {
		if ss.client.txn.MixedStmts -= mixed; ss.client.txn.MixedStmts == 0 {
			ss.client.txn.Unpin(txn.PinParameterTypes)
			if p := ss.client.txn.Held(); p.Pooled != nil {
				ss.client.setRunning(p)
				ss.exchanges.leases.release(p)
			}
		}
	}
}

// comStmtReset drops long data and closes the cursor. MySQL manual: "COM_STMT_RESET".
func (ss *stmts) comStmtReset(arg []byte) error {
	st, ok := ss.get(arg)
	if !ok {
		return unknownStmt(arg, "mysqld_stmt_reset")
	}
	ss.dropLongData(st)
	if err := ss.closeCursor(st); err != nil {
		return err
	}
	ss.client.state.Diagnostics.RowCount = 0
	ss.client.conn.WriteOK(&mysql.OKPacket{Status: ss.client.status()})
	return nil
}

// closeCursor ends st's cursor on the held connection, which is given back if nothing else holds it.
func (ss *stmts) closeCursor(st *stmt) error {
	if st.cursor == nil {
		return nil
	}
	bs := st.cursor
	st.cursor = nil
	ss.client.txn.Cursors--
	if ss.client.txn.Cursors == 0 {
		ss.client.txn.Unpin(txn.PinCursor)
	}
	p := ss.client.txn.Held()
	if p.Pooled == nil {
		return nil
	}
	ss.client.setRunning(p)
	if err := p.Conn.ResetStmt(bs); err != nil {
		return ss.exchanges.leases.lost(p, err)
	}
	ss.exchanges.leases.release(p)
	return nil
}

// comStmtSendLongData keeps a piece of a parameter until the statement runs; it has no answer, so what is wrong with it
// is told by the execution. MySQL manual: "COM_STMT_SEND_LONG_DATA".
func (ss *stmts) comStmtSendLongData(arg []byte) {
	st, ok := ss.get(arg)
	if !ok || len(arg) < 6 {
		return
	}
	param, data := binary.LittleEndian.Uint16(arg[4:]), arg[6:]
	switch {
	case int(param) >= st.params:
		st.longErr = mysql.NewSQLError(mysql.ERWrongArguments, "Incorrect arguments to mysqld_stmt_send_long_data")
	case ss.longData+len(data) > int(ss.client.snap.Config.MaxAllowedPacket):
		st.longErr = mysql.NewSQLError(mysql.ERUnknown, "Parameter of prepared statement which is set through mysql_send_long_data() is longer than 'max_allowed_packet' bytes")
	case !ss.client.shared.Packets.Take(len(data)):
		st.longErr = newError(KSPacketMemory, "The data of the parameter would take, with the long packets of all clients, more than packet_memory. Send it again later, or raise packet_memory.")
	default:
		if st.long == nil {
			st.long = make(map[uint16][]byte)
		}
		// An empty piece counts: it makes the parameter an empty string instead of an unset one.
		st.long[param] = append(st.long[param], data...)
		ss.longData += len(data)
	}
}

func (ss *stmts) dropLongData(st *stmt) {
	for _, data := range st.long {
		ss.longData -= len(data)
		ss.client.shared.Packets.Give(len(data))
	}
	st.long, st.longErr = nil, nil
}
