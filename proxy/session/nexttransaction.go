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
	next := s.client.txn.Next
	if s.client.txn.Holding() && s.client.txn.Conn().Status.Has(mysql.ServerStatusInTrans) || strings.Contains(q.text, "@@") || !next.Take(assignments) {
		return false, nil
	}
	if s.client.txn.InTransaction() || s.client.txn.ReadsInTransaction(s.client.state.Autocommit) {
		return true, mysql.NewSQLError(mysql.ERCantChangeTxIsolation, "Transaction characteristics can't be changed while a transaction is in progress")
	}
	s.client.txn.Next = next
	s.client.writeOK()
	return true, nil
}

// underNext runs a query on several shards, by run, as the transaction that SET TRANSACTION spoke of, if it did: on every shard.
func (s *Session) underNext(run func() (bool, error)) (failed bool, err error) {
	switch {
	case s.client.txn.InTransaction():
		return run()
	case s.client.txn.Pins.Has(txn.PinNextTransaction):
		return true, s.client.txn.NextIsElsewhere("this query")
	case !s.client.txn.Next.IsSet():
		return run()
	}
	next := s.client.txn.Next
	s.client.txn.Begin = txn.SQLBegin
	s.client.task().own = s.client.state.Autocommit
	failed, err = run()
	s.client.txn.Begin = ""
	if s.client.task().own {
		s.client.task().own = false
		err = s.endOwn(err)
	}
	var refused *mysql.SQLError
	if errors.As(err, &refused) && refused.Code == erReadOnlyTransaction || failed && s.client.observed.ErrorCode == erReadOnlyTransaction {
		s.client.txn.Next = next // a server finds that out before it begins
	}
	return failed, err
}

// endOwn ends the transactions of underNext. The client may have its answer, so there is no packet to tell it of a failure by.
func (s *Session) endOwn(failure error) error {
	if s.client.txn.HasOthers() {
		s.client.txn.Next = txn.Characteristics{}
	}
	s.client.txn.EndOthers(s.client.run)
	p := s.client.txn.Held()
	if p.Pooled == nil || !p.Conn.Status.Has(mysql.ServerStatusInTrans) {
		return failure
	}
	if err := s.client.txn.Commit(s.client.run); err != nil {
		pins := s.client.txn.Pins
		if s.leases.drop(p); pins != 0 {
			s.client.txn.Pins = 0
			return &endError{process.EndBackendLost, err}
		}
		return failure
	}
	s.leases.release(p)
	s.client.txn.LastOnHeld = false
	return failure
}
