package plan

import (
	"slices"

	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// nodes returns the nodes on which the statement may end with the rows of these gathers: those of the first table's rule, or of the tables on one node each. Of them those
// come back that lack the fewest of its tables: each table that is not there at all is collected like the sharded ones, with a model of its scratch table. Of several the ones
// with the most of the sub-tables that are read come back, as their rows need not be moved, in the order of the first table's rule. A function that may be on one node only says
// which it is. See endsOnScratchNode for the schema's scratch node.
func (o *Finish) nodes(e *Execution, refs []*Ref, gathers []Gather) (nodes []string, err error) {
	for _, ref := range refs {
		if ref.Table.Kind == router.Single && !slices.Contains(nodes, ref.Table.Nodes[0]) {
			nodes = append(nodes, ref.Table.Nodes[0])
		}
	}
	switch {
	case len(nodes) > 1 && o.stays:
		return nil, Refuse("the tables of the statement are on several nodes, with a function that may be on one of them only: %s", e.plan.Reason)
	case len(nodes) == 0:
		if nodes = o.gathers[0].Ref.Table.Nodes; o.stays {
			nodes = nodes[:1]
		}
	}
	var fit []string
	fewest := len(refs) + 1
	for _, node := range nodes {
		lacks := 0
		for _, ref := range refs {
			if (ref.Table.Kind != router.Sharded || slices.ContainsFunc(gathers, func(g Gather) bool { return g.Ref == ref })) && !has(ref, node) {
				lacks++
			}
		}
		switch {
		case lacks < fewest:
			fit, fewest = []string{node}, lacks
		case lacks == fewest:
			fit = append(fit, node)
		}
	}
	if fewest > 0 && o.inPlace {
		return nil, Refuse("%s: the tables of the statement are on several nodes, and rows are collected in a table that has none of it: %s", needsFullText, e.plan.Reason)
	}
	had := map[string]int{}
	for _, g := range gathers {
		if g.Ref.Table.Kind != router.Sharded {
			continue
		}
		for _, at := range g.Ref.shards(e) {
			had[g.Ref.Table.Shards[at].Node]++
		}
	}
	return withMost(fit, had), nil
}

// endsOnScratchNode reports whether a statement that could end on one of its tables' nodes ends on the schema's scratch node instead. It does not where all its rows are on that node, where a function or a
// full-text index is, where it locks rows, and where it reads tables without a rule, of which all rows would have to be moved.
func (o *Finish) endsOnScratchNode(e *Execution, gathers []Gather, ends string) bool {
	p := e.plan
	if p.router.Scratch() == "" || o.stays || o.inPlace || !p.ReadOnly || e.Locks {
		return false
	}
	if slices.ContainsFunc(p.Refs, func(r *Ref) bool { return r.Table.Kind != router.Sharded && r.Table.Kind != router.Reference }) {
		return false
	}
	return slices.ContainsFunc(gathers, func(g Gather) bool {
		return slices.ContainsFunc(g.Ref.shards(e), func(at int) bool { return g.Ref.Table.Shards[at].Node != ends })
	})
}

// has reports whether a node has a table, or a sub-table of it.
func has(r *Ref, node string) bool { return r.Table.Shards[onNode(r, node)].Node == node }

// withMost returns those of some nodes that have the most.
func withMost(nodes []string, had map[string]int) (most []string) {
	for _, node := range nodes {
		switch {
		case len(most) > 0 && had[node] < had[most[0]]:
			continue
		case len(most) > 0 && had[node] > had[most[0]]:
			most = most[:0]
		}
		most = append(most, node)
	}
	return most
}

// staysPut reports whether a statement calls what may be on one node only: a function that the servers' manuals do not list, or one with effects.
func (p *Plan) staysPut() bool {
	info := sqltext.Classify(p.Statement.Text, p.Mode)
	return info.Has(sqltext.EffectFunction)
}
