package session

import (
	"strings"

	"kingshard/mysql/sqltext"
	"kingshard/proxy/txn"
)

// transaction runs BEGIN, COMMIT and ROLLBACK. A BEGIN only sets state: it goes to a backend with the first statement
// that says which one. A COMMIT without a transaction on a backend is answered here. handled is false where a backend
// must see the statement.
func (s *Session) transaction(q *query) (handled bool, err error) {
	tx, ok := sqltext.ParseTransaction(q.text, s.mode())
	if !ok {
		return false, nil
	}
	onBackend := s.txn.Holding()
	switch q.info.Class {
	case sqltext.Begin:
		if onBackend || tx.ConsistentSnapshot {
			s.txn.Current = txn.Characteristics{Unknown: s.txn.Pins.Has(txn.PinNextTransaction)}
			s.txn.Begin = ""
			return false, nil
		}
		if s.txn.Begin != "" && s.mode().MariaDB {
			s.txn.Next = txn.Characteristics{} // the one begun before had it; MySQL keeps it for the first that does something
		}
		s.txn.Begin = strings.Clone(q.text)
		s.writeOK()
		return true, nil
	}
	if tx.Release {
		return true, s.endAndClose(q.info.Class)
	}
	if onBackend || s.state.Value("completion_type") != "" {
		return false, nil
	}
	s.txn.EndOthers(s.run)
	if !tx.Chain {
		s.txn.Begin, s.txn.Next = "", txn.Characteristics{}
	} else if s.txn.Begin == "" {
		s.txn.Begin = txn.SQLBegin // a transaction begins, whether one ended or not
	}
	s.writeOK()
	return true, nil
}

// endAndClose runs COMMIT RELEASE or ROLLBACK RELEASE: the transaction ends, then the client's connection.
func (s *Session) endAndClose(class sqltext.Class) error {
	s.txn.Begin = ""
	if p := s.txn.Held(); p.Pooled != nil {
		end := s.txn.Commit
		if class == sqltext.Rollback {
			end = s.txn.Rollback
		}
		if err := end(s.run); err != nil {
			return s.lost(p, err)
		}
	}
	s.writeOK()
	return errQuit
}
