package plan

import (
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/router"
)

// shared lists the key columns that both sides of a NATURAL JOIN have, in the order of the left side's tables.
func (a *analyzer) shared(j *sqlparse.Join) (names []string) {
	for _, r := range a.under(j.Left) {
		for _, name := range r.Table.Keys {
			if !slices.Contains(names, name) && a.common(j, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// sideKeys lists the key columns, in the order of the text, that are equal to the column of one side of a join that a USING of that join names.
// Several tables have it where the side is itself a join USING it. Of an outer join that is the column of the side whose rows stay: in the
// rows that the other side lacks, its own is NULL.
func (a *analyzer) sideKeys(f *sqlparse.From, name string) []key {
	switch {
	case f == nil:
	case f.Table != nil:
		if r := a.byTable[f.Table]; r != nil && r.Table.Kind == router.Sharded {
			if k := r.keyOf(name); k >= 0 {
				return []key{{r, k}}
			}
		}
	case f.Join != nil:
		j := f.Join
		left, right := a.sideKeys(j.Left, name), a.sideKeys(j.Right, name)
		switch {
		case !a.common(j, name):
			// A server refuses a name that both sides have.
			if len(left) > 0 {
				return left
			}
			return right
		case j.Kind == sqlparse.Left:
			return left
		case j.Kind == sqlparse.Right:
			return right
		}
		return append(left, right...)
	}
	return nil
}

// common reports whether a join is by the columns of a name: it is USING them, or NATURAL where both sides may have one.
func (a *analyzer) common(j *sqlparse.Join, name string) bool {
	if j.Natural {
		return a.mayShow(j.Left, name) && a.mayShow(j.Right, name)
	}
	return slices.ContainsFunc(j.Using, func(c string) bool { return router.SameColumn(c, name) })
}

// mayShow reports whether a tree may have a visible column of a name. Of derived tables, and of tables whose columns are not known, that is
// not known.
func (a *analyzer) mayShow(f *sqlparse.From, name string) bool {
	switch {
	case f == nil:
		return false
	case f.Join != nil:
		return a.mayShow(f.Join.Left, name) || a.mayShow(f.Join.Right, name)
	case f.Table == nil || a.byTable[f.Table] == nil || a.byTable[f.Table].Columns == nil:
		return true
	}
	return slices.ContainsFunc(a.byTable[f.Table].Columns, func(d mysql.ColumnDefinition41) bool { return router.SameColumn(d.Name, name) })
}

// meeting returns one column of each side by which the two sides are linked. Any two of a side are equal, but not all of them place their
// rows alike.
func meeting(left, right []key) (l, r key) {
	for _, x := range left {
		for _, y := range right {
			if x.k != y.k || !joins(x, y) {
				continue
			}
			if x.ref.Table.Colocated(y.ref.Table) {
				return x, y
			}
			if l.ref == nil {
				l, r = x, y
			}
		}
	}
	return l, r
}
