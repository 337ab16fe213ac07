package plan

import (
	"errors"
	"slices"
	"strings"

	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// Pick is an UPDATE or DELETE of one table by what rows of other shards hold: a query finds the rows, by their keys, and what is assigned to them of others; then they are changed by their keys.
type Pick struct {
	// Query is what finds the rows; it is to lock what it reads. Its columns are Keys, and then the values of those assignments that it computes.
	Query string
	// Keys are the columns of the table's primary key, and of its sharding key.
	Keys []string
	// Table is the table to change as the change names it. Assignments are what an UPDATE assigns.
	Table       string
	Assignments []PickedAssignment
	// OrderBy is the clause that the change has, too: rows may stand in each other's way. Ignore is that of UPDATE IGNORE and DELETE IGNORE.
	OrderBy string
	Ignore  bool
}

// PickedAssignment is an assignment to a column.
type PickedAssignment struct {
	Column string
	// Text is what is assigned; empty where the query computes it.
	Text string
}

// ErrPicks says that the rows of a Pick are to be found, which only a session can.
var ErrPicks = errors.New("rows are found, and changed by their keys")

// pickPlan plans a change so; nil where that would not mean the same.
func (b *builder) pickPlan(ch *sqlparse.Change, targets []*Ref, sc *scope) *Pick {
	p, t := b.p, b.p.Target
	st := p.Statement
	b.describe(t)
	keys := t.PrimaryKey()
	if len(targets) > 1 || t.Columns == nil || len(t.Table.Indexes) > 0 || t.Table.GlobalUnique || t.nullable || st.Returning || len(keys) == 0 {
		return nil
	}
	parts, ok := sqlparse.FindChangeParts(st.Text, p.Mode)
	if !ok || len(parts.Values) != len(ch.Set) || sc == nil {
		return nil
	}
	for _, name := range t.Table.Keys {
		if !slices.ContainsFunc(keys, func(key string) bool { return router.SameColumn(key, name) }) {
			d := t.column(name)
			if d == nil || !writable(d) {
				return nil
			}
			keys = append(keys, d.Name)
		}
	}
	label := p.quote(t.Parsed.Label())
	o := &Pick{Keys: keys, Table: p.quote(t.Table.DB) + "." + p.quote(t.Table.Name), Ignore: parts.Ignore}
	if t.Parsed.Alias != "" && len(ch.Set) > 0 {
		o.Table += " AS " + label
	}
	ordered := !slices.ContainsFunc(ch.Order, func(i sqlparse.OrderItem) bool {
		own, known := ownOf(i.Expr, t, sc)
		return !own || !known || i.Expr.Op == sqlparse.Position
	})
	text := func(s sqlparse.Span) string { return st.Text[s.Pos:s.End] }
	var items []string
	for _, key := range keys {
		items = append(items, label+"."+p.quote(key))
	}
	given := map[string]bool{}
	for k, a := range ch.Set {
		_, ok := sqltext.QuoteIdent(a.Column, p.Mode)
		own, known := ownOf(a.Expr, t, sc)
		if !ok || !known || t.keyOf(a.Column) >= 0 {
			return nil
		}
		one := PickedAssignment{Column: a.Column, Text: text(parts.Values[k])}
		if !own {
			one.Text = ""
			items = append(items, text(parts.Values[k]))
		}
		if (!own || ch.Multi) && namesAny(a.Expr, given) {
			return nil // of which the query has the value that it had before
		}
		given[lower(a.Column)] = true
		o.Assignments = append(o.Assignments, one)
	}
	if ordered && (len(ch.Set) > 0 || t.Parsed.Alias == "") { // names may have the alias, which DELETE has not here
		o.OrderBy = text(parts.OrderBy)
	}
	if o.OrderBy == "" && o.Ignore && len(ch.Set) > 0 && t.Table.Kind == router.Reference {
		o.OrderBy = "ORDER BY " + strings.Join(items[:len(keys)], ", ") // each copy leaves out the same rows
	}
	o.Query = strings.TrimSpace(text(parts.With) + " SELECT " + strings.Join(items, ", ") + " FROM " + text(parts.Table) + " " + text(parts.Where) + " " + text(parts.OrderBy) + " " + text(parts.Limit))
	return o
}

// ownOf reports whether an expression names columns of a table alone, and reads no others; known is false where that cannot be told.
func ownOf(e *sqlparse.Expr, t *Ref, sc *scope) (own, known bool) {
	own, known = true, stable(e) && !e.Has(sqlparse.Variable)
	e.Walk(func(x *sqlparse.Expr) bool {
		own = own && x.Query == nil && (x.Op != sqlparse.Default || x.Name == "")
		if x.Op == sqlparse.Column {
			r, _, _ := sc.resolve(x)
			own = own && r == t
		}
		return true
	})
	return own, known
}

// namesAny reports whether an expression may name one of some columns, at any depth.
func namesAny(e *sqlparse.Expr, columns map[string]bool) (names bool) {
	look := func(x *sqlparse.Expr) {
		x.Walk(func(x *sqlparse.Expr) bool {
			names = names || x.Op == sqlparse.Column && columns[lower(x.Name)]
			return true
		})
	}
	look(e)
	e.Walk(func(x *sqlparse.Expr) bool {
		x.Query.Each(func(*sqlparse.Query) {}, look)
		return true
	})
	return names
}
