package observe

import (
	"errors"

	"kingshard/backend"
	"kingshard/backend/pool"
	"kingshard/mysql"
	"kingshard/proxy/tracing"
)

// BeginTrace begins the span of a command that t chose to trace.
func (c *Command) BeginTrace(t *tracing.Tracer, choice tracing.Choice, cmd tracing.Command) {
	c.trace = t.Start(choice, cmd)
}

// Traced reports whether the command is traced: from BeginTrace to EndTrace.
func (c *Command) Traced() bool { return c.trace != nil }

// EndTrace ends the span of a command that is traced. pins are the reasons for which the session keeps a connection, joined by commas;
// ended is why the session ends with the command, "" if it does not.
func (c *Command) EndTrace(pins string, inTransaction bool, ended string) {
	c.trace.End(tracing.Outcome{
		Plan: c.Plan.String(), Shards: c.Shards, Rows: c.Rows, Pins: pins, InTransaction: inTransaction, Code: c.ErrorCode, Ended: ended,
	})
	c.trace = nil
}

// serverOf describes an instance to a span. db is the session's current database.
func serverOf(i *backend.Instance, db string) *tracing.Server {
	info := i.Info()
	return &tracing.Server{Addr: i.Addr, Node: i.Node, Role: i.Role.String(), MariaDB: info != nil && info.MariaDB, DB: db}
}

// ShardSpan begins the span of what is sent to i of the client's statement, while the session is in db. It returns nil if the command is
// not traced.
func (c *Command) ShardSpan(i *backend.Instance, db, text string) *tracing.Span {
	if c.trace == nil {
		return nil
	}
	return c.shardSpan(i, db, text)
}

// shardSpan is apart so that what every statement calls can be inlined.
func (c *Command) shardSpan(i *backend.Instance, db, text string) *tracing.Span {
	return c.trace.Shard(serverOf(i, db), text)
}

// OwnSpan begins the span of a statement of the proxy's own on i, while the session is in db. It returns nil if the client's is not traced.
func (c *Command) OwnSpan(i *backend.Instance, db, text string) *tracing.Span {
	if c.trace == nil {
		return nil
	}
	return c.trace.Own(serverOf(i, db), text)
}

// WaitSpan begins the span of a wait for a connection to i, while the session is in db. It returns nil if the command is not traced.
func (c *Command) WaitSpan(i *backend.Instance, db string) *tracing.Span {
	if c.trace == nil {
		return nil
	}
	return c.trace.Wait(serverOf(i, db))
}

// Run runs a statement of the proxy's own on a connection, while the session is in db.
func (c *Command) Run(p backend.Pooled, db, sql string) error {
	span := c.OwnSpan(p.Instance, db, sql)
	err := p.Conn.Exec(sql)
	EndSpan(span, err)
	return err
}

// Apply brings a setting to a connection, while the session is in db.
func (c *Command) Apply(p backend.Pooled, db string, want *backend.Setting) error {
	var span *tracing.Span
	if p.Key != want {
		span = c.OwnSpan(p.Instance, db, "SET")
	}
	err := p.Apply(want)
	EndSpan(span, err)
	return err
}

// EndResponse ends the span, which may be nil, of a statement whose responses are through. failed says that the last was an error, of which
// Fail was told.
func (c *Command) EndResponse(span *tracing.Span, failed bool, err error) {
	if span == nil {
		return
	}
	c.endResponse(span, failed, err)
}

// endResponse is apart so that what every statement calls can be inlined.
func (c *Command) endResponse(span *tracing.Span, failed bool, err error) {
	if err == nil && failed {
		span.Fail(c.ErrorCode, "error")
		return
	}
	EndSpan(span, err)
}

// EndSpan ends a span, which may be nil, with an error if there was one.
func EndSpan(span *tracing.Span, err error) {
	if span == nil {
		return
	}
	if err == nil {
		span.End()
		return
	}
	if sqlErr, ok := errors.AsType[*mysql.SQLError](err); ok {
		span.Fail(sqlErr.Code, "")
		return
	}
	span.Fail(0, kindOfError(err))
}

// kindOfError returns the word for an error that no server sent.
func kindOfError(err error) string {
	var conn *mysql.ConnError
	switch {
	case errors.Is(err, pool.ErrTimeout):
		return "pool_timeout"
	case errors.Is(err, pool.ErrCancelled):
		return "cancelled"
	case errors.Is(err, backend.ErrDown):
		return "instance_down"
	case !errors.As(err, &conn):
		return "_OTHER"
	case conn.Side == mysql.ClientSide:
		return "client_connection"
	}
	return "backend_connection"
}
