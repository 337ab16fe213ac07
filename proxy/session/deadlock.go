package session

import (
	"errors"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
	"kingshard/proxy/txn"
)

// Holdings lists the sessions that hold connections or wait, by id.
func (sh *Shared) Holdings() []process.Holding { return sh.Sessions.Holdings(sh.connWaits.Holds()) }

// getHolding borrows a connection for a statement that has some already: it ends with txn.ErrDeadlock where waiting would be in vain.
func (ls *leases) getHolding(i *backend.Instance, want *backend.Setting, have []txn.Lease) (backend.Pooled, error) {
	if _, err := ls.gate(); err != nil {
		return backend.Pooled{}, err
	}
	now := time.Now()
	ls.client.observed.Ask(now.Sub(ls.client.entry.Since()))
	deadline := now.Add(ls.client.snap.Config.PoolWaitTimeout.Duration())
	ls.client.entry.Wants(i)
	defer ls.client.entry.Wants(nil)
	wait := ls.client.observed.WaitSpan(i, ls.client.state.DB())
	p, err := ls.client.shared.connWaits.Get(ls.client.id, i, want, ls.client.txn.Instances(have), deadline, ls.client.entry.Cancelled())
	if errors.Is(err, txn.ErrDeadlock) {
		wait.Fail(0, "connection_deadlock")
	} else {
		observe.EndSpan(wait, err)
	}
	return p, err
}

// giveWay rolls the client's transaction back, so that others get its connections. MySQL manual: "InnoDB Error Handling".
func (ls *leases) giveWay() error {
	ls.client.observed.Counters.Deadlocks.Add(1)
	if err := ls.rollBack(); err != nil {
		return err
	}
	return errGaveWay()
}

// rollBack rolls the client's transaction back, if there is one, also where the statement was killed.
func (ls *leases) rollBack() error {
	if ls.client.txn.Branches {
		ls.branches().undo()
		return nil
	}
	ls.client.txn.EndOthers(ls.client.run)
	if p := ls.client.txn.Held(); p.Pooled != nil {
		if p.Conn.Status.Has(mysql.ServerStatusInTrans) {
			if err := ls.client.txn.Rollback(ls.client.run); err != nil {
				return ls.lost(p, err)
			}
		}
		ls.release(p)
	}
	ls.client.txn.Begin, ls.client.txn.Next = "", txn.Characteristics{}
	return nil
}
