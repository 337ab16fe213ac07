package session

import (
	"kingshard/backend"
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
	stepLookup               // the answer of an index that the loop asked, and the query then
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
	case stepLookup:
		return s.lane.finishLookup()
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
	collided := q.ids != nil && q.ids.collided // which other ids are drawn for
	again := first == stepRepeat && !collided
	switch {
	case again, collided:
	case first == stepAlone:
		err = s.alone(&x, q)
	default:
		_, again, err = s.exchanges.finish(&x, q)
	}
	if again {
		_, err = s.exchanges.forwardTo(x.target, q, x.attempt+1)
	}
	for s.drawsAgain(q, err) {
		_, err = s.run(q)
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

// offer is a connection that a session may use before it asks the pool.
type offer = backend.Pooled

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
