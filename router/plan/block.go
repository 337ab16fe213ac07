package plan

import (
	"fmt"
	"slices"

	"kingshard/mysql/sqlparse"
	"kingshard/router"
	"kingshard/router/rule"
)

// analyzer finds what the names in a statement's query blocks mean and on which equal keys their tables meet, and notes what
// that says in the references: which of them narrow each other's shards.
type analyzer struct {
	byTable map[*sqlparse.Table]*Ref
	links   []link
	visited map[*sqlparse.Query]bool
	scopeOf map[*sqlparse.Select]*scope
	subs    []subquery
	blocks  []*scope // of all query blocks
	// members are the query blocks of subqueries of which only matters what rows they give, not how often: those of EXISTS, IN, ANY and ALL.
	members map[*sqlparse.Select]bool
	// joined are the tables of the join whose ON is looked at; nil elsewhere.
	joined map[*Ref]bool
	budget budget
	// crowded: a query block has more tables than a server joins.
	crowded bool
	// apart says why rows that belong together may be on different shards; "" while they are not. splits counts the reasons.
	apart  string
	splits int
}

// newAnalyzer returns an analyzer of the queries that name these references.
func newAnalyzer(refs []*Ref) *analyzer {
	a := &analyzer{byTable: map[*sqlparse.Table]*Ref{}, visited: map[*sqlparse.Query]bool{}, scopeOf: map[*sqlparse.Select]*scope{}, members: map[*sqlparse.Select]bool{}}
	for _, r := range refs {
		a.byTable[r.Parsed] = r
	}
	return a
}

// link says that rows of two references that meet have equal keys, so that they are on one shard.
type link struct {
	a, b *Ref
	keys uint64 // bit k: key column k of a equals key column k of b
	// on is the outer join whose condition says so; nil for one that all rows of the block meet.
	on *sqlparse.Join
	// block is where the condition stands.
	block *sqlparse.Select
}

// query looks into a query expression. It returns the references of its FROM clause, and sets apart when the rows that make up
// its result may be spread in a way that no shard can answer for itself.
func (a *analyzer) query(q *sqlparse.Query, outer *scope) *blockInfo {
	if q == nil {
		return &blockInfo{}
	}
	for _, w := range q.With {
		if info := a.query(w, outer); len(info.refs) > 0 {
			a.split("a common table expression over %s", info.refs[0].Parsed.Name)
		}
	}
	if q.Select != nil {
		info := a.block(q.Select, outer)
		for _, o := range q.Order {
			a.expr(o.Expr, info)
		}
		return info
	}
	all := &blockInfo{scope: &scope{outer: outer, budget: &a.budget}}
	for _, part := range q.Parts {
		info := a.query(part, outer)
		all.refs = append(all.refs, info.refs...)
	}
	if len(all.refs) > 0 {
		a.split("a set operation over %s", all.refs[0].Parsed.Name)
	}
	return all
}

// split notes why no merge of the shards' answers is right.
func (a *analyzer) split(format string, args ...any) {
	a.splits++
	if a.apart == "" {
		a.apart = fmt.Sprintf(format, args...)
	}
}

// blockInfo is what is known of a query block.
type blockInfo struct {
	scope *scope
	refs  []*Ref // sharded ones of its FROM clause, those of derived tables included
}

// block looks into one SELECT.
func (a *analyzer) block(s *sqlparse.Select, outer *scope) *blockInfo {
	joined := a.joined
	a.joined = nil
	defer func() { a.joined = joined }()
	info := &blockInfo{scope: &scope{outer: outer, block: s, budget: &a.budget}}
	a.blocks = append(a.blocks, info.scope)
	if a.crowded = a.crowded || tablesIn(s.From) > joinMax; a.crowded {
		return info
	}
	a.collect(s.From, info.scope, false, outer)
	a.joins(s.From, info)
	if s.Where != nil {
		a.conjuncts(s.Where, info, nil, nil)
	}
	for _, f := range s.Fields {
		a.expr(f.Expr, info)
	}
	for _, e := range s.Group {
		a.expr(e, info)
	}
	a.expr(s.Having, info)
	info.refs = a.connected(s.From, true, s)
	return info
}

// collect fills the scope from FROM.
func (a *analyzer) collect(f *sqlparse.From, sc *scope, nullable bool, outer *scope) {
	switch {
	case f == nil:
	case f.Table != nil:
		if r := a.byTable[f.Table]; r != nil {
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
		info := a.query(f.Derived, seen)
		for _, r := range info.refs {
			r.nullable = r.nullable || nullable
		}
		keys := map[string]key{}
		if a.derived(f.Derived, info) {
			keys = info.scope.derivedKeys(f.Derived.Select)
		}
		sc.entries = append(sc.entries, entry{label: f.Alias, derived: keys})
	case f.Join != nil:
		a.collect(f.Join.Left, sc, nullable || f.Join.Kind == sqlparse.Right, outer)
		a.collect(f.Join.Right, sc, nullable || f.Join.Kind == sqlparse.Left, outer)
	}
}

// derived checks that a derived table over several shards is the union of what each shard computes, so that conditions on
// its key columns narrow the shards and other tables may be joined on them.
func (a *analyzer) derived(q *sqlparse.Query, info *blockInfo) bool {
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
	case (len(s.Group) > 0 || s.Distinct || fieldsHave(s, sqlparse.Aggregate) || s.Having.Has(sqlparse.Aggregate)) && !info.scope.byKey(s):
		why = "a derived table that groups %s by other columns than its key"
	default:
		return true
	}
	a.split(why, info.refs[0].Parsed.Name)
	return false
}

// byKey reports whether the groups of a block whose scope is s, or its distinct rows, are each on one shard.
func (s *scope) byKey(q *sqlparse.Select) bool {
	covers := func(exprs []*sqlparse.Expr) bool {
		seen := map[*Ref]uint64{}
		for _, e := range exprs {
			if k, at := s.key(output(q, e)); k.ref != nil && at == s && !k.ref.nullable && k.together() {
				seen[k.ref] |= 1 << k.k
				if seen[k.ref] == 1<<len(k.ref.Table.Keys)-1 {
					return true
				}
			}
		}
		return false
	}
	if len(q.Group) > 0 {
		// DISTINCT over grouped rows may find equal ones on two shards all the same.
		return covers(q.Group) && (!q.Distinct || covers(fieldExprs(q)))
	}
	if fieldsHave(q, sqlparse.Aggregate) || q.Having.Has(sqlparse.Aggregate) {
		return false
	}
	return q.Distinct && covers(fieldExprs(q))
}

// windowsByKey tells whether every window is within one shard: its PARTITION BY has the sharding key.
func (info *blockInfo) windowsByKey(s *sqlparse.Select) bool {
	if s.Windows || len(info.refs) == 0 {
		return false
	}
	within := func(x *sqlparse.Expr) bool {
		return x.Op != sqlparse.Window || info.scope.byKey(&sqlparse.Select{Group: x.Partition, Fields: s.Fields}) && len(x.Partition) > 0
	}
	return !slices.ContainsFunc(fieldExprs(s), func(e *sqlparse.Expr) bool { return !e.All(within) })
}

// output resolves a position or an alias of the select list to its expression.
func output(s *sqlparse.Select, e *sqlparse.Expr) *sqlparse.Expr {
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
	return slices.ContainsFunc(s.Fields, func(f sqlparse.Field) bool { return f.Expr.Has(op) })
}

// derivedKeys finds the columns of a derived table that are key columns of one of its tables.
func (s *scope) derivedKeys(q *sqlparse.Select) map[string]key {
	keys := map[string]key{}
	for _, f := range q.Fields {
		if f.Expr == nil {
			if len(s.entries) == 1 && s.entries[0].ref != nil {
				for k, name := range s.entries[0].ref.Table.Keys {
					keys[name] = key{s.entries[0].ref, k}
				}
			}
			continue
		}
		k, at := s.key(f.Expr)
		if k.ref == nil || at != s || k.ref.nullable {
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
func (a *analyzer) joins(f *sqlparse.From, info *blockInfo) {
	if f == nil || f.Join == nil {
		return
	}
	j := f.Join
	a.joins(j.Left, info)
	a.joins(j.Right, info)
	var on *sqlparse.Join
	var missing map[*Ref]bool
	if j.Kind != sqlparse.Inner {
		on, missing = j, map[*Ref]bool{}
		side := j.Right
		if j.Kind == sqlparse.Right {
			side = j.Left
		}
		for _, r := range a.under(side) {
			missing[r] = true
		}
	}
	if j.On != nil {
		a.joined = map[*Ref]bool{}
		for _, r := range a.under(f) {
			a.joined[r] = true
		}
		a.conjuncts(j.On, info, on, missing)
		a.joined = nil
	}
	names := j.Using
	if j.Natural {
		names = a.shared(j)
	}
	for _, name := range names {
		l, r := meeting(a.sideKeys(j.Left, name), a.sideKeys(j.Right, name))
		a.equal(l, r, info, on, missing)
	}
}

// under lists the references under a tree in the order of the text, derived tables left out.
func (a *analyzer) under(f *sqlparse.From) []*Ref {
	switch {
	case f == nil:
	case f.Table != nil:
		if r := a.byTable[f.Table]; r != nil {
			return []*Ref{r}
		}
	case f.Join != nil:
		return append(a.under(f.Join.Left), a.under(f.Join.Right)...)
	}
	return nil
}

// conjuncts takes a condition apart at its ANDs. on and missing are those of an outer join.
func (a *analyzer) conjuncts(e *sqlparse.Expr, info *blockInfo, on *sqlparse.Join, missing map[*Ref]bool) {
	if e.Op == sqlparse.And {
		for _, part := range e.Args {
			a.conjuncts(part, info, on, missing)
		}
		return
	}
	a.expr(e, info)
	switch {
	case e.Op == sqlparse.Eq && e.Args[0].Op == sqlparse.Row && e.Args[1].Op == sqlparse.Row:
		for k := range min(len(e.Args[0].Args), len(e.Args[1].Args)) {
			a.meet(e.Args[0].Args[k], e.Args[1].Args[k], info, on, missing)
		}
	case e.Op == sqlparse.Eq:
		a.meet(e.Args[0], e.Args[1], info, on, missing)
	case e.Op == sqlparse.NullSafeEq:
		a.equality(e.Args[0], e.Args[1], info, on, missing)
	case e.Op == sqlparse.Or:
		for _, equal := range inAll(e) {
			a.meet(equal.Args[0], equal.Args[1], info, on, missing)
		}
	}
	if e.Op == sqlparse.InQuery && !e.Negated && on == nil {
		a.inQuery(e, info)
		a.inReduces(e, info)
	}
	info.scope.looked(e, missing)
	for _, r := range info.scope.keyed(e) {
		if missing == nil || missing[r] {
			info.scope.own(r, e)
		}
	}
}

// meet takes a = b, which rows meet.
func (a *analyzer) meet(l, r *sqlparse.Expr, info *blockInfo, on *sqlparse.Join, missing map[*Ref]bool) {
	a.equality(l, r, info, on, missing)
	a.reduces(l, r, info, missing)
}

// inAll finds the equalities of columns that all alternatives of an OR have.
func inAll(or *sqlparse.Expr) (list []*sqlparse.Expr) {
	for k, alternative := range apart(or, sqlparse.Or) {
		own := slices.DeleteFunc(apart(alternative, sqlparse.And), func(e *sqlparse.Expr) bool {
			return e.Op != sqlparse.Eq || e.Args[0].Op != sqlparse.Column || e.Args[1].Op != sqlparse.Column
		})
		if k == 0 {
			list = own[:min(len(own), reductionsMax)]
			continue
		}
		list = slices.DeleteFunc(list, func(e *sqlparse.Expr) bool {
			return !slices.ContainsFunc(own, func(other *sqlparse.Expr) bool {
				return sameColumn(e.Args[0], other.Args[0]) && sameColumn(e.Args[1], other.Args[1]) || sameColumn(e.Args[0], other.Args[1]) && sameColumn(e.Args[1], other.Args[0])
			})
		})
		if len(list) == 0 {
			break
		}
	}
	return list
}

// sameColumn reports whether two columns are named alike.
func sameColumn(a, b *sqlparse.Expr) bool {
	return lower(a.Name) == lower(b.Name) && lower(a.Table) == lower(b.Table) && lower(a.DB) == lower(b.DB)
}

// keyed lists the sharded tables of the block whose keys an expression names; all of them if it names no column at all.
func (s *scope) keyed(e *sqlparse.Expr) (refs []*Ref) {
	add := func(r *Ref) {
		if r != nil && r.Table.Kind == router.Sharded && !slices.Contains(refs, r) {
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
func (s *scope) own(r *Ref, e *sqlparse.Expr) {
	if len(r.Table.Keys) == 1 {
		c := condition(e, false, func(x *sqlparse.Expr) bool {
			k, at := s.key(x)
			return k.ref == r && at == s
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
		if k, at := s.key(e.Args[i]); k.ref == r && at == s {
			if v, ok := operandOf(e.Args[1-i]); ok {
				r.tuple[k.k] = append(r.tuple[k.k], v)
			}
		}
	}
}

// equality takes a = b.
func (a *analyzer) equality(l, r *sqlparse.Expr, info *blockInfo, on *sqlparse.Join, missing map[*Ref]bool) {
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
		a.addLink(lk, rk, on, info.scope.block)
		follow(lk, rk)
		return
	}
	a.equal(lk, rk, info, on, missing)
}

// equal takes two key columns of one block that are equal where rows meet.
func (a *analyzer) equal(l, r key, info *blockInfo, on *sqlparse.Join, missing map[*Ref]bool) {
	if l.ref == nil || r.ref == nil || l.ref == r.ref {
		return
	}
	lFollows, rFollows := missing == nil || missing[l.ref], missing == nil || missing[r.ref]
	if lFollows || rFollows {
		a.addLink(l, r, on, info.scope.block)
	}
	if lFollows {
		follow(l, r)
	}
	if rFollows {
		follow(r, l)
	}
}

// follow says that what holds for the key of to holds for that of from.
func follow(from, to key) {
	if from.k == to.k && len(from.ref.Table.Keys) == 1 && len(to.ref.Table.Keys) == 1 && joins(from, to) {
		from.ref.from = append(from.ref.from, to.ref)
	}
}

func joins(a, b key) bool {
	return a.ref.key[a.k].Joins(b.ref.key[b.k]) && a.together() && b.together()
}

// together tells whether keys that are equal to the server are on one shard.
func (k key) together() bool { return rule.Together(k.ref.Table.Rule, k.ref.key[k.k]) }

func (a *analyzer) addLink(l, r key, on *sqlparse.Join, block *sqlparse.Select) {
	if l.k != r.k || !joins(l, r) || !l.ref.Table.Colocated(r.ref.Table) {
		return
	}
	for k := range a.links {
		if !a.budget.take(1) {
			return
		}
		if x := &a.links[k]; x.on == on && x.block == block && (x.a == l.ref && x.b == r.ref || x.a == r.ref && x.b == l.ref) {
			x.keys |= 1 << l.k
			return
		}
	}
	a.links = append(a.links, link{l.ref, r.ref, 1 << l.k, on, block})
}

// full tells that the whole key is equal.
func (l *link) full() bool { return l.keys == 1<<len(l.a.Table.Keys)-1 }

// inQuery takes key IN (SELECT key ...): the rows that make it true are on the row's own shard.
func (a *analyzer) inQuery(e *sqlparse.Expr, info *blockInfo) {
	lk, at := info.scope.key(e.Args[0])
	s := e.Query.Select
	if lk.ref == nil || at != info.scope || s == nil || len(s.Fields) != 1 || s.Fields[0].Expr == nil || e.Query.Limit != nil {
		return
	}
	if len(s.Group) == 0 && (s.Having != nil || fieldsHave(s, sqlparse.Aggregate)) || s.Windows || s.Rollup || fieldsHave(s, sqlparse.Window) {
		return
	}
	inner := a.scopeOf[s]
	if inner == nil {
		return
	}
	rk, rat := inner.key(s.Fields[0].Expr)
	if rk.ref == nil || rat != inner {
		return
	}
	if len(s.Group) > 0 && !inner.byKey(s) {
		return
	}
	a.addLink(lk, rk, nil, s)
	follow(rk, lk)
}

// expr looks for subqueries.
func (a *analyzer) expr(e *sqlparse.Expr, info *blockInfo) {
	if e == nil {
		return
	}
	e.Walk(func(x *sqlparse.Expr) bool {
		if x.Query != nil && !a.visited[x.Query] {
			a.visited[x.Query] = true
			before := a.splits
			sub := a.query(x.Query, info.scope)
			if x.Query.Select != nil {
				a.scopeOf[x.Query.Select] = sub.scope
				a.members[x.Query.Select] = x.Op != sqlparse.Scalar && once(x.Query)
			}
			if len(sub.refs) > 0 {
				for _, r := range sub.refs {
					r.sub = true
				}
				a.subs = append(a.subs, subquery{outer: info, inner: sub, whole: a.splits == before})
			}
		}
		return true
	})
}

// once reports whether a row more than once in the tables of a query of one block makes no other rows there.
func once(q *sqlparse.Query) bool {
	s := q.Select
	if q.Limit != nil || len(s.Group) > 0 || s.Having != nil || s.Windows || s.Rollup {
		return false
	}
	return !slices.ContainsFunc(exprsOf(s), func(e *sqlparse.Expr) bool {
		return !stable(e) || e.Has(sqlparse.Aggregate, sqlparse.Window, sqlparse.Variable)
	})
}

// subquery is one that reads sharded tables.
type subquery struct {
	outer, inner *blockInfo
	whole        bool // its own rows that belong together are on one shard
}

// connected checks that the sharded tables of a tree meet only on equal keys, and gives them.
func (a *analyzer) connected(f *sqlparse.From, where bool, s *sqlparse.Select) []*Ref {
	if f == nil {
		return nil
	}
	if f.Join != nil && f.Join.Kind != sqlparse.Inner {
		keep, miss := f.Join.Left, f.Join.Right
		if f.Join.Kind == sqlparse.Right {
			keep, miss = miss, keep
		}
		kept, missing := a.connected(keep, where, s), a.connected(miss, false, s)
		if len(missing) == 0 {
			return kept
		}
		if len(kept) == 0 {
			a.split("an outer join that keeps rows of a table on every node without a match in %s", missing[0].Parsed.Name)
		} else if !a.linked(kept, missing, func(l *link) bool { return l.on == f.Join || where && l.on == nil }) {
			a.split("%s and %s are not joined on their sharding keys", kept[0].Parsed.Name, missing[0].Parsed.Name)
		}
		return append(kept, missing...)
	}
	groups := a.leaves(f, where, s)
	for len(groups) > 1 {
		merged := false
		for k := 1; k < len(groups) && !merged; k++ {
			if a.linked(groups[0], groups[k], func(l *link) bool { return l.on == nil && (where || l.block == s) }) {
				groups[0] = append(groups[0], groups[k]...)
				groups = append(groups[:k], groups[k+1:]...)
				merged = true
			}
		}
		if !merged {
			a.split("%s and %s are not joined on their sharding keys", groups[0][0].Parsed.Name, groups[1][0].Parsed.Name)
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
func (a *analyzer) leaves(f *sqlparse.From, where bool, s *sqlparse.Select) (groups [][]*Ref) {
	switch {
	case f.Table != nil:
		if r := a.byTable[f.Table]; r != nil && r.Table.Kind == router.Sharded {
			return [][]*Ref{{r}}
		}
	case f.Derived != nil:
		if refs := a.derivedRefs(f.Derived); len(refs) > 0 {
			return [][]*Ref{refs}
		}
	case f.Join != nil && f.Join.Kind == sqlparse.Inner:
		return append(a.leaves(f.Join.Left, where, s), a.leaves(f.Join.Right, where, s)...)
	case f.Join != nil:
		if refs := a.connected(f, where, s); len(refs) > 0 {
			return [][]*Ref{refs}
		}
	}
	return groups
}

// derivedRefs lists the sharded tables of a derived table.
func (a *analyzer) derivedRefs(q *sqlparse.Query) (refs []*Ref) {
	if q.Select == nil {
		for _, p := range q.Parts {
			refs = append(refs, a.derivedRefs(p)...)
		}
		return refs
	}
	var walk func(f *sqlparse.From)
	walk = func(f *sqlparse.From) {
		switch {
		case f == nil:
		case f.Table != nil:
			if r := a.byTable[f.Table]; r != nil && r.Table.Kind == router.Sharded {
				refs = append(refs, r)
			}
		case f.Derived != nil:
			refs = append(refs, a.derivedRefs(f.Derived)...)
		case f.Join != nil:
			walk(f.Join.Left)
			walk(f.Join.Right)
		}
	}
	walk(q.Select.From)
	return refs
}

func (a *analyzer) linked(l, r []*Ref, valid func(*link) bool) bool {
	for k := range a.links {
		x := &a.links[k]
		if !a.budget.take(1) {
			return false
		}
		if !x.full() || !valid(x) || !a.budget.take(len(l)+len(r)) {
			continue
		}
		if slices.Contains(l, x.a) && slices.Contains(r, x.b) || slices.Contains(l, x.b) && slices.Contains(r, x.a) {
			return true
		}
	}
	return false
}

// subqueries checks that every subquery over sharded tables finds its rows on the shard of the outer row.
func (a *analyzer) subqueries() {
	for _, s := range a.subs {
		outer := s.outer.refs
		if len(outer) == 0 {
			a.split("a subquery over %s whose outer rows are not sharded", s.inner.refs[0].Parsed.Name)
			continue
		}
		block := s.inner.scope.block
		ok := block != nil && a.linked(outer, s.inner.refs, func(l *link) bool { return l.on == nil && l.block == block })
		if !ok {
			a.split("a subquery over %s that is not tied to the outer row by the sharding key", s.inner.refs[0].Parsed.Name)
		}
	}
}

// classKnown tells whether the key columns' types are known.
func (r *Ref) classKnown() bool {
	return !slices.ContainsFunc(r.key, func(c rule.Column) bool { return c.Class == rule.Unknown })
}
