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
func setsUnseen(s *Session, q *query, added txn.Pins) bool {
	switch q.info.Class {
	case sqltext.Prepare:
		return q.learns
	case sqltext.Execute:
		ex, ok := sqltext.ParseExecute(q.text, s.mode())
		_, prepared := s.textStmts[ex.Name]
		if ok && !prepared && s.observed.ErrorCode == mysql.ERUnknownStmtHandler && s.txn.Pins&^added&preparesUnseen == 0 {
			return q.learns // nothing was carried out
		}
	}
	return q.learns || q.reached&stored.State != 0 || q.within != nil && s.executesSet(q)
}

// learnUnseen asks for what setsUnseen speaks of on p, the connection that q ran on.
func learnUnseen(s *Session, p backend.Pooled, q *query) error {
	if s.state.Diagnostics.WarningCount > 0 && s.state.Diagnostics.ErrorCount == 0 && !q.cut && !q.warned {
		if err := s.fetchWarnings(p, q.rename); err != nil {
			return err
		}
	}
	timeout := s.state.WaitTimeout()
	bound, err := s.state.Learn(p.Conn, p.Instance)
	s.pinBound(bound)
	if s.state.WaitTimeout() != timeout {
		s.entry.SetWaitTimeout(s.state.WaitTimeout())
	}
	p.Key = s.state.Setting()
	return err
}

// learnLate asks for what a statement that a loop ran has set, ahead of the next command.
func (s *Session) learnLate() *endError {
	s.txn.Unlearned = false
	p := s.txn.Held()
	if p.Pooled == nil {
		return nil
	}
	if err := learnUnseen(s, p, &query{rename: s.txn.LastNames}); err != nil {
		s.dropAnswered(p, err)
		return &endError{process.EndBackendLost, err}
	}
	s.txn.LastOnHeld = false
	s.state.Found.Overwritten()
	return nil
}

func isSQLError(err error) bool {
	var refused *mysql.SQLError
	return errors.As(err, &refused)
}
