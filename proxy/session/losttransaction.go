package session

import (
	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/txn"
)

// onlyTransaction reports whether a connection has no more of the session than the transaction that is open there: with the connection the server rolls
// that back, and a client knows how to go on behind a transaction that was rolled back.
func onlyTransaction(ls *leases, p backend.Pooled) bool {
	c, t := &ls.client.txn, ls.client.task()
	return (c.Holds(p) || c.Beside(p) || p.Conn.Status.Has(mysql.ServerStatusInTrans)) && c.Pins&^txn.OfTransaction == 0 && !t.own && !t.composed && ls.sharing() == nil
}

// transactionLost is what the client hears whose transaction was on a connection that broke:
// that it is over. It is a deadlock's error, behind which clients begin the transaction anew, unless the statement was to end it: then nobody
// knows how it ended.
func (b branches) transactionLost(node string, never bool) error {
	q := &b.client.task().query
	class := q.info.Class
	if q.st != nil {
		class = q.st.info.Class
	}
	if !b.client.txn.Branches { // else its other parts are undone when the statement is over
		b.after(b.client.txn.Held())
	}
	if endsTransaction(class) && !never {
		return newError(KSBackendLost, "The connection to node "+node+" broke after the statement was sent. Whether the transaction was committed is unknown; it is over.")
	}
	return mysql.NewSQLError(mysql.ERLockDeadlock, "The connection to node "+node+" broke, and its server rolls the transaction back; try restarting transaction")
}
