package plan

import (
	"slices"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// partialShape is how a query that groups is finished on few rows: every shard groups its own and sends what the aggregates
// came to, and a server runs the client's select list, HAVING and ORDER BY on these rows.
type partialShape struct {
	clauses sqlparse.Clauses
	keys    []partialKey
	parts   []partialPart
	// replaced are the places of the final statement that name columns of the shards' rows, in order.
	replaced []replacement
	// bound says that a parameter is in what the shards compute: its value then decides the types of their rows.
	bound bool
}

// partialKey is an expression that the shards group by.
type partialKey struct {
	span sqlparse.Span
	ref  *Ref   // of a plain column
	name string // of it, in lower case
	// whole: of a FLOAT, whose text shows six digits only.
	whole bool
	// instant: of a TIMESTAMP, whose local time repeats itself.
	instant bool
	// integer: of MySQL's YEAR(), which is an INT where a grouping has stored it.
	integer bool
}

// partialPart is an aggregate that the shards compute: a piece of the client's text within before and behind.
type partialPart struct {
	before, behind string
	span           sqlparse.Span
	shown          sqlparse.Span // what messages have in the place of its name
	whole          bool          // as of partialKey
}

// replacement is a place of the client's text and what stands there in the final statement.
type replacement struct {
	span sqlparse.Span
	text string
}

func keyName(k int) string  { return "ks_g" + strconv.Itoa(k) }
func partName(k int) string { return "ks_a" + strconv.Itoa(k) }

// partialCalls are the aggregates whose values come from those of parts, or, DISTINCT, from groups by their arguments.
var partialCalls = map[string]bool{
	"count": true, "sum": true, "avg": true, "min": true, "max": true, "bit_and": true, "bit_or": true, "bit_xor": true, "group_concat": true,
}

// partialItemsMax bounds the items of such a query: each of them is compared with those before it.
const partialItemsMax = 256

// partialMaker makes one partialShape.
type partialMaker struct {
	text      string
	mode      sqltext.Mode
	params    []int  // places of parameters in the text
	refs      []*Ref // all of the statement's
	q         *sqlparse.Query
	s         *sqlparse.Select
	scope     *scope
	precision *precision
	shape     *partialShape
	// averages are the aliases of items that are AVG alone, of exact numbers.
	averages map[string]bool
}

// partial finds how the groups of a query, whose rows lie together, are finished from the shards' own; nil where all rows are
// needed for that.
func partial(st *sqlparse.Statement, mode sqltext.Mode, refs []*Ref, n *precision) *partialShape {
	q, s := st.Query, st.Query.Select
	if len(q.With) > 0 || s.Windows {
		return nil
	}
	for _, r := range refs {
		if r.Table.Kind == router.Single || r.Table.Kind == router.Sharded && !r.classKnown() {
			return nil
		}
	}
	c, ok := clausesOf(st.Text, mode, q)
	if !ok || len(c.Fields)+len(c.Group)+len(c.Order) > partialItemsMax {
		return nil
	}
	if s.Where != nil && !stable(s.Where) || strings.Contains(st.Text[:c.Fields[0].Pos], "/*+") {
		return nil
	}
	m := partialMaker{
		text: st.Text, mode: mode, params: st.Params, refs: refs, q: q, s: s, scope: n.scope, precision: n,
		shape: &partialShape{clauses: c}, averages: map[string]bool{},
	}
	if !m.groups() || !m.items() || !m.having() || !m.order() || len(m.shape.keys)+len(m.shape.parts) == 0 {
		return nil
	}
	slices.SortFunc(m.shape.replaced, func(a, b replacement) int { return a.span.Pos - b.span.Pos })
	return m.shape
}

// namesColumn tells whether an expression depends on rows. What does not is no group's: servers that group by it work it out once, and show it
// as it is, not as a column of their groups.
func namesColumn(e *sqlparse.Expr) bool { return e.Has(sqlparse.Column) }

// groups takes GROUP BY as keys, or the items of a DISTINCT.
func (m *partialMaker) groups() bool {
	s := m.s
	if len(s.Group) == 0 && !aggregates(m.q) {
		if !s.Distinct {
			return false
		}
		for k, f := range s.Fields {
			if f.Expr == nil || m.key(f.Expr, m.itemSpan(k)) < 0 {
				return false
			}
		}
		return true
	}
	for k, g := range s.Group {
		e, span := target(m.text, s, g, m.shape.clauses.Group[k], m.shape.clauses.Fields)
		if e == nil || aliasOrColumn(m.scope, g, e) {
			return false
		}
		known := len(m.shape.keys)
		key := m.key(e, span)
		if key < 0 || s.Rollup && key < known {
			return false // a column that is grouped by twice is rolled up twice, by the name that an item has
		}
		m.replace(m.shape.clauses.Group[k], keyName(key))
	}
	return true
}

// aliasOrColumn tells of an item of GROUP BY that was found to be an alias of e whether it is a column's name, too.
func aliasOrColumn(s *scope, g, e *sqlparse.Expr) bool {
	return g.Op == sqlparse.Column && g.Table == "" && e != g && s.definition(g) != nil && !(e.Op == sqlparse.Column && lower(e.Name) == lower(g.Name))
}

// itemSpan is the place of an item of the select list without its alias.
func (m *partialMaker) itemSpan(k int) sqlparse.Span {
	return fieldSpan(m.text, m.s.Fields[k], m.shape.clauses.Fields[k])
}

func (m *partialMaker) replace(s sqlparse.Span, text string) {
	m.shape.replaced = append(m.shape.replaced, replacement{s, text})
}

// items takes the select list.
func (m *partialMaker) items() bool {
	for k, f := range m.s.Fields {
		if f.Expr == nil {
			return false
		}
		span := m.itemSpan(k)
		if isAverage(f.Expr) && f.Alias != "" && !m.double(f.Expr.Args[0]) {
			m.averages[lower(f.Alias)] = true
		}
		if !m.rewrite(f.Expr, span, inItems) {
			return false
		}
	}
	return true
}

func (m *partialMaker) having() bool {
	return m.s.Having == nil || m.rewrite(m.s.Having, m.shape.clauses.Having, inHaving)
}

func (m *partialMaker) order() bool {
	for k, o := range m.q.Order {
		if o.Expr.Op == sqlparse.Position || o.Expr.Op == sqlparse.Column && m.alias(o.Expr) != nil {
			continue // means the item, which stays where it is
		}
		if !m.rewrite(o.Expr, m.shape.clauses.Order[k], inOrder) {
			return false
		}
	}
	return true
}

// alias finds the item of the select list that has an unqualified name as its alias.
func (m *partialMaker) alias(e *sqlparse.Expr) *sqlparse.Field {
	if e.Table != "" {
		return nil
	}
	for k := range m.s.Fields {
		if f := &m.s.Fields[k]; f.Alias != "" && lower(f.Alias) == lower(e.Name) {
			return f
		}
	}
	return nil
}

// clause is where an expression stands. In the select list names are columns of the tables, elsewhere items' aliases, too.
type clause uint8

const (
	inItems clause = iota
	inHaving
	inOrder
)

// rewrite puts columns of the shards' rows in the place of what an expression has of the tables'.
func (m *partialMaker) rewrite(e *sqlparse.Expr, span sqlparse.Span, in clause) bool {
	if e.Has(sqlparse.Scalar, sqlparse.Exists, sqlparse.InQuery, sqlparse.Quantify, sqlparse.Window, sqlparse.Position, sqlparse.Default, sqlparse.Values) {
		return false
	}
	if len(m.shape.keys)+len(m.shape.parts) > partialItemsMax {
		return false
	}
	if e.Op != sqlparse.Column {
		for k := range m.shape.keys {
			if key := &m.shape.keys[k]; key.ref == nil && (key.span == span || sqlparse.SameText(m.text, key.span, span, m.mode)) {
				m.replace(span, keyName(k))
				return true
			}
		}
	}
	pieces, ok := sqlparse.Pieces(m.text, span, partialCalls, m.mode)
	if !ok {
		return false
	}
	columns, aggregates := partsOf(e)
	if len(columns) > partialItemsMax || len(aggregates) > partialItemsMax {
		return false
	}
	for _, p := range pieces {
		if p.Call != "" {
			at := slices.IndexFunc(aggregates, func(a *sqlparse.Expr) bool { return m.isCall(p, a) })
			if at < 0 || !m.aggregate(p, aggregates[at], in, e.Op == sqlparse.Aggregate) {
				return false
			}
			aggregates = slices.Delete(aggregates, at, at+1)
			continue
		}
		at := slices.IndexFunc(columns, func(c *sqlparse.Expr) bool { return isNamed(p, c) })
		if at < 0 {
			if m.mayBeColumn(p) {
				return false
			}
			continue // a keyword
		}
		if !m.column(p, columns[at], in) {
			return false
		}
		columns = slices.Delete(columns, at, at+1)
	}
	return len(columns) == 0 && len(aggregates) == 0
}

// partsOf lists the aggregates of an expression and the columns outside of them.
func partsOf(e *sqlparse.Expr) (columns, aggregates []*sqlparse.Expr) {
	e.Walk(func(x *sqlparse.Expr) bool {
		switch x.Op {
		case sqlparse.Column:
			columns = append(columns, x)
		case sqlparse.Aggregate:
			aggregates = append(aggregates, x)
			return false
		}
		return true
	})
	return columns, aggregates
}

// isNamed tells whether a name in the text is that of a column in the tree.
func isNamed(p sqlparse.Piece, c *sqlparse.Expr) bool {
	path := []string{c.Name}
	if c.Table != "" {
		path = []string{c.Table, c.Name}
	}
	if c.DB != "" {
		path = []string{c.DB, c.Table, c.Name}
	}
	return slices.EqualFunc(p.Path, path, strings.EqualFold)
}

// isCall tells whether a call in the text is an aggregate of the tree: of one name, over the same columns.
func (m *partialMaker) isCall(p sqlparse.Piece, a *sqlparse.Expr) bool {
	if p.Call != a.Name || p.Distinct != a.Distinct {
		return false
	}
	pieces, ok := sqlparse.Pieces(m.text, p.Inside, partialCalls, m.mode)
	if !ok {
		return false
	}
	var columns []*sqlparse.Expr
	for _, arg := range a.Args {
		c, inner := partsOf(arg)
		if columns = append(columns, c...); len(inner) > 0 {
			return false
		}
	}
	for _, piece := range pieces {
		at := slices.IndexFunc(columns, func(c *sqlparse.Expr) bool { return isNamed(piece, c) })
		if at >= 0 {
			columns = slices.Delete(columns, at, at+1)
		} else if m.mayBeColumn(piece) {
			return false
		}
	}
	return len(columns) == 0
}

// mayBeColumn tells whether a name that the tree does not have as a column is one's all the same.
func (m *partialMaker) mayBeColumn(p sqlparse.Piece) bool {
	if len(p.Path) != 1 {
		return true
	}
	return slices.ContainsFunc(m.refs, func(r *Ref) bool { return r.column(p.Path[0]) != nil })
}

// column takes a column outside of aggregates: one that is grouped by, or an alias.
func (m *partialMaker) column(p sqlparse.Piece, e *sqlparse.Expr, in clause) bool {
	if f := m.alias(e); in != inItems && f != nil {
		return !m.averages[lower(e.Name)] && !aliasOrColumn(m.scope, e, f.Expr)
	}
	k := m.find(e)
	if k < 0 {
		return false
	}
	m.replace(p.Span, keyName(k))
	return true
}

// find gives the number of the key that is a column, -1 if there is none.
func (m *partialMaker) find(e *sqlparse.Expr) int {
	r, _, at := m.scope.resolve(e)
	if r == nil || at != m.scope {
		return -1
	}
	return slices.IndexFunc(m.shape.keys, func(k partialKey) bool { return k.ref == r && k.name == lower(e.Name) })
}

// key makes an expression one that the shards group by, and gives its number; -1 if its values would not be the same when
// they went through a table.
func (m *partialMaker) key(e *sqlparse.Expr, span sqlparse.Span) int {
	if e.Op == sqlparse.Column {
		if k := m.find(e); k >= 0 {
			return k
		}
		r, _, at := m.scope.resolve(e)
		if r == nil || at != m.scope {
			return -1
		}
		d := r.column(e.Name)
		if d == nil || kindOf(d) == otherKind || d.Type == mysql.TypeBit {
			return -1
		}
		if d.Type == mysql.TypeTimestamp && !m.mode.MariaDB {
			return -1 // MySQL's groups have local times in a temporary table
		}
		m.shape.keys = append(m.shape.keys, partialKey{span: span, ref: r, name: lower(e.Name), whole: d.Type == mysql.TypeFloat, instant: d.Type == mysql.TypeTimestamp})
		return len(m.shape.keys) - 1
	}
	if !m.pushable(e, span) || !m.fixedForm(e) || !namesColumn(e) {
		return -1
	}
	for k := range m.shape.keys {
		if sqlparse.SameText(m.text, m.shape.keys[k].span, span, m.mode) {
			return k
		}
	}
	m.shape.keys = append(m.shape.keys, partialKey{span: span, integer: m.isYear(e)})
	return len(m.shape.keys) - 1
}
