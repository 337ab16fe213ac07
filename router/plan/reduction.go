package plan

import (
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
)

// Reduction says that of a reference's rows only those matter whose Column has a value that ByColumn has in the rows of By: others meet no row of it, wherever
// the statement looks at them. Both columns are of types whose equal values are written alike.
type Reduction struct {
	Column   string
	By       *Ref
	ByColumn string
}

// reduces takes an equality that all rows of a block meet, or those that an outer join may miss. A row of this block that meets no row of the other reference, of this block or one around it, has no
// part in what the block gives.
func (a *analyzer) reduces(l, r *sqlparse.Expr, info *blockInfo, missing map[*Ref]bool) {
	if l.Op != sqlparse.Column || r.Op != sqlparse.Column {
		return
	}
	left, _, lat := info.scope.resolve(l)
	right, _, rat := info.scope.resolve(r)
	if left == nil || right == nil || left == right || lat != info.scope && lat.aliases(l) || rat != info.scope && rat.aliases(r) {
		return
	}
	if lat == info.scope && (missing == nil || missing[left]) {
		left.reduce(l.Name, right, r.Name)
	}
	if rat == info.scope && (missing == nil || missing[right]) {
		right.reduce(r.Name, left, l.Name)
	}
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
	if !slices.Contains(r.reductions, n) {
		r.reductions = append(r.reductions, n)
	}
}

// alike reports whether equal values of two columns are equal as literals, too.
func alike(a, b *mysql.ColumnDefinition41) bool {
	return plainNumber(a) && plainNumber(b) || a.Type == b.Type && (a.Type == mysql.TypeDate || a.Type == mysql.TypeNewDate)
}

// plainNumber tells the integers and decimals.
func plainNumber(d *mysql.ColumnDefinition41) bool {
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
	if left == nil || right == nil || lat != info.scope || rat != inner {
		return
	}
	left.reduce(e.Args[0].Name, right, s.Fields[0].Expr.Name)
	if len(s.Group) == 0 && s.Having == nil && !s.Windows && !fieldsHave(s, sqlparse.Window) {
		right.reduce(s.Fields[0].Expr.Name, left, e.Args[0].Name)
	}
}
