package session

import (
	"strings"

	"kingshard/backend"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/mirror"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// mirrorNode is the node that a statement which ran on another one is to be sent to, too; nil where it is not.
func (s *Session) mirrorNode(q *query, ran *backend.Node) *backend.Node {
	r := q.verdict.Mirror
	if r == nil || s.client.sink != nil || s.client.observed.ErrorCode != 0 || q.info.Traits&stateful != 0 {
		return nil
	}
	switch q.info.Class {
	case sqltext.Select, sqltext.With, sqltext.Table, sqltext.Values:
		if !q.info.ReadOnly() {
			return nil
		}
	case sqltext.Insert, sqltext.Replace, sqltext.Update, sqltext.Delete:
		if !r.MirrorWrites {
			return nil
		}
	default:
		return nil
	}
	n := s.client.snap.Nodes[r.Mirror]
	if n == ran {
		return nil
	}
	return n
}

// mirrored hands a statement that ran on one server to the mirror, the execution of a prepared one as a text.
func (s *Session) mirrored(q *query, t txn.Target) {
	n := s.mirrorNode(q, t.Node)
	if n == nil {
		return
	}
	if q.st == nil {
		s.offerMirror(q, n, strings.Clone(q.text))
		return
	}
	b := new(boundExecution) // the session's own may be in use
	if s.bindTo(b, q.st, q.ex) != nil {
		return
	}
	text, err := plan.Bind(q.text, s.client.mode(), upTo(q.st.params), b.args)
	if err != nil || q.st.mode != s.client.mode() {
		q.verdict.Mirror.Mirrored.Dropped.Add(1)
		return
	}
	s.offerMirror(q, n, strings.Clone(text))
}

func (s *Session) offerMirror(q *query, n *backend.Node, text string) {
	s.client.shared.Mirror.Offer(mirror.Statement{Rule: q.verdict.Mirror, Node: n, Setting: s.client.state.Setting(), Text: text, Session: s.client.id})
}

// notMirrored counts a statement on several shards as dropped: no node has all of its tables.
func (s *Session) notMirrored(q *query) {
	if s.mirrorNode(q, nil) != nil {
		q.verdict.Mirror.Mirrored.Dropped.Add(1)
	}
}
