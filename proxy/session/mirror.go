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
func (ro *routing) mirrorNode(q *query, ran *backend.Node) *backend.Node {
	r := q.verdict.Mirror
	if r == nil || ro.client.sink != nil || ro.client.observed.ErrorCode != 0 || q.info.Traits&stateful != 0 {
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
	n := ro.client.snap.Nodes[r.Mirror]
	if n == ran {
		return nil
	}
	return n
}

// mirrored hands a statement that ran on one server to the mirror, the execution of a prepared one as a text.
func (xs *exchanges) mirrored(q *query, t txn.Target) {
	n := xs.routing.mirrorNode(q, t.Node)
	if n == nil {
		return
	}
	if q.st == nil {
		xs.offerMirror(q, n, strings.Clone(q.text))
		return
	}
	b := new(boundExecution) // the session's own may be in use
	if xs.routing.bindTo(b, q.st, q.ex) != nil {
		return
	}
	text, err := plan.Bind(q.text, xs.client.mode(), upTo(q.st.params), b.args)
	if err != nil || q.st.mode != xs.client.mode() {
		q.verdict.Mirror.Mirrored.Dropped.Add(1)
		return
	}
	xs.offerMirror(q, n, strings.Clone(text))
}

func (xs *exchanges) offerMirror(q *query, n *backend.Node, text string) {
	xs.client.shared.Mirror.Offer(mirror.Statement{Rule: q.verdict.Mirror, Node: n, Setting: xs.client.state.Setting(), Text: text, Session: xs.client.id})
}

// notMirrored counts a statement on several shards as dropped: no node has all of its tables.
func (ro *routing) notMirrored(q *query) {
	if ro.mirrorNode(q, nil) != nil {
		q.verdict.Mirror.Mirrored.Dropped.Add(1)
	}
}
