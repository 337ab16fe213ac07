package tracing

import (
	"context"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"kingshard/mysql/sqltext"
)

const (
	// textMax bounds db.query.text, nameMax all other values, in bytes.
	textMax, nameMax = 2048, 256
	// spansMax is how many spans a statement may have beside its own; more are counted in it.
	spansMax = 256
)

// Command is a client's command at its begin.
type Command struct {
	Name  string // as the manual has it, COM_QUERY
	Text  string // of the statement; empty for a command without one
	Mode  sqltext.Mode
	DB    string // current database
	User  string
	Host  string // of the client
	Conn  uint32 // the session's id
	Begin time.Time
}

// Statement is a command that is traced. Its methods but Own, Shard and Wait belong to the session's goroutine. A nil Statement is
// one that is not traced.
type Statement struct {
	tracer  *Tracer
	ctx     context.Context
	root    trace.Span
	name    string
	mode    sqltext.Mode
	spans   atomic.Int32 // beside the root
	skipped atomic.Int32
}

// Start begins the span of a command that was chosen to be traced.
func (t *Tracer) Start(c Choice, cmd Command) *Statement {
	ctx := context.Background()
	if c.parent.Known() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: c.parent.TraceID, SpanID: c.parent.SpanID, TraceFlags: trace.FlagsSampled, Remote: true,
		}))
	}
	st := &Statement{tracer: t, name: cmd.Name, mode: cmd.Mode}
	attributes := []attribute.KeyValue{
		attribute.String("db.system.name", "mysql"), text("client.address", cmd.Host),
		text("kingshard.command", cmd.Name), text("kingshard.user", cmd.User), attribute.Int64("kingshard.connection_id", int64(cmd.Conn)),
	}
	if cmd.DB != "" {
		attributes = append(attributes, text("db.namespace", cmd.DB))
	}
	if cmd.Text != "" {
		if summary := Summary(cmd.Text, cmd.Mode); summary != "" {
			st.name = summary
		}
		attributes = append(attributes, text("db.query.summary", st.name), st.queryText(cmd.Text))
	}
	st.ctx, st.root = t.exporter.tracer.Start(ctx, clean(st.name), trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(cmd.Begin),
		trace.WithAttributes(attributes...))
	return st
}

// queryText shows a statement, without values unless they are wanted and cannot be secrets.
func (st *Statement) queryText(sql string) attribute.KeyValue {
	var shown string
	if st.tracer.literals && !sqltext.Secretive(sql) {
		shown = strings.Clone(sql[:min(len(sql), textMax)])
	} else {
		shown = string(sqltext.AppendNormal(nil, sql, st.mode, textMax))
	}
	return attribute.String("db.query.text", clean(shown))
}

// Outcome is what a command did.
type Outcome struct {
	Plan          string
	Shards        int
	Rows          uint64
	Pins          string // why the session keeps a connection, joined by commas
	InTransaction bool
	// Code is that of the error that the client heard, 0: none. Ended says, if it is not empty, why the session ends.
	Code  uint16
	Ended string
}

// End ends the command's span.
func (st *Statement) End(o Outcome) {
	if st == nil {
		return
	}
	st.root.SetAttributes(text("kingshard.plan", o.Plan), attribute.Int("kingshard.shards", o.Shards),
		attribute.Int64("db.response.returned_rows", int64(o.Rows)), attribute.Bool("kingshard.in_transaction", o.InTransaction))
	if o.Pins != "" {
		st.root.SetAttributes(text("kingshard.pins", o.Pins))
	}
	if n := st.skipped.Load(); n > 0 {
		st.root.SetAttributes(attribute.Int("kingshard.spans_left_out", int(n)))
	}
	s := Span{st.root}
	switch {
	case o.Code != 0:
		s.Fail(o.Code, "")
	case o.Ended != "":
		s.Fail(0, o.Ended)
	default:
		s.End()
	}
}

// Server is the server that a span is about.
type Server struct {
	Addr    string // host:port, or the path of a unix socket
	Node    string
	Role    string // primary or replica
	MariaDB bool
	DB      string // current database there, if known
}

func (s *Server) attributes() []attribute.KeyValue {
	system := "mysql"
	if s.MariaDB {
		system = "mariadb"
	}
	list := make([]attribute.KeyValue, 0, 12)
	list = append(list, attribute.String("db.system.name", system), text("kingshard.node", s.Node), attribute.String("kingshard.role", s.Role))
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		list = append(list, text("server.address", s.Addr))
	} else {
		list = append(list, text("server.address", host))
		if n, err := strconv.Atoi(port); err == nil {
			list = append(list, attribute.Int("server.port", n))
		}
	}
	if s.DB != "" {
		list = append(list, text("db.namespace", s.DB))
	}
	return list
}

// Shard begins the span of the client's statement, or of a part of it, on a server: sql is what that is sent. It has the name
// of the statement, whatever the tables there are called.
func (st *Statement) Shard(on *Server, sql string) *Span {
	if st == nil {
		return nil
	}
	return st.start(st.name, trace.SpanKindClient, on, text("db.query.summary", Summary(sql, st.mode)), st.queryText(sql))
}

// Own begins the span of something that the proxy asks of a server on its own account, for the statement. It has the name of what
// sql does. sql itself is not shown: it may be made of rows.
func (st *Statement) Own(on *Server, sql string) *Span {
	if st == nil {
		return nil
	}
	summary := Summary(sql, st.mode)
	name, _, _ := strings.Cut(summary, " ")
	return st.start(name, trace.SpanKindClient, on, text("db.query.summary", summary))
}

// Wait begins the span of a wait for a connection.
func (st *Statement) Wait(on *Server) *Span {
	if st == nil {
		return nil
	}
	return st.start("kingshard.pool_wait", trace.SpanKindInternal, on)
}

func (st *Statement) start(name string, kind trace.SpanKind, on *Server, more ...attribute.KeyValue) *Span {
	if st.spans.Add(1) > spansMax {
		st.skipped.Add(1)
		return nil
	}
	_, span := st.tracer.exporter.tracer.Start(st.ctx, clean(name), trace.WithSpanKind(kind), trace.WithAttributes(append(on.attributes(), more...)...))
	return &Span{span}
}

// Span is a part of a statement's work. A nil Span is one that is not recorded.
type Span struct{ span trace.Span }

// End ends the span. Only the first of End and Fail counts.
func (s *Span) End() {
	if s != nil {
		s.span.End()
	}
}

// Fail ends the span with a server's error code or, if that is 0, with a kind of error. What the server said of it is not shown,
// as values may be in it.
func (s *Span) Fail(code uint16, kind string) {
	if s == nil {
		return
	}
	if code != 0 {
		kind = strconv.Itoa(int(code))
		s.span.SetAttributes(attribute.String("db.response.status_code", kind))
	}
	s.span.SetAttributes(text("error.type", kind))
	s.span.SetStatus(codes.Error, "")
	s.span.End()
}

// text is an attribute whose value somebody else chose.
func text(key, value string) attribute.KeyValue {
	return attribute.String(key, clean(strings.Clone(value[:min(len(value), nameMax)])))
}

// clean makes a text that may be encoded: one that is not UTF-8 would keep all spans of its batch from being sent.
func clean(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
