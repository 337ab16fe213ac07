package session

import (
	"bytes"
	"encoding/binary"
	"errors"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/session/state"
)

// cursorTypes masks the execute flags that ask for a cursor.
const cursorTypes = 0x07

// execution is a decoded COM_STMT_EXECUTE; its slices alias the read buffer.
type execution struct {
	flags      byte
	bitmap     []byte // NULL parameters
	types      []byte // two bytes each
	values     []byte
	attributes *executionAttributes // nil: none
}

// executionAttributes are the query attributes of an execution, which follow its parameters. MySQL manual: "COM_STMT_EXECUTE",
// CLIENT_QUERY_ATTRIBUTES.
type executionAttributes struct {
	count  int
	bitmap []byte // NULL ones, behind those of the parameters
	types  []byte // with the names, as they came
	values []byte
}

// behind gives the attributes that followed had parameters as they follow others; nil without any.
func (a *executionAttributes) behind(params, had int) *executionAttributes {
	if a == nil {
		return nil
	}
	other := *a
	other.bitmap = make([]byte, (params+a.count+7)/8)
	for k := range a.count {
		if at := had + k; a.bitmap[at/8]&(1<<(at%8)) != 0 {
			other.bitmap[(params+k)/8] |= 1 << ((params + k) % 8)
		}
	}
	return &other
}

// comStmtExecute runs a prepared statement. MySQL manual: "COM_STMT_EXECUTE".
func (s *Session) comStmtExecute(arg []byte) error {
	st, ok := s.stmts.get(arg)
	if !ok {
		return unknownStmt(arg, "mysqld_stmt_execute")
	}
	defer s.stmts.dropLongData(st)
	if s.client.traceExecution(st, arg) {
		s.client.beginTrace(mysql.ComStmtExecute, st.text)
	}
	if st.longErr != nil {
		return st.longErr
	}
	ex := &s.client.task().execution
	if err := s.stmts.decodeExecution(ex, st, arg); err != nil {
		return err
	}
	s.client.entry.ShowText(st.text)
	s.client.recognize(st)
	if s.client.shared.Labels.On() {
		s.client.observed.Label(s.client.entry.Name(), st.text, s.client.mode())
	}
	q := &s.client.task().query
	q.execute(st, ex)
	_, err := s.statement(q)
	return err
}

// execute makes q an execution of a prepared statement, in place.
func (q *query) execute(st *stmt, ex *execution) {
	q.begin(st.text, &st.info)
	q.st, q.ex, q.within = st, ex, st.within
}

// localExecution answers the executions that the session itself knows best.
func (s *Session) localExecution(q *query) (handled bool, err error) {
	switch q.info.Class {
	case sqltext.Show:
		s.client.hidePasswords(q)
		if state.ShowsStatus(q.text, s.client.mode()) {
			q.rows = &state.StatusRows{Values: state.ConnectionStatus(s.client.conn), Binary: q.st != nil}
		}
	case sqltext.Set:
		if q.ex.attributes == nil && q.st.readsAlike(&s.client.state, s.client.mode()) {
			q.asText(s.client.mode())
			return s.local(q)
		}
	case sqltext.Kill:
		text, err := s.stmts.bound(q.st, q.ex)
		if err != nil {
			return true, err
		}
		q.text = text
		return true, s.kills().killStatement(q)
	case sqltext.Begin, sqltext.Commit, sqltext.Rollback:
		return s.settings().transaction(q)
	case sqltext.ShowProcesslist, sqltext.ShowWarnings, sqltext.ShowErrors:
		return s.settings().show(q)
	}
	if q.st.own {
		return true, s.executeOwn(q)
	}
	return false, nil
}

// readsAlike reports whether a prepared statement's text, sent now, means what it did when it was prepared: it has no parameters, and what its
// literals and names go by is as it was.
func (st *stmt) readsAlike(s *state.State, m sqltext.Mode) bool {
	if st.params > 0 || st.mode != m || st.db != s.DB() {
		return false
	}
	now := s.Setting()
	for _, name := range [...]string{"character_set_client", "collation_connection"} {
		then, _ := st.setting.Value(name)
		if value, _ := now.Value(name); value != then {
			return false
		}
	}
	return true
}

// asText makes an execution the statement that the client could have sent as a text.
func (q *query) asText(m sqltext.Mode) {
	q.text, q.source = q.st.source, q.st.source
	q.st, q.ex, q.within = nil, nil, nil
	q.info = sqltext.Classify(q.text, m)
	q.readWithin(m)
}

// decodeExecution takes the packet apart and remembers parameter types for executions that leave them out.
func (ss *stmts) decodeExecution(ex *execution, st *stmt, arg []byte) error {
	c := mysql.NewCursor(arg[4:])
	ex.flags = c.Uint8()
	c.Uint32() // iteration count, always 1
	attributes := ss.client.conn.Capabilities.Has(mysql.ClientQueryAttributes)
	count := st.params
	counted := attributes && (st.params > 0 || ex.flags&mysql.ParameterCountAvailable != 0)
	if counted {
		count = int(c.Lenenc())
		if count < st.params || count > 65535 {
			return mysql.NewSQLError(mysql.ERWrongArguments, "Incorrect arguments to mysqld_stmt_execute")
		}
	}
	if c.Err() != nil {
		return malformed()
	}
	if count == 0 {
		return nil
	}
	bitmap := c.Bytes((count + 7) / 8)
	if c.Uint8() != 0 {
		if attributes {
			ex.takeTypes(st, &c, count)
		} else if types := c.Bytes(2 * count); c.Err() == nil && !bytes.Equal(types, st.types) { // most clients send the same ones each time
			st.types = bytes.Clone(types)
		}
		if c.Err() != nil {
			return malformed()
		}
	}
	if c.Err() != nil {
		return malformed()
	}
	ex.types = st.types
	if len(st.types) < 2*st.params {
		// Only NULLs have no type: Connector/J leaves the types out when the first execution has nothing else.
		if !allNull(bitmap, st.params) {
			return mysql.NewSQLError(mysql.ERWrongArguments, "Incorrect arguments to mysqld_stmt_execute")
		}
		ex.types = bytes.Repeat([]byte{byte(mysql.TypeNull), 0}, st.params)
	}
	return ss.takeValues(ex, st, &c, bitmap)
}

// takeTypes finds the types of count parameters that have names, too: those behind the statement's own are query attributes.
func (ex *execution) takeTypes(st *stmt, c *mysql.Cursor, count int) {
	types := make([]byte, 0, 2*count)
	for k := range count {
		if k == st.params {
			ex.attributes = &executionAttributes{count: count - k}
		}
		from := *c
		types = append(types, c.Bytes(2)...)
		c.LenencBytes()
		if a := ex.attributes; a != nil {
			a.types = append(a.types, from.Bytes(c.Pos()-from.Pos())...)
		}
	}
	if c.Err() == nil {
		st.types = types
	}
}

// allNull tells whether the first params bits are set.
func allNull(bitmap []byte, params int) bool {
	for k := range params {
		if bitmap[k/8]&(1<<(k%8)) == 0 {
			return false
		}
	}
	return true
}

// takeValues finds the values of the statement's own parameters, and of the attributes behind them.
func (ss *stmts) takeValues(ex *execution, st *stmt, c *mysql.Cursor, bitmap []byte) error {
	ex.bitmap = bitmap[:(st.params+7)/8]
	types := ex.types
	ex.types = types[:2*st.params]
	from := *c
	for k := range st.params {
		_, long := st.long[uint16(k)]
		if bitmap[k/8]&(1<<(k%8)) == 0 && !long {
			mysql.SkipBinaryValue(c, mysql.ColumnType(ex.types[2*k]))
		}
	}
	if c.Err() != nil {
		return malformed()
	}
	ex.values = from.Bytes(c.Pos() - from.Pos())
	a := ex.attributes
	if a == nil {
		return nil
	}
	from = *c
	for at := st.params; at < st.params+a.count; at++ {
		if bitmap[at/8]&(1<<(at%8)) == 0 {
			mysql.SkipBinaryValue(c, mysql.ColumnType(types[2*at]))
		}
	}
	if c.Err() != nil {
		return malformed()
	}
	a.bitmap, a.values = bitmap, from.Bytes(c.Pos()-from.Pos())
	return nil
}

// notPrepared deals with a text that could not be prepared again.
func (xs *exchanges) notPrepared(p backend.Pooled, err error, names []mysql.TableName) error {
	var gone *stmtGone
	if errors.As(err, &gone) {
		xs.leases.release(p)
		return named(gone.err, names)
	}
	return xs.leases.unprepared(p, err)
}

// unprepared deals with a connection that could not be brought to run a prepared statement. An error of the server, such
// as a database that is gone, is the client's to hear; what the connection carries by then is not known.
func (ls *leases) unprepared(p backend.Pooled, err error) error {
	var sqlErr *mysql.SQLError
	if errors.As(err, &sqlErr) && !ls.client.txn.Holds(p) {
		ls.drop(p)
		return sqlErr
	}
	return ls.lostBefore(p, err)
}

// sendExecution queues long data and the COM_STMT_EXECUTE in the form that the backend negotiated; types always go along,
// because other sessions used the same statement.
func (xs *exchanges) sendExecution(p backend.Pooled, bs *backend.Stmt, st *stmt, ex *execution) {
	c := p.Conn
	for param, data := range st.long {
		c.ResetSequence()
		prefix := mysql.AppendUint16(mysql.AppendUint32([]byte{byte(mysql.ComStmtSendLongData)}, bs.ID), param)
		c.WritePacketParts(prefix, alias(data))
	}
	c.ResetSequence()
	b := mysql.AppendUint32(append(c.StartPacket(), byte(mysql.ComStmtExecute)), bs.ID)
	attributes := c.Capabilities.Has(mysql.ClientQueryAttributes)
	flags := ex.flags &^ mysql.ParameterCountAvailable
	count, bitmap, more := st.params, ex.bitmap, ex.attributes
	if !attributes {
		more = nil
	}
	if more != nil {
		count, bitmap = count+more.count, more.bitmap
	}
	if attributes && count > 0 {
		flags |= mysql.ParameterCountAvailable
	}
	b = mysql.AppendUint32(append(b, flags), 1)
	if count > 0 {
		if attributes {
			b = mysql.AppendLenenc(b, uint64(count))
		}
		b = append(append(b, bitmap...), 1)
		for k := range st.params {
			b = append(b, ex.types[2*k], ex.types[2*k+1])
			if attributes {
				b = append(b, 0) // parameters of statements have no names
			}
		}
		if more != nil {
			b = append(b, more.types...)
		}
		b = append(b, ex.values...)
		if more != nil {
			b = append(b, more.values...)
		}
	}
	c.EndPacket(b)
}

// comStmtFetch gives the next rows of a cursor. MySQL manual: "COM_STMT_FETCH".
func (ss *stmts) comStmtFetch(arg []byte) error {
	st, ok := ss.get(arg)
	if !ok {
		return unknownStmt(arg, "mysqld_stmt_fetch")
	}
	if len(arg) < 8 {
		return malformed()
	}
	p := ss.client.txn.Held()
	if st.cursor == nil || p.Pooled == nil {
		return mysql.NewSQLError(mysql.ERStmtHasNoOpenCursor, "The statement (%d) has no open cursor.", st.id)
	}
	if !ss.client.setRunning(p) {
		return interrupted()
	}
	c := p.Conn
	c.ResetSequence()
	b := mysql.AppendUint32(append(c.StartPacket(), byte(mysql.ComStmtFetch)), st.cursor.ID)
	c.EndPacket(mysql.AppendUint32(b, binary.LittleEndian.Uint32(arg[4:])))
	sent := ss.client.conn.Sequence()
	q := query{text: st.text, info: st.info, quota: st.quota}
	if err := ss.exchanges.oneResponse(p, &q, mysql.ShapeRows); err != nil {
		return ss.exchanges.broken(p, err, sent)
	}
	if q.cut || p.Conn.Status.Has(mysql.ServerStatusLastRowSent) {
		return ss.closeCursor(st)
	}
	ss.exchanges.leases.release(p)
	return nil
}
