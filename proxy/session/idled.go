package session

import (
	"errors"
	"fmt"

	"kingshard/mysql"
	"kingshard/proxy/txn"
)

// idled forgets a transaction over several nodes that was rolled back as it idled. The client hears so at its next statement; at once, and as the last
// thing, if the session has lost more with it.
func (b branches) idled() *endError {
	held, stateful := b.client.txn.Held(), b.client.txn.Pins&^txn.OfTransaction != 0
	for _, p := range b.client.txn.All() {
		b.leases.drop(p)
	}
	b.after(held)
	if stateful {
		e := b.errIdled()
		end, _ := errors.AsType[*endError](b.leases.lostWith(e, true, e))
		return end
	}
	b.client.spread = &spread{idled: true}
	return nil
}

// errIdled is what the client of such a transaction hears. It has the code of a deadlock, behind which clients know that the transaction is over: one of a
// lock that was not had in time would have them go on with the rest of it.
func (b branches) errIdled() *mysql.SQLError {
	return mysql.NewSQLError(mysql.ERLockDeadlock, fmt.Sprintf("The transaction over several nodes had no statement for %v (idle_transaction_timeout), and was rolled back on all of them; try restarting transaction",
		b.client.snap.Config.IdleTransactionTimeout.Duration()))
}
