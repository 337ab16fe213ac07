package session

import (
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/observe"
	"kingshard/proxy/querylog"
	"kingshard/proxy/tracing"
	"kingshard/router/plan"
)

// logStatement hands the statement that has ended to the statistics by digest and the logs.
func (s *Session) logStatement(text string, parts observe.Parts) {
	c, addr := &s.observed, ""
	if c.Instance != nil {
		addr = c.Instance.Addr
	}
	normal, numbers := "", sqltext.Numbers{}
	if s.tasked != nil {
		normal, numbers = s.tasked.recognized.of(text)
	}
	took := parts.Proxy + parts.Wait + parts.Backend
	s.shared.Queries.Statement(&querylog.Statement{
		Conn: s.id, User: s.user, DB: s.state.DB(), Client: s.client, Backend: addr, Text: text, Normal: normal, Numbers: numbers, Mode: s.mode(), Class: c.Class,
		Start: s.entry.Since().Add(-took), Total: took, Wait: parts.Wait, Exec: parts.Backend,
		Rows: c.Rows, Bytes: c.Bytes, Shards: c.Shards, Plan: c.Plan, ErrorCode: c.ErrorCode,
	})
}

// traceCommand begins the span of a command that has no text, or none that runs, if it is chosen.
func (s *Session) traceCommand(cmd mysql.Command, text string) {
	if t := s.snap.Tracer; t != nil && observe.ChooseQuery(t, &s.task().choice, nil, text) {
		s.beginTrace(cmd, text)
	}
}

// traceExecution reports whether a COM_STMT_EXECUTE of st is traced.
func (s *Session) traceExecution(st *stmt, arg []byte) bool {
	t := s.snap.Tracer
	if t == nil {
		return false
	}
	e := observe.Execution{Text: st.text, Params: st.params, Long: st.long}
	if s.conn.Capabilities.Has(mysql.ClientQueryAttributes) {
		e.Arg = arg
	}
	return observe.ChooseExecution(t, &s.task().choice, &e)
}

// beginTrace begins the span of a command that was chosen.
func (s *Session) beginTrace(cmd mysql.Command, text string) {
	s.observed.BeginTrace(s.snap.Tracer, s.task().choice, tracing.Command{
		Name: cmd.String(), Text: text, Mode: s.mode(), DB: s.state.DB(), User: s.user, Host: s.host(), Conn: s.id, Begin: s.entry.Since(),
	})
}

// endTrace ends the command's span. end, which may be nil, says that the session ends with it.
func (s *Session) endTrace(end *endError) {
	ended := ""
	if end != nil {
		ended = end.reason.String()
	}
	s.observed.EndTrace(s.txn.Pins.String(), s.txn.InTransaction(), ended)
}

// planOf returns the kind of an operator.
func planOf(o plan.Operator) querylog.Plan {
	switch o.(type) {
	case plan.Refused:
		return querylog.PlanRefuse
	case *plan.Merge:
		return querylog.PlanMerge
	case *plan.Finish:
		return querylog.PlanFinish
	case *plan.Each:
		return querylog.PlanEach
	case plan.Forward:
		return querylog.PlanForward
	}
	return querylog.PlanWrite
}
