package session

import (
	"kingshard/mysql"
	"kingshard/proxy/observe"
	"kingshard/proxy/querylog"
	"kingshard/proxy/tracing"
	"kingshard/router/plan"
)

// traceCommand begins the span of a command that has no text, or none that runs, if it is chosen.
func (c *client) traceCommand(cmd mysql.Command, text string) {
	if t := c.snap.Tracer; t != nil && observe.ChooseQuery(t, &c.task().choice, nil, text) {
		c.beginTrace(cmd, text)
	}
}

// traceExecution reports whether a COM_STMT_EXECUTE of st is traced.
func (c *client) traceExecution(st *stmt, arg []byte) bool {
	t := c.snap.Tracer
	if t == nil {
		return false
	}
	e := observe.Execution{Text: st.text, Params: st.params, Long: st.long}
	if c.conn.Capabilities.Has(mysql.ClientQueryAttributes) {
		e.Arg = arg
	}
	return observe.ChooseExecution(t, &c.task().choice, &e)
}

// beginTrace begins the span of a command that was chosen.
func (c *client) beginTrace(cmd mysql.Command, text string) {
	c.observed.BeginTrace(c.snap.Tracer, c.task().choice, tracing.Command{
		Name: cmd.String(), Text: text, Mode: c.mode(), DB: c.state.DB(), User: c.entry.Name(), Host: c.entry.Host(), Conn: c.id, Begin: c.entry.Since(),
	})
}

// endTrace ends the command's span. end, which may be nil, says that the session ends with it.
func (c *client) endTrace(end *endError) {
	ended := ""
	if end != nil {
		ended = end.reason.String()
	}
	c.observed.EndTrace(c.txn.Pins.String(), c.txn.InTransaction(), ended)
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
