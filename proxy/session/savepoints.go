package session

import (
	"errors"
	"slices"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// savepoint carries out a statement about a savepoint on all nodes but the first, which answers the client.
func (b branches) savepoint(q *query) error {
	t, ok := sqltext.ParseTransaction(q.text, b.client.mode())
	if !ok {
		return nil // a server words the error
	}
	if q.info.Class != sqltext.Savepoint && b.client.spread.savepoint(t.Name) < 0 {
		return &mysql.SQLError{Code: erNoSavepoint, State: "42000", Message: "SAVEPOINT " + t.Name + " does not exist"}
	}
	words := map[sqltext.Class]string{sqltext.Savepoint: "SAVEPOINT ", sqltext.RollbackTo: "ROLLBACK TO SAVEPOINT ", sqltext.ReleaseSavepoint: "RELEASE SAVEPOINT "}
	for _, p := range b.client.txn.Others() {
		err := b.client.run(p, words[q.info.Class]+b.quote(t.Name))
		var refused *mysql.SQLError
		if errors.As(err, &refused) {
			b.client.spread.broken = true // the nodes are not alike any more
			return refused
		} else if err != nil {
			return b.leases.lost(p, err)
		}
	}
	return nil
}

// erNoSavepoint is the code of a savepoint that does not exist. MySQL manual: "Server Error Message Reference".
const erNoSavepoint = 1305

// savepoint returns the place of a savepoint among those of the transaction, -1 if there is none of the name.
func (s *spread) savepoint(name string) int {
	return slices.IndexFunc(s.savepoints, func(other string) bool { return strings.EqualFold(other, name) })
}

// noteSavepoint follows the savepoints of a transaction, behind a statement that has succeeded: it may come to further nodes, or to another one.
func (b branches) noteSavepoint(q *query) {
	switch q.info.Class {
	case sqltext.Savepoint, sqltext.RollbackTo, sqltext.ReleaseSavepoint:
	default:
		return
	}
	if !b.client.txn.InTransaction() && b.client.state.Autocommit {
		return
	}
	t, ok := sqltext.ParseTransaction(q.text, b.client.mode())
	if !ok {
		return
	}
	s, name := b.spread(), strings.Clone(t.Name)
	at := s.savepoint(name)
	switch {
	case q.info.Class == sqltext.Savepoint && at >= 0:
		s.savepoints = append(slices.Delete(s.savepoints, at, at+1), name)
	case q.info.Class == sqltext.Savepoint:
		s.savepoints = append(s.savepoints, name)
	case q.info.Class == sqltext.RollbackTo && at >= 0:
		s.savepoints = s.savepoints[:at+1]
	case at >= 0:
		s.savepoints = s.savepoints[:at]
	}
}

// quote writes the name of a savepoint.
func (b branches) quote(name string) string {
	text, _ := sqltext.QuoteIdent(name, b.client.mode())
	return text
}
