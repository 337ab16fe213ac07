package plan

import (
	"slices"

	"kingshard/mysql/sqlparse"
)

// dependsOnGroup reports whether MySQL may answer a query, or one within it, only because it knows by conditions that a column has one value in each group. MySQL
// manual: "MySQL Handling of GROUP BY", "Detection of Functional Dependence".
func (a *analyzer) dependsOnGroup(q *sqlparse.Query) bool {
	if q == nil {
		return false
	}
	if slices.ContainsFunc(slices.Concat(q.Parts, q.With), a.dependsOnGroup) {
		return true
	}
	s := q.Select
	if s == nil {
		return false
	}
	var order []*sqlparse.Expr
	for _, o := range q.Order {
		order = append(order, o.Expr)
	}
	if slices.ContainsFunc(slices.Concat(exprsOf(s), order), func(e *sqlparse.Expr) bool { return slices.ContainsFunc(queriesIn(e), a.dependsOnGroup) }) || a.dependsInFrom(s.From) {
		return true
	}
	switch {
	case len(s.Group) == 0 && !s.Distinct && s.Having == nil && !fieldsHave(s, sqlparse.Aggregate):
		return false
	case slices.ContainsFunc(s.Fields, func(f sqlparse.Field) bool { return f.Expr == nil }):
		return !s.Distinct || len(s.Group) > 0 || len(order) > 0
	}
	g := grouping{a.blockOf(s), s.Group}
	if s.Distinct && len(s.Group) == 0 && !fieldsHave(s, sqlparse.Aggregate) {
		g.by = fieldExprs(s)
	}
	named := func(e *sqlparse.Expr) bool { // by its alias
		return e.Op == sqlparse.Column && e.Table == "" && slices.ContainsFunc(s.Fields, func(f sqlparse.Field) bool { return f.Alias != "" && lower(f.Alias) == lower(e.Name) })
	}
	return g.block == nil || slices.ContainsFunc(s.Fields, func(f sqlparse.Field) bool { return !g.byAlias(f.Alias) && !g.gives(f.Expr, a, nil) }) ||
		slices.ContainsFunc(append(order, s.Having), func(e *sqlparse.Expr) bool { return !g.gives(e, a, named) })
}

// dependsInFrom looks for such a query among the derived tables of FROM.
func (a *analyzer) dependsInFrom(f *sqlparse.From) bool {
	switch {
	case f == nil:
		return false
	case f.Join != nil:
		return a.dependsInFrom(f.Join.Left) || a.dependsInFrom(f.Join.Right)
	}
	return a.dependsOnGroup(f.Derived)
}

// grouping is what a block groups by.
type grouping struct {
	block *scope
	by    []*sqlparse.Expr
}

// byAlias reports whether an alias of the select list, which no table has as a column, is one of the items.
func (g *grouping) byAlias(alias string) bool {
	return alias != "" && slices.ContainsFunc(g.by, func(e *sqlparse.Expr) bool {
		if e.Op != sqlparse.Column || e.Table != "" || lower(e.Name) != lower(alias) {
			return false
		}
		r, derived, _ := g.block.resolve(e)
		return r == nil && derived == nil
	})
}

// gives reports whether the items alone say that an expression has one value in each group; named, which may be nil, tells what is judged elsewhere.
func (g *grouping) gives(e *sqlparse.Expr, a *analyzer, named func(*sqlparse.Expr) bool) bool {
	given := true
	e.Walk(func(x *sqlparse.Expr) bool {
		switch {
		case !given, x.Op == sqlparse.Aggregate && !x.Unlisted, named != nil && named(x), slices.ContainsFunc(g.by, func(by *sqlparse.Expr) bool { return g.same(by, x) }):
			return false
		case x.Op == sqlparse.Column:
			given = false
		case x.Query != nil:
			given = g.block.apartFrom(x.Query, a)
		}
		return given
	})
	return given
}

// same reports whether an item is an expression, or the same column.
func (g *grouping) same(item, e *sqlparse.Expr) bool {
	item = output(g.block.block, item)
	if item == nil || item == e || item.Op != sqlparse.Column || e.Op != sqlparse.Column || lower(item.Name) != lower(e.Name) {
		return item != nil && item == e
	}
	one, _, at := g.block.resolve(item)
	other, _, otherAt := g.block.resolve(e)
	return sameColumn(item, e) || one != nil && one == other && at == otherAt
}

// apartFrom reports whether a subquery of one block, without others in it, names no column of the block around it.
func (s *scope) apartFrom(q *sqlparse.Query, a *analyzer) bool {
	if q.Select == nil || len(q.With) > 0 || len(q.Order) > 0 {
		return false
	}
	inner := a.scopeOf[q.Select]
	return inner != nil && !slices.ContainsFunc(exprsOf(q.Select), func(e *sqlparse.Expr) bool {
		return !e.All(func(x *sqlparse.Expr) bool {
			_, _, at := inner.resolve(x)
			return x.Query == nil && (x.Op != sqlparse.Column || at == inner)
		})
	})
}
