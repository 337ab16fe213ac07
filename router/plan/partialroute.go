package plan

import (
	"slices"
	"strings"

	"kingshard/mysql/sqlparse"
	"kingshard/router/rule"
)

// routePartial writes what the shards at these positions get, and what is made of their groups.
func (e *Execution) routePartial(o *Finish, set rule.Set) Route {
	p := e.plan
	var nodes []string
	byNode := map[string][]int{}
	for _, at := range set {
		node := p.nodeAt(at)
		if byNode[node] == nil {
			nodes = append(nodes, node)
		}
		byNode[node] = append(byNode[node], at)
	}
	ends := p.sharded().Table.Nodes
	if o.stays {
		ends = ends[:1]
	}
	had := map[string]int{}
	for node, positions := range byNode {
		had[node] = len(positions)
	}
	ends = withMost(ends, had)
	slices.Sort(nodes)
	on := func(end string) *Finishing { return e.partialOn(o, onNode(p.sharded(), end), nodes, byNode) }
	f := on(ends[0])
	f.Nodes, f.On = ends, on
	return Route{Operator: o, Positions: set, Finishing: f}
}

// partialOn writes what the nodes get for their positions, where it is finished on the node of one.
func (e *Execution) partialOn(o *Finish, end int, nodes []string, byNode map[string][]int) *Finishing {
	s := o.partial
	like := e.partialQuery(s, []int{end}, asTypes)
	scratch := Scratch{Ref: o.gathers[0].Ref, Like: &like, Instants: s.instants()}
	for _, node := range nodes {
		q := e.partialQuery(s, byNode[node], asRows)
		if len(scratch.Instants) > 0 {
			q.Moved = e.partialQuery(s, byNode[node], asMoved).Text
		}
		scratch.Queries = append(scratch.Queries, q)
	}
	describe := e.describe(s, end)
	f := &Finishing{Scratch: []Scratch{scratch}, Describe: &describe}
	f.Final = func(names map[*Ref]string) Query { return e.partialFinal(o, end, names[scratch.Ref]) }
	return f
}

// rest is where the clauses begin that are for the final statement.
func (s *partialShape) rest() int {
	c := &s.clauses
	return firstOf(c.Tail, c.GroupBy, c.Having, c.OrderBy, c.Limit)
}

// firstOf is where the first of some clauses begins, in their order in the text; tail is what is behind them.
func firstOf(tail int, clauses ...sqlparse.Span) int {
	for _, c := range clauses {
		if !c.Empty() {
			return c.Pos
		}
	}
	return tail
}

// instants are the columns of the shards' rows that are TIMESTAMPs.
func (s *partialShape) instants() (columns []int) {
	for k, key := range s.keys {
		if key.instant {
			columns = append(columns, k)
		}
	}
	return columns
}

// partialUse is what the statement for the shards is for.
type partialUse uint8

const (
	asTypes partialUse = iota // of its columns only the types matter
	asRows                    // its rows go into a table of the same server
	asMoved                   // its rows go through the proxy
)

// partialQuery writes the statement for the shards of one node.
func (e *Execution) partialQuery(s *partialShape, positions []int, use partialUse) Query {
	q := Query{Node: e.plan.nodeAt(positions[0])}
	w := e.writer()
	for k, at := range positions {
		e.stand(at)
		w.at = e.at
		q.Shards = e.appendShards(q.Shards)
		if k > 0 {
			w.add(" UNION ALL ")
		}
		s.piece(&w, use)
	}
	q.Text, q.Args = string(w.buf), w.args
	return q
}

func (s *partialShape) piece(w *writer, use partialUse) {
	w.add("SELECT ")
	column := func(k int, part partialPart, name string, whole bool) {
		if k > 0 {
			w.add(", ")
		}
		if whole && use != asTypes {
			part.before, part.behind = "("+part.before, part.behind+")+0e0"
		}
		w.add(part.before)
		w.copy(part.span.Pos, part.span.End)
		w.add(part.behind, " AS ", name)
	}
	for k, key := range s.keys {
		part := partialPart{span: key.span}
		if key.instant && use == asMoved {
			part.before, part.behind = "UNIX_TIMESTAMP(", ")"
		}
		if key.integer {
			part.behind = " DIV 1"
		}
		column(k, part, keyName(k), key.whole)
	}
	for k, part := range s.parts {
		column(len(s.keys)+k, part, partName(k), part.whole)
	}
	w.add(" ")
	w.copy(s.clauses.From, s.rest())
	for k := range s.keys {
		if k == 0 {
			w.add(" GROUP BY ")
		} else {
			w.add(", ")
		}
		w.add(keyName(k))
	}
}

// partNames are the columns of the shards' rows, with what they stand for in the client's text.
func (e *Execution) partNames(s *partialShape) map[string]string {
	names := map[string]string{}
	text := func(at sqlparse.Span) string {
		w := e.writer()
		w.piece(at.Pos, at.End)
		return strings.TrimSpace(string(w.buf))
	}
	for k, key := range s.keys {
		names[keyName(k)] = text(key.span)
	}
	for k, part := range s.parts {
		names[partName(k)] = text(part.shown)
	}
	return names
}

// describe writes the client's statement for the shard at a position, without rows.
func (e *Execution) describe(s *partialShape, at int) Query {
	q := Query{Node: e.stand(at)}
	w := e.writer()
	c := &s.clauses
	w.copy(0, firstOf(c.Tail, c.Limit))
	w.add(" LIMIT 0 ")
	w.copy(c.Tail, c.End)
	q.Text, q.Args = string(w.buf), w.args
	q.Shards = e.appendShards(nil)
	return q
}

// partialFinal writes the statement over the shards' rows, which are in the scratch table of that name on the node of a position.
func (e *Execution) partialFinal(o *Finish, end int, name string) Query {
	if name == "" {
		name = "ks_scratch_0"
	}
	p, s := e.plan, o.partial
	q := Query{Node: e.stand(end), Columns: e.partNames(s)}
	w := e.writer()
	at := 0
	until := func(end int) {
		w.copy(at, end)
		at = end
	}
	fields := s.clauses.Fields[len(s.clauses.Fields)-1].End
	from := func() {
		until(fields)
		w.add(" FROM ", p.quote(o.gathers[0].Ref.Table.DB), ".", p.quote(name), " ")
		at = s.rest()
	}
	for _, r := range s.replaced {
		if at <= fields && r.span.Pos >= fields {
			from()
		}
		until(r.span.Pos)
		w.add(r.text)
		at = r.span.End
	}
	if at <= fields {
		from()
	}
	until(s.clauses.End)
	q.Text, q.Args = string(w.buf), w.args
	return q
}
