package session

import (
	"errors"
	"slices"

	"kingshard/backend"
	"kingshard/backend/pool"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/txn"
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

// mayRead tells whether a query rule sends the statement to a replica, though it calls functions that may have effects.
func mayRead(q *query) bool {
	sure := q.info
	sure.Traits &^= sqltext.EffectFunction
	return q.verdict.Replica && sure.ReadOnly()
}

// borrowReaders gets a connection to each node for a query that is merged: to a replica where a query rule says so and nothing
// that the query may depend on is on a primary.
func (sh *shards) borrowReaders(q *query, p *plan.Plan, nodes []*backend.Node) ([]txn.Lease, error) {
	if !mayRead(q) || !p.ReadOnly || sh.client.sink != nil || sh.client.txn.Holding() || sh.client.txn.InTransaction() || !sh.client.state.Autocommit ||
		sh.client.txn.Next.IsSet() {
		return sh.borrow(nodes, p.ReadOnly || sh.client.task().own)
	}
	leases, err := sh.client.txn.Borrow(nodes, func(n *backend.Node, have []txn.Lease) (txn.Lease, error) {
		p, err := sh.borrowReader(n, have)
		return txn.Lease{Pooled: p, Node: n.Name}, err
	})
	if err != nil {
		return nil, sh.leases.notBorrowed(leases, err)
	}
	return leases, nil
}

// borrowReader borrows a connection to a replica, or to the primary if none can serve.
func (sh *shards) borrowReader(n *backend.Node, loans []txn.Lease) (backend.Pooled, error) {
	if err := sh.leases.learnCharset(n); err != nil {
		return backend.Pooled{}, err
	}
	for attempt := 0; ; attempt++ {
		instance := n.Reader(attempt)
		p, err := sh.leases.getHolding(instance, sh.client.state.Setting(), loans)
		if err == nil {
			if instance.Role == backend.Replica {
				sh.client.observed.CountReplica()
			}
			return p, nil
		}
		switch {
		case errors.Is(err, txn.ErrDeadlock):
			return p, err
		case instance.Role == backend.Primary, errors.Is(err, pool.ErrTimeout), errors.Is(err, pool.ErrCancelled):
			return p, backendError(err)
		}
	}
}
