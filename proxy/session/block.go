package session

import (
	"errors"
	"fmt"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/session/state"
	"kingshard/router/plan"
)

// blockOf takes a block apart whose statements may be on tables with rules, which no server has by these names; nil for one that a server is to
// carry out, or that cannot be carried out by its statements.
func (s composer) blockOf(q *query) []sqltext.BlockStatement {
	if q.within == nil || !s.client.schema.Plans.mayConcern(q, s.client.state.DB(), s.client.mode()) || s.routing.namesNode(q) {
		return nil
	}
	list, ok := sqltext.ParseBlock(q.within.Text, s.client.mode())
	if !ok || !s.client.conn.Capabilities.Has(mysql.ClientMultiResults) {
		return nil
	}
	return list
}

// block carries out a block by its statements, as a server does: each for itself, up to the first one that fails. MariaDB Knowledge Base: "BEGIN END".
func (s composer) block(q *query, list []sqltext.BlockStatement) (failed bool, err error) {
	if err := s.admitBlock(q, list); err != nil {
		return true, err
	}
	back := giveVariables(&s.client.state, map[string]string{"sql_select_limit": ""}) // which servers take for no limit of a routine's statements
	defer back()
	c := &composed{Session: s.Session, apart: true}
	var whole result
	for k := range list {
		st := &list[k]
		s.client.state.Diagnostics.Forget() // what a statement leaves as it is, whole has
		r, err := c.run(st.Text)
		var refused *mysql.SQLError
		switch {
		case errors.As(err, &refused):
			return true, c.failedAt(refused, st.Line)
		case err != nil:
			return true, err
		}
		if r.columns != nil {
			more := s.client.more
			s.client.more = true
			r.write(&s.client)
			s.client.more = more
			if r.ok.Warnings = uint16(s.client.state.Diagnostics.WarningCount); r.ok.Warnings > 0 {
				if err := c.warnings(&r); err != nil {
					return true, err
				}
			}
		}
		if tableUseOf(st.Text, st.Info.Class, s.client.mode()) == usesTable {
			whole.warnings = whole.warnings[:0]
		}
		whole.warnings = append(whole.warnings, r.warnings...)
		whole.ok.AffectedRows += r.ok.AffectedRows
	}
	c.answer(&whole, c.left())
	return false, nil
}

// admitBlock refuses a block with a statement that the client may not send, or that is known to be refused, ahead of the first one.
func (s composer) admitBlock(q *query, list []sqltext.BlockStatement) error {
	if err := s.leases.startOfStatement(); err != nil {
		return err
	}
	if err := s.leases.learnCharset(); err != nil {
		return err
	}
	for k := range list {
		one := query{text: list[k].Text, info: list[k].Info}
		if err := s.rights.allow(&one); err != nil {
			return err
		}
		if !planned(one.info.Class) || !s.client.schema.Plans.mayConcern(&one, s.client.state.DB(), s.client.mode()) {
			continue
		}
		p, err := s.client.schema.Plans.get(withoutInto(one.text, &one.info, s.client.mode()), s.client.state.DB(), s.client.mode())
		if err != nil {
			return s.leases.ofClientsText(s.leases.unreadable(one.text, err), q.text)
		}
		if p == nil {
			continue
		}
		if _, refused := p.Operator.(plan.Refused); refused && !p.MayBeOne() {
			return newError(KSRefusedSharding, p.Reason)
		}
	}
	return nil
}

// failedAt tells the client the error of a block's statement, of which SHOW WARNINGS says where that is.
func (c *composed) failedAt(e *mysql.SQLError, line int) error {
	if c.client.heldTells() {
		p := c.client.txn.Held()
		if err := c.client.fetchWarnings(p, c.client.txn.LastNames()); err != nil {
			return c.leases.lost(p, err)
		}
	}
	d := &c.client.state.Diagnostics
	if d.ErrorCount == 0 {
		d.SetError(e)
	}
	d.Add([]state.Warning{{Level: "Note", Code: erStackTrace, Message: fmt.Sprintf("At line %d in anonymous block", line)}})
	d.RowCount, d.WarningCount = -1, len(d.Warnings)
	c.client.txn.LastOnHeld = false
	c.client.conn.WriteError(e)
	return nil
}

// erStackTrace is the code of MariaDB's note about where in a routine an error was. MariaDB Knowledge Base: "MariaDB Error Codes".
const erStackTrace = 4094
