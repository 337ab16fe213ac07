package plan

import (
	"slices"

	"kingshard/mysql/sqlparse"
	"kingshard/router"
)

// repeats reports whether a query gives the same rows whenever it is carried out over equal rows: nothing in it varies, and where rows that are equal in order could change places
// that makes no difference.
func (a *analyzer) repeats(q *sqlparse.Query) bool {
	same := true
	q.Each(func(q *sqlparse.Query) {
		s := q.Select
		switch {
		case !same:
		case s == nil:
			same = q.Limit == nil
		case s.Windows:
			same = false
		default:
			same = (q.Limit == nil || a.ordersAll(s, aliased(s, q.Order))) && a.windowsRepeat(s, q.Order)
		}
	}, func(e *sqlparse.Expr) { same = same && stable(e) })
	return same
}

// tied are window functions that give rows which are equal in order the same.
var tied = map[string]bool{"rank": true, "dense_rank": true, "percent_rank": true, "cume_dist": true}

// separate are those that tell such rows apart.
var separate = map[string]bool{"row_number": true, "ntile": true, "lag": true, "lead": true, "first_value": true, "last_value": true, "nth_value": true}

// windowsRepeat reports whether the window functions of a block give the same for each row whenever they are computed.
func (a *analyzer) windowsRepeat(s *sqlparse.Select, order []sqlparse.OrderItem) bool {
	repeats := func(x *sqlparse.Expr) bool {
		switch {
		case x.Op != sqlparse.Window:
			return true
		case x.Over == nil || x.Over.Named || slices.ContainsFunc(x.Over.Order, func(o sqlparse.OrderItem) bool { return !stable(o.Expr) }):
			return false
		case !separate[x.Name] && (tied[x.Name] || !x.Over.Rows):
			return true
		}
		by := slices.Clone(x.Partition)
		for _, o := range x.Over.Order {
			by = append(by, o.Expr)
		}
		return a.ordersAll(s, by)
	}
	list := fieldExprs(s)
	for _, o := range order {
		list = append(list, o.Expr)
	}
	return !slices.ContainsFunc(list, func(e *sqlparse.Expr) bool { return !e.All(repeats) })
}

// aliased returns the expressions of ORDER BY, with those of the select list in the place of their aliases and positions. MySQL manual: "SELECT Statement".
func aliased(s *sqlparse.Select, order []sqlparse.OrderItem) (list []*sqlparse.Expr) {
	for _, o := range order {
		e := output(s, o.Expr)
		if e != nil && e.Op == sqlparse.Column && e.Table == "" {
			for _, f := range s.Fields {
				if f.Expr != nil && (lower(f.Alias) == lower(e.Name) || f.Alias == "" && f.Expr.Op == sqlparse.Column && lower(f.Expr.Name) == lower(e.Name)) {
					e = f.Expr
					break
				}
			}
		}
		if e != nil {
			list = append(list, e)
		}
	}
	return list
}

// ordersAll reports whether no two rows of a block, or groups where it groups, are equal in all of the expressions.
func (a *analyzer) ordersAll(s *sqlparse.Select, by []*sqlparse.Expr) bool {
	block := a.blockOf(s)
	if block == nil || s.Rollup {
		return false
	}
	has := func(e *sqlparse.Expr) bool {
		return e != nil && e.Op == sqlparse.Column && slices.ContainsFunc(by, func(x *sqlparse.Expr) bool {
			return x.Op == sqlparse.Column && lower(x.Name) == lower(e.Name) && (lower(x.Table) == lower(e.Table) || block.same(x, e))
		})
	}
	switch {
	case len(s.Group) > 0:
		return !slices.ContainsFunc(s.Group, func(e *sqlparse.Expr) bool { return !has(output(s, e)) })
	case fieldsHave(s, sqlparse.Aggregate) || s.Having.Has(sqlparse.Aggregate):
		return true // it is one row
	case s.Distinct:
		return !slices.ContainsFunc(s.Fields, func(f sqlparse.Field) bool { return !has(f.Expr) })
	case s.From == nil:
		return true
	case s.From.HasDerived():
		return false
	}
	return !slices.ContainsFunc(block.entries, func(en entry) bool { return en.ref == nil || !block.identified(en.ref, by) })
}

// identified reports whether rows of a reference are told apart by some expressions of its block. The keys of tables without a rule are not known.
func (s *scope) identified(r *Ref, by []*sqlparse.Expr) bool {
	keys := 0
	for _, d := range r.columns() {
		if d.Flags&primaryKeyFlag == 0 {
			continue
		}
		keys++
		if !slices.ContainsFunc(by, func(x *sqlparse.Expr) bool {
			of, _, at := s.resolve(x)
			return x.Op == sqlparse.Column && router.SameColumn(x.Name, d.Name) && of == r && at == s
		}) {
			return false
		}
	}
	if r.Table.Kind != router.Sharded {
		return keys > 0
	}
	// Rows of several shards have different keys if the sharding key is among them, and equal values of it are on one shard.
	return keys > 0 && !slices.ContainsFunc(r.Table.Keys, func(name string) bool {
		d := r.column(name)
		return d == nil || d.Flags&primaryKeyFlag == 0 || !exact(d)
	})
}

// same reports whether two columns of a block are the same one of one of its tables.
func (s *scope) same(a, b *sqlparse.Expr) bool {
	if a.Op != sqlparse.Column || b.Op != sqlparse.Column || lower(a.Name) != lower(b.Name) {
		return false
	}
	r, _, at := s.resolve(a)
	other, _, otherAt := s.resolve(b)
	return r != nil && r == other && at == s && otherAt == s
}

// blockOf returns the scope of a query block; nil if it was not looked at.
func (a *analyzer) blockOf(s *sqlparse.Select) *scope {
	if k := slices.IndexFunc(a.blocks, func(block *scope) bool { return block.block == s }); k >= 0 {
		return a.blocks[k]
	}
	return nil
}

// correlated reports whether a query may name columns of a block around it.
func (a *analyzer) correlated(q *sqlparse.Query) (is bool) {
	own := map[*scope]bool{}
	q.Each(func(q *sqlparse.Query) {
		if q.Select != nil {
			own[a.blockOf(q.Select)] = true
		}
	}, func(*sqlparse.Expr) {})
	for block := range own {
		if block == nil {
			return true
		}
		for _, e := range exprsOf(block.block) {
			e.Walk(func(x *sqlparse.Expr) bool {
				if x.Op == sqlparse.Column {
					_, _, at := block.resolve(x)
					is = is || at != nil && !own[at]
				}
				return true
			})
		}
	}
	return is
}
