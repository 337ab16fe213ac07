package plan

import (
	"math"
	"slices"
	"strings"

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
	// Operator is the plan's, or the simpler one that serves this execution.
	Operator Operator
	// Queries are what it sends, in the order of nodes, and for a table with several shards on one node in the order of shards.
	Queries []Query
	// Positions are the shards of the sharded tables.
	Positions rule.Set
	// Targets are the shards that rows may belong to behind a Move.
	Targets rule.Set
	// Offset and Limit are the values of Merge and of Choose.
	Offset, Limit uint64
	// Finishing are those of Finish; nil for all others.
	Finishing *Finishing
}

// Finishing is what one execution of Finish collects, and the statement on that.
type Finishing struct {
	// Scratch are the tables to fill. Rest are those of the other tables, to be filled too where the statement ends on a connection that does
	// not take part in the client's transaction.
	Scratch, Rest []Scratch
	// InPlace says that those must not be filled: the statement has MATCH ... AGAINST on one of them.
	InPlace bool
	// Final writes the statement, by the names of the scratch tables.
	Final func(names map[*Ref]string) Query
	// Nodes are those on which it may as well end as on the first one, where it does; On has it end on another one of them.
	Nodes []string
	On    func(node string) *Finishing
	// ScratchNode says that it ends on the schema's scratch node, the first of Nodes.
	ScratchNode bool
	// Describe, if set, has the columns of the client's result, and its errors: a statement without rows, to be run ahead
	// of the others where Final ends.
	Describe *Query
}

// Scratch is a table to fill with the rows of one reference.
type Scratch struct {
	Ref     *Ref
	Columns []string
	// Invisible are those of Columns that are to be invisible.
	Invisible []string
	// Model is a physical table of the same columns; it is on the node where the statement ends. Like, if set, is a query
	// there that has the columns, in place of Model and Columns.
	Model string
	Like  *Query
	// Plain is the model where it is on another node, which has to be made first; nil for others.
	Plain   *router.Shard
	Key     []string // of its primary key; nil for none
	Indexes [][]string
	// Copies is how many copies of the table the statement reads beside it, see CopyName.
	Copies  int
	Queries []Query
	// Reduced returns Queries with a further condition, which is no text of the client.
	Reduced    func(condition string) []Query
	Reductions []Reduction
	// Values returns a query of the values of a column, of a table that is not collected and of which not all rows matter; nil for others.
	Values func(column string) Query
	// Conditions is how many conditions Queries have. Distinct says that they give equal rows once.
	Conditions int
	Distinct   bool
	// Instants are the columns, from 0, that come through the proxy as the numbers of UNIX_TIMESTAMP(): the local time of a
	// TIMESTAMP repeats itself when clocks are put back.
	Instants []int
}

// hiddenBase is added to the numbers of hidden columns in a Merge.
const hiddenBase = 1 << 20

// HiddenColumn tells whether a column number of a plan's Merge is a hidden one's, and which.
func HiddenColumn(n int) (k int, hidden bool) { return n - hiddenBase, n >= hiddenBase }

// Route finds the shards for the values of the execution.
func (e *Execution) Route() (Route, error) {
	p := e.plan
	switch o := p.Operator.(type) {
	case *Each:
		if !o.drop.Empty() {
			return o.perNode(p), nil
		}
		return e.each(), nil
	case Forward:
		e.stand(0)
		return Route{One: e.whole(p.Refs[0].shard(e.at).Node), Operator: o}, nil
	case *Insert:
		return e.routeInsert(o)
	case *Load:
		return e.loads(), nil
	case *InsertSelect:
		return e.routeCounts(o)
	case *Transfer:
		if len(p.Target.Table.Shards) > 1 || len(p.keeps) > 0 {
			return Route{}, ErrTransfers // where rows are read says nothing of where they belong
		}
	case *Pick:
		if o.always {
			return Route{}, ErrPicks
		}
	}
	if p.Target != nil && p.Target.Table.Kind == router.Reference && len(p.Target.Table.Shards) > 1 {
		switch p.Operator.(type) {
		case Refused:
			return Route{}, Refuse("%s", p.Reason)
		case *Pick:
			return Route{}, ErrPicks
		}
		return e.writes(rule.All(len(p.Target.Table.Shards)))
	}
	if p.moves != nil {
		if r, moves, err := p.moves.route(e); moves {
			return r, err
		}
	}
	if m, ok := p.Operator.(*Merge); ok && e.Apart {
		return e.routeMerge(m, e.positionSet())
	}
	if node, ok := e.oneNode(); ok {
		return Route{One: e.wholeAgain(node), Operator: p.Operator}, nil
	}
	switch o := p.Operator.(type) {
	case Refused:
		return Route{}, Refuse("%s", p.Reason)
	case *Finish:
		return e.routeFinish(o)
	case *Transfer:
		return Route{}, ErrTransfers
	case *Pick:
		return Route{}, ErrPicks
	}
	set := e.positionSet()
	if len(set) == 1 {
		return Route{One: e.whole(e.stand(set[0])), Operator: p.Operator, Positions: set}, nil
	}
	switch o := p.Operator.(type) {
	case Change:
		return e.writes(set)
	case *Choose:
		return e.chooses(o)
	}
	return e.routeMerge(p.Operator.(*Merge), set)
}

// oneNode finds the one server that has all the rows, if there is one, and the places of the tables there.
func (e *Execution) oneNode() (node string, ok bool) {
	e.at = e.at[:0]
	open := false
	for _, r := range e.plan.Refs {
		position := unplaced
		switch r.Table.Kind {
		case router.Single:
			position = 0
		case router.Sharded:
			set := r.shards(e)
			if len(set) > 1 {
				return "", false
			}
			if len(set) == 1 {
				position = set[0]
			}
		}
		e.at = append(e.at, position)
		if position == unplaced {
			open = true
			continue
		}
		if n := r.Table.Shards[position].Node; node == "" {
			node = n
		} else if node != n {
			return "", false
		}
	}
	if open && !e.fill(&node) {
		return "", false
	}
	return node, true
}

// unplaced is the position of a table that no condition places.
const unplaced = -1

// fill places the tables that any node may serve: those that are whole everywhere, and those of which no row matters.
func (e *Execution) fill(node *string) bool {
	for k, r := range e.plan.Refs {
		if e.at[k] != unplaced {
			continue
		}
		for j, other := range e.plan.Refs {
			if other.Table == r.Table && e.at[j] != unplaced {
				e.at[k] = e.at[j] // a server refuses to change a table that it reads: so it must be the same one
			}
		}
		if e.at[k] != unplaced {
			continue
		}
		for i, s := range r.Table.Shards {
			if *node == "" || s.Node == *node {
				e.at[k] = i
				break
			}
		}
		if e.at[k] == unplaced {
			return false
		}
		*node = r.Table.Shards[e.at[k]].Node
	}
	return true
}

// positionSet gives the shards of a statement whose sharded tables are all at one position, one at least.
func (e *Execution) positionSet() rule.Set {
	var set rule.Set
	first := true
	for _, r := range e.plan.Refs {
		if r.Table.Kind != router.Sharded || r.nullable || r.sub {
			continue
		}
		s := r.shards(e)
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

func (e *Execution) each() Route {
	t := e.plan.Target.Table
	r := Route{Operator: e.plan.Operator, Positions: rule.All(len(t.Shards))}
	for _, at := range r.Positions {
		e.stand(at)
		if t.Kind != router.Sharded {
			e.standOn(t.Shards[at].Node)
		}
		r.Queries = append(r.Queries, *e.whole(t.Shards[at].Node))
	}
	return r
}

func (e *Execution) writes(set rule.Set) (Route, error) {
	r := Route{Operator: Change{}, Positions: set}
	for _, at := range set {
		node := e.stand(at)
		if t := e.plan.Target.Table; t.Kind == router.Reference {
			node = t.Shards[at].Node
			e.standOn(node)
		}
		r.Queries = append(r.Queries, *e.whole(node))
	}
	return r, nil
}

// number gives the value of a LIMIT operand.
func number(e *sqlparse.Expr, values *values) (uint64, bool) {
	o, ok := operandOf(e)
	if !ok {
		return 0, false
	}
	v, ok := o.of(values, 0)
	if !ok || v.Kind() != value.Int && v.Kind() != value.Uint || v.Kind() == value.Int && v.Int() < 0 {
		return 0, false
	}
	return v.Uint(), true
}

func (e *Execution) routeMerge(o *Merge, set rule.Set) (Route, error) {
	p, m := e.plan, o.shape
	r := Route{Operator: o, Positions: set, Limit: math.MaxUint64}
	rows := int64(-1)
	if m.limit != nil {
		var ok bool
		if r.Limit, ok = number(m.limit.Count, &e.values); !ok {
			return Route{}, Refuse("LIMIT must be a whole number")
		}
		if m.limit.Offset != nil {
			if r.Offset, ok = number(m.limit.Offset, &e.values); !ok {
				return Route{}, Refuse("OFFSET must be a whole number")
			}
		}
		if sum := r.Limit + r.Offset; !p.CalcFoundRows() && sum >= r.Limit && sum <= math.MaxInt64 {
			rows = int64(sum)
		}
	}
	e.byNode = append(e.byNode[:0], set...)
	byNode, first := e.byNode, len(e.queries)
	slices.SortStableFunc(byNode, func(a, b int) int { return strings.Compare(p.nodeAt(a), p.nodeAt(b)) })
	for len(byNode) > 0 {
		n := 1
		for n < len(byNode) && p.nodeAt(byNode[n]) == p.nodeAt(byNode[0]) {
			n++
		}
		e.queries = append(e.queries, e.nodeQuery(m, byNode[:n], rows))
		byNode = byNode[n:]
	}
	r.Queries = e.queries[first:]
	return r, nil
}

// merging is what is done with the rows of the shards.
func (m *mergeShape) merging() *Merge {
	r := &Merge{Hidden: len(m.hidden), Distinct: m.distinct, shape: m}
	for _, o := range m.order {
		k := OrderKey{Column: hiddenBase + o.hidden, Desc: o.desc, Space: o.space}
		r.Order = append(r.Order, k)
	}
	for _, g := range m.group {
		r.Group = append(r.Group, hiddenBase+m.order[g].hidden)
	}
	for _, a := range m.aggregates {
		x := Aggregate{Func: a.fn, Column: a.column, By: OrderKey{Column: a.column}}
		if a.fn == Avg {
			x.Sum, x.Count = hiddenBase+a.sum, hiddenBase+a.count
		}
		if a.by != nil {
			x.By = OrderKey{Column: hiddenBase + a.by.hidden, Space: a.by.space}
		}
		r.Aggregates = append(r.Aggregates, x)
	}
	return r
}

func (e *Execution) routeFinish(o *Finish) (Route, error) {
	p := e.plan
	if s := o.partial; s != nil && (!s.bound || e.digest != nil) {
		set := e.positionSet()
		if len(set) == 1 {
			return Route{One: e.whole(e.stand(set[0])), Operator: o, Positions: set}, nil
		}
		return e.routePartial(o, set), nil
	}
	if o.tableOnly != "" {
		return Route{}, Refuse("%s: the rows are collected in a table that has none of it: %s", o.tableOnly, p.Reason)
	}
	gathers, rest, settled := o.gathers, o.rest, false
	if n := o.narrowed; n != nil && !e.Locks && n.holds(&e.values) { // a change locks the rows of subqueries, too, so that these are collected
		gathers, rest, settled = n.gathers, n.rest, true
	}
	if o.settledOnly && !settled {
		return Route{}, Refuse("%s: the rows are collected in a table that has none of it: %s", needsFullText, p.Reason)
	}
	nodes, err := o.nodes(e, p.Refs, gathers)
	if err != nil {
		return Route{}, err
	}
	on := func(node string) *Finishing {
		f := &Finishing{InPlace: o.inPlace}
		c := collecting{e, node, rest, o.lock}
		for _, g := range gathers {
			f.Scratch = append(f.Scratch, c.gather(g))
		}
		for _, g := range rest {
			if has(g.Ref, node) {
				f.Rest = append(f.Rest, c.whole(g))
			} else {
				f.Scratch = append(f.Scratch, c.moved(g))
			}
		}
		f.Final = func(names map[*Ref]string) Query {
			e.standOn(node)
			return *e.wholeNamed(node, names, settled)
		}
		return f
	}
	scratch := o.endsOnScratchNode(e, gathers, nodes[0])
	if scratch {
		nodes = append([]string{p.router.Scratch()}, nodes...)
	}
	f := on(nodes[0])
	f.Nodes, f.On, f.ScratchNode = nodes, on, scratch
	return Route{Operator: o, Finishing: f}, nil
}

// whole writes the statement that collects a table that is whole on a node.
func (c collecting) whole(g Gather) Scratch {
	e, node := c.e, c.node
	shard := g.Ref.Table.Shards[onNode(g.Ref, node)]
	name := e.plan.quote(shard.DB) + "." + e.plan.quote(shard.Table)
	w := e.writer()
	c.locked(&w, g.Ref, func() {
		if len(g.Columns) > 0 {
			all := g
			all.Where = nil
			c.rows(&w, &all, shard, instantNumber, "")
			return
		}
		w.add("SELECT * FROM ", name)
		partition, _ := g.Ref.clauses(e.plan)
		w.behind(partition)
	})
	s := Scratch{Ref: g.Ref, Columns: g.Columns, Invisible: g.Invisible, Instants: g.instants(), Model: name, Key: g.Key, Copies: g.copies, Conditions: len(g.Where), Queries: []Query{{Node: node, Text: string(w.buf), Args: w.args, Shards: []router.Shard{shard}}}}
	if !c.selects(&g, nil) {
		return s
	}
	s.Values = func(column string) Query {
		e.standOn(node)
		w := e.writer()
		c.values(&w, &g, column, nil)
		return Query{Node: node, Text: string(w.buf), Args: w.args, Shards: []router.Shard{shard}}
	}
	return s
}

// moved writes the statement that collects a table of another node, without the rows that its conditions exclude.
func (c collecting) moved(g Gather) Scratch {
	e, shard := c.e, g.Ref.Table.Shards[0]
	e.standOn(shard.Node)
	g.Where = slices.DeleteFunc(slices.Clone(g.Where), func(f filter) bool { return len(f.beside) > 0 })
	w := e.writer()
	c.locked(&w, g.Ref, func() { c.rows(&w, &g, shard, instantNumber, "") })
	s := Scratch{Ref: g.Ref, Columns: g.Columns, Invisible: g.Invisible, Instants: g.instants(), Key: g.Key, Copies: g.copies, Conditions: len(g.Where)}
	s.Queries = []Query{{Node: shard.Node, Text: string(w.buf), Args: w.args, Shards: []router.Shard{shard}}}
	s.like(e.plan, shard, c.node)
	return s
}

// like has a sub-table be the model of a scratch table on a node.
func (s *Scratch) like(p *Plan, model router.Shard, node string) {
	s.Model = p.quote(model.DB) + "." + p.quote(model.Table)
	if model.Node != node {
		s.Plain = &model
	}
}

// restMax is how many tables deep the values of one table are looked for.
const restMax = 3

// met finds the tables of the rest that rows of g have to meet and of which not all rows matter, with the columns on which they meet. around are those that are looked at already.
func (c collecting) met(g *Gather, around []*Ref) (by []*Gather, on []Reduction) {
	around = append(slices.Clip(around), g.Ref)
	if len(around) == restMax {
		return nil, nil
	}
	for _, n := range g.Ref.certainReductions() {
		at := slices.IndexFunc(c.rest, func(other Gather) bool { return other.Ref == n.By })
		if at >= 0 && !slices.Contains(around, n.By) && c.selects(&c.rest[at], around) {
			by, on = append(by, &c.rest[at]), append(on, n)
		}
	}
	return by, on
}

// selects reports whether not all rows of a table of the rest matter.
func (c collecting) selects(g *Gather, around []*Ref) bool {
	if len(g.Where) > 0 {
		return true
	}
	by, _ := c.met(g, around)
	return len(by) > 0
}

// values writes the query of what a column of a table of the rest has in the rows that matter.
func (c collecting) values(w *writer, g *Gather, column string, around []*Ref) {
	shard := g.Ref.shard(w.at)
	w.add("SELECT DISTINCT ", w.p.quote(column), " FROM ", w.p.quote(shard.DB), ".", w.p.quote(shard.Table), " AS ", w.p.quote(g.Ref.Parsed.Label()))
	writeWhere(w, g.Where, "")
	word := " AND "
	if len(g.Where) == 0 {
		word = " WHERE "
	}
	by, on := c.met(g, around)
	for k, n := range on {
		w.add(word, w.p.quote(n.Column), " IN (")
		c.values(w, by[k], n.ByColumn, append(slices.Clip(around), g.Ref))
		w.add(")")
		word = " AND "
	}
}

// collecting writes the statements that collect the rows of an execution on one node.
type collecting struct {
	e    *Execution
	node string
	rest []Gather // see Finish
	lock sqlparse.Span
}

// locked writes what write does, as a query that locks its rows if the statement does: those of its outermost block, and as a part of a change, which Execution.Locks tells, all of them.
func (c collecting) locked(w *writer, r *Ref, write func()) {
	if c.lock.Empty() || !c.e.Locks && r.block != c.e.plan.Statement.Query.Select {
		write()
		return
	}
	w.add("(")
	write()
	w.add(" ")
	w.copy(c.lock.Pos, c.lock.End)
	w.add(")")
}

// gather writes the statements that collect the rows of one reference.
func (c collecting) gather(g Gather) Scratch {
	e, node := c.e, c.node
	s := Scratch{Ref: g.Ref, Columns: g.Columns, Invisible: g.Invisible, Key: g.Key, Indexes: g.Indexes, Copies: g.copies, Conditions: len(g.Where) + len(g.beside), Distinct: g.distinct && c.lock.Empty(), Reductions: g.Ref.certainReductions()}
	s.Reduced = func(condition string) []Query { return c.collected(g, &s, condition) }
	s.Instants = g.instants()
	s.Queries = s.Reduced("")
	model := g.Ref.Table.Shards[0]
	if len(s.Queries) > 0 {
		model = s.Queries[0].Shards[0] // whose node is asked anyway
	}
	for _, shard := range g.Ref.Table.Shards {
		if shard.Node == node {
			model = shard
			break
		}
	}
	s.like(e.plan, model, node)
	return s
}

// instants are the TIMESTAMPs among the columns.
func (g *Gather) instants() (columns []int) {
	for k, name := range g.Columns {
		if d := g.Ref.column(name); d != nil && d.Type == mysql.TypeTimestamp {
			columns = append(columns, k)
		}
	}
	return columns
}

// collected writes the statements that collect the rows of g which meet a further condition, "" for none.
func (c collecting) collected(g Gather, s *Scratch, condition string) (queries []Query) {
	e, node := c.e, c.node
	shards := g.Ref.Table.Shards
	byNode := map[string]*Query{}
	var here []Query
	e.standOn(node)
	positions := g.Ref.shards(e)
	if g.Ref.collected {
		positions = g.Ref.all[onNode(g.Ref, node):][:1]
	}
	for _, at := range positions {
		shard := shards[at]
		e.at[g.Ref.index] = at
		read := []router.Shard{shard}
		for _, r := range g.beside {
			if e.at[r.index] = at; r.Table.Kind != router.Sharded {
				e.at[r.index] = onNode(r, shard.Node)
			}
			read = append(read, *r.shard(e.at))
		}
		w := c.rowsOf(&g, shard, instantNumber, condition)
		if shard.Node == node && len(s.Instants) > 0 {
			// One by one: the rows of MySQL's UNION have local times.
			plain := c.rowsOf(&g, shard, e.plan.instantHere(), condition)
			here = append(here, Query{Node: node, Text: string(plain.buf), Args: plain.args, Moved: string(w.buf), Shards: read})
			continue
		}
		q := byNode[shard.Node]
		if q == nil {
			byNode[shard.Node] = &Query{Node: shard.Node, Text: string(w.buf), Args: w.args, Shards: read}
			continue
		}
		q.Text += " UNION ALL " + string(w.buf)
		q.Args = append(q.Args, w.args...)
		q.Shards = append(q.Shards, read...)
	}
	for _, n := range g.Ref.Table.Nodes {
		if q := byNode[n]; q != nil {
			queries = append(queries, *q)
		}
		if n == node {
			queries = append(queries, here...)
		}
	}
	return queries
}

// instantForm is how collected TIMESTAMPs are written.
type instantForm uint8

const (
	instantColumn instantForm = iota // as the column is
	instantNumber                    // of UNIX_TIMESTAMP(), through the proxy
	instantOffset                    // as text with the offset of UTC
)

// instantHere is how TIMESTAMPs are written whose rows go into a table of the same server. MySQL copies them as local times
// under NO_ZERO_DATE, NO_ZERO_IN_DATE and ALLOW_INVALID_DATES, so under its default sql_mode; an offset is read since 8.0.19.
func (p *Plan) instantHere() instantForm {
	if p.Mode.MariaDB || p.Mode.ServerVersion < 80019 {
		return instantColumn
	}
	return instantOffset
}

// rowsOf writes the statement that collects the rows of one shard.
func (c collecting) rowsOf(g *Gather, shard router.Shard, instants instantForm, condition string) writer {
	w := c.e.writer()
	c.locked(&w, g.Ref, func() { c.rows(&w, g, shard, instants, condition) })
	return w
}

// rows writes that statement but for its locks.
func (c collecting) rows(w *writer, g *Gather, shard router.Shard, instants instantForm, condition string) {
	e := c.e
	w.add("SELECT ")
	if g.distinct && c.lock.Empty() {
		w.add("DISTINCT ")
	}
	if len(g.Columns) == 0 {
		w.add("*")
	}
	for k, name := range g.Columns {
		if k > 0 {
			w.add(", ")
		}
		d := g.Ref.column(name)
		switch {
		case d != nil && d.Type == mysql.TypeFloat:
			w.add("(", e.plan.quote(name), ")+0e0") // text shows six digits only
		case d != nil && d.Type == mysql.TypeTimestamp && instants == instantNumber:
			w.add("UNIX_TIMESTAMP(", e.plan.quote(name), ")")
		case d != nil && d.Type == mysql.TypeTimestamp && instants == instantOffset:
			w.add("CONCAT('1970-01-01' + INTERVAL UNIX_TIMESTAMP(", e.plan.quote(name), ") SECOND, '+00:00')")
		default:
			w.add(e.plan.quote(name))
		}
	}
	w.add(" FROM ", e.plan.quote(shard.DB), ".", e.plan.quote(shard.Table))
	partition, hints := g.Ref.clauses(e.plan)
	w.behind(partition)
	w.add(" AS ", e.plan.quote(g.Ref.Parsed.Label()))
	w.behind(hints)
	where := g.Where
	if e.Locks && len(g.beside) > 0 { // rows of its subqueries have to be locked, too, and are collected
		where = slices.DeleteFunc(slices.Clone(where), func(f filter) bool { return len(f.beside) > 0 })
	}
	writeWhere(w, where, condition)
}

// clauses finds PARTITION (p) and the index hints of a reference in the text.
func (r *Ref) clauses(p *Plan) (partition, hints sqlparse.Span) {
	if r.Parsed.Clause == "" || r.Parsed.At.Empty() {
		return partition, hints
	}
	return sqlparse.TableClauses(p.Statement.Text, r.Parsed.At.End, p.Mode)
}

// behind writes a clause of the text behind what is written, if there is one.
func (w *writer) behind(clause sqlparse.Span) {
	if !clause.Empty() {
		w.add(" ")
		w.piece(clause.Pos, clause.End)
	}
}

// writeWhere writes conditions of the text and a further one, "" for none.
func writeWhere(w *writer, list []filter, condition string) {
	word := " WHERE "
	for _, f := range list {
		w.add(word)
		f.write(w)
		word = " AND "
	}
	if condition != "" {
		w.add(word, condition)
	}
}

// write writes the condition.
func (f filter) write(w *writer) {
	open, end := "(", ")"
	if len(f.alternatives) > 1 {
		open, end = "((", "))"
	}
	for k, spans := range f.alternatives {
		if k > 0 {
			w.add(") OR (")
		} else {
			w.add(open)
		}
		for i, span := range spans {
			if i > 0 {
				w.add(") AND (")
			}
			w.copy(span.Pos, span.End)
		}
	}
	w.add(end)
}

// Sample is the statement for the server of some node: what the server says of its columns and parameters holds for all. lacks are those of its tables that the node
// has not.
func (p *Plan) Sample() (one Query, lacks []router.Shard) {
	node := ""
	for _, r := range p.Refs {
		if r.Table.Kind == router.Single {
			node = r.Table.Shards[0].Node
		}
	}
	if node == "" {
		node = p.nodeAt(0)
		if node == "" {
			node = p.Refs[0].Table.Shards[0].Node
		}
	}
	for _, r := range p.Refs {
		if shard := r.Table.Shards[0]; !has(r, node) && !slices.Contains(lacks, shard) {
			lacks = append(lacks, shard)
		}
	}
	e := &Execution{plan: p}
	e.standOn(node)
	return *e.whole(node), lacks
}

// Apart reports whether the statement names tables of which each is on one node alone, and not all on the same one: no server can prepare it.
func (p *Plan) Apart() bool {
	node := ""
	for _, r := range p.Refs {
		if r.Table.Kind != router.Single {
			continue
		}
		if node != "" && node != r.Table.Nodes[0] {
			return true
		}
		node = r.Table.Nodes[0]
	}
	return false
}

// MayBeOne tells whether values exist with which the statement goes to one server.
func (p *Plan) MayBeOne() bool {
	if p.lookup != nil {
		return true
	}
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

// CalcFoundRows tells whether FOUND_ROWS() is to be the number of rows without LIMIT. A merge leaves the option out of the
// shards' texts, and their LIMIT: its rows are to be counted.
func (p *Plan) CalcFoundRows() bool {
	q := p.Statement.Query
	for q != nil && q.Select == nil && len(q.Parts) > 0 {
		q = q.Parts[0]
	}
	return q != nil && q.Select != nil && q.Select.CalcFoundRows
}
