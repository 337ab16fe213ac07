package plan

import (
	"slices"

	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// nodes returns the nodes on which the statement may end with the rows of these gathers: each has all of the tables that are read where they are, and a sub-table of each of the
// others, as the model of its scratch table. Of those that may the ones with the most of the sub-tables that are read come back, as their rows need not be moved, in the order of
// the first table's rule. A table on one node says which it is, and so does a function that may be on no other node.
func (o *Finish) nodes(e *Execution, refs []*Ref, gathers []Gather) (nodes []string, err error) {
	if one := slices.IndexFunc(refs, func(r *Ref) bool { return r.Table.Kind == router.Single }); one >= 0 {
		nodes = refs[one].Table.Nodes
	} else if nodes = o.gathers[0].Ref.Table.Nodes; o.stays {
		nodes = nodes[:1]
	}
	var fit []string
	for _, node := range nodes {
		if err := mayEndOn(node, refs, gathers); err == nil {
			fit = append(fit, node)
		} else if len(nodes) == 1 {
			return nil, err
		}
	}
	if len(fit) == 0 {
		return nil, Refuse("no node has sub-tables of all tables of the statement, to be finished on it: %s", e.plan.Reason)
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

// mayEndOn returns why a statement cannot end on a node; nil if it can.
func mayEndOn(node string, refs []*Ref, gathers []Gather) error {
	for _, ref := range refs {
		switch has := ref.Table.Shards[onNode(ref, node)].Node == node; {
		case has || ref.Table.Kind == router.Sharded:
		case ref.Table.Kind == router.Single:
			return Refuse("the tables of the statement are on several nodes: %s is on %s", ref.Parsed.Name, ref.Table.Shards[0].Node)
		default:
			return Refuse("the table %s is not on node %s", ref.Parsed.Name, node)
		}
	}
	for _, g := range gathers {
		if g.Ref.Table.Shards[onNode(g.Ref, node)].Node != node {
			return Refuse("the rows of %s would be collected on node %s, which has no sub-table of it", g.Ref.Parsed.Name, node)
		}
	}
	return nil
}

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
