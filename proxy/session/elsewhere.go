package session

import "kingshard/backend"

// elsewhere gives another node of the session's for what any node can do as well as n, whose primary is down or may be; nil while n is
// well, or no other is better.
func (s *Session) elsewhere(n *backend.Node) *backend.Node {
	if n == nil || !n.Primary.Doubted() {
		return nil
	}
	for _, other := range s.schema.Nodes {
		if other != n && other.Primary.State() == backend.Up && !other.Primary.Doubted() {
			return other
		}
	}
	return nil
}

// loginDB makes db the current database of a session that logs in. While the default node does not answer, and another one does, nobody is
// asked: who uses what that node does not have hears of it then.
func (s *Session) loginDB(db string) error {
	if s.held.Pooled == nil && db != "" && s.elsewhere(s.schema.Default) != nil {
		s.state.setDB(db)
		return nil
	}
	return s.useDB(db)
}
