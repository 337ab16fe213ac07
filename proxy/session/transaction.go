package session

import (
	"strings"

	"kingshard/mysql/sqltext"
	"kingshard/proxy/txn"
)

// transaction runs BEGIN, COMMIT and ROLLBACK. A BEGIN only sets state: it goes to a backend with the first statement
// that says which one. A COMMIT without a transaction on a backend is answered here. handled is false where a backend
// must see the statement.
func (se settings) transaction(q *query) (handled bool, err error) {
	tx, ok := sqltext.ParseTransaction(q.text, se.client.mode())
	if !ok {
		return false, nil
	}
	onBackend := se.client.txn.Holding()
	switch q.info.Class {
	case sqltext.Begin:
		if tx.ConsistentSnapshot && se.opensEverywhere() {
			return true, se.openEverywhere(&tx)
		}
		se.client.txn.ReadOnly = tx.ReadOnly
		if onBackend || tx.ConsistentSnapshot {
			se.client.txn.Current = txn.Characteristics{Unknown: se.client.txn.Pins.Has(txn.PinNextTransaction)}
			se.client.txn.Begin = ""
			return false, nil
		}
		if se.client.txn.Begin != "" && se.client.mode().MariaDB {
			se.client.txn.Next = txn.Characteristics{} // the one begun before had it; MySQL keeps it for the first that does something
		}
		se.client.txn.Begin = strings.Clone(q.text)
		se.client.writeOK()
		return true, nil
	}
	if tx.Release {
		return true, se.endAndClose(q.info.Class)
	}
	if onBackend || se.client.state.Value("completion_type") != "" {
		return false, nil
	}
	se.client.txn.EndOthers(se.client.run)
	if !tx.Chain {
		se.client.txn.Begin, se.client.txn.Next = "", txn.Characteristics{}
	} else if se.client.txn.Begin == "" {
		se.client.txn.Begin = txn.SQLBegin // a transaction begins, whether one ended or not
	}
	se.client.writeOK()
	return true, nil
}

// endAndClose runs COMMIT RELEASE or ROLLBACK RELEASE: the transaction ends, then the client's connection.
func (se settings) endAndClose(class sqltext.Class) error {
	se.client.txn.Begin = ""
	if p := se.client.txn.Held(); p.Pooled != nil {
		end := se.client.txn.Commit
		if class == sqltext.Rollback {
			end = se.client.txn.Rollback
		}
		if err := end(se.client.run); err != nil {
			return se.leases.lost(p, err)
		}
	}
	se.client.writeOK()
	return errQuit
}
