package session

import (
	"slices"

	"kingshard/mysql"
	"kingshard/proxy/fastlane"
)

// outbox is what a round of a loop has to send. It leaves at the round's end, when all that came is read and understood: a write runs
// the kernel's whole way to the peer and wakes it up, after which the code and the memory of the handlers would have to be loaded anew
// for every event (docs/design/performance-log.md has the figures). What does not fit into a small write buffer leaves at once.
type outbox struct {
	requests []*loopConn // with a statement
	merges   []*laned    // with one for each of several shards
	answers  []*laned    // with a response
}

// request has a connection's statement sent.
func (h *loopState) request(le *loopConn) {
	h.requests = append(h.requests, le)
	h.loop.AtRoundEnd()
}

// answer has a session's response sent and its command concluded.
func (h *loopState) answer(la *laned) {
	h.answers = append(h.answers, la)
	h.loop.AtRoundEnd()
}

// Round sends what the round has brought. Servers come first: they are what clients wait for.
func (h *loopState) Round(*fastlane.Loop) {
	h.sendAllGathered()
	h.requests = slices.DeleteFunc(h.requests, func(le *loopConn) bool { return !le.offerRequest() })
	h.merges = slices.DeleteFunc(h.merges, func(s *laned) bool { return !s.offerMerge(h) })
	for _, s := range h.answers {
		s.offer(h, s.conn, s.client.conn)
	}
	h.loop.SendGathered()
	for k, le := range h.requests {
		h.requests[k] = nil
		le.sendRequest()
	}
	h.requests = h.requests[:0]
	for _, s := range h.merges {
		s.sendMerge(h)
	}
	clear(h.merges)
	h.merges = h.merges[:0]
	sent := h.answers[:0]
	for _, s := range h.answers {
		if s.sendAnswer(h) {
			sent = append(sent, s)
		}
	}
	for _, s := range sent {
		s.answered(h)
	}
	clear(h.answers)
	h.answers = h.answers[:0]
}

// offer has what a connection has queued for the session's statement sent with what others have. What is not sent that way the next Flush
// sends, and all of a statement that has labels in a profile, to be seen there as its own.
func (la *laned) offer(h *loopState, c *fastlane.Conn, from *mysql.Conn) {
	if !la.client.observed.Labelled() {
		h.loop.Gather(c, from.Outgoing(), from)
	}
}

// offerRequest offers the statement that launch has queued; false if it is not to be sent.
func (le *loopConn) offerRequest() bool {
	s, h := le.laned, le.pool.h
	defer s.caught(h.loop)
	h.relabel(&s.client.observed)
	if s.client.entry.Running().Pooled == nil {
		s.client.observed.Exchange(le.p.Instance, s.client.entry.Since())
		if !s.client.entry.SetRunningUnsent(le.p) { // a goroutine tells the client of the KILL
			le.Leave()
			le.p.Taint()
			if s.client.task().looking.asks() {
				s.handOver(h.loop, stepLookup)
			} else {
				s.handOver(h.loop, stepAlone)
			}
			return false
		}
	}
	s.offer(h, le.conn, le.p.Conn.Conn)
	return true
}

// sendRequest sends what is left of a statement.
func (le *loopConn) sendRequest() {
	s, h := le.laned, le.pool.h
	defer s.caught(h.loop)
	h.relabel(&s.client.observed)
	if err := le.p.Conn.Flush(); err != nil || le.p.Conn.Unsent() > 0 {
		if s.client.task().looking.asks() {
			s.leaveLookup(le)
			return
		}
		le.Leave()
		s.handOver(h.loop, stepFinish)
		return
	}
	h.loop.Park(le.conn, le)
}

// sendAnswer sends the response that deliver has queued; false where a goroutine has the session now.
func (la *laned) sendAnswer(h *loopState) (sent bool) {
	defer la.caught(h.loop)
	h.relabel(&la.client.observed)
	if err := la.client.conn.Flush(); err == nil && la.client.conn.Unsent() > 0 {
		la.handOver(h.loop, stepConclude)
		return false
	}
	return true // a failure is found again by conclude
}

// answered ends a command whose response is sent.
func (la *laned) answered(h *loopState) {
	defer la.caught(h.loop)
	h.relabel(&la.client.observed)
	la.concluded(h.loop, la.client.conclude(la.client.ahead().command, nil))
}
