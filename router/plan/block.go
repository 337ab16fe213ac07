package plan

import (
	"fmt"

	"kingshard/mysql/sqlparse"
	"kingshard/router"
	"kingshard/router/rule"
)

// link says that rows of two references that meet have equal keys, so that they are on one shard.
type link struct {
	a, b *Ref
	keys uint64 // bit k: key column k of a equals key column k of b
	// on is the outer join whose condition says so; nil for one that all rows of the block meet.
	on *sqlparse.Join
	// block is where the condition stands.
	block *sqlparse.Select
}

// query looks into a query expression. It gives the references of its FROM clause, nil with b.apart set when the rows
// that make up its result may be spread in a way that no shard can answer for itself.
func (b *builder) query(q *sqlparse.Query, outer *scope) *blockInfo {
	if q == nil {
		return &blockInfo{}
	}
	for _, w := range q.With {
		if info := b.query(w, outer); len(info.refs) > 0 {
			b.split("a common table expression over %s", info.refs[0].Parsed.Name)
		}
	}
	if q.Select != nil {
		info := b.block(q.Select, q, outer)
		for _, o := range q.Order {
			b.expr(o.Expr, info.scope, info)
		}
		return info
	}
	all := &blockInfo{scope: &scope{outer: outer, budget: &b.budget}}
	for _, part := range q.Parts {
		info := b.query(part, outer)
		all.refs = append(all.refs, info.refs...)
	}
	if len(all.refs) > 0 {
		b.split("a set operation over %s", all.refs[0].Parsed.Name)
	}
	return all
}

// split notes why no merge of the shards' answers is right.
func (b *builder) split(format string, args ...any) {
	if b.apart == "" {
		b.apart = fmt.Sprintf(format, args...)
	}
}

// blockInfo is what is known of a query block.
type blockInfo struct {
	scope *scope
	refs  []*Ref // sharded ones of its FROM clause, those of derived tables included
	query *sqlparse.Query
}

// block looks into one SELECT.
func (b *builder) block(s *sqlparse.Select, q *sqlparse.Query, outer *scope) *blockInfo {
	info := &blockInfo{scope: &scope{outer: outer, block: s, budget: &b.budget}, query: q}
	if b.crowded = b.crowded || tablesIn(s.From) > joinMax; b.crowded {
		return info
	}
	b.collect(s.From, info.scope, false, outer)
	b.joins(s.From, info)
	if s.Where != nil {
		b.conjuncts(s.Where, info, nil, nil)
	}
	for _, f := range s.Fields {
		b.expr(f.Expr, info.scope, info)
	}
	for _, e := range s.Group {
		b.expr(e, info.scope, info)
	}
	b.expr(s.Having, info.scope, info)
	info.refs = b.connected(s.From, true, s)
	return info
}

// collect fills the scope from FROM.
func (b *builder) collect(f *sqlparse.From, sc *scope, nullable bool, outer *scope) {
	switch {
	case f == nil:
	case f.Table != nil:
		if r := b.byTable[f.Table]; r != nil {
			r.nullable, r.block, r.sub = nullable, sc.block, outer != nil
			sc.entries = append(sc.entries, entry{label: f.Table.Label(), db: r.Table.DB, ref: r})
			return
		}
		sc.entries = append(sc.entries, entry{label: f.Table.Label(), db: f.Table.DB, derived: map[string]key{}})
	case f.Derived != nil:
		var seen *scope
		if f.Lateral {
			seen = sc
		} else if outer != nil {
			seen = outer
		}
		info := b.query(f.Derived, seen)
		for _, r := range info.refs {
			r.nullable = r.nullable || nullable
		}
		keys := map[string]key{}
		if b.derived(f.Derived, info) {
			keys = b.derivedKeys(f.Derived, info)
		}
		sc.entries = append(sc.entries, entry{label: f.Alias, derived: keys})
	case f.Join != nil:
		b.collect(f.Join.Left, sc, nullable || f.Join.Kind == sqlparse.Right, outer)
		b.collect(f.Join.Right, sc, nullable || f.Join.Kind == sqlparse.Left, outer)
	}
}

// derived checks that a derived table over several shards is the union of what each shard computes, so that conditions on
// its key columns narrow the shards and other tables may be joined on them.
func (b *builder) derived(q *sqlparse.Query, info *blockInfo) bool {
	if len(info.refs) == 0 || q.Select == nil {
		return false
	}
	s, why := q.Select, ""
	switch {
	case q.Limit != nil:
		why = "a derived table with LIMIT over %s"
	case s.Windows || fieldsHave(s, sqlparse.Window):
		why = "a derived table with window functions over %s"
	case s.Rollup:
		why = "a derived table with ROLLUP over %s"
	case fieldsHave(s, sqlparse.Variable):
		why = "a derived table with variables over %s"
	case (len(s.Group) > 0 || s.Distinct || fieldsHave(s, sqlparse.Aggregate) || s.Having.Has(sqlparse.Aggregate)) && !b.byKey(s, info):
		why = "a derived table that groups %s by other columns than its key"
	default:
		return true
	}
	b.split(why, info.refs[0].Parsed.Name)
	return false
}

// byKey tells whether the groups of a block, or its distinct rows, are each on one shard.
func (b *builder) byKey(s *sqlparse.Select, info *blockInfo) bool {
	covers := func(exprs []*sqlparse.Expr) bool {
		seen := map[*Ref]uint64{}
		for _, e := range exprs {
			if k, at := info.scope.key(b.output(s, e)); k.ref != nil && at == info.scope && !k.ref.nullable && k.together() {
				seen[k.ref] |= 1 << k.k
				if seen[k.ref] == 1<<len(k.ref.Table.Keys)-1 {
					return true
				}
			}
		}
		return false
	}
	if len(s.Group) > 0 {
		// DISTINCT over grouped rows may find equal ones on two shards all the same.
		return covers(s.Group) && (!s.Distinct || covers(fieldExprs(s)))
	}
	if fieldsHave(s, sqlparse.Aggregate) || s.Having.Has(sqlparse.Aggregate) {
		return false
	}
	return s.Distinct && covers(fieldExprs(s))
}

// output resolves a position or an alias of the select list to its expression.
func (b *builder) output(s *sqlparse.Select, e *sqlparse.Expr) *sqlparse.Expr {
	if e == nil {
		return nil
	}
	if e.Op == sqlparse.Position {
		if e.Index < 1 || e.Index > len(s.Fields) {
			return nil
		}
		for _, f := range s.Fields[:e.Index] {
			if f.Expr == nil {
				return nil
			}
		}
		return s.Fields[e.Index-1].Expr
	}
	return e
}

func fieldExprs(s *sqlparse.Select) (exprs []*sqlparse.Expr) {
	for _, f := range s.Fields {
		if f.Expr != nil {
			exprs = append(exprs, f.Expr)
		}
	}
	return exprs
}

func fieldsHave(s *sqlparse.Select, op sqlparse.Op) bool {
	for _, f := range s.Fields {
		if f.Expr.Has(op) {
			return true
		}
	}
	return false
}

// derivedKeys finds the columns of a derived table that are key columns of one of its tables.
func (b *builder) derivedKeys(q *sqlparse.Query, info *blockInfo) map[string]key {
	keys := map[string]key{}
	if q.Select == nil || info.scope == nil {
		return keys
	}
	for _, f := range q.Select.Fields {
		if f.Expr == nil {
			if len(info.scope.entries) == 1 && info.scope.entries[0].ref != nil {
				for k, name := range info.scope.entries[0].ref.Table.Keys {
					keys[name] = key{info.scope.entries[0].ref, k}
				}
			}
			continue
		}
		k, at := info.scope.key(f.Expr)
		if k.ref == nil || at != info.scope || k.ref.nullable {
			continue
		}
		name := f.Alias
		if name == "" {
			name = f.Expr.Name
		}
		keys[lower(name)] = k
	}
	return keys
}

// joins takes the conditions of the joins of FROM.
func (b *builder) joins(f *sqlparse.From, info *blockInfo) {
	if f == nil || f.Join == nil {
		return
	}
	j := f.Join
	b.joins(j.Left, info)
	b.joins(j.Right, info)
	var on *sqlparse.Join
	var missing map[*Ref]bool
	if j.Kind != sqlparse.Inner {
		on, missing = j, map[*Ref]bool{}
		side := j.Right
		if j.Kind == sqlparse.Right {
			side = j.Left
		}
		b.under(side, missing)
	}
	if j.On != nil {
		b.conjuncts(j.On, info, on, missing)
	}
	names := j.Using
	if j.Natural {
		names = b.shared(j)
	}
	for _, name := range names {
		l, r := b.sideKey(j.Left, name), b.sideKey(j.Right, name)
		b.equal(l, r, info, on, missing)
	}
}

// shared lists the key columns that both sides of a NATURAL JOIN have.
func (b *builder) shared(j *sqlparse.Join) (names []string) {
	left := map[*Ref]bool{}
	b.under(j.Left, left)
	for r := range left {
		for _, name := range r.Table.Keys {
			if b.sideKey(j.Right, name).ref != nil {
				names = append(names, name)
			}
		}
	}
	return names
}

// sideKey finds the sharded table of one side of a join of which name is a key column.
func (b *builder) sideKey(f *sqlparse.From, name string) key {
	refs := map[*Ref]bool{}
	b.under(f, refs)
	for r := range refs {
		if k := r.keyOf(name); k >= 0 && r.Table.Kind == router.Sharded {
			return key{r, k}
		}
	}
	return key{}
}

// under collects the references under a tree, derived tables left out.
func (b *builder) under(f *sqlparse.From, into map[*Ref]bool) {
	switch {
	case f == nil:
	case f.Table != nil:
		if r := b.byTable[f.Table]; r != nil {
			into[r] = true
		}
	case f.Join != nil:
		b.under(f.Join.Left, into)
		b.under(f.Join.Right, into)
	}
}

// conjuncts takes a condition apart at its ANDs. on and missing are those of an outer join.
func (b *builder) conjuncts(e *sqlparse.Expr, info *blockInfo, on *sqlparse.Join, missing map[*Ref]bool) {
	if e.Op == sqlparse.And {
		for _, a := range e.Args {
			b.conjuncts(a, info, on, missing)
		}
		return
	}
	b.expr(e, info.scope, info)
	switch {
	case e.Op == sqlparse.Eq && e.Args[0].Op == sqlparse.Row && e.Args[1].Op == sqlparse.Row:
		for k := range min(len(e.Args[0].Args), len(e.Args[1].Args)) {
			b.equality(e.Args[0].Args[k], e.Args[1].Args[k], info, on, missing)
		}
	case e.Op == sqlparse.Eq || e.Op == sqlparse.NullSafeEq:
		b.equality(e.Args[0], e.Args[1], info, on, missing)
	}
	if e.Op == sqlparse.InQuery && !e.Negated && on == nil {
		b.inQuery(e, info)
	}
	for _, r := range info.scope.keyed(e) {
		if missing == nil || missing[r] {
			b.own(r, e, info.scope)
		}
	}
}

// keyed lists the sharded tables of the block whose keys an expression names; all of them if it names no column at all.
func (s *scope) keyed(e *sqlparse.Expr) (refs []*Ref) {
	add := func(r *Ref) {
		if r != nil && r.Table.Kind == router.Sharded && !has(refs, r) {
			refs = append(refs, r)
		}
	}
	constant := true
	e.Walk(func(x *sqlparse.Expr) bool {
		if x.Op == sqlparse.Column {
			constant = false
			if k, at := s.key(x); at == s {
				add(k.ref)
			}
		}
		return true
	})
	if constant {
		for k := range s.entries {
			add(s.entries[k].ref)
			for _, d := range s.entries[k].derived {
				add(d.ref)
			}
		}
	}
	return refs
}

// own notes what a condition says of a reference's key.
func (b *builder) own(r *Ref, e *sqlparse.Expr, sc *scope) {
	if len(r.Table.Keys) == 1 {
		c := condition(e, false, func(x *sqlparse.Expr) bool {
			k, at := sc.key(x)
			return k.ref == r && at == sc
		})
		if c.op != condAll {
			r.own = append(r.own, c)
		}
		return
	}
	if e.Op != sqlparse.Eq {
		return
	}
	for i := range 2 {
		if k, at := sc.key(e.Args[i]); k.ref == r && at == sc {
			if v, ok := operandOf(e.Args[1-i]); ok {
				r.tuple[k.k] = append(r.tuple[k.k], v)
			}
		}
	}
}

// equality takes a = b.
func (b *builder) equality(l, r *sqlparse.Expr, info *blockInfo, on *sqlparse.Join, missing map[*Ref]bool) {
	lk, lat := info.scope.key(l)
	rk, rat := info.scope.key(r)
	if lk.ref == nil || rk.ref == nil {
		return
	}
	if lat != info.scope && rat != info.scope {
		return
	}
	if lat != rat {
		// Correlated: the outer row decides, and the inner rows follow.
		if rat == info.scope {
			lk, rk = rk, lk
		}
		b.addLink(lk, rk, on, info)
		b.follow(lk, rk)
		return
	}
	b.equal(lk, rk, info, on, missing)
}

// equal takes two key columns of one block that are equal where rows meet.
func (b *builder) equal(l, r key, info *blockInfo, on *sqlparse.Join, missing map[*Ref]bool) {
	if l.ref == nil || r.ref == nil || l.ref == r.ref {
		return
	}
	if missing != nil {
		switch {
		case missing[l.ref] && missing[r.ref]:
		case missing[l.ref]:
			b.addLink(l, r, on, info)
			b.follow(l, r)
			return
		case missing[r.ref]:
			b.addLink(l, r, on, info)
			b.follow(r, l)
			return
		default:
			return
		}
	}
	b.addLink(l, r, on, info)
	b.follow(l, r)
	b.follow(r, l)
}

// follow says that what holds for the key of to holds for that of from.
func (b *builder) follow(from, to key) {
	if from.k == to.k && len(from.ref.Table.Keys) == 1 && len(to.ref.Table.Keys) == 1 && joins(from, to) {
		from.ref.from = append(from.ref.from, to.ref)
	}
}

func joins(a, b key) bool {
	return a.ref.key[a.k].Joins(b.ref.key[b.k]) && a.together() && b.together()
}

// together tells whether keys that are equal to the server are on one shard.
func (k key) together() bool { return rule.Together(k.ref.Table.Rule, k.ref.key[k.k]) }

func (b *builder) addLink(l, r key, on *sqlparse.Join, info *blockInfo) {
	if l.k != r.k || !joins(l, r) || !l.ref.Table.Colocated(r.ref.Table) {
		return
	}
	for k := range b.links {
		if !b.budget.take(1) {
			return
		}
		if x := &b.links[k]; x.on == on && x.block == info.scope.block && (x.a == l.ref && x.b == r.ref || x.a == r.ref && x.b == l.ref) {
			x.keys |= 1 << l.k
			return
		}
	}
	b.links = append(b.links, link{l.ref, r.ref, 1 << l.k, on, info.scope.block})
}

// full tells that the whole key is equal.
func (l *link) full() bool { return l.keys == 1<<len(l.a.Table.Keys)-1 }

// inQuery takes key IN (SELECT key ...): the rows that make it true are on the row's own shard.
func (b *builder) inQuery(e *sqlparse.Expr, info *blockInfo) {
	lk, at := info.scope.key(e.Args[0])
	s := e.Query.Select
	if lk.ref == nil || at != info.scope || s == nil || len(s.Fields) != 1 || s.Fields[0].Expr == nil || e.Query.Limit != nil {
		return
	}
	if s.Having != nil || s.Windows || s.Rollup || fieldsHave(s, sqlparse.Aggregate) || fieldsHave(s, sqlparse.Window) {
		return
	}
	inner := b.scopeOf[s]
	if inner == nil {
		return
	}
	rk, rat := inner.key(s.Fields[0].Expr)
	if rk.ref == nil || rat != inner {
		return
	}
	if len(s.Group) > 0 && !b.byKey(s, &blockInfo{scope: inner}) {
		return
	}
	b.addLink(lk, rk, nil, &blockInfo{scope: inner})
	b.follow(rk, lk)
}

// expr looks for subqueries.
func (b *builder) expr(e *sqlparse.Expr, sc *scope, info *blockInfo) {
	if e == nil {
		return
	}
	e.Walk(func(x *sqlparse.Expr) bool {
		if x.Query != nil && !b.visited[x.Query] {
			b.visited[x.Query] = true
			sub := b.query(x.Query, sc)
			if x.Query.Select != nil {
				b.scopeOf[x.Query.Select] = sub.scope
			}
			if len(sub.refs) > 0 {
				for _, r := range sub.refs {
					r.sub = true
				}
				b.subs = append(b.subs, subquery{outer: info, inner: sub, expr: x})
			}
		}
		return true
	})
}

// subquery is one that reads sharded tables.
type subquery struct {
	outer, inner *blockInfo
	expr         *sqlparse.Expr
}

// connected checks that the sharded tables of a tree meet only on equal keys, and gives them.
func (b *builder) connected(f *sqlparse.From, where bool, s *sqlparse.Select) []*Ref {
	if f == nil {
		return nil
	}
	if f.Join != nil && f.Join.Kind != sqlparse.Inner {
		keep, miss := f.Join.Left, f.Join.Right
		if f.Join.Kind == sqlparse.Right {
			keep, miss = miss, keep
		}
		kept, missing := b.connected(keep, where, s), b.connected(miss, false, s)
		if len(missing) == 0 {
			return kept
		}
		if len(kept) == 0 {
			b.split("an outer join that keeps rows of a table on every node without a match in %s", missing[0].Parsed.Name)
		} else if !b.linked(kept, missing, func(l *link) bool { return l.on == f.Join || where && l.on == nil }) {
			b.split("%s and %s are not joined on their sharding keys", kept[0].Parsed.Name, missing[0].Parsed.Name)
		}
		return append(kept, missing...)
	}
	groups := b.leaves(f, where, s)
	for len(groups) > 1 {
		merged := false
		for k := 1; k < len(groups) && !merged; k++ {
			if b.linked(groups[0], groups[k], func(l *link) bool { return l.on == nil && (where || l.block == s) }) {
				groups[0] = append(groups[0], groups[k]...)
				groups = append(groups[:k], groups[k+1:]...)
				merged = true
			}
		}
		if !merged {
			b.split("%s and %s are not joined on their sharding keys", groups[0][0].Parsed.Name, groups[1][0].Parsed.Name)
			groups[0] = append(groups[0], groups[1]...)
			groups = append(groups[:1], groups[2:]...)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	return groups[0]
}

// leaves flattens inner joins into groups of connected tables.
func (b *builder) leaves(f *sqlparse.From, where bool, s *sqlparse.Select) (groups [][]*Ref) {
	switch {
	case f.Table != nil:
		if r := b.byTable[f.Table]; r != nil && r.Table.Kind == router.Sharded {
			return [][]*Ref{{r}}
		}
	case f.Derived != nil:
		if refs := b.derivedRefs(f.Derived); len(refs) > 0 {
			return [][]*Ref{refs}
		}
	case f.Join != nil && f.Join.Kind == sqlparse.Inner:
		return append(b.leaves(f.Join.Left, where, s), b.leaves(f.Join.Right, where, s)...)
	case f.Join != nil:
		if refs := b.connected(f, where, s); len(refs) > 0 {
			return [][]*Ref{refs}
		}
	}
	return groups
}

// derivedRefs lists the sharded tables of a derived table.
func (b *builder) derivedRefs(q *sqlparse.Query) (refs []*Ref) {
	if q.Select == nil {
		for _, p := range q.Parts {
			refs = append(refs, b.derivedRefs(p)...)
		}
		return refs
	}
	var walk func(f *sqlparse.From)
	walk = func(f *sqlparse.From) {
		switch {
		case f == nil:
		case f.Table != nil:
			if r := b.byTable[f.Table]; r != nil && r.Table.Kind == router.Sharded {
				refs = append(refs, r)
			}
		case f.Derived != nil:
			refs = append(refs, b.derivedRefs(f.Derived)...)
		case f.Join != nil:
			walk(f.Join.Left)
			walk(f.Join.Right)
		}
	}
	walk(q.Select.From)
	return refs
}

func (b *builder) linked(l, r []*Ref, valid func(*link) bool) bool {
	for k := range b.links {
		x := &b.links[k]
		if !b.budget.take(1) {
			return false
		}
		if !x.full() || !valid(x) || !b.budget.take(len(l)+len(r)) {
			continue
		}
		if has(l, x.a) && has(r, x.b) || has(l, x.b) && has(r, x.a) {
			return true
		}
	}
	return false
}

func has(refs []*Ref, r *Ref) bool {
	for _, x := range refs {
		if x == r {
			return true
		}
	}
	return false
}

// subqueries checks that every subquery over sharded tables finds its rows on the shard of the outer row.
func (b *builder) subqueries() {
	for _, s := range b.subs {
		outer := s.outer.refs
		if len(outer) == 0 {
			b.split("a subquery over %s whose outer rows are not sharded", s.inner.refs[0].Parsed.Name)
			continue
		}
		block := s.inner.scope.block
		ok := block != nil && b.linked(outer, s.inner.refs, func(l *link) bool { return l.on == nil && l.block == block })
		if !ok {
			b.split("a subquery over %s that is not tied to the outer row by the sharding key", s.inner.refs[0].Parsed.Name)
		}
	}
}

// classKnown tells whether the key columns' types are known.
func (r *Ref) classKnown() bool {
	for _, c := range r.key {
		if c.Class == rule.Unknown {
			return false
		}
	}
	return true
}
