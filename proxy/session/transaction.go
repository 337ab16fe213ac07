package session

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// transaction runs BEGIN, COMMIT and ROLLBACK. A BEGIN only sets state: it goes to a backend with the first statement
// that says which one. A COMMIT without a transaction on a backend is answered here. handled is false where a backend
// must see the statement.
func (s *Session) transaction(q *query) (handled bool, err error) {
	tx, ok := sqltext.ParseTransaction(q.text, s.mode())
	if !ok {
		return false, nil
	}
	onBackend := s.held.Pooled != nil
	switch q.info.Class {
	case sqltext.Begin:
		if onBackend || tx.ConsistentSnapshot {
			s.tx.began = characteristics{unknown: s.pins.has(pinNextTransaction)}
			s.tx.pendingBegin = ""
			return false, nil
		}
		if s.tx.pendingBegin != "" && s.mode().MariaDB {
			s.tx.next = characteristics{} // the one begun before had it; MySQL keeps it for the first that does something
		}
		s.tx.pendingBegin = strings.Clone(q.text)
		s.writeOK()
		return true, nil
	}
	if tx.Release {
		return true, s.endAndClose(q.info.Class)
	}
	if onBackend || s.state.Value("completion_type") != "" {
		return false, nil
	}
	s.endOthers()
	if !tx.Chain {
		s.tx.pendingBegin, s.tx.next = "", characteristics{}
	} else if s.tx.pendingBegin == "" {
		s.tx.pendingBegin = begin // a transaction begins, whether one ended or not
	}
	s.writeOK()
	return true, nil
}

// The proxy's own transactions. With completion_type the client has COMMIT begin another one, or close the connection, where it does not say
// otherwise; in MariaDB's Oracle mode BEGIN is a block's. MySQL manual: "START TRANSACTION, COMMIT, and ROLLBACK Statements".
const (
	begin    = "START TRANSACTION"
	commit   = "COMMIT AND NO CHAIN NO RELEASE"
	rollback = "ROLLBACK AND NO CHAIN NO RELEASE"
)

// endAndClose runs COMMIT RELEASE or ROLLBACK RELEASE: the transaction ends, then the client's connection.
func (s *Session) endAndClose(class sqltext.Class) error {
	s.tx.pendingBegin = ""
	if p := s.held; p.Pooled != nil {
		sql := commit
		if class == sqltext.Rollback {
			sql = rollback
		}
		if err := s.observed.Run(p, s.state.DB(), sql); err != nil {
			return s.lost(p, err)
		}
	}
	s.writeOK()
	return errQuit
}
