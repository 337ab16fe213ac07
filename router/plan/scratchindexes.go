package plan

import (
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
)

// indexesMax is how many indexes a scratch table has at most: each row that it gets is put into all of them.
const indexesMax = 4

// indexBytes is the length in bytes from which a text is not worth an index, and InnoDB may not take it.
const indexBytes = 767

// compared are the columns of a statement that are compared for equality with other columns or with what subqueries give: those by which the server that finishes it looks
// rows up. They are known by their names alone, so that a column of the same name in another table may be taken for one.
type compared struct {
	columns map[comparedColumn]bool
	labels  map[string]bool // of the statement's tables, in lower case
}

// comparedColumn is a column's name and the label that it is written with, "" for none, both in lower case.
type comparedColumn struct{ table, column string }

// comparedIn finds those of a query on these references, subqueries included.
func comparedIn(q *sqlparse.Query, refs []*Ref) compared {
	m := compared{map[comparedColumn]bool{}, map[string]bool{}}
	for _, r := range refs {
		m.labels[lower(r.Parsed.Label())] = true
	}
	q.Each(func(part *sqlparse.Query) {
		if part.Select != nil {
			m.using(part.Select.From)
		}
	}, m.expr)
	return m
}

// using notes the columns of USING.
func (m compared) using(f *sqlparse.From) {
	if f == nil || f.Join == nil {
		return
	}
	m.using(f.Join.Left)
	m.using(f.Join.Right)
	for _, name := range f.Join.Using {
		m.columns[comparedColumn{"", lower(name)}] = true
	}
}

func (m compared) expr(e *sqlparse.Expr) {
	e.Walk(func(x *sqlparse.Expr) bool {
		switch x.Op {
		case sqlparse.Eq, sqlparse.NullSafeEq:
			if len(x.Args) == 2 {
				m.sides(x.Args[0], x.Args[1])
				m.sides(x.Args[1], x.Args[0])
			}
		case sqlparse.InQuery:
			m.operand(x.Args[0])
			if s := x.Query.Select; s != nil {
				for _, f := range s.Fields {
					m.operand(f.Expr)
				}
			}
		}
		return true
	})
}

// sides notes a where b is no constant.
func (m compared) sides(a, b *sqlparse.Expr) {
	if b.Has(sqlparse.Column, sqlparse.Scalar) {
		m.operand(a)
	}
}

// operand notes a column, or those of a row.
func (m compared) operand(e *sqlparse.Expr) {
	switch {
	case e == nil:
	case e.Op == sqlparse.Column:
		label := lower(e.Table)
		if !m.labels[label] { // a derived table's
			label = ""
		}
		m.columns[comparedColumn{label, lower(e.Name)}] = true
	case e.Op == sqlparse.Row:
		for _, a := range e.Args {
			m.operand(a)
		}
	}
}

// of lists the indexes of a scratch table that has the rows of r with the columns given: one of those that are of its primary key, where there are several, and one of each
// other column.
func (m compared) of(r *Ref, columns []string) (indexes [][]string) {
	var key, others []string
	for _, name := range columns {
		d := r.column(name)
		if d == nil || !indexable(d) || !m.columns[comparedColumn{"", lower(name)}] && !m.columns[comparedColumn{lower(r.Parsed.Label()), lower(name)}] {
			continue
		}
		if d.Flags&primaryKeyFlag != 0 {
			key = append(key, name)
		} else {
			others = append(others, name)
		}
	}
	length := uint32(0)
	for _, name := range key {
		length += r.column(name).Length
	}
	if length > indexBytes {
		others, key = slices.Concat(key, others), nil
	}
	if len(key) > 0 {
		indexes = append(indexes, key)
	}
	for _, name := range slices.Concat(key[min(1, len(key)):], others) {
		indexes = append(indexes, []string{name})
	}
	return indexes[:min(len(indexes), indexesMax)]
}

// indexable reports whether a column can be in an index, and whether that finds its values.
func indexable(d *mysql.ColumnDefinition41) bool {
	switch d.Type {
	case mysql.TypeVarchar, mysql.TypeVarString, mysql.TypeString:
		return d.Length <= indexBytes
	}
	return exact(d) // a TIMESTAMP is compared by its local time, and found by its instant
}
