package plan

import (
	"errors"
	"slices"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// Pick is an UPDATE or DELETE by what rows of other shards hold: a query finds the rows, by their keys, and what is assigned to them of others; then they are changed by their keys, table by table.
type Pick struct {
	// Query is what finds the rows; it is to lock what it reads. Its columns are, of each target, the Keys and then the values of those assignments that it computes.
	Query   string
	Targets []PickTarget
	// Ignore is that of UPDATE IGNORE and DELETE IGNORE.
	Ignore bool
	// None says that the change has LIMIT 0.
	None bool
	// always says that the statement is never sent as it is, though one node may have all rows: entries of indexes follow, or copies change.
	always bool
}

// PickTarget is a table that a Pick changes.
type PickTarget struct {
	*Ref
	// Keys are the columns of the primary key, and then those of the sharding key that are not among them.
	Keys []string
	// Name is the table as the change names it. Assignments are what an UPDATE assigns.
	Name        string
	Assignments []PickedAssignment
	// OrderBy is the clause that the change has, too: rows may stand in each other's way.
	OrderBy string

	follows []*router.Index // which follow the change
}

// Follows reports whether indexes over all shards follow the change.
func (t *PickTarget) Follows() bool { return len(t.follows) > 0 }

// Definition returns the definition of a column, nil where it is not known.
func (t *PickTarget) Definition(column string) *mysql.ColumnDefinition41 { return t.column(column) }

// Changed returns the tables that the statement changes, as far as that is known: of an UPDATE or DELETE that each shard carries out the first one alone; none of a query.
func (p *Plan) Changed() (refs []*Ref) {
	if o, picks := p.Operator.(*Pick); picks {
		for k := range o.Targets {
			refs = append(refs, o.Targets[k].Ref)
		}
	} else if p.Target != nil {
		refs = []*Ref{p.Target}
	}
	return refs
}

// Composed reports whether several statements carry the statement out, which indexes follow each for itself.
func (p *Plan) Composed() bool {
	switch p.Operator.(type) {
	case *Pick, *Transfer:
		return true
	}
	return false
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
func (b *builder) pickPlan(ch *sqlparse.Change, targets []changed, sc *scope) *Pick {
	st, m := b.p.Statement, b.p.Mode
	parts, ok := sqlparse.FindChangeParts(st.Text, m)
	if !ok || len(parts.Values) != len(ch.Set) || sc == nil || st.Returning || st.Reaches.Assigns {
		return nil
	}
	text := func(s sqlparse.Span) string { return st.Text[s.Pos:s.End] }
	o := &Pick{Ignore: parts.Ignore, None: limitsToNone(text(parts.Limit))}
	var items []string
	for k := range targets {
		t := &targets[k]
		if slices.ContainsFunc(targets[:k], func(other changed) bool {
			return lower(other.Table.DB) == lower(t.Table.DB) && lower(other.Table.Name) == lower(t.Table.Name)
		}) {
			return nil // whose rows may be changed twice
		}
		one, columns, ok := b.pickTarget(ch, t, &parts, sc)
		if !ok || crosses(t, targets, ch, sc) {
			return nil
		}
		one.follows = indexesOf(t.Ref, t.assigns(ch))
		if len(one.follows) > 0 && o.Ignore && len(ch.Set) > 0 {
			return nil // which indexes do not follow
		}
		if o.Ignore && len(targets) > 1 && m.MariaDB && slices.ContainsFunc(one.Assignments, func(a PickedAssignment) bool {
			d := t.column(a.Column)
			return d == nil || d.Flags&keyFlags != 0
		}) {
			return nil // MariaDB counts a row whose key is taken as changed in all of the tables but the one that it reads first
		}
		o.always = o.always || len(one.follows) > 0 || len(targets) > 1 && t.Table.Kind == router.Reference
		o.Targets = append(o.Targets, one)
		items = append(items, columns...)
	}
	o.Query = strings.TrimSpace(text(parts.With) + " SELECT " + strings.Join(items, ", ") + " FROM " + text(parts.Table) + " " + text(parts.Where) + " " + text(parts.OrderBy) + " " + text(parts.Limit))
	return o
}

// pickTarget plans the change of one of the tables; columns are what the query finds for it.
func (b *builder) pickTarget(ch *sqlparse.Change, t *changed, parts *sqlparse.ChangeParts, sc *scope) (o PickTarget, columns []string, ok bool) {
	p := b.p
	b.describe(t.Ref)
	keys := t.PrimaryKey()
	if t.Columns == nil || len(keys) == 0 {
		return o, nil, false
	}
	for _, name := range t.Table.Keys {
		if !slices.ContainsFunc(keys, func(key string) bool { return router.SameColumn(key, name) }) {
			d := t.column(name)
			if d == nil || !writable(d) {
				return o, nil, false
			}
			keys = append(keys, d.Name)
		}
	}
	label := p.quote(t.Parsed.Label())
	o = PickTarget{Ref: t.Ref, Keys: keys, Name: p.quote(t.Table.DB) + "." + p.quote(t.Table.Name)}
	if t.Parsed.Alias != "" && len(ch.Set) > 0 {
		o.Name += " AS " + label
	}
	ordered := !slices.ContainsFunc(ch.Order, func(i sqlparse.OrderItem) bool {
		own, known := ownOf(i.Expr, t.Ref, sc)
		return !own || !known || i.Expr.Op == sqlparse.Position
	})
	text := func(s sqlparse.Span) string { return p.Statement.Text[s.Pos:s.End] }
	for _, key := range keys {
		columns = append(columns, label+"."+p.quote(key))
	}
	given := map[string]bool{}
	for _, k := range t.set {
		a := ch.Set[k]
		_, ok := sqltext.QuoteIdent(a.Column, p.Mode)
		own, known := ownOf(a.Expr, t.Ref, sc)
		if !ok || !known || t.keyOf(a.Column) >= 0 {
			return o, nil, false
		}
		one := PickedAssignment{Column: a.Column, Text: text(parts.Values[k])}
		if !own {
			one.Text = ""
			columns = append(columns, text(parts.Values[k]))
		}
		if (!own || ch.Multi) && namesAny(a.Expr, given) {
			return o, nil, false // of which the query has the value that it had before
		}
		given[lower(a.Column)] = true
		o.Assignments = append(o.Assignments, one)
	}
	if ordered && (len(ch.Set) > 0 || t.Parsed.Alias == "") { // names may have the alias, which DELETE has not here
		o.OrderBy = text(parts.OrderBy)
	}
	if o.OrderBy == "" && parts.Ignore && len(ch.Set) > 0 && t.Table.Kind == router.Reference {
		o.OrderBy = "ORDER BY " + strings.Join(columns[:len(keys)], ", ") // each copy leaves out the same rows
	}
	return o, columns, true
}

// crosses reports whether what is assigned to a table may be computed of columns that the statement assigns in another one: which of both comes first a server decides.
func crosses(t *changed, targets []changed, ch *sqlparse.Change, sc *scope) bool {
	given := map[string]bool{}
	for k := range targets {
		for _, a := range targets[k].assigns(ch) {
			if targets[k].Ref != t.Ref {
				given[lower(a.Column)] = true
			}
		}
	}
	return slices.ContainsFunc(t.assigns(ch), func(a sqlparse.Assignment) bool {
		own, _ := ownOf(a.Expr, t.Ref, sc)
		return !own && namesAny(a.Expr, given)
	})
}

// limitsToNone reports whether a LIMIT clause leaves no row.
func limitsToNone(clause string) bool {
	words := strings.Fields(clause)
	return len(words) == 2 && strings.Trim(words[1], "0") == ""
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
