package session

import (
	"slices"

	"kingshard/backend"
	"kingshard/mysql/sqltext"
	"kingshard/router/plan"
)

// ruledNode is the node that a query rule sends the statement to; nil for none, and where the user does not have it.
func (ro *routing) ruledNode(q *query) *backend.Node {
	if q.verdict.Node == nil {
		return nil
	}
	return ro.client.schema.Nodes[q.verdict.Node.Node]
}

// obeyNode refuses what a query rule sends to one node while rows of sharded tables are on others.
func (ro *routing) obeyNode(q *query, r *plan.Route) error {
	n := ro.ruledNode(q)
	if n == nil {
		return nil
	}
	elsewhere := func(part plan.Query) bool { return part.Node != n.Name }
	if r.One != nil && !elsewhere(*r.One) || r.One == nil && len(r.Queries) > 0 && !slices.ContainsFunc(r.Queries, elsewhere) {
		return nil
	}
	return refused(q.verdict.Node, "it sends the statement to node "+n.Name+", but that is about sharded tables, whose rows are on other nodes")
}

// ruledToReplica tells whether a query rule sends the statement to a replica, though it calls functions that may have effects.
func ruledToReplica(q *query) bool {
	sure := q.info
	sure.Traits &^= sqltext.EffectFunction
	return q.verdict.Replica && sure.ReadOnly()
}
