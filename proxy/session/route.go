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
	// stateless: it neither uses nor leaves state of its connection, so that it may run beside a pinned one.
	stateless bool
}

// instance picks the server for the attempt-th try, from 0.
func (t target) instance(attempt int) *backend.Instance {
	if t.replica {
		return t.node.Reader(attempt)
	}
	return t.node.Primary
}

// route decides where a statement goes: to the node that a query rule or a hint names, else the user's default node; to a replica only
// when it is a query that can have no effects, outside of transactions, with autocommit on.
func (s *Session) route(q *query) target {
	info := &q.info
	t := target{node: s.schema.Default}
	master, hinted := info.Traits&sqltext.MasterHint != 0, false
	if s.account.Hints {
		if n := s.schema.Nodes[info.NodeHint]; n != nil && info.NodeHint != "" {
			t.node, hinted = n, true
		}
	} else {
		master = false
	}
	if q.verdict.Primary || q.verdict.Replica {
		master = q.verdict.Primary
	}
	if n := s.ruledNode(q); n != nil {
		t.node, hinted = n, true
	}
	switch {
	case q.node != nil:
		t.node = q.node
	case s.held.Pooled != nil && !hinted && (info.Traits&(stateful|diagnostics) != 0 || !tables(info.Class)):
		// What is about the transaction or the state goes where these are, unless it is about tables that are not there.
		if n := s.schema.Nodes[s.held.Instance.Node]; n != nil && n != t.node && !s.atHome(q) {
			t.node = n
		}
	}
	t.stateless = info.Traits&stateful == 0 && stateless(info.Class) && s.heldValue(q) == ""
	t.reads = info.ReadOnly()
	if s.held.Pooled != nil && s.heldLast && info.Traits&diagnostics != 0 && t.node.Name != s.held.Instance.Node {
		t.reads = false // what it asks of the last statement, only the held connection knows
	}
	if master || s.sink != nil || s.held.Pooled != nil || !s.state.Autocommit || s.tx.pendingBegin != "" || s.tx.next.set() {
		return t
	}
	switch info.Class {
	case sqltext.Select, sqltext.With, sqltext.Table, sqltext.Values:
		t.replica = !q.wantsCursor() && (info.ReadOnly() || mayRead(q)) && (len(t.node.Replicas) == 0 || s.effectless(t.node, q))
	}
	return t
}

// stateful are the traits of statements that use or leave state of their connection.
const stateful = sqltext.Stateful

// stateless tells of which classes a statement's traits tell all.
func stateless(c sqltext.Class) bool {
	switch c {
	case sqltext.Select, sqltext.With, sqltext.Table, sqltext.Values, sqltext.Insert, sqltext.Replace, sqltext.Update, sqltext.Delete,
		sqltext.Show, sqltext.Describe, sqltext.Explain:
		return true
	}
	return false
}

// tables tells which classes are about tables, and so about a node of their own.
func tables(c sqltext.Class) bool {
	switch c {
	case sqltext.DDL, sqltext.CreateTemporary, sqltext.LockTables, sqltext.LoadData, sqltext.LoadDataLocal, sqltext.Call, sqltext.Other,
		sqltext.Truncate, sqltext.Admin, sqltext.DropTemporary, sqltext.Do:
		return true
	}
	return stateless(c)
}
