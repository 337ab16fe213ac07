package plan

import (
	"slices"
	"strconv"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// mergeShape is how the shards' statement differs from the client's, and how their results become one.
type mergeShape struct {
	clauses sqlparse.Clauses
	// hidden are expressions that the shards' select lists get behind the client's.
	hidden []hidden
	order  []mergeKey
	limit  *sqlparse.Limit
	// group are the columns of groups, as numbers of hidden columns; aggregates belong to visible columns.
	group      []int
	aggregates []shapeAggregate
	distinct   bool
	// tagged: the shard's position follows the columns of the select list, as a further visible one.
	tagged bool
	// sorted: the shards' text needs an ORDER BY of its own, made of order.
	sorted bool
	// counted: FOUND_ROWS() is to tell of all rows, whatever limit there is.
	counted bool
}

// hidden is a column that only the merge sees: a piece of the client's text within before and behind.
type hidden struct {
	before, behind string
	span           sqlparse.Span
}

// mergeKey is a column to sort by.
type mergeKey struct {
	hidden int // number of the hidden column that the merge compares
	// by is the number of the hidden column that the shards sort by.
	by   int
	desc bool
	// space is OrderKey's.
	space []byte
}

type shapeAggregate struct {
	fn         Func
	column     int       // of the select list
	sum, count int       // hidden columns, of Avg
	by         *mergeKey // of Min and Max; nil for the column itself
}

// selectPlan plans a query.
func (b *builder) selectPlan() error {
	q := b.p.Statement.Query
	info := b.analyzer.query(q, nil)
	b.analyzer.subqueries()
	b.p.ReadOnly = !locking(q)
	if into(q) {
		b.p.Operator, b.p.Reason = Refused{}, "SELECT ... INTO over several shards"
		return nil
	}
	if t := b.analyzer.fullText(b.p.Statement); t.relevant() {
		b.analyzer.split("the relevance of MATCH ... AGAINST, which is about all rows of %s", b.p.ruled().Parsed.Name)
	}
	n := newPrecision(info.scope, b.p.Statement.Form)
	m := merger{text: b.p.Statement.Text, mode: b.p.Mode, refs: b.p.Refs, q: q, s: q.Select, info: info, precision: n}
	why := m.merge(b.analyzer.apart)
	if why == "" {
		b.p.Operator = m.shape.merging()
	} else {
		b.finishPlan(why, info, n)
	}
	b.p.short, b.p.shortChars = n.short, n.chars
	return nil
}

func locking(q *sqlparse.Query) bool {
	return q.Select != nil && q.Select.Locking || slices.ContainsFunc(q.Parts, locking)
}

func into(q *sqlparse.Query) bool {
	if q.Select != nil {
		return q.Select.Into
	}
	return slices.ContainsFunc(q.Parts, into)
}

// varying are functions whose value is not the same on every shard, or that have effects.
var varying = map[string]bool{
	"rand": true, "uuid": true, "uuid_short": true, "sleep": true, "get_lock": true, "release_lock": true, "release_all_locks": true,
	"is_free_lock": true, "is_used_lock": true, "last_insert_id": true, "found_rows": true, "row_count": true, "connection_id": true,
	"nextval": true, "lastval": true, "setval": true, "load_file": true, "benchmark": true, "random_bytes": true, "sys_guid": true,
	"master_pos_wait": true, "source_pos_wait": true, "sysdate": true,
}

// stable tells whether every shard computes the same for an expression.
func stable(e *sqlparse.Expr) bool {
	return e.All(func(x *sqlparse.Expr) bool {
		return (x.Op != sqlparse.Call || !varying[x.Name]) && (x.Op != sqlparse.Variable || len(x.Args) == 0)
	})
}

// merger makes the mergeShape of one query block.
type merger struct {
	text      string
	mode      sqltext.Mode
	refs      []*Ref // all of the statement's
	q         *sqlparse.Query
	s         *sqlparse.Select
	info      *blockInfo
	precision *precision
	shape     *mergeShape
}

// merge finds how the results of the block on several shards are merged; why says what keeps that from being right. apart is the
// analyzer's.
func (m *merger) merge(apart string) (why string) {
	q, s := m.q, m.s
	switch {
	case s == nil:
		return "a set operation"
	case len(q.With) > 0:
		return "a common table expression"
	case apart != "":
		return apart
	case len(m.info.refs) == 0:
		return "sharded tables in subqueries only"
	case s.Rollup:
		return "GROUP BY ... WITH ROLLUP"
	case (s.Windows || fieldsHave(s, sqlparse.Window)) && !m.info.windowsByKey(s):
		return "window functions"
	}
	for _, r := range m.refs {
		if r.Table.Kind == router.Single {
			return "the table " + r.Parsed.Name + " is on one node"
		}
		if r.Table.Kind == router.Sharded && !r.classKnown() && len(m.refs) > 1 {
			return "the columns of " + r.Parsed.Name + " are not known"
		}
	}
	for _, e := range fieldExprs(s) {
		if !stable(e) {
			return "a function that is not the same on every shard"
		}
	}
	if s.Where != nil && !stable(s.Where) {
		return "a function that is not the same on every shard"
	}
	c, ok := clausesOf(m.text, m.mode, q)
	if !ok {
		return "the form of the statement"
	}
	m.shape = &mergeShape{clauses: c, limit: q.Limit, counted: s.CalcFoundRows}
	if severalOnNode(m.refs) && !m.keepsType() {
		return "an expression whose form a UNION of sub-tables would change"
	}
	aggregated := aggregates(q)
	if (len(s.Group) > 0 || aggregated || s.Distinct) && !m.info.scope.byKey(s) {
		return m.grouped(aggregated)
	}
	return m.orderBy()
}

// clausesOf finds the clauses of a query of one block in its text; ok is false if they are not those of the tree.
func clausesOf(text string, m sqltext.Mode, q *sqlparse.Query) (c sqlparse.Clauses, ok bool) {
	c, ok = sqlparse.SelectClauses(text, m)
	return c, ok && len(c.Order) == len(q.Order) && len(c.Group) == len(q.Select.Group) && len(c.Fields) == len(q.Select.Fields)
}

// aggregates reports whether a query of one block has aggregates.
func aggregates(q *sqlparse.Query) bool {
	return fieldsHave(q.Select, sqlparse.Aggregate) || q.Select.Having.Has(sqlparse.Aggregate) ||
		slices.ContainsFunc(q.Order, func(o sqlparse.OrderItem) bool { return o.Expr.Has(sqlparse.Aggregate) })
}

// severalOnNode tells whether a node has more than one shard of the tables.
func severalOnNode(refs []*Ref) bool {
	return slices.ContainsFunc(refs, func(r *Ref) bool { return r.Table.Kind == router.Sharded && len(r.Table.Shards) > len(r.Table.Nodes) })
}

// keepsType tells whether the values of the select list look the same when they go through a UNION, which gives every
// column one type: IF(a, 1.5, -1) shows -1, and -1.0 there.
func (m *merger) keepsType() bool {
	for _, e := range fieldExprs(m.s) {
		keeps := e.All(func(x *sqlparse.Expr) bool {
			switch x.Op {
			case sqlparse.Aggregate:
				return !x.Unlisted && (x.Name != "sum" && x.Name != "avg" || len(x.Args) == 1 && m.precision.addsUp(x.Args[0]))
			case sqlparse.Const:
				return x == e || !x.Value.IsNull()
			case sqlparse.Call:
				// In a column of type YEAR the year 1000 is 0000.
				return numeric[x.Name] && x.Name != "round" && x.Name != "mod" && x.Name != "year" && m.precision.fits(x)
			case sqlparse.Column, sqlparse.Eq, sqlparse.Ne, sqlparse.Lt, sqlparse.Le, sqlparse.Gt, sqlparse.Ge, sqlparse.IsNull, sqlparse.In, sqlparse.Between,
				sqlparse.And, sqlparse.Or, sqlparse.Not:
				return true
			}
			return false
		})
		if !keeps {
			return false
		}
	}
	return true
}

// orderBy takes the items of ORDER BY as keys of the merge.
func (m *merger) orderBy() string {
	for k, o := range m.q.Order {
		e, span := o.Expr, m.shape.clauses.Order[k]
		if e.Op == sqlparse.Const || e.Op == sqlparse.Param {
			continue // a constant orders nothing
		}
		e, span = target(m.text, m.s, e, span, m.shape.clauses.Fields)
		if e == nil {
			return "ORDER BY a position behind a star, or an alias within an expression"
		}
		if m.s.Distinct && !slices.ContainsFunc(fieldExprs(m.s), func(f *sqlparse.Expr) bool { return same(f, e) }) {
			return "DISTINCT ordered by what is not in the select list" // the hidden column would tell equal rows apart
		}
		if why := m.sortKey(e, span, o.Desc); why != "" {
			return why
		}
	}
	return ""
}

// target resolves a position or an alias to the expression in the select list and its place; an alias comes before a
// column of the same name, as in ORDER BY of the server.
func target(text string, s *sqlparse.Select, e *sqlparse.Expr, span sqlparse.Span, fields []sqlparse.Span) (*sqlparse.Expr, sqlparse.Span) {
	if e.Op == sqlparse.Position {
		x := output(s, e)
		if x == nil {
			return nil, span
		}
		return x, fieldSpan(text, s.Fields[e.Index-1], fields[e.Index-1])
	}
	if e.Op == sqlparse.Column && e.Table == "" {
		for k, f := range s.Fields {
			if f.Expr != nil && f.Alias != "" && lower(f.Alias) == lower(e.Name) {
				return f.Expr, fieldSpan(text, f, fields[k])
			}
		}
		return e, span
	}
	// An alias inside an expression cannot be written again in the select list.
	nested := false
	e.Walk(func(x *sqlparse.Expr) bool {
		if x.Op == sqlparse.Column && x.Table == "" {
			for _, f := range s.Fields {
				nested = nested || f.Expr != nil && f.Alias != "" && lower(f.Alias) == lower(x.Name) && !(f.Expr.Op == sqlparse.Column && lower(f.Expr.Name) == lower(x.Name))
			}
		}
		return true
	})
	if nested {
		return nil, span
	}
	return e, span
}

// fieldSpan is the place of an item's expression without its alias.
func fieldSpan(text string, f sqlparse.Field, span sqlparse.Span) sqlparse.Span {
	if f.Alias == "" {
		return span
	}
	return sqlparse.WithoutAlias(text, span)
}

// itemSpan is the place of an item of the select list without its alias.
func (m *merger) itemSpan(k int) sqlparse.Span {
	return fieldSpan(m.text, m.s.Fields[k], m.shape.clauses.Fields[k])
}

// sortKey adds an expression as a key of the merge.
func (m *merger) sortKey(e *sqlparse.Expr, span sqlparse.Span, desc bool) string {
	if e.Has(sqlparse.Scalar, sqlparse.Exists, sqlparse.InQuery, sqlparse.Quantify) {
		return "ORDER BY a subquery"
	}
	if !stable(e) || e.Has(sqlparse.Variable) {
		return "ORDER BY a function that is not the same on every shard"
	}
	def := m.info.scope.definition(e)
	if def == nil {
		return m.untypedKey(e, span, desc)
	}
	switch kindOf(def) {
	case plainKind:
		m.shape.add(mergeKey{desc: desc}, plainKey(def, span))
	case numberKind:
		m.shape.add(mergeKey{desc: desc}, hidden{before: "(", span: span, behind: ")+0"})
	case textKind:
		weight := weightOf(def)
		if weight == "" {
			return "ORDER BY text that is too long to compare by weights"
		}
		m.shape.addText(span, desc, weight)
		if unicodeCollation(def.Charset) {
			m.shape.order[len(m.shape.order)-1].space = unicodeSpace
		}
	default:
		return "ORDER BY a value that only the server can compare"
	}
	return ""
}

// plainKey writes a column so that cells of it compare as its values do.
func plainKey(d *mysql.ColumnDefinition41, span sqlparse.Span) hidden {
	switch d.Type {
	case mysql.TypeFloat:
		return hidden{before: "(", span: span, behind: ")+0e0"} // text shows six digits only
	case mysql.TypeTimestamp:
		return hidden{before: "UNIX_TIMESTAMP(", span: span, behind: ")"} // local time repeats itself once a year
	}
	return hidden{span: span}
}

// add adds a hidden column as a key.
func (m *mergeShape) add(k mergeKey, h hidden) {
	k.hidden, k.by = len(m.hidden), len(m.hidden)
	m.hidden = append(m.hidden, h)
	m.order = append(m.order, k)
}

// addText adds text, which the shards sort themselves and the merge compares by its weights.
func (m *mergeShape) addText(span sqlparse.Span, desc bool, weight string) {
	k := mergeKey{hidden: len(m.hidden) + 1, by: len(m.hidden), desc: desc}
	m.hidden = append(m.hidden, hidden{span: span}, hidden{before: "WEIGHT_STRING(", span: span, behind: weight})
	m.order = append(m.order, k)
}

// untypedKey adds an expression whose type is told by the functions in it, if it is.
func (m *merger) untypedKey(e *sqlparse.Expr, span sqlparse.Span, desc bool) string {
	h := hidden{span: span}
	switch {
	case e.Op == sqlparse.Aggregate && (e.Name == "count" || e.Name == "sum" || e.Name == "avg"):
	case e.Op != sqlparse.Call || !numeric[e.Name]:
		return "ORDER BY an expression whose type is not known"
	case len(m.s.Group) > 0 && !e.Has(sqlparse.Aggregate):
		// It is the same in all rows of a group, but where GROUP BY has its alias, MariaDB does not see that under
		// ONLY_FULL_GROUP_BY.
		h.before, h.behind = "MAX(", ")"
	}
	if e.Name == "year" {
		h.before, h.behind = "("+h.before, h.behind+")+0" // a UNION has no year 1000
	}
	m.shape.add(mergeKey{desc: desc}, h)
	return ""
}

// numeric are functions and operators that give numbers.
var numeric = map[string]bool{
	"plus": true, "minus": true, "mul": true, "div": true, "intdiv": true, "mod": true, "neg": true, "abs": true, "length": true,
	"char_length": true, "floor": true, "ceil": true, "ceiling": true, "round": true, "year": true, "month": true, "day": true,
	"dayofmonth": true, "hour": true, "minute": true, "second": true, "field": true, "locate": true, "instr": true, "sign": true,
	"datediff": true, "unix_timestamp": true, "crc32": true, "ascii": true, "ord": true, "find_in_set": true, "dayofweek": true,
	"dayofyear": true, "weekday": true, "week": true, "quarter": true, "sqrt": true, "pow": true, "power": true, "bit_count": true,
}

type valueKind uint8

const (
	otherKind  valueKind = iota // JSON, geometry, vectors, long DOUBLEs
	plainKind                   // ordered as the merge orders cells
	numberKind                  // ENUM and SET: by number
	textKind
)

func kindOf(d *mysql.ColumnDefinition41) valueKind {
	if isLong(d) {
		return otherKind
	}
	if d.Flags&(enumFlag|setFlag) != 0 {
		return numberKind
	}
	switch d.Type {
	case mysql.TypeJSON, mysql.TypeGeometry, mysql.TypeVector:
		return otherKind
	case mysql.TypeVarchar, mysql.TypeVarString, mysql.TypeString, mysql.TypeBlob, mysql.TypeTinyBlob, mysql.TypeMediumBlob, mysql.TypeLongBlob:
		if d.Charset == 63 {
			return plainKind
		}
		return textKind
	}
	return plainKind
}

// grouped takes GROUP BY, DISTINCT and aggregates whose groups are spread over shards.
func (m *merger) grouped(aggregated bool) string {
	s := m.s
	switch {
	case s.Having != nil:
		return "HAVING over several shards"
	case s.Distinct && (aggregated || len(s.Group) > 0):
		return "DISTINCT over groups"
	case s.Distinct:
		return m.distinctRows()
	}
	if why := m.groupKeys(); why != "" {
		return why
	}
	for k, f := range s.Fields {
		if f.Expr == nil {
			return "a star beside GROUP BY"
		}
		if why := m.groupedField(k, f.Expr); why != "" {
			return why
		}
	}
	m.shape.sorted = len(m.shape.order) > 0
	return ""
}

// keyItem is an expression in which rows must be equal to become one.
type keyItem struct {
	e    *sqlparse.Expr
	span sqlparse.Span
	used bool
}

// groupKeys takes the items of GROUP BY.
func (m *merger) groupKeys() string {
	var items []*keyItem
	for k, g := range m.s.Group {
		e, span := target(m.text, m.s, g, m.shape.clauses.Group[k], m.shape.clauses.Fields)
		if e == nil || e.Op == sqlparse.Const {
			return "GROUP BY an expression of the select list"
		}
		if aliasOrColumn(m.info.scope, g, e) {
			return "GROUP BY a name that is a column's and an alias's"
		}
		items = append(items, &keyItem{e: e, span: span})
	}
	return m.sortItems(items, "ORDER BY of groups by something else than GROUP BY")
}

// sortItems makes keys of the merge of items. What ORDER BY says of them decides their directions and sequence; an ORDER BY
// of anything else needs all rows first, which is what other says.
func (m *merger) sortItems(items []*keyItem, other string) string {
	for _, it := range items {
		if d := m.info.scope.definition(it.e); d != nil && d.Type == mysql.TypeTimestamp && !m.mode.MariaDB {
			return "groups of TIMESTAMPs over several shards" // MySQL's have local times in a temporary table, by its sql_mode
		}
	}
	for k, o := range m.q.Order {
		if o.Expr.Op == sqlparse.Const || o.Expr.Op == sqlparse.Param {
			continue // a constant orders nothing
		}
		e, _ := target(m.text, m.s, o.Expr, m.shape.clauses.Order[k], m.shape.clauses.Fields)
		found := false
		for _, it := range items {
			if e != nil && !it.used && same(it.e, e) {
				it.used, found = true, true
				m.shape.group = append(m.shape.group, len(m.shape.order))
				if why := m.sortKey(it.e, it.span, o.Desc); why != "" {
					return why
				}
				break
			}
		}
		if !found {
			return other
		}
	}
	for _, it := range items {
		if it.used {
			continue
		}
		m.shape.group = append(m.shape.group, len(m.shape.order))
		if why := m.sortKey(it.e, it.span, false); why != "" {
			return why
		}
	}
	return ""
}

// same tells whether two expressions are plainly the same column.
func same(a, b *sqlparse.Expr) bool {
	return a.Op == sqlparse.Column && b.Op == sqlparse.Column && lower(a.Name) == lower(b.Name) &&
		(a.Table == "" || b.Table == "" || lower(a.Table) == lower(b.Table)) || a == b
}

// groupedField takes an item of the select list of a grouped query: a column of GROUP BY or a plain aggregate.
func (m *merger) groupedField(column int, e *sqlparse.Expr) string {
	if e.Op != sqlparse.Aggregate {
		if e.Has(sqlparse.Aggregate) {
			return "an expression over an aggregate"
		}
		for _, g := range m.s.Group {
			if x := output(m.s, g); x != nil && (same(x, e) || x.Op == sqlparse.Column && x.Table == "" && lower(x.Name) == lower(m.s.Fields[column].Alias)) {
				return "" // which of several equal texts a group shows depends on its plan on one server, too
			}
		}
		return "a column that is not in GROUP BY"
	}
	if e.Distinct || e.Ordered {
		return lower(e.Name) + "(DISTINCT ...) over several shards"
	}
	a := shapeAggregate{column: column}
	switch e.Name {
	case "count":
		a.fn = Count
	case "sum":
		a.fn = Sum
		if len(e.Args) != 1 || !m.precision.addsUp(e.Args[0]) {
			return "a sum of numbers that have more digits than are shown"
		}
	case "min", "max":
		if why := m.extreme(&a, e); why != "" {
			return why
		}
	case "avg":
		arg, ok := sqlparse.CallArgument(m.text, m.itemSpan(column))
		if !ok || len(e.Args) != 1 {
			return "an aggregate of this form"
		}
		if !m.precision.addsUp(e.Args[0]) {
			return "an average of numbers that have more digits than are shown"
		}
		a.fn, a.sum, a.count = Avg, len(m.shape.hidden), len(m.shape.hidden)+1
		m.shape.hidden = append(m.shape.hidden, hidden{before: "SUM(", span: arg, behind: ")"}, hidden{before: "COUNT(", span: arg, behind: ")"})
	default:
		return e.Name + "() over several shards"
	}
	m.shape.aggregates = append(m.shape.aggregates, a)
	return ""
}

// extreme takes MIN or MAX of a column. Of text the shards give the weight of their least or greatest value, too.
func (m *merger) extreme(a *shapeAggregate, e *sqlparse.Expr) string {
	a.fn = Min
	if e.Name == "max" {
		a.fn = Max
	}
	if len(e.Args) != 1 {
		return "an aggregate of this form"
	}
	d := m.info.scope.definition(e.Args[0])
	switch {
	case d == nil:
	case d.Type == mysql.TypeTimestamp && m.mode.MariaDB:
		// Not by the local time, as MySQL does, which repeats itself when clocks are put back.
		arg, ok := sqlparse.CallArgument(m.text, m.itemSpan(a.column))
		if !ok {
			return "an aggregate of this form"
		}
		a.by = &mergeKey{hidden: len(m.shape.hidden)}
		m.shape.hidden = append(m.shape.hidden, hidden{before: e.Name + "(UNIX_TIMESTAMP(", span: arg, behind: "))"})
		return ""
	case kindOf(d) == plainKind && d.Type != mysql.TypeBit:
		return ""
	case kindOf(d) == textKind && weightOf(d) != "":
		a.by = &mergeKey{hidden: len(m.shape.hidden)}
		if unicodeCollation(d.Charset) {
			a.by.space = unicodeSpace
		}
		call := m.itemSpan(a.column)
		m.shape.hidden = append(m.shape.hidden, hidden{before: "WEIGHT_STRING(", span: call, behind: weightOf(d)})
		return ""
	}
	return e.Name + " of what only the server can compare"
}

// unicodeCollation tells the collations after UCA 4.0.0 and 5.2.0, PAD SPACE, in which characters have none, one or several
// weights: texts of one length in characters have weights of several lengths.
func unicodeCollation(id uint16) bool { return id >= 192 && id <= 215 || id >= 224 && id <= 247 }

// unicodeSpace is the weight of a space there.
var unicodeSpace = []byte{0x02, 0x09}

// weightCharsMax is the longest text, in characters, that is compared by its padded weights.
const weightCharsMax = 512

// weightOf writes the end of the WEIGHT_STRING of a text column: padded with spaces to the column's length, because most
// collations compare as if texts were, and weights alone do not.
func weightOf(d *mysql.ColumnDefinition41) string {
	switch {
	case d.Charset >= 255 && d.Charset <= 323:
		return ")" // utf8mb4_0900 collations are NO PAD
	case d.Charset >= 1024:
		return "" // MariaDB's NO PAD and UCA 14 collations
	}
	bytes := uint32(1)
	switch {
	case d.Charset == 45 || d.Charset == 46 || d.Charset >= 224 && d.Charset <= 247:
		bytes = 4
	case d.Charset == 33 || d.Charset == 83 || d.Charset >= 192 && d.Charset <= 223:
		bytes = 3
	case d.Charset == 28 || d.Charset == 87 || d.Charset == 1 || d.Charset == 84 || d.Charset == 13 || d.Charset == 88:
		bytes = 2
	}
	n := d.Length / bytes
	if n == 0 || n > weightCharsMax {
		return ""
	}
	return " AS CHAR(" + strconv.Itoa(int(n)) + "))"
}
