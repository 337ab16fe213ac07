package session

import "kingshard/proxy/fastlane"

// outbox is what a round of a loop has to send. It leaves at the round's end, when all that came is read and understood: a write runs
// the kernel's whole way to the peer and wakes it up, after which the code and the memory of the handlers would have to be loaded anew
// for every event (docs/design/performance-log.md has the figures).
type outbox struct {
	requests []*lease   // with a statement
	answers  []*Session // with a response
}

// request has a connection's statement sent.
func (h *shelves) request(le *lease) {
	h.requests = append(h.requests, le)
	h.loop.AtRoundEnd()
}

// answer has a session's response sent and its command concluded.
func (h *shelves) answer(s *Session) {
	h.answers = append(h.answers, s)
	h.loop.AtRoundEnd()
}

// Round sends what the round has brought. Servers come first: they are what clients wait for.
func (h *shelves) Round(l *fastlane.Loop) {
	h.departAll()
	for k, le := range h.requests {
		h.requests[k] = nil
		le.sendRequest(l)
	}
	h.requests = h.requests[:0]
	sent := h.answers[:0]
	for _, s := range h.answers {
		if s.sendAnswer(l) {
			sent = append(sent, s)
		}
	}
	for _, s := range sent {
		s.answered(l)
	}
	clear(h.answers)
	h.answers = h.answers[:0]
}

// sendRequest sends the statement that launch has queued.
func (le *lease) sendRequest(l *fastlane.Loop) {
	s := le.session
	defer s.caught(l)
	s.relabelLoop(le.shelf.h)
	if err := le.p.Conn.Flush(); err != nil || le.p.Conn.Unsent() > 0 {
		le.leave()
		s.handOver(l, stepFinish)
		return
	}
	l.Park(le.conn, le)
}

// sendAnswer sends the response that deliver has queued; false where a goroutine has the session now.
func (s *Session) sendAnswer(l *fastlane.Loop) (sent bool) {
	defer s.caught(l)
	s.relabelLoop(l.Ticker().(*shelves))
	if err := s.conn.Flush(); err == nil && s.conn.Unsent() > 0 {
		s.handOver(l, stepConclude)
		return false
	}
	return true // a failure is found again by conclude
}

// answered ends a command whose response is sent.
func (s *Session) answered(l *fastlane.Loop) {
	defer s.caught(l)
	s.relabelLoop(l.Ticker().(*shelves))
	s.concluded(l, s.conclude(s.lane.command, nil))
}
