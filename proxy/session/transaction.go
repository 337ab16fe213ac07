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
	tx, ok := sqltext.ParseTransaction(q.text, s.client.mode())
	if !ok {
		return false, nil
	}
	onBackend := s.client.txn.Holding()
	switch q.info.Class {
	case sqltext.Begin:
		if onBackend || tx.ConsistentSnapshot {
			s.client.txn.Current = txn.Characteristics{Unknown: s.client.txn.Pins.Has(txn.PinNextTransaction)}
			s.client.txn.Begin = ""
			return false, nil
		}
		if s.client.txn.Begin != "" && s.client.mode().MariaDB {
			s.client.txn.Next = txn.Characteristics{} // the one begun before had it; MySQL keeps it for the first that does something
		}
		s.client.txn.Begin = strings.Clone(q.text)
		s.client.writeOK()
		return true, nil
	}
	if tx.Release {
		return true, s.endAndClose(q.info.Class)
	}
	if onBackend || s.client.state.Value("completion_type") != "" {
		return false, nil
	}
	s.client.txn.EndOthers(s.client.run)
	if !tx.Chain {
		s.client.txn.Begin, s.client.txn.Next = "", txn.Characteristics{}
	} else if s.client.txn.Begin == "" {
		s.client.txn.Begin = txn.SQLBegin // a transaction begins, whether one ended or not
	}
	s.client.writeOK()
	return true, nil
}

// endAndClose runs COMMIT RELEASE or ROLLBACK RELEASE: the transaction ends, then the client's connection.
func (s *Session) endAndClose(class sqltext.Class) error {
	s.client.txn.Begin = ""
	if p := s.client.txn.Held(); p.Pooled != nil {
		end := s.client.txn.Commit
		if class == sqltext.Rollback {
			end = s.client.txn.Rollback
		}
		if err := end(s.client.run); err != nil {
			return s.leases.lost(p, err)
		}
	}
	s.client.writeOK()
	return errQuit
}
