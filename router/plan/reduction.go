package plan

import (
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/router"
)

// Reduction says that of a reference's rows only those matter whose Column has a value that ByColumn has in the rows of By: others meet no row of it, wherever
// the statement looks at them. Both columns are of types whose equal values are written alike.
type Reduction struct {
	Column   string
	By       *Ref
	ByColumn string
}

// reductionsMax is how many reductions of a reference are noted.
const reductionsMax = 8

// reduces takes an equality that all rows of a block meet, or those that an outer join may miss. A row of this block that meets no row of the other reference, of this block or one around it, has no
// part in what the block gives.
func (a *analyzer) reduces(l, r *sqlparse.Expr, info *blockInfo, missing map[*Ref]bool) {
	if l.Op != sqlparse.Column || r.Op != sqlparse.Column {
		return
	}
	left, _, lat := info.scope.resolve(l)
	right, _, rat := info.scope.resolve(r)
	if left == nil || right == nil || left == right || !info.scope.certain(l, lat) || !info.scope.certain(r, rat) {
		return
	}
	may := func(of *Ref, at *scope) bool {
		return at == info.scope && (missing == nil || missing[of]) && (a.joined == nil || a.joined[of])
	}
	if may(left, lat) {
		left.reduce(l.Name, right, r.Name)
	}
	if may(right, rat) {
		right.reduce(r.Name, left, l.Name)
	}
}

// certain reports whether a name that was found in the scope at, from s on outwards, is certainly a column of what it was found in: without a qualifier it may be one of a derived table, of a table whose
// columns are not known, or an alias of a select list on the way.
func (s *scope) certain(e *sqlparse.Expr, at *scope) bool {
	if e.Table != "" {
		return true
	}
	for one := s; one != nil; one = one.outer {
		if slices.ContainsFunc(one.entries, func(en entry) bool { return en.ref == nil || en.ref.Columns == nil }) || one != s && one.aliases(e) {
			return false
		}
		if one == at {
			return true
		}
	}
	return false
}

// aliases reports whether a column that is named within a subquery may be an item of the select list around it: HAVING and ORDER BY know these.
func (s *scope) aliases(e *sqlparse.Expr) bool {
	return e.Table == "" && s.block != nil && slices.ContainsFunc(s.block.Fields, func(f sqlparse.Field) bool { return lower(f.Alias) == lower(e.Name) })
}

// reduce notes a reduction, where the types of the columns are such that it can be carried out.
func (r *Ref) reduce(column string, by *Ref, byColumn string) {
	mine, other := r.column(column), by.column(byColumn)
	if mine == nil || other == nil || !alike(mine, other) {
		return
	}
	n := Reduction{mine.Name, by, other.Name}
	if len(r.reductions) < reductionsMax && !slices.Contains(r.reductions, n) {
		r.reductions = append(r.reductions, n)
	}
}

// alike reports whether equal values of two columns are equal as literals, too.
func alike(a, b *mysql.ColumnDefinition41) bool {
	return PlainNumber(a) && PlainNumber(b) || a.Type == b.Type && (a.Type == mysql.TypeDate || a.Type == mysql.TypeNewDate)
}

// PlainNumber reports whether a column is of integers or decimals: their text is a literal that equals them.
func PlainNumber(d *mysql.ColumnDefinition41) bool {
	switch d.Type {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLongLong, mysql.TypeDecimal, mysql.TypeNewDecimal:
		return true
	}
	return false
}

// inReduces takes a column that is IN a subquery, in a condition that all rows of a block meet: what it gives is of a column of the subquery's own rows.
func (a *analyzer) inReduces(e *sqlparse.Expr, info *blockInfo) {
	s := e.Query.Select
	inner := a.scopeOf[s]
	if e.Args[0].Op != sqlparse.Column || inner == nil || len(s.Fields) != 1 || s.Fields[0].Expr == nil || s.Fields[0].Expr.Op != sqlparse.Column || e.Query.Limit != nil {
		return
	}
	left, _, lat := info.scope.resolve(e.Args[0])
	right, _, rat := inner.resolve(s.Fields[0].Expr)
	if left == nil || right == nil || lat != info.scope || rat != inner || !info.scope.certain(e.Args[0], lat) || !inner.certain(s.Fields[0].Expr, rat) || a.joined != nil && !a.joined[left] {
		return
	}
	left.reduce(e.Args[0].Name, right, s.Fields[0].Expr.Name)
	if (len(s.Group) == 0 && s.Having == nil || inner.groups(s.Fields[0].Expr)) && !s.Rollup && !s.Windows && !fieldsHave(s, sqlparse.Window) {
		right.reduce(s.Fields[0].Expr.Name, left, e.Args[0].Name)
	}
}

// groups reports whether a block groups by a column: each group is whole, or not there at all, with the rows that have a value in it.
func (s *scope) groups(column *sqlparse.Expr) bool {
	of, _, at := s.resolve(column)
	return slices.ContainsFunc(s.block.Group, func(e *sqlparse.Expr) bool {
		if e.Op != sqlparse.Column {
			return false
		}
		r, _, rat := s.resolve(e)
		return r == of && rat == at && lower(e.Name) == lower(column.Name) && s.certain(e, rat)
	})
}

// certainReductions leaves out those by tables that are read where they are, and at another moment than their values: rows that meet none would show it.
func (r *Ref) certainReductions() (list []Reduction) {
	for _, n := range r.reductions {
		if n.By.Table.Kind == router.Sharded || n.By.collected || !r.nullable && !r.sub {
			list = append(list, n)
		}
	}
	return list
}

// collectWith marks the reference tables that are collected, too: those of which not all rows matter, and that reduce rows which certainReductions would not let them reduce.
func collectWith(refs []*Ref, filters map[*Ref][]filter) {
	selects := map[*Ref]bool{}
	for range restMax {
		for _, r := range refs {
			if r.Table.Kind == router.Reference && r.Columns != nil && len(r.invisible) == 0 && r.Parsed.Clause == "" && !r.Parsed.At.Empty() {
				selects[r] = selects[r] || len(filters[r]) > 0 || slices.ContainsFunc(r.reductions, func(n Reduction) bool { return selects[n.By] })
			}
		}
	}
	for _, r := range refs {
		if r.nullable || r.sub {
			for _, n := range r.reductions {
				n.By.collected = n.By.collected || selects[n.By]
			}
		}
	}
}
