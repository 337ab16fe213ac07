package session

import (
	"errors"
	"slices"
	"sync"
	"time"

	"kingshard/backend"
	"kingshard/backend/pool"
	"kingshard/mysql"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
)

// deadlockAfter is how long a session that holds connections waits for a further one before it looks whether it ever can get it.
const deadlockAfter = 5 * time.Millisecond

// holdWaits are the sessions that hold connections and have waited for a further one for some time. An application decides
// in which order its transactions come to the nodes, so that all connections of two nodes may be held by sessions that wait
// for the other one. As between the rows of a server, one of them has to give way.
type holdWaits struct {
	mu   sync.Mutex
	list map[*holdWait]struct{}
}

// holdWait is one session's wait.
type holdWait struct {
	holds []*backend.Instance // one for each connection
	wants *backend.Instance
	// session is the id of the one that waits.
	session uint32
	over    bool // under the lock of the list
}

// stuck adds a wait and tells whether it can only end if one of those that wait gives way.
func (h *holdWaits) stuck(w *holdWait) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.over {
		return false
	}
	if h.list == nil {
		h.list = make(map[*holdWait]struct{})
	}
	h.list[w] = struct{}{}
	// Take every wanted instance for stuck, then drop those of which a connection may yet come back: not all are held by
	// sessions that wait for a stuck one.
	stuck := make(map[*backend.Instance]bool)
	for other := range h.list {
		stuck[other.wants] = true
	}
	for changed := true; changed && stuck[w.wants]; {
		held := make(map[*backend.Instance]int)
		for other := range h.list {
			if stuck[other.wants] {
				for _, i := range other.holds {
					held[i]++
				}
			}
		}
		changed = false
		for i := range stuck {
			if held[i] < i.Stats().Max {
				delete(stuck, i)
				changed = true
			}
		}
	}
	if !stuck[w.wants] {
		return false
	}
	w.over = true
	delete(h.list, w)
	return true
}

// leave ends a wait.
func (h *holdWaits) leave(w *holdWait) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.over = true
	delete(h.list, w)
}

// holds gives the connections of the sessions that hold some and have waited for a further one for some time, by session.
func (h *holdWaits) holds() map[uint32][]*backend.Instance {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make(map[uint32][]*backend.Instance, len(h.list))
	for w := range h.list {
		all[w.session] = slices.Clone(w.holds)
	}
	return all
}

// Holdings lists the sessions that hold connections or wait, by id.
func (sh *Shared) Holdings() []process.Holding { return sh.Sessions.Holdings(sh.holdWaits.holds()) }

// errDeadlock says that a wait gave way to others.
var errDeadlock = errors.New("deadlock between sessions that wait for connections")

// getHolding borrows a connection while the session holds others: it ends with errDeadlock where waiting would be in vain.
func (s *Session) getHolding(i *backend.Instance, want *backend.Setting, holds []*backend.Instance) (backend.Pooled, error) {
	if _, err := s.gate(); err != nil {
		return backend.Pooled{}, err
	}
	now := time.Now()
	s.observed.Ask(now.Sub(s.entry.Since()))
	deadline := now.Add(s.snap.Config.PoolWaitTimeout.Duration())
	s.entry.Wants(i)
	defer s.entry.Wants(nil)
	wait := s.observed.WaitSpan(i, s.state.DB())
	p, err := s.getUntil(i, want, deadline, holds)
	if errors.Is(err, errDeadlock) {
		wait.Fail(0, "connection_deadlock")
	} else {
		observe.EndSpan(wait, err)
	}
	return p, err
}

// getUntil borrows a connection while the session holds others, within a time.
func (s *Session) getUntil(i *backend.Instance, want *backend.Setting, deadline time.Time, holds []*backend.Instance) (backend.Pooled, error) {
	if len(holds) == 0 {
		return i.Get(want, deadline, s.entry.Cancelled())
	}
	w := &holdWait{holds: holds, wants: i, session: s.id}
	var victim process.Victim
	look := time.AfterFunc(deadlockAfter, func() {
		if s.shared.holdWaits.stuck(w) {
			s.entry.GiveWay(&victim)
		}
	})
	p, err := i.GetAhead(want, deadline, s.entry.Cancelled())
	if look.Stop() {
		return p, err // it was not long enough for a look, nor for a lock that all sessions share
	}
	s.shared.holdWaits.leave(w)
	if s.entry.GaveWay(&victim) && errors.Is(err, pool.ErrCancelled) {
		return p, errDeadlock
	}
	return p, err
}

// holding lists the instances of the connections that the session holds, those of loans included.
func (s *Session) holding(loans []loan) (holds []*backend.Instance) {
	if s.held.Pooled != nil {
		holds = append(holds, s.held.Instance)
	}
	for _, p := range s.others {
		holds = append(holds, p.Instance)
	}
	for _, l := range loans {
		if !l.kept {
			holds = append(holds, l.Instance)
		}
	}
	return holds
}

// giveWay rolls the client's transaction back, so that others get its connections. MySQL manual: "InnoDB Error Handling".
func (s *Session) giveWay() error {
	s.observed.Counters.Deadlocks.Add(1)
	s.endOthers()
	if p := s.held; p.Pooled != nil {
		if p.Conn.Status.Has(mysql.ServerStatusInTrans) {
			if err := s.observed.Run(p, s.state.DB(), rollback); err != nil {
				return s.lost(p, err)
			}
		}
		s.release(p)
	}
	s.tx.pendingBegin, s.tx.next = "", characteristics{}
	return mysql.NewSQLError(mysql.ERLockDeadlock, "Deadlock found when trying to get lock; try restarting transaction")
}
