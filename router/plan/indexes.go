package plan

import (
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/router"
	"kingshard/router/rule"
)

// Keeps returns the indexes over all shards whose entries the statement may change; none of a query.
func (p *Plan) Keeps() []*router.Index { return p.keeps }

// Watches returns the tables whose rows the statement may change, and that other proxies may give keys over all shards; none of a query.
func (p *Plan) Watches() []*router.Table { return p.watches }

// keepIndexes finds the indexes whose entries the statement may change.
func (b *builder) keepIndexes() {
	p := b.p
	switch o, picks := p.Operator.(*Pick); {
	case p.Target == nil:
	case p.Statement.Kind == sqlparse.InsertKind, p.Statement.Kind == sqlparse.LoadData:
		p.keeps = p.Target.Table.Indexes
		p.watch(p.Target)
	case p.Statement.Kind == sqlparse.UpdateKind, p.Statement.Kind == sqlparse.DeleteKind:
		p.watch(p.Refs...)
		switch {
		case picks:
			for k := range o.Targets {
				p.keeps = append(p.keeps, o.Targets[k].follows...)
			}
		case p.Statement.Change.From.Table != nil:
			p.keeps = indexesOf(p.Target, p.Statement.Change.Set)
		}
	}
}

// watch notes the tables that DDL may give indexes.
func (p *Plan) watch(refs ...*Ref) {
	for _, r := range refs {
		if r.Table.GlobalUnique && !slices.Contains(p.watches, r.Table) {
			p.watches = append(p.watches, r.Table)
		}
	}
}

// indexesOf are the indexes of a table whose entries change with rows that are deleted, or with assignments.
func indexesOf(r *Ref, set []sqlparse.Assignment) (list []*router.Index) {
	for _, x := range r.Table.Indexes {
		if len(set) == 0 || slices.ContainsFunc(set, func(a sqlparse.Assignment) bool { return x.Has(a.Column) || r.keyOf(a.Column) >= 0 }) {
			list = append(list, x)
		}
	}
	return list
}

// InsertColumns returns the columns that an INSERT gives values for, in their order.
func (p *Plan) InsertColumns() ([]string, error) { return columnsOf(p.Target, p.Statement.Insert) }

// IsLiteral reports whether an expression is a value that is known without a server.
func IsLiteral(e *sqlparse.Expr) bool {
	_, ok := operandOf(e)
	return ok
}

// IsStable reports whether an expression has the same value for whoever computes it in the statement, and nothing follows from that.
func IsStable(e *sqlparse.Expr) bool {
	return stable(e) && !e.Has(sqlparse.Scalar, sqlparse.Exists, sqlparse.InQuery, sqlparse.Quantify)
}

// HasClock reports whether an expression has another value a moment later.
func HasClock(e *sqlparse.Expr) (has bool) {
	e.Walk(func(x *sqlparse.Expr) bool {
		has = has || x.Op == sqlparse.Call && clocks[x.Name]
		return !has
	})
	return has
}

// LeavesID reports whether an expression without parameters leaves an AUTO_INCREMENT column to the table; zeroStays says that 0 does not.
func LeavesID(e *sqlparse.Expr, zeroStays bool) bool {
	o, known := operandOf(e)
	switch {
	case e.Op == sqlparse.Default:
		return !zeroStays && e.Name == ""
	case !known || o.param >= 0:
		return false
	case o.value.IsNull():
		return true
	}
	n, ok := rule.WholeNumber(o.value)
	return ok && n.Uint() == 0 && !zeroStays
}

// ImplicitDefault returns the literal of what a row has in a column that was given NULL, or that was given nothing and has no DEFAULT: NULL, or where
// that may not be, and the server takes the row all the same, what stands for no value in the type. MySQL manual: "Data Type Default Values".
func (r *Ref) ImplicitDefault(column string) string {
	d := r.column(column)
	if d == nil || d.Flags&mysql.NotNullFlag == 0 {
		return "NULL"
	}
	switch d.Type {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLongLong, mysql.TypeYear, mysql.TypeNewDecimal, mysql.TypeDecimal:
		return "0"
	case mysql.TypeDate, mysql.TypeNewDate:
		return "'0000-00-00'"
	case mysql.TypeDatetime:
		return "'0000-00-00 00:00:00'"
	}
	return "''"
}

// Numbers returns the table's AUTO_INCREMENT column, "" without one.
func (r *Ref) Numbers() string {
	for _, d := range r.columns() {
		if d.Flags&autoIncrementFlag != 0 {
			return d.Name
		}
	}
	return ""
}

// PrimaryKey returns the columns of the primary key, nil where it is not known, or has a column whose values no literal stands for.
func (r *Ref) PrimaryKey() (names []string) {
	for _, d := range r.columns() {
		if d.Flags&primaryKeyFlag == 0 {
			continue
		}
		if !writable(&d) {
			return nil
		}
		names = append(names, d.Name)
	}
	return names
}
