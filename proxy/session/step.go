package session

import (
	"syscall"
	"time"

	"kingshard/backend"
	"kingshard/proxy/fastlane"
	"kingshard/proxy/txn"
)

// step is what a goroutine does first when it takes a session over.
type step uint8

// The steps.
const (
	stepLogin    step = iota // a new client
	stepServe                // the next command, of which something may have been read
	stepFinish               // the responses to the statement that the loop sent
	stepRepeat               // the statement again, as its connection broke
	stepAlone                // the statement that was, or was to be, sent with others', on its own
	stepMerge                // the answers of several shards to the statement that the loop sent
	stepConclude             // the end of a command whose answer the client has not taken whole
	stepMove                 // the session waits for a command, but is to move to another process
	stepResume               // a session that came from another process
	stepEnd                  // the end of the session
)

// take takes a step.
func (s *Session) take(first step) *endError {
	switch first {
	case stepLogin:
		return s.enter()
	case stepResume:
		s.lane.enterLane()
		return nil
	}
	s.client.conn.MayWait()
	s.client.scratch = nil
	switch first {
	case stepFinish, stepRepeat, stepAlone:
		return s.finishHanded(first)
	case stepMerge:
		return s.finishHandedMerge()
	case stepConclude:
		return s.client.conclude(s.client.ahead().command, nil)
	case stepEnd:
		return s.lane.end
	}
	if err := s.client.conn.Flush(); err != nil {
		return clientEnd(err)
	}
	if first == stepMove {
		return nil
	}
	return s.next()
}

// finishHanded ends a statement that the loop began.
func (s *Session) finishHanded(first step) *endError {
	s.client.observed.Relabel()
	x := s.client.task().x
	q := &s.client.task().query
	var err error
	again := first == stepRepeat
	switch {
	case again:
	case first == stepAlone:
		err = s.alone(&x, q)
	default:
		_, again, err = s.exchanges.finish(&x, q)
	}
	if again {
		_, err = s.exchanges.forwardTo(x.target, q, x.attempt+1)
	}
	return s.client.conclude(s.client.ahead().command, s.client.settle(err))
}

// alone runs a statement from its beginning. It was a read, so that it does not matter whether a server has run it already.
func (s *Session) alone(x *exchange, q *query) error {
	s.client.entry.TakeRunning()
	if s.client.entry.IsCancelled() {
		return interrupted()
	}
	_, err := s.exchanges.forwardTo(x.target, q, 0)
	return err
}

// enterLane makes the session one that a loop may hold, if its connection can be in a loop: there is nothing between it and
// the packets but, perhaps, TLS.
func (la *laned) enterLane() {
	l := la.client.shared.Lanes
	if l == nil || la.client.entry.AdminOnly() {
		return
	}
	la.client.entry.SwapClient(func() bool {
		nc := la.client.conn.Net.Pollable()
		if nc == nil || !l.join() {
			return false
		}
		c, err := l.group.Adopt(nc)
		if err != nil {
			l.leave()
			la.client.shared.Log.Warn("a session stays out of the fast lane", "conn", la.client.id, "error", err)
			return false
		}
		la.client.conn.Net.Rebase(c)
		la.conn = c
		return true
	})
	if la.conn != nil && la.client.conn.Net.Bare() == nil {
		_ = la.client.conn.ReadNow() // what TLS has read of the next command; a failure shows again
	}
}

// leaveLane ends what enterLane began.
func (la *laned) leaveLane() {
	if la.conn != nil {
		la.conn = nil
		la.client.shared.Lanes.leave()
	}
}

// park gives the session to its loop until the next command, if nothing but the client binds it. Whatever it returns, the
// session is the loop's when it is true.
func (la *laned) park() bool {
	if la.conn == nil || la.client.txn.Holding() || la.client.txn.HasOthers() || la.client.txn.InTransaction() || la.client.conn.Buffered() > 0 {
		return false
	}
	if la.conn.Park(la) {
		return true
	}
	// The loop may have told late of what is read already.
	return la.client.conn.ReadNow() == syscall.EAGAIN && la.client.conn.Buffered() == 0 && la.conn.Park(la)
}

// handOver gives the session to a goroutine, which begins with next.
func (la *laned) handOver(l *fastlane.Loop, next step) {
	la.client.observed.Counters.Handed.Add(1)
	la.next = next
	la.client.shared.Lanes.run(la)
	l.Woke()
}

// chosen is the instance for the attempt-th try of a statement: the one that the loop has chosen already, if it has.
func (ls *leases) chosen(t txn.Target, attempt int) *backend.Instance {
	i := ls.client.ahead().instance
	ls.client.ahead().instance = nil
	if i != nil && attempt == 0 && t.Replica && i.Node == t.Node.Name {
		return i
	}
	return t.Instance(attempt)
}

// waitingSince is when the statement began to wait for a connection.
func (ls *leases) waitingSince(now time.Time) time.Time {
	since := ls.client.ahead().since
	ls.client.ahead().since = time.Time{}
	if since.IsZero() {
		return now
	}
	return since
}

// offer is a connection that a session may use before it asks the pool.
type offer = backend.Pooled

// offered gives the connection that the loop had for the statement, if it is of the target and carries the session's state.
func (ls *leases) offered(t txn.Target, want *backend.Setting) (backend.Pooled, bool) {
	p := ls.client.ahead().offer
	if p.Pooled == nil {
		return p, false
	}
	ls.client.ahead().offer = offer{}
	if p.Instance.Node == t.Node.Name && (p.Instance == t.Node.Primary || t.Replica) && p.Key == want {
		return p, true
	}
	p.Put()
	return backend.Pooled{}, false
}

// finishHandedMerge ends a merge that the loop began; without connections it was killed before it was sent.
func (s *Session) finishHandedMerge() *endError {
	s.client.observed.Relabel()
	m := s.client.task().merging
	s.client.task().merging = nil
	q, begun := &s.client.task().query, false
	_, err := s.exchanges.several().shards.onShards(q, m.of.ReadOnly, func() (bool, error) {
		if begun {
			return s.exchanges.several().queries.scatter(q, m.of, m.route, nil)
		}
		begun = true
		for k := range m.loans {
			if err := m.loans[k].Conn.Flush(); err != nil {
				return true, s.exchanges.several().shards.loseAll(m.loans, err)
			}
		}
		if len(m.loans) == 0 {
			return true, interrupted()
		}
		return s.exchanges.several().queries.finishMerging(q, m)
	})
	return s.client.conclude(s.client.ahead().command, s.client.settle(err))
}
