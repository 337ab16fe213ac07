package plan

import (
	"maps"
	"slices"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/router"
	"kingshard/router/rule"
)

// supposed is a statement's plan as it would be if its tables lay otherwise.
type supposed struct {
	plan     *Plan
	analyzer *analyzer
	reach    reach
	from     *Plan // the plan as it is
	lie      map[*router.Table]*router.Table
	// steps are the placements that it supposes, and why what of the statement lets them help; small is the table that alone would be on all nodes.
	steps []string
	why   string
	small string
	// tries is how many more placements may be tried for the statement.
	tries *int
}

// reach is how much of a statement the shards do.
type reach uint8

const (
	refused reach = iota
	collected
	groupedOnShards // and their groups are collected
	answeredByShards
	oneServer
)

// suppose plans the statement anew, with other tables in the places of some; nil if it cannot be planned.
func (p *Plan) suppose(lie map[*router.Table]*router.Table) *supposed {
	refs := make([]*Ref, len(p.Refs))
	for k, r := range p.Refs {
		table := r.Table
		if other := lie[table]; other != nil {
			table = other
		}
		refs[k] = &Ref{Table: table, Parsed: r.Parsed, Columns: r.Columns, invisible: r.invisible, all: rule.All(len(table.Shards)), index: k, tuple: make([][]operand, len(table.Keys))}
		for _, key := range table.Keys {
			refs[k].key = append(refs[k].key, KeyColumn(refs[k].columns(), key, p.Mode))
		}
	}
	described := func(t *router.Table) (columns, invisible []mysql.ColumnDefinition41) {
		for _, r := range p.Refs {
			if r.Table == t {
				return r.Columns, r.invisible
			}
		}
		return nil, nil
	}
	b := &builder{
		p:        &Plan{Statement: p.Statement, Mode: p.Mode, Refs: refs, Operator: Refused{}, router: p.router},
		analyzer: newAnalyzer(refs), db: p.Refs[0].Table.DB, catalog: described,
	}
	s := &supposed{plan: b.p, analyzer: b.analyzer, from: p, lie: lie}
	if err := b.build(); err != nil || b.analyzer.crowded || !b.analyzer.budget.take(0) {
		return nil
	}
	b.p.findLookup()
	s.reach = s.reaches()
	return s
}

func (s *supposed) reaches() reach {
	e := new(Execution)
	e.Bind(s.plan, nil)
	if _, one := e.oneNode(); one {
		return oneServer
	}
	switch o := s.plan.Operator.(type) {
	case Refused:
		return refused
	case *Finish:
		switch {
		case o.partial != nil:
			return groupedOnShards
		case o.tableOnly != "":
			return refused
		}
		return collected
	case *Pick, *Transfer:
		return collected
	}
	return answeredByShards
}

// closer reports whether less keeps the shards from answering than with other.
func (s *supposed) closer(other *supposed) bool {
	if s.reach != other.reach {
		return s.reach > other.reach
	}
	return s.analyzer.splits < other.analyzer.splits
}

// otherwise supposes one table, or two that are joined, to lie otherwise than they do here: in each way that the conditions suggest.
func (s *supposed) otherwise() (list []*supposed) {
	try := func(why, step string, places map[*router.Table]*router.Table) *supposed {
		for table := range places {
			if s.lie[table] != nil {
				return nil // it has been placed already
			}
		}
		if *s.tries--; *s.tries < 0 {
			return nil
		}
		lie := maps.Clone(s.lie)
		if lie == nil {
			lie = map[*router.Table]*router.Table{}
		}
		maps.Copy(lie, places)
		t := s.from.suppose(lie)
		if t == nil {
			return nil
		}
		if t.steps = append(slices.Clip(s.steps), step); s.why != "" && why != "" {
			why = s.why + " and " + why
		}
		t.why, t.tries = why, s.tries
		if why == "" {
			t.why = s.why
		}
		list = append(list, t)
		return t
	}
	equal := s.equalities()
	for _, e := range equal {
		for _, pair := range [...]struct {
			anchor, moved *Ref
		}{{e.a, e.b}, {e.b, e.a}} {
			if keys, why := besideBy(pair.anchor, pair.moved, equal); keys != nil {
				try(why, besideStep(pair.anchor, pair.moved, keys), map[*router.Table]*router.Table{s.is(pair.moved): beside(pair.anchor.Table, pair.moved.Table, keys)})
			}
		}
		a, b := e.a.Table, e.b.Table
		switch {
		case a.Kind != router.Sharded || b.Kind != router.Sharded || len(a.Keys) > 1 || len(b.Keys) > 1 || e.a.keyOf(e.x) >= 0 || e.b.keyOf(e.y) >= 0:
		case s.is(e.a) == s.is(e.b):
			if e.x == e.y {
				try(e.String(), a.Name+" sharded by "+e.x, map[*router.Table]*router.Table{s.is(e.a): beside(a, a, []string{e.x})})
			}
		default:
			anchor := beside(a, a, []string{e.x})
			try(e.String(), a.Name+" sharded by "+e.x+" and "+b.Name+" beside it (key: "+e.y+", colocate_with: "+a.Name+")",
				map[*router.Table]*router.Table{s.is(e.a): anchor, s.is(e.b): beside(anchor, b, []string{e.y})})
		}
	}
	for _, g := range s.grouping() {
		if t := g.ref.Table; len(t.Keys) == 1 && g.ref.keyOf(g.column) < 0 {
			try("", t.Name+" sharded by "+g.column+", if that has many values,", map[*router.Table]*router.Table{s.is(g.ref): beside(t, t, []string{g.column})})
		}
	}
	tried := map[*router.Table]bool{}
	for _, r := range s.plan.Refs {
		table := s.is(r)
		if r.Table.Kind == router.Reference || tried[table] || s.plan.Target != nil && s.is(s.plan.Target) == table || !s.othersSharded(table) {
			continue
		}
		tried[table] = true
		if t := try("", r.Table.Name+" as a reference table", map[*router.Table]*router.Table{table: s.everywhere(r.Table)}); t != nil && len(s.steps) == 0 {
			t.small = r.Table.Name
		}
	}
	return list
}

// is gives the table that a reference names in truth.
func (s *supposed) is(r *Ref) *router.Table { return s.from.Refs[r.index].Table }

// othersSharded reports whether the statement has a sharded table but this one.
func (s *supposed) othersSharded(table *router.Table) bool {
	return slices.ContainsFunc(s.plan.Refs, func(r *Ref) bool { return r.Table.Kind == router.Sharded && s.is(r) != table })
}

// besideBy gives the columns of moved that equal anchor's sharding key, and what says so; nil if they do not, or the tables lie by them already.
func besideBy(anchor, moved *Ref, equal []equality) (keys []string, why string) {
	if anchor.Table.Kind != router.Sharded || anchor.Table == moved.Table || moved.Table.Kind == router.Reference {
		return nil, ""
	}
	for k, key := range anchor.Table.Keys {
		at := slices.IndexFunc(equal, func(e equality) bool {
			return e.a == anchor && e.b == moved && router.SameColumn(e.x, key) || e.b == anchor && e.a == moved && router.SameColumn(e.y, key)
		})
		if at < 0 {
			return nil, ""
		}
		if equal[at].a == moved {
			keys = append(keys, equal[at].x)
		} else {
			keys = append(keys, equal[at].y)
		}
		if k > 0 {
			why += " and "
		}
		why += equal[at].String()
	}
	if anchor.Table.Colocated(moved.Table) && slices.Equal(keys, moved.Table.Keys) {
		return nil, ""
	}
	return keys, why
}

// besideStep tells of a table that is placed beside another one.
func besideStep(anchor, moved *Ref, keys []string) string {
	key := ""
	switch {
	case slices.Equal(keys, moved.Table.Keys):
	case len(keys) == 1:
		key = "key: " + keys[0] + ", "
	default:
		key = "key: [" + strings.Join(keys, ", ") + "], "
	}
	return moved.Table.Name + " beside " + anchor.Table.Name + " (" + key + "colocate_with: " + anchor.Table.Name + ")"
}

// beside is a table with other keys whose rows lie where those of anchor with equal keys do.
func beside(anchor, t *router.Table, keys []string) *router.Table {
	other := &router.Table{DB: t.DB, Name: t.Name, Kind: router.Sharded, Keys: keys, Rule: anchor.Rule, Nodes: anchor.Nodes}
	for _, shard := range anchor.Shards {
		other.Shards = append(other.Shards, router.Shard{Node: shard.Node, DB: t.DB, Table: t.Name})
	}
	return other
}

// everywhere is a table with all its rows on each node of the statement.
func (s *supposed) everywhere(t *router.Table) *router.Table {
	other := &router.Table{DB: t.DB, Name: t.Name, Kind: router.Reference}
	for _, r := range s.plan.Refs {
		for _, node := range r.Table.Nodes {
			if !slices.Contains(other.Nodes, node) {
				other.Nodes = append(other.Nodes, node)
				other.Shards = append(other.Shards, router.Shard{Node: node, DB: t.DB, Table: t.Name})
			}
		}
	}
	other.Rule, _ = rule.NewReference(len(other.Shards))
	return other
}

// groupedBy is a column by which rows are grouped.
type groupedBy struct {
	ref    *Ref
	column string
}

// grouping finds the columns of sharded tables by which blocks group, take rows apart or have windows.
func (s *supposed) grouping() (list []groupedBy) {
	for _, sc := range s.analyzer.blocks {
		exprs := slices.Clone(sc.block.Group)
		if sc.block.Distinct && len(exprs) == 0 {
			exprs = fieldExprs(sc.block)
		}
		for _, f := range fieldExprs(sc.block) {
			f.Walk(func(e *sqlparse.Expr) bool {
				if e.Op == sqlparse.Window {
					exprs = append(exprs, e.Partition...)
				}
				return true
			})
		}
		for _, e := range exprs {
			r, column := sc.columnOf(output(sc.block, e))
			if g := (groupedBy{r, lower(column)}); r != nil && r.Table.Kind == router.Sharded && !slices.Contains(list, g) {
				list = append(list, g)
			}
		}
	}
	return list
}
