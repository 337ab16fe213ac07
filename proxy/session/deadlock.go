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
	s.observed.Ask(now.Sub(s.entry.Since()))
	deadline := now.Add(s.snap.Config.PoolWaitTimeout.Duration())
	s.entry.Wants(i)
	defer s.entry.Wants(nil)
	wait := s.observed.WaitSpan(i, s.state.DB())
	p, err := s.shared.connWaits.Get(s.id, i, want, s.txn.Instances(have), deadline, s.entry.Cancelled())
	if errors.Is(err, txn.ErrDeadlock) {
		wait.Fail(0, "connection_deadlock")
	} else {
		observe.EndSpan(wait, err)
	}
	return p, err
}

// giveWay rolls the client's transaction back, so that others get its connections. MySQL manual: "InnoDB Error Handling".
func (s *Session) giveWay() error {
	s.observed.Counters.Deadlocks.Add(1)
	s.txn.EndOthers(s.run)
	if p := s.txn.Held(); p.Pooled != nil {
		if p.Conn.Status.Has(mysql.ServerStatusInTrans) {
			if err := s.txn.Rollback(s.run); err != nil {
				return s.lost(p, err)
			}
		}
		s.release(p)
	}
	s.txn.Begin, s.txn.Next = "", txn.Characteristics{}
	return errGaveWay()
}
