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
func (s *Session) getHolding(i *backend.Instance, want *backend.Setting, have []txn.Lease) (backend.Pooled, error) {
	if _, err := s.gate(); err != nil {
		return backend.Pooled{}, err
	}
	now := time.Now()
	s.client.observed.Ask(now.Sub(s.client.entry.Since()))
	deadline := now.Add(s.client.snap.Config.PoolWaitTimeout.Duration())
	s.client.entry.Wants(i)
	defer s.client.entry.Wants(nil)
	wait := s.client.observed.WaitSpan(i, s.client.state.DB())
	p, err := s.client.shared.connWaits.Get(s.client.id, i, want, s.client.txn.Instances(have), deadline, s.client.entry.Cancelled())
	if errors.Is(err, txn.ErrDeadlock) {
		wait.Fail(0, "connection_deadlock")
	} else {
		observe.EndSpan(wait, err)
	}
	return p, err
}

// giveWay rolls the client's transaction back, so that others get its connections. MySQL manual: "InnoDB Error Handling".
func (s *Session) giveWay() error {
	s.client.observed.Counters.Deadlocks.Add(1)
	s.client.txn.EndOthers(s.client.run)
	if p := s.client.txn.Held(); p.Pooled != nil {
		if p.Conn.Status.Has(mysql.ServerStatusInTrans) {
			if err := s.client.txn.Rollback(s.client.run); err != nil {
				return s.lost(p, err)
			}
		}
		s.release(p)
	}
	s.client.txn.Begin, s.client.txn.Next = "", txn.Characteristics{}
	return errGaveWay()
}
