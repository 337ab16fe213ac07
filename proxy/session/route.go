package session

import (
	"kingshard/backend"
	"kingshard/mysql/sqltext"
)

// target is where a statement goes.
type target struct {
	node    *backend.Node
	replica bool // a replica may serve it
	reads   bool // it changes nothing and locks nothing
}

// instance picks the server for the attempt-th try, from 0.
func (t target) instance(attempt int) *backend.Instance {
	if t.replica {
		return t.node.Reader(attempt)
	}
	return t.node.Primary
}

// route decides where a statement goes: to the node that a hint names, else the user's default node; to a replica only
// when it is a query that can have no effects, outside of transactions, with autocommit on.
func (s *Session) route(q *query) target {
	info := &q.info
	t := target{node: s.schema.Default}
	master := info.Traits&sqltext.MasterHint != 0
	if s.account.Hints {
		if n := s.schema.Nodes[info.NodeHint]; n != nil && info.NodeHint != "" {
			t.node = n
		}
	} else {
		master = false
	}
	if q.node != nil {
		t.node = q.node
	}
	t.reads = q.node != nil && info.ReadOnly()
	if master || s.held.Pooled != nil || !s.state.autocommit || s.state.pendingBegin != "" || len(s.state.nextTransaction) > 0 {
		return t
	}
	switch info.Class {
	case sqltext.Select, sqltext.With, sqltext.Table, sqltext.Values:
		t.replica = info.ReadOnly()
	}
	return t
}
