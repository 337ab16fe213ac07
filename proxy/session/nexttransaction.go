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
func (se settings) setNext(q *query, assignments []sqltext.Assignment) (handled bool, err error) {
	next := se.client.txn.Next
	if se.client.txn.Holding() && se.client.txn.Conn().Status.Has(mysql.ServerStatusInTrans) || strings.Contains(q.text, "@@") || !next.Take(assignments) {
		return false, nil
	}
	if se.client.txn.InTransaction() || se.client.txn.ReadsInTransaction(se.client.state.Autocommit) {
		return true, mysql.NewSQLError(mysql.ERCantChangeTxIsolation, "Transaction characteristics can't be changed while a transaction is in progress")
	}
	se.client.txn.Next = next
	se.client.writeOK()
	return true, nil
}

// underNext runs a query on several shards, by run, as the transaction that SET TRANSACTION spoke of, if it did: on every shard.
func (sh *shards) underNext(run func() (bool, error)) (failed bool, err error) {
	switch {
	case sh.client.txn.InTransaction():
		return run()
	case sh.client.txn.Pins.Has(txn.PinNextTransaction):
		return true, sh.client.txn.NextIsElsewhere("this query")
	case !sh.client.txn.Next.IsSet():
		return run()
	}
	next := sh.client.txn.Next
	sh.client.txn.Begin = txn.SQLBegin
	sh.client.task().own = sh.client.state.Autocommit
	failed, err = run()
	sh.client.txn.Begin = ""
	if sh.client.task().own {
		sh.client.task().own = false
		err = sh.endOwn(err)
	}
	var refused *mysql.SQLError
	if err == errRepeat || errors.As(err, &refused) && refused.Code == erReadOnlyTransaction || failed && sh.client.observed.ErrorCode == erReadOnlyTransaction {
		sh.client.txn.Next = next // a server finds that out before it begins; what is sent again begins anew
	}
	return failed, err
}

// endOwn ends the transactions of underNext. The client may have its answer, so there is no packet to tell it of a failure by.
func (sh *shards) endOwn(failure error) error {
	if sh.client.txn.HasOthers() {
		sh.client.txn.Next = txn.Characteristics{}
	}
	sh.client.txn.EndOthers(sh.client.run)
	p := sh.client.txn.Held()
	if p.Pooled == nil || !p.Conn.Status.Has(mysql.ServerStatusInTrans) {
		return failure
	}
	if err := sh.client.txn.Commit(sh.client.run); err != nil {
		pins := sh.client.txn.Pins
		if sh.leases.drop(p); pins != 0 {
			sh.client.txn.Pins = 0
			return &endError{process.EndBackendLost, err}
		}
		return failure
	}
	sh.leases.release(p)
	sh.client.txn.LastOnHeld = false
	return failure
}
