package plan

import (
	"math"
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/value"
	"kingshard/router"
	"kingshard/router/rule"
)

// Route is where one execution of a plan goes.
type Route struct {
	// One is the whole statement for one server; nil when there are several shards.
	One *Query
	// Many is the plan's way for several shards; Queries are what it sends, in the order of nodes, and for a table with
	// several shards on one node in the order of shards.
	Many    Many
	Queries []Query
	// Positions are the shards of the sharded tables.
	Positions rule.Set
	// Merge, Offset and Limit belong to ManyMerge. Column numbers from Hidden on in Merge are of hidden columns and count
	// from the first of them: the number of visible columns, which a star may hide, is added when the result is known.
	Merge         *Merge
	Hidden        int // number of hidden columns
	Offset, Limit uint64
	// Scratch belongs to ManyFinish.
	// Rest are those of the other tables, to be filled too where the statement ends on a connection that does not take part
	// in the client's transaction.
	Scratch, Rest []Scratch
	Final         func(names map[*Ref]string) Query
}

// Scratch is a table to fill with the rows of one reference.
type Scratch struct {
	Ref     *Ref
	Columns []string
	// Model is a physical table of the same columns; it is on the node where the statement ends.
	Model   string
	Queries []Query
}

// hiddenBase is added to the numbers of hidden columns in a Route's Merge.
const hiddenBase = 1 << 20

// HiddenColumn tells whether a column number of a Route's Merge is a hidden one's, and which.
func HiddenColumn(n int) (k int, hidden bool) { return n - hiddenBase, n >= hiddenBase }

// Route finds the shards for the values of one execution: those of the statement's parameters, in order.
func (p *Plan) Route(args []value.Value) (Route, error) {
	switch p.Many {
	case ManyEach:
		return p.each(), nil
	case ManyFirst:
		_, place := p.position(0)
		q := p.whole(place(p.Refs[0]).Node, place)
		return Route{One: &q, Many: p.Many}, nil
	case ManyInsert:
		return p.routeInsert(args)
	}
	if p.Target != nil && p.Target.Table.Kind == router.Reference && len(p.Target.Table.Shards) > 1 {
		if p.Many == ManyRefuse {
			return Route{}, Refuse("%s", p.Reason)
		}
		return p.writes(rule.All(len(p.Target.Table.Shards))), nil
	}
	if q, ok := p.one(args); ok {
		return Route{One: &q, Many: p.Many}, nil
	}
	switch p.Many {
	case ManyRefuse:
		return Route{}, Refuse("%s", p.Reason)
	case ManyFinish:
		return p.routeFinish(args)
	}
	set := p.positions(args)
	if len(set) == 1 {
		node, place := p.position(set[0])
		q := p.whole(node, place)
		return Route{One: &q, Many: p.Many, Positions: set}, nil
	}
	if p.Many == ManyWrite {
		return p.writes(set), nil
	}
	return p.routeMerge(set, args)
}

// one finds the one server that has all the rows, if there is one.
func (p *Plan) one(args []value.Value) (Query, bool) {
	var room [8]int
	at := room[:0]
	node := ""
	open := false
	for _, r := range p.Refs {
		position := unplaced
		switch r.Table.Kind {
		case router.Single:
			position = 0
		case router.Sharded:
			set := r.Shards(args)
			if len(set) > 1 {
				return Query{}, false
			}
			if len(set) == 1 {
				position = set[0]
			}
		}
		at = append(at, position)
		if position == unplaced {
			open = true
			continue
		}
		if n := r.Table.Shards[position].Node; node == "" {
			node = n
		} else if node != n {
			return Query{}, false
		}
	}
	if open && !p.fill(at, &node) {
		return Query{}, false
	}
	return p.whole(node, func(r *Ref) router.Shard { return r.Table.Shards[at[r.index]] }), true
}

// unplaced is the position of a table that no condition places.
const unplaced = -1

// fill places the tables that any node may serve: those that are whole everywhere, and those of which no row matters.
func (p *Plan) fill(at []int, node *string) bool {
	for k, r := range p.Refs {
		if at[k] != unplaced {
			continue
		}
		for i, s := range r.Table.Shards {
			if *node == "" || s.Node == *node {
				at[k] = i
				break
			}
		}
		if at[k] == unplaced {
			return false
		}
		*node = r.Table.Shards[at[k]].Node
	}
	return true
}

// positions gives the shards of a statement whose sharded tables are all at one position, one at least.
func (p *Plan) positions(args []value.Value) rule.Set {
	var set rule.Set
	first := true
	for _, r := range p.Refs {
		if r.Table.Kind != router.Sharded || r.nullable || r.sub {
			continue
		}
		s := r.Shards(args)
		if first {
			set, first = s, false
		} else {
			set = set.Intersect(s)
		}
	}
	if len(set) == 0 {
		return rule.NewSet(0)
	}
	return set
}

func (p *Plan) each() Route {
	r := Route{Many: ManyEach, Positions: rule.All(len(p.Target.Table.Shards))}
	for _, at := range r.Positions {
		_, place := p.position(at)
		if p.Target.Table.Kind != router.Sharded {
			node := p.Target.Table.Shards[at].Node
			place = func(x *Ref) router.Shard { return onNode(x, node) }
		}
		r.Queries = append(r.Queries, p.whole(p.Target.Table.Shards[at].Node, place))
	}
	return r
}

func (p *Plan) writes(set rule.Set) Route {
	r := Route{Many: ManyWrite, Positions: set}
	for _, at := range set {
		node, place := p.position(at)
		if p.Target.Table.Kind == router.Reference {
			node = p.Target.Table.Shards[at].Node
			place = func(x *Ref) router.Shard { return onNode(x, node) }
		}
		r.Queries = append(r.Queries, p.whole(node, place))
	}
	return r
}

func (p *Plan) routeInsert(args []value.Value) (Route, error) {
	positions, err := p.InsertShards(args)
	if err != nil {
		return Route{}, err
	}
	set := rule.NewSet(positions...)
	if len(set) == 1 {
		node, place := p.position(set[0])
		q := p.whole(node, place)
		return Route{One: &q, Many: ManyInsert, Positions: set}, nil
	}
	r := Route{Many: ManyInsert, Positions: set}
	for _, at := range set {
		var rows []int
		for k, position := range positions {
			if position == at {
				rows = append(rows, k)
			}
		}
		r.Queries = append(r.Queries, p.insertQuery(at, rows))
	}
	return r, nil
}

// number gives the value of a LIMIT operand.
func number(e *sqlparse.Expr, args []value.Value) (uint64, bool) {
	o, ok := operandOf(e)
	if !ok {
		return 0, false
	}
	v, ok := o.of(args)
	if !ok || v.Kind() != value.Int && v.Kind() != value.Uint || v.Kind() == value.Int && v.Int() < 0 {
		return 0, false
	}
	return v.Uint(), true
}

func (p *Plan) routeMerge(set rule.Set, args []value.Value) (Route, error) {
	m := p.merge
	r := Route{Many: ManyMerge, Positions: set, Hidden: len(m.hidden), Limit: math.MaxUint64, Merge: &Merge{}}
	rows := int64(-1)
	if m.limit != nil {
		var ok bool
		if r.Limit, ok = number(m.limit.Count, args); !ok {
			return Route{}, Refuse("LIMIT must be a whole number")
		}
		if m.limit.Offset != nil {
			if r.Offset, ok = number(m.limit.Offset, args); !ok {
				return Route{}, Refuse("OFFSET must be a whole number")
			}
		}
		if sum := r.Limit + r.Offset; sum >= r.Limit && sum <= math.MaxInt64 {
			rows = int64(sum)
		}
	}
	for _, o := range m.order {
		k := OrderKey{Column: hiddenBase + o.hidden, Desc: o.desc, Space: o.space}
		r.Merge.Order = append(r.Merge.Order, k)
	}
	for _, g := range m.group {
		r.Merge.Group = append(r.Merge.Group, hiddenBase+m.order[g].hidden)
	}
	for _, a := range m.aggregates {
		x := Aggregate{Func: a.fn, Column: a.column, By: OrderKey{Column: a.column}}
		if a.fn == Avg {
			x.Sum, x.Count = hiddenBase+a.sum, hiddenBase+a.count
		}
		r.Merge.Aggregates = append(r.Merge.Aggregates, x)
	}
	var nodes []string
	byNode := map[string][]int{}
	for _, at := range set {
		node, _ := p.position(at)
		if byNode[node] == nil {
			nodes = append(nodes, node)
		}
		byNode[node] = append(byNode[node], at)
	}
	slices.Sort(nodes)
	for _, node := range nodes {
		r.Queries = append(r.Queries, p.nodeQuery(byNode[node], rows))
	}
	return r, nil
}

func (p *Plan) routeFinish(args []value.Value) (Route, error) {
	node := p.finishNode(args)
	r := Route{Many: ManyFinish}
	for _, ref := range p.Refs {
		if ref.Table.Kind == router.Single && ref.Table.Shards[0].Node != node {
			return Route{}, Refuse("the tables of the statement are on several nodes: %s is on %s", ref.Parsed.Name, ref.Table.Shards[0].Node)
		}
		if ref.Table.Kind == router.Reference && onNode(ref, node).Node != node {
			return Route{}, Refuse("the table %s is not on node %s", ref.Parsed.Name, node)
		}
	}
	for _, g := range p.finish.gathers {
		r.Scratch = append(r.Scratch, p.gather(g, node, args))
	}
	for _, g := range p.finish.rest {
		r.Rest = append(r.Rest, p.whole1(g, node))
	}
	r.Final = func(names map[*Ref]string) Query {
		return p.whole(node, func(ref *Ref) router.Shard {
			if name, ok := names[ref]; ok {
				return router.Shard{Node: node, DB: ref.Table.DB, Table: name}
			}
			return onNode(ref, node)
		})
	}
	return r, nil
}

// whole1 writes the statement that collects a table that is whole on a node.
func (p *Plan) whole1(g Gather, node string) Scratch {
	shard := onNode(g.Ref, node)
	name := quote(shard.DB) + "." + quote(shard.Table)
	return Scratch{Ref: g.Ref, Model: name, Queries: []Query{{Node: node, Text: "SELECT * FROM " + name, Shards: []router.Shard{shard}}}}
}

// finishNode is where the statement ends: the node of a table that is there only, else that of the first rows.
func (p *Plan) finishNode(args []value.Value) string {
	for _, r := range p.Refs {
		if r.Table.Kind == router.Single {
			return r.Table.Shards[0].Node
		}
	}
	g := p.finish.gathers[0].Ref
	return g.Table.Shards[0].Node
}

// gather writes the statements that collect the rows of one reference.
func (p *Plan) gather(g Gather, node string, args []value.Value) Scratch {
	s := Scratch{Ref: g.Ref, Columns: g.Columns}
	shards := g.Ref.Table.Shards
	model := shards[0]
	for _, shard := range shards {
		if shard.Node == node {
			model = shard
			break
		}
	}
	s.Model = quote(model.DB) + "." + quote(model.Table)
	byNode := map[string]*Query{}
	for _, at := range g.Ref.Shards(args) {
		shard := shards[at]
		w := writer{p: p, place: func(*Ref) router.Shard { return shard }}
		w.add("SELECT ")
		for k, c := range g.Columns {
			if k > 0 {
				w.add(", ")
			}
			if d := g.Ref.column(c); d != nil && d.Type == mysql.TypeFloat {
				w.add("(", quote(c), ")+0e0") // text shows six digits only
			} else {
				w.add(quote(c))
			}
		}
		w.add(" FROM ", quote(shard.DB), ".", quote(shard.Table), " AS ", quote(g.Ref.Parsed.Label()))
		for k, span := range g.Where {
			if k == 0 {
				w.add(" WHERE (")
			} else {
				w.add(" AND (")
			}
			w.copy(span.Pos, span.End)
			w.add(")")
		}
		q := byNode[shard.Node]
		if q == nil {
			byNode[shard.Node] = &Query{Node: shard.Node, Text: string(w.buf), Args: w.args, Shards: []router.Shard{shard}}
			continue
		}
		q.Text += " UNION ALL " + string(w.buf)
		q.Args = append(q.Args, w.args...)
		q.Shards = append(q.Shards, shard)
	}
	for _, n := range g.Ref.Table.Nodes {
		if q := byNode[n]; q != nil {
			s.Queries = append(s.Queries, *q)
		}
	}
	return s
}

// Sample is the statement for some server that has all of its tables, if there is one: what the server says of its
// columns and parameters holds for all.
func (p *Plan) Sample() Query {
	node := ""
	for _, r := range p.Refs {
		if r.Table.Kind == router.Single {
			node = r.Table.Shards[0].Node
		}
	}
	if node == "" {
		node, _ = p.position(0)
		if node == "" {
			node = p.Refs[0].Table.Shards[0].Node
		}
	}
	return p.whole(node, func(r *Ref) router.Shard { return onNode(r, node) })
}

// MayBeOne tells whether values exist with which the statement goes to one server.
func (p *Plan) MayBeOne() bool {
	for _, r := range p.Refs {
		if r.Table.Kind != router.Sharded || len(r.Table.Shards) == 1 {
			continue
		}
		if len(r.own) == 0 && len(r.from) == 0 && len(r.tuple) < 2 {
			return false
		}
	}
	return true
}

// CalcFoundRows tells whether a merge leaves out the client's SQL_CALC_FOUND_ROWS.
func (p *Plan) CalcFoundRows() bool { return p.merge != nil && p.merge.found }
