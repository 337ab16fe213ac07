package session

import (
	"errors"
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/backend/stored"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/process"
)

// What statements within others, routines, triggers and executions of SET do to the session's variables no text tells: the server is asked
// for the answerVariables behind them, and what has changed is brought to every connection, as what SET sets is.

// setsUnseen tells whether q, which was carried out, may have set variables of the session unseen.
// added are the pins that it has added.
func setsUnseen(s *Session, q *query, added pinSet) bool {
	switch q.info.Class {
	case sqltext.Prepare:
		return q.learns
	case sqltext.Execute:
		ex, ok := sqltext.ParseExecute(q.text, s.mode())
		_, prepared := s.textStmts[ex.Name]
		if ok && !prepared && s.observed.ErrorCode == mysql.ERUnknownStmtHandler && s.pins&^added&preparesUnseen == 0 {
			return q.learns // nothing was carried out
		}
	}
	return q.learns || q.reached&stored.State != 0 || q.within != nil && s.executesSet(q)
}

// learnUnseen asks for what setsUnseen speaks of on p, the connection that q ran on.
func learnUnseen(s *Session, p backend.Pooled, q *query) error {
	if s.state.warningCount > 0 && s.state.errorCount == 0 && !q.cut && !q.warned {
		if err := s.fetchWarnings(p, q.rename); err != nil {
			return err
		}
	}
	if err := s.settleFound(p, false); err != nil {
		return err
	}
	timeout := s.state.value("wait_timeout")
	err := s.learnVariables(p, answerVariables)
	if isSQLError(err) { // a KILL of the statement, or its time limit, was for the question
		err = s.learnVariables(p, answerVariables)
	}
	if isSQLError(err) {
		s.pin(pinVariable)
		s.state.heldVariable = "what a statement within another, or a routine, may have set"
		err = s.learnVariables(p, readingVariables)
	}
	if err == nil {
		err = s.adoptTimestamp(p)
	}
	if s.state.value("wait_timeout") != timeout {
		s.followWaitTimeout()
	}
	s.state.readMode(p.Conn.Info)
	p.Key = s.state.current()
	return err
}

// learnLate asks for what a statement that a loop ran has set, ahead of the next command.
func (s *Session) learnLate() *endError {
	s.unlearned = false
	p := s.held
	if p.Pooled == nil {
		return nil
	}
	if err := learnUnseen(s, p, &query{rename: s.heldNames}); err != nil {
		s.dropAnswered(p, err)
		return &endError{process.EndBackendLost, err}
	}
	s.heldLast, s.state.found.same = false, nil
	return nil
}

// readingVariables are those by which the proxy reads the client's texts, and knows what a transaction is.
var readingVariables = []string{"sql_mode", "autocommit", "character_set_client", "character_set_results", "collation_connection"}

// learnVariables keeps the values that variables have on p: of those that the session has set, and where they are others than new sessions have.
func (s *Session) learnVariables(p backend.Pooled, names []string) error {
	lacking, err := p.Conn.Variables(knownAt(p.Instance, names), func(name, value, fresh string) {
		if value != fresh || s.state.value(name) != "" {
			s.keep(name, value)
		}
	})
	p.Instance.Variables.Lacks(lacking)
	return err
}

func isSQLError(err error) bool {
	var refused *mysql.SQLError
	return errors.As(err, &refused)
}

// knownAt are those of the names that the server has, or may have.
func knownAt(i *backend.Instance, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		if strings.HasPrefix(name, "transaction_") {
			return false // it may have it by another name
		}
		has, known := i.Variables.Has(name)
		return known && !has
	})
}

// pinAssigned keeps the connection for what a SET that is carried out unseen gives it alone.
func pinAssigned(s *Session, text string, m sqltext.Mode) {
	list, ok := sqltext.ParseSet(text, m)
	if !ok {
		s.pin(pinUserVariable)
	}
	for _, a := range list {
		switch {
		case a.Scope == sqltext.User:
			s.pin(pinUserVariable)
		case a.Scope == sqltext.NextTransaction:
			s.pin(pinNextTransaction)
		case a.Name == "insert_id":
			s.pin(pinInsertID)
		case a.Name == "rand_seed1", a.Name == "rand_seed2":
			s.pin(pinRandSeed)
		}
	}
}
