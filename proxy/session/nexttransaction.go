package session

import (
	"errors"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/process"
	"kingshard/proxy/txn"
)

// SET TRANSACTION without a scope speaks of the next transaction only. The session keeps what it says, and brings it to every server that
// the transaction is on. Servers use it up with the first statement that opens a table of an engine with transactions, or that commits:
// SELECT 1 leaves it, as do most errors, a change among them that it forbids. MySQL manual: "SET TRANSACTION Statement".

// setNext keeps a SET TRANSACTION for the statement that begins the next transaction; handled is false where a server must see it, for its
// error, or because it is a variable's, which servers know by several names.
func (s *Session) setNext(q *query, assignments []sqltext.Assignment) (handled bool, err error) {
	next := s.txn.Next
	if s.txn.Holding() && s.txn.Conn().Status.Has(mysql.ServerStatusInTrans) || strings.Contains(q.text, "@@") || !next.Take(assignments) {
		return false, nil
	}
	if s.txn.InTransaction() || s.txn.ReadsInTransaction(s.state.Autocommit) {
		return true, mysql.NewSQLError(mysql.ERCantChangeTxIsolation, "Transaction characteristics can't be changed while a transaction is in progress")
	}
	s.txn.Next = next
	s.writeOK()
	return true, nil
}

// underNext runs a query on several shards, by run, as the transaction that SET TRANSACTION spoke of, if it did: on every shard.
func (s *Session) underNext(run func() (bool, error)) (failed bool, err error) {
	switch {
	case s.txn.InTransaction():
		return run()
	case s.txn.Pins.Has(txn.PinNextTransaction):
		return true, s.txn.NextIsElsewhere("this query")
	case !s.txn.Next.IsSet():
		return run()
	}
	next := s.txn.Next
	s.txn.Begin = txn.SQLBegin
	s.task().own = s.state.Autocommit
	failed, err = run()
	s.txn.Begin = ""
	if s.task().own {
		s.task().own = false
		err = s.endOwn(err)
	}
	var refused *mysql.SQLError
	if errors.As(err, &refused) && refused.Code == erReadOnlyTransaction || failed && s.observed.ErrorCode == erReadOnlyTransaction {
		s.txn.Next = next // a server finds that out before it begins
	}
	return failed, err
}

// endOwn ends the transactions of underNext. The client may have its answer, so there is no packet to tell it of a failure by.
func (s *Session) endOwn(failure error) error {
	if s.txn.HasOthers() {
		s.txn.Next = txn.Characteristics{}
	}
	s.txn.EndOthers(s.run)
	p := s.txn.Held()
	if p.Pooled == nil || !p.Conn.Status.Has(mysql.ServerStatusInTrans) {
		return failure
	}
	if err := s.txn.Commit(s.run); err != nil {
		pins := s.txn.Pins
		if s.drop(p); pins != 0 {
			s.txn.Pins = 0
			return &endError{process.EndBackendLost, err}
		}
		return failure
	}
	s.release(p)
	s.txn.LastOnHeld = false
	return failure
}
