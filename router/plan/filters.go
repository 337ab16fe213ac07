package plan

import (
	"slices"
	"strings"

	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// filter is a condition on the rows of one table, in pieces of the statement's text: all of those of one of the alternatives hold.
type filter struct {
	alternatives [][]sqlparse.Span
	// beside are the tables of its subqueries.
	beside []*Ref
	// expr is the condition itself, and block where it stands; nil for what another condition implies.
	expr  *sqlparse.Expr
	block *scope
}

// besides are the tables of all the subqueries.
func besides(list []filter) (refs []*Ref) {
	for _, f := range list {
		refs = append(refs, f.beside...)
	}
	return refs
}

// filterBlocks is how many query blocks a statement may have for their conditions to be looked for: each takes a walk over its text, subqueries included.
const filterBlocks = 32

// filterSpans is how many pieces of text the alternatives of a condition may have.
const filterSpans = 64

// filters finds the conditions of WHERE and of ON, in each query block, that concern one table of the block alone: a row that fails them has no part in what the block gives.
func (a *analyzer) filters(p *Plan) map[*Ref][]filter {
	found := map[*Ref][]filter{}
	if len(a.blocks) > filterBlocks {
		return found
	}
	for _, block := range a.blocks {
		if block.block.Where != nil || block.block.From != nil && block.block.From.Join != nil {
			a.blockFilters(p, block, found)
		}
	}
	return found
}

// blockFilters adds what a block says of one of its tables alone to found. A block whose text is not certain adds nothing.
func (a *analyzer) blockFilters(p *Plan, block *scope, found map[*Ref][]filter) {
	var own []*Ref
	for _, r := range p.Refs {
		if r.block == block.block && !r.Parsed.At.Empty() {
			own = append(own, r)
		}
	}
	if len(own) == 0 {
		return
	}
	st := p.Statement
	around, ok := sqlparse.BlockAround(st.Text, own[0].Parsed.At, p.Mode)
	if !ok {
		return
	}
	text := st.Text[around.Pos:around.End]
	c, ok := sqlparse.SelectClauses(text, p.Mode)
	if !ok {
		return
	}
	b := blockText{a, block, text, around.Pos, own}
	if block.block.Where != nil {
		b.where(c.Where, p.Mode, found)
	}
	if joins := joinsOn(block.block.From); len(joins) > 0 && !block.block.Windows {
		from := sqlparse.Span{Pos: c.From, End: firstOf(c.Tail, c.Where, c.GroupBy, c.Having, c.OrderBy, c.Limit)}
		if list, ok := sqlparse.JoinConditions(text, from, p.Mode); ok && len(list) == len(joins) {
			for k, j := range joins {
				b.on(j, list[k], p.Mode, found)
			}
		}
	}
}

// blockText is a query block with its text, which begins at a place of the statement's. own are the references in it.
type blockText struct {
	a     *analyzer
	block *scope
	text  string
	at    int
	own   []*Ref
}

// shift returns the span in the statement of one in the block.
func (b *blockText) shift(s sqlparse.Span) sqlparse.Span {
	return sqlparse.Span{Pos: b.at + s.Pos, End: b.at + s.End}
}

// apart takes a condition apart at its ANDs; nil where its text is not certain.
func (b *blockText) apart(clause sqlparse.Span, e *sqlparse.Expr, m sqltext.Mode) []condText {
	text, ok := sqlparse.TakeApart(b.text, clause, m)
	if !ok {
		return nil
	}
	list, ok := match(text, e, sqlparse.And)
	if !ok {
		return nil
	}
	return list
}

// where takes WHERE, which says nothing of tables that an outer join may miss.
func (b *blockText) where(clause sqlparse.Span, m sqltext.Mode, found map[*Ref][]filter) {
	add := func(r *Ref, f filter) {
		if !r.nullable {
			found[r] = append(found[r], f)
		}
	}
	for _, one := range b.apart(clause, b.block.block.Where, m) {
		whole := [][]sqlparse.Span{{b.shift(one.text.Span)}}
		concerns, beside, ok := b.a.concerns(one.expr, b.block)
		switch {
		case ok && concerns != nil:
			add(concerns, filter{whole, beside, one.expr, b.block})
		case ok && len(beside) == 0:
			for _, r := range b.own {
				add(r, filter{alternatives: whole})
			}
		case one.expr.Op == sqlparse.Or:
			for r, alternatives := range b.a.implied(one, b.block, b.shift) {
				add(r, filter{alternatives: alternatives})
			}
		}
	}
}

// on takes ON of a join, which says nothing of the rows that the join keeps.
func (b *blockText) on(j *sqlparse.Join, clause sqlparse.Span, m sqltext.Mode, found map[*Ref][]filter) {
	decided := b.a.decided(j)
	for _, one := range b.apart(clause, j.On, m) {
		r, beside, ok := b.a.concerns(one.expr, b.block)
		if ok && r != nil && len(beside) == 0 && slices.Contains(decided, r) && b.names(one) {
			found[r] = append(found[r], filter{[][]sqlparse.Span{{b.shift(one.text.Span)}}, nil, one.expr, b.block})
		}
	}
}

// names reports whether the text of a condition has the columns that the condition names: joins are written in an order of their own.
func (b *blockText) names(c condText) bool {
	text := lower(b.text[c.text.Pos:c.text.End])
	return c.expr.All(func(x *sqlparse.Expr) bool {
		return x.Op != sqlparse.Column || strings.Contains(text, lower(x.Name)) && strings.Contains(text, lower(x.Table))
	})
}

// decided lists the tables of which a join gives no row that fails its ON.
func (a *analyzer) decided(j *sqlparse.Join) (refs []*Ref) {
	if j.Kind != sqlparse.Left {
		refs = a.kept(j.Left)
	}
	if j.Kind != sqlparse.Right {
		refs = append(refs, a.kept(j.Right)...)
	}
	return refs
}

// kept lists the tables under a tree that no outer join in it may miss.
func (a *analyzer) kept(f *sqlparse.From) (refs []*Ref) {
	switch {
	case f == nil:
	case f.Table != nil:
		if r := a.byTable[f.Table]; r != nil {
			return []*Ref{r}
		}
	case f.Join != nil:
		if f.Join.Kind != sqlparse.Right {
			refs = a.kept(f.Join.Left)
		}
		if f.Join.Kind != sqlparse.Left {
			refs = append(refs, a.kept(f.Join.Right)...)
		}
	}
	return refs
}

// condText is a condition and its text.
type condText struct {
	expr *sqlparse.Expr
	text sqlparse.ConditionText
}

// match takes a condition apart at its ANDs, or ORs, with its text; ok is false where the two are not the same.
func match(text sqlparse.ConditionText, e *sqlparse.Expr, op sqlparse.Op) (list []condText, ok bool) {
	exprs := apart(e, op)
	if len(exprs) == 1 {
		return []condText{{e, text}}, true
	}
	if len(text.Parts) != len(exprs) || text.Op != op {
		return nil, false
	}
	for k, part := range text.Parts {
		list = append(list, condText{exprs[k], part})
	}
	return list, true
}

// apart takes a condition apart at its ANDs, or its ORs.
func apart(e *sqlparse.Expr, op sqlparse.Op) (list []*sqlparse.Expr) {
	var walk func(*sqlparse.Expr)
	walk = func(e *sqlparse.Expr) {
		if e.Op != op {
			list = append(list, e)
			return
		}
		for _, arg := range e.Args {
			walk(arg)
		}
	}
	walk(e)
	return list
}

// implied finds what an OR says of tables' rows: each of its alternatives has to say something of the table.
func (a *analyzer) implied(or condText, block *scope, shift func(sqlparse.Span) sqlparse.Span) map[*Ref][][]sqlparse.Span {
	list, ok := match(or.text, or.expr, sqlparse.Or)
	if !ok || len(list) > filterSpans {
		return nil
	}
	found := map[*Ref][][]sqlparse.Span{}
	count := 0
	for k, alternative := range list {
		parts, ok := match(alternative.text, alternative.expr, sqlparse.And)
		if count += len(parts); !ok || count > filterSpans {
			return nil
		}
		for _, part := range parts {
			r, beside, ok := a.concerns(part.expr, block)
			if !ok || r == nil || len(beside) > 0 || len(found[r]) < k { // or an alternative ahead says nothing of it
				continue
			}
			if len(found[r]) == k {
				found[r] = append(found[r], nil)
			}
			found[r][k] = append(found[r][k], shift(part.text.Span))
		}
		for r := range found {
			if len(found[r]) <= k {
				delete(found, r)
			}
		}
	}
	return found
}

// concerns finds the one table of a block that a condition is about, nil for one about none, and the tables of the condition's subqueries, all of whose rows that matter for a row of the
// table are on its shard. ok is false for a condition about several, and for one that a shard may not be asked.
func (a *analyzer) concerns(e *sqlparse.Expr, block *scope) (only *Ref, beside []*Ref, ok bool) {
	if block.outer != nil && !quiet(e) || !stable(e) || e.Has(sqlparse.Scalar, sqlparse.Quantify, sqlparse.Variable, sqlparse.Default, sqlparse.Values) {
		return nil, nil, false
	}
	one := func(x *sqlparse.Expr, from *scope) bool {
		r, _, at := from.resolve(x)
		if r == nil || !from.certain(x, at) || at != block && at != from || at == block && only != nil && only != r {
			return false
		}
		if at == block {
			only = r
		}
		return true
	}
	ok = e.All(func(x *sqlparse.Expr) bool { return x.Op != sqlparse.Column || one(x, block) })
	queries := queriesIn(e)
	if !ok || len(queries) == 0 {
		return only, nil, ok
	}
	for _, q := range queries {
		inner := a.plainSubquery(q)
		if inner == nil || !inner.columns(func(x *sqlparse.Expr) bool { return one(x, inner) }) {
			return nil, nil, false
		}
		for _, en := range inner.entries {
			beside = append(beside, en.ref)
		}
	}
	if only == nil || only.Table.Kind != router.Sharded {
		return nil, nil, false
	}
	for _, q := range queries {
		if !a.beside(a.scopeOf[q.Select], only) {
			return nil, nil, false
		}
	}
	return only, beside, true
}

// queriesIn lists the subqueries of an expression that are in no other one.
func queriesIn(e *sqlparse.Expr) (queries []*sqlparse.Query) {
	e.Walk(func(x *sqlparse.Expr) bool {
		if x.Query != nil {
			queries = append(queries, x.Query)
		}
		return true
	})
	return queries
}

// plainSubquery returns the scope of a subquery of one block over tables, without subqueries of its own, that gives no errors and no warnings; nil for another one.
func (a *analyzer) plainSubquery(q *sqlparse.Query) *scope {
	s := q.Select
	if s == nil || len(q.With) > 0 || q.Limit != nil || s.Windows || s.Rollup {
		return nil
	}
	inner := a.scopeOf[s]
	if inner == nil || len(inner.entries) == 0 || slices.ContainsFunc(inner.entries, func(en entry) bool { return en.ref == nil || en.ref.Parsed.At.Empty() }) {
		return nil
	}
	if !inner.columns(func(*sqlparse.Expr) bool { return true }) {
		return nil
	}
	return inner
}

// columns calls f with the columns that a block names until it returns false; it returns false itself where the block has anything but comparisons of columns and of aggregates.
func (s *scope) columns(f func(*sqlparse.Expr) bool) bool {
	each := func(e *sqlparse.Expr) bool {
		return e.All(func(x *sqlparse.Expr) bool {
			switch {
			case x.Op == sqlparse.Column:
				return f(x)
			case x.Op == sqlparse.Aggregate:
				return x.Name == "sum" || x.Name == "count" || x.Name == "min" || x.Name == "max"
			}
			return x.Query == nil && quietOp(x)
		})
	}
	var joins func(from *sqlparse.From) bool
	joins = func(from *sqlparse.From) bool {
		j := from.Join
		return j == nil || j.Kind == sqlparse.Inner && len(j.Using) == 0 && !j.Natural && each(j.On) && joins(j.Left) && joins(j.Right)
	}
	return joins(s.block.From) && each(s.block.Where) && each(s.block.Having) && !slices.ContainsFunc(fieldExprs(s.block), func(e *sqlparse.Expr) bool { return !each(e) }) &&
		!slices.ContainsFunc(s.block.Group, func(e *sqlparse.Expr) bool { return !each(e) })
}

// beside reports whether each shard of r's table has all rows of a subquery's tables that matter for the shard's own.
func (a *analyzer) beside(inner *scope, r *Ref) bool {
	var sharded []*Ref
	for _, en := range inner.entries {
		switch en.ref.Table.Kind {
		case router.Sharded:
			sharded = append(sharded, en.ref)
		case router.Reference:
			if slices.ContainsFunc(r.Table.Nodes, func(node string) bool { return !slices.Contains(en.ref.Table.Nodes, node) }) {
				return false
			}
		default:
			return false
		}
	}
	if len(sharded) == 0 {
		return true
	}
	whole := slices.ContainsFunc(a.subs, func(s subquery) bool { return s.inner.scope == inner && s.whole })
	return whole && a.linked([]*Ref{r}, sharded, func(l *link) bool { return l.on == nil && l.block == inner.block })
}

// quiet reports whether a condition gives no error and no warning, whatever row it looks at: one of a subquery goes to rows that the server may never look at.
func quiet(e *sqlparse.Expr) bool { return e.All(quietOp) }

// quietOp reports whether an operation gives no error and no warning whatever its operands are; of a subquery, its comparison with the rows.
func quietOp(x *sqlparse.Expr) bool {
	switch x.Op {
	case sqlparse.Column, sqlparse.Const, sqlparse.Param, sqlparse.Row, sqlparse.And, sqlparse.Or, sqlparse.Not, sqlparse.Eq, sqlparse.NullSafeEq, sqlparse.Ne, sqlparse.Lt, sqlparse.Le,
		sqlparse.Gt, sqlparse.Ge, sqlparse.In, sqlparse.InQuery, sqlparse.Exists, sqlparse.Between, sqlparse.IsNull:
		return true
	}
	return x.Op == sqlparse.Call && (quietCalls[x.Name] || x.Name == sqlparse.MatchBoolean || x.Name == "" && len(x.Args) == 0) // a unit of time has no name
}

// quietCalls are functions that give no error, and no warning either for what they are usually asked.
var quietCalls = map[string]bool{
	"like": true, "substring": true, "substr": true, "left": true, "right": true, "upper": true, "lower": true, "coalesce": true, "ifnull": true, "nullif": true,
	"date_add": true, "date_sub": true, sqlparse.DateLiteral: true,
}
