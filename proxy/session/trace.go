package session

import (
	"errors"

	"kingshard/backend"
	"kingshard/backend/pool"
	"kingshard/mysql"
	"kingshard/proxy/tracing"
)

// traceQuery tells whether a COM_QUERY is traced.
func (s *Session) traceQuery(attributes []byte, text string) bool {
	return s.traced(text, func() tracing.Parent { return attributeParent(attributes) })
}

// traceExecution begins the trace of a COM_STMT_EXECUTE of st, if it is to have one. A statement that was prepared with a parent in its
// comment has that parent at every execution.
func (s *Session) traceExecution(st *stmt, arg []byte) bool {
	return s.traced(st.text, func() tracing.Parent {
		if !s.conn.Capabilities.Has(mysql.ClientQueryAttributes) {
			return tracing.Parent{}
		}
		return executionParent(arg, st)
	})
}

// traced tells whether the command is traced. Its parent is that of its attributes, else of a comment of its text. The choice is made once.
func (s *Session) traced(text string, ofAttributes func() tracing.Parent) bool {
	t := s.snap.Tracer
	if t == nil {
		return false
	}
	choice := &s.task().choice
	if !choice.Made() {
		var p tracing.Parent
		if t.Follows() {
			if p = ofAttributes(); !p.Known() {
				p, _ = tracing.ParentIn(text)
			}
		}
		*choice = t.Choose(p)
	}
	return choice.Traced()
}

// traceCommand begins the span of a command that has no text, or none that runs, if it is chosen.
func (s *Session) traceCommand(cmd mysql.Command, text string) {
	if s.traceQuery(nil, text) {
		s.beginTrace(cmd, text)
	}
}

// beginTrace begins the span of a command that was chosen.
func (s *Session) beginTrace(cmd mysql.Command, text string) {
	s.trace = s.snap.Tracer.Start(s.task().choice, tracing.Command{
		Name: cmd.String(), Text: text, Mode: s.mode(), DB: s.state.db, User: s.user, Host: s.host(), Conn: s.id, Begin: s.entry.Since(),
	})
}

// endTrace ends the command's span. end, which may be nil, says that the session ends with it.
func (s *Session) endTrace(end *endError) {
	o := tracing.Outcome{
		Plan: s.work.plan.String(), Shards: s.work.shards, Rows: s.work.rows, Pins: s.pins.String(), InTransaction: s.inTransaction(),
		Code: s.work.errorCode,
	}
	if end != nil {
		o.Ended = end.reason.String()
	}
	s.trace.End(o)
	s.trace = nil
}

// serverOf describes an instance to a span.
func (s *Session) serverOf(i *backend.Instance) *tracing.Server {
	info := i.Info()
	return &tracing.Server{Addr: i.Addr, Node: i.Node, Role: i.Role.String(), MariaDB: info != nil && info.MariaDB, DB: s.state.db}
}

// shardSpan begins the span of what is sent to an instance of the client's statement; nil if it is not traced.
func (s *Session) shardSpan(i *backend.Instance, text string) *tracing.Span {
	if s.trace == nil {
		return nil
	}
	return s.trace.Shard(s.serverOf(i), text)
}

// ownSpan begins the span of a statement of the proxy's own on an instance; nil if the client's is not traced.
func (s *Session) ownSpan(i *backend.Instance, text string) *tracing.Span {
	if s.trace == nil {
		return nil
	}
	return s.trace.Own(s.serverOf(i), text)
}

// waitSpan begins the span of a wait for a connection to an instance; nil if the statement is not traced.
func (s *Session) waitSpan(i *backend.Instance) *tracing.Span {
	if s.trace == nil {
		return nil
	}
	return s.trace.Wait(s.serverOf(i))
}

// run runs a statement of the proxy's own on a connection.
func (s *Session) run(p backend.Pooled, sql string) error {
	span := s.ownSpan(p.Instance, sql)
	err := p.Conn.Exec(sql)
	endSpan(span, err)
	return err
}

// apply brings a setting to a connection.
func (s *Session) apply(p backend.Pooled, want *backend.Setting) error {
	var span *tracing.Span
	if p.Key != want {
		span = s.ownSpan(p.Instance, "SET")
	}
	err := p.Apply(want)
	endSpan(span, err)
	return err
}

// endSpan ends a span, which may be nil, with an error if there was one.
func endSpan(span *tracing.Span, err error) {
	if span == nil {
		return
	}
	if err == nil {
		span.End()
		return
	}
	var sqlErr *mysql.SQLError
	if errors.As(err, &sqlErr) {
		span.Fail(sqlErr.Code, "")
		return
	}
	span.Fail(0, kindOfError(err))
}

// endResponse ends the span of a statement whose responses are through. failed says that the last was an error, which has been
// counted.
func (s *Session) endResponse(span *tracing.Span, failed bool, err error) {
	if span == nil {
		return
	}
	if err == nil && failed {
		span.Fail(s.work.errorCode, "error")
		return
	}
	endSpan(span, err)
}

// kindOfError gives the word for an error that no server sent.
func kindOfError(err error) string {
	switch {
	case errors.Is(err, pool.ErrTimeout):
		return "pool_timeout"
	case errors.Is(err, pool.ErrCancelled):
		return "cancelled"
	case errors.Is(err, errDeadlock):
		return "connection_deadlock"
	case errors.Is(err, backend.ErrDown):
		return "instance_down"
	case isClientSide(err):
		return "client_connection"
	case isConnError(err):
		return "backend_connection"
	}
	return "_OTHER"
}

// attributeParent finds the parent in the encoded query attributes of a COM_QUERY, which splitAttributes has found to be well
// formed. MySQL manual: "COM_QUERY".
func attributeParent(attributes []byte) (p tracing.Parent) {
	if len(attributes) == 0 {
		return p
	}
	c := mysql.NewCursor(attributes)
	n := c.Lenenc()
	c.Lenenc()
	bitmap := c.Bytes(int(n+7) / 8)
	c.Uint8()
	return namedParent(c, bitmap, int(n), 0, nil)
}

// executionParent finds the parent in the query attributes of a COM_STMT_EXECUTE's argument, behind the statement's parameters. A
// client that leaves the types out leaves the names out, too. MySQL manual: "COM_STMT_EXECUTE".
func executionParent(arg []byte, st *stmt) (p tracing.Parent) {
	if len(arg) < 9 || st.params == 0 && arg[4]&mysql.ParameterCountAvailable == 0 {
		return p
	}
	c := mysql.NewCursor(arg[9:])
	n := int(min(c.Lenenc(), 1<<16))
	if n <= st.params || n == 1<<16 {
		return p
	}
	bitmap := c.Bytes((n + 7) / 8)
	if c.Uint8() == 0 || c.Err() != nil {
		return p
	}
	return namedParent(c, bitmap, n, st.params, st.long)
}

// namedParent looks for the attribute's name among n types and names, of which the first few are those of parameters, and reads its
// value. The values of long parameters are not there. What is malformed has no parent.
func namedParent(types mysql.Cursor, bitmap []byte, n, from int, long map[uint16][]byte) (p tracing.Parent) {
	names := types // a copy, to find the place of the values
	at := -1
	for k := range n {
		names.Uint16()
		if name := names.LenencBytes(); k >= from && at < 0 && string(name) == tracing.Name {
			at = k
		}
	}
	if at < 0 || names.Err() != nil || bitmap[at/8]&(1<<(at%8)) != 0 {
		return p
	}
	for k := range at + 1 {
		kind := mysql.ColumnType(types.Uint16())
		types.LenencBytes()
		_, isLong := long[uint16(k)]
		switch {
		case bitmap[k/8]&(1<<(k%8)) != 0 || isLong:
		case k < at:
			mysql.SkipBinaryValue(&names, kind)
		case isTextType(kind):
			value := names.LenencBytes()
			if names.Err() == nil {
				p, _ = tracing.ParseParent(alias(value))
			}
		}
	}
	return p
}

func isTextType(t mysql.ColumnType) bool {
	switch t {
	case mysql.TypeVarchar, mysql.TypeVarString, mysql.TypeString, mysql.TypeBlob, mysql.TypeTinyBlob, mysql.TypeMediumBlob, mysql.TypeLongBlob:
		return true
	}
	return false
}
