package session

import (
	"errors"

	"kingshard/backend"
	"kingshard/backend/stored"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/process"
	"kingshard/proxy/txn"
)

// What statements within others, routines, triggers and executions of SET do to the session's variables no text tells: the server is asked
// for state.AnswerVariables behind them, and what has changed is brought to every connection, as what SET sets is.

// setsUnseen tells whether q, which was carried out, may have set variables of the session unseen.
// added are the pins that it has added.
func (xs *exchanges) setsUnseen(q *query, added txn.Pins) bool {
	switch q.info.Class {
	case sqltext.Prepare:
		return q.learns
	case sqltext.Execute:
		ex, ok := sqltext.ParseExecute(q.text, xs.client.mode())
		_, prepared := xs.client.textStmts[ex.Name]
		if ok && !prepared && xs.client.observed.ErrorCode == mysql.ERUnknownStmtHandler && xs.client.txn.Pins&^added&preparesUnseen == 0 {
			return q.learns // nothing was carried out
		}
	}
	return q.learns || q.reached&stored.State != 0 || q.within != nil && xs.executesSet(q)
}

// learnUnseen asks for what setsUnseen speaks of on p, the connection that q ran on.
func (xs *exchanges) learnUnseen(p backend.Pooled, q *query) error {
	if xs.client.state.Diagnostics.WarningCount > 0 && xs.client.state.Diagnostics.ErrorCount == 0 && !q.cut && !q.warned {
		if err := xs.client.fetchWarnings(p, q.rename); err != nil {
			return err
		}
	}
	timeout := xs.client.state.WaitTimeout()
	bound, err := xs.client.state.Learn(p.Conn, p.Instance)
	xs.pinBound(bound)
	if xs.client.state.WaitTimeout() != timeout {
		xs.client.entry.SetWaitTimeout(xs.client.state.WaitTimeout())
	}
	p.Key = xs.client.state.Setting()
	return err
}

// learnLate asks for what a statement that a loop ran has set, ahead of the next command.
func (se settings) learnLate() *endError {
	se.client.txn.Unlearned = false
	p := se.client.txn.Held()
	if p.Pooled == nil {
		return nil
	}
	if err := se.exchanges.learnUnseen(p, &query{rename: se.client.txn.LastNames()}); err != nil {
		se.leases.dropAnswered(p, err)
		return &endError{process.EndBackendLost, err}
	}
	se.client.txn.LastOnHeld = false
	se.client.state.Found.Overwritten()
	return nil
}

func isSQLError(err error) bool {
	var refused *mysql.SQLError
	return errors.As(err, &refused)
}
