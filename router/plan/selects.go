package plan

import (
	"slices"
	"strconv"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/router"
)

// mergeShape is how the shards' statement differs from the client's, and how their results become one.
type mergeShape struct {
	clauses sqlparse.Clauses
	// hidden are expressions that the shards' select lists get behind the client's.
	hidden []hidden
	order  []mergeKey
	// fullOrder: the order in which the shards' rows come is all that ORDER BY asks for.
	limit *sqlparse.Limit
	// group are the columns of groups, as numbers of hidden columns; aggregates belong to visible columns.
	group      []int
	aggregates []shapeAggregate
	distinct   bool
	// tagged: the shard's position follows the columns of the select list, as a further visible one.
	tagged bool
	// sorted: the shards' text needs an ORDER BY of its own, made of order.
	sorted bool
	// merged is what the proxy does with the rows, made of the above.
	merged Merge
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
		b.p.Many, b.p.Reason = ManyRefuse, "SELECT ... INTO over several shards"
		return nil
	}
	b.p.Many = ManyMerge
	shape, why := b.mergeSelect(q, info)
	if why == "" {
		shape.merged = shape.merging()
		b.p.merge = shape
		return nil
	}
	return b.finishPlan(why, info)
}

func locking(q *sqlparse.Query) bool {
	if q.Select != nil && q.Select.Locking {
		return true
	}
	for _, p := range q.Parts {
		if locking(p) {
			return true
		}
	}
	return false
}

func into(q *sqlparse.Query) bool {
	if q.Select != nil {
		return q.Select.Into
	}
	for _, p := range q.Parts {
		if into(p) {
			return true
		}
	}
	return false
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
	ok := true
	e.Walk(func(x *sqlparse.Expr) bool {
		if x.Op == sqlparse.Call && varying[x.Name] || x.Op == sqlparse.Variable && len(x.Args) > 0 {
			ok = false
		}
		return ok
	})
	return ok
}

// mergeSelect finds how the results of one query block on several shards are merged; why says what keeps that from being
// right.
func (b *builder) mergeSelect(q *sqlparse.Query, info *blockInfo) (shape *mergeShape, why string) {
	s := q.Select
	switch {
	case s == nil:
		return nil, "a set operation"
	case len(q.With) > 0:
		return nil, "a common table expression"
	case b.analyzer.apart != "":
		return nil, b.analyzer.apart
	case len(info.refs) == 0:
		return nil, "sharded tables in subqueries only"
	case s.Rollup:
		return nil, "GROUP BY ... WITH ROLLUP"
	case (s.Windows || fieldsHave(s, sqlparse.Window)) && !b.windowsByKey(s, info):
		return nil, "window functions"
	}
	for _, r := range b.p.Refs {
		if r.Table.Kind == router.Single {
			return nil, "the table " + r.Parsed.Name + " is on one node"
		}
		if r.Table.Kind == router.Sharded && !r.classKnown() && len(b.p.Refs) > 1 {
			return nil, "the columns of " + r.Parsed.Name + " are not known"
		}
	}
	for _, e := range fieldExprs(s) {
		if !stable(e) {
			return nil, "a function that is not the same on every shard"
		}
	}
	if s.Where != nil && !stable(s.Where) {
		return nil, "a function that is not the same on every shard"
	}
	c, ok := sqlparse.SelectClauses(b.p.Statement.Text, b.p.Mode)
	if !ok || len(c.Order) != len(q.Order) || len(c.Group) != len(s.Group) || len(c.Fields) != len(s.Fields) {
		return nil, "the form of the statement"
	}
	m := &mergeShape{clauses: c, limit: q.Limit}
	if b.severalOnNode() && !b.keepsType(s, info) {
		return nil, "an expression whose form a UNION of sub-tables would change"
	}
	aggregated := fieldsHave(s, sqlparse.Aggregate) || s.Having.Has(sqlparse.Aggregate)
	for _, o := range q.Order {
		aggregated = aggregated || o.Expr.Has(sqlparse.Aggregate)
	}
	if (len(s.Group) > 0 || aggregated || s.Distinct) && !info.scope.byKey(s) {
		if why := b.grouped(m, q, info, aggregated); why != "" {
			return nil, why
		}
		return m, ""
	}
	return m, b.orderBy(m, q, info, c.Order, q.Order)
}

// severalOnNode tells whether a node has more than one shard of the tables.
func (b *builder) severalOnNode() bool {
	for _, r := range b.p.Refs {
		if r.Table.Kind == router.Sharded && len(r.Table.Shards) > len(r.Table.Nodes) {
			return true
		}
	}
	return false
}

// keepsType tells whether the values of the select list look the same when they go through a UNION, which gives every
// column one type: IF(a, 1.5, -1) shows -1, and -1.0 there.
func (b *builder) keepsType(s *sqlparse.Select, info *blockInfo) bool {
	for _, e := range fieldExprs(s) {
		ok := true
		e.Walk(func(x *sqlparse.Expr) bool {
			switch x.Op {
			case sqlparse.Column:
			case sqlparse.Aggregate:
				ok = ok && !x.Unlisted && (x.Name != "sum" && x.Name != "avg" || len(x.Args) == 1 && b.addsUp(info, x.Args[0]))
			case sqlparse.Const:
				ok = ok && (x == e || !x.Value.IsNull())
			case sqlparse.Call:
				// In a column of type YEAR the year 1000 is 0000.
				ok = ok && numeric[x.Name] && x.Name != "round" && x.Name != "mod" && x.Name != "year" && b.fits(info, x)
			case sqlparse.Eq, sqlparse.Ne, sqlparse.Lt, sqlparse.Le, sqlparse.Gt, sqlparse.Ge, sqlparse.IsNull, sqlparse.In, sqlparse.Between,
				sqlparse.And, sqlparse.Or, sqlparse.Not:
			default:
				ok = false
			}
			return ok
		})
		if !ok {
			return false
		}
	}
	return true
}

// windowsByKey tells whether every window is within one shard: its PARTITION BY has the sharding key.
func (b *builder) windowsByKey(s *sqlparse.Select, info *blockInfo) bool {
	if s.Windows || len(info.refs) == 0 {
		return false
	}
	ok := true
	for _, e := range fieldExprs(s) {
		e.Walk(func(x *sqlparse.Expr) bool {
			if x.Op == sqlparse.Window {
				ok = ok && info.scope.byKey(&sqlparse.Select{Group: x.Partition, Fields: s.Fields}) && len(x.Partition) > 0
			}
			return ok
		})
	}
	return ok
}

// orderBy takes the items of ORDER BY as keys of the merge.
func (b *builder) orderBy(m *mergeShape, q *sqlparse.Query, info *blockInfo, spans []sqlparse.Span, items []sqlparse.OrderItem) string {
	for k, o := range items {
		e, span := o.Expr, spans[k]
		if e.Op == sqlparse.Const || e.Op == sqlparse.Param {
			continue // a constant orders nothing
		}
		e, span = b.target(q.Select, e, span, m.clauses.Fields)
		if e == nil {
			return "ORDER BY a position behind a star, or an alias within an expression"
		}
		if q.Select.Distinct && !slices.ContainsFunc(fieldExprs(q.Select), func(f *sqlparse.Expr) bool { return same(f, e) }) {
			return "DISTINCT ordered by what is not in the select list" // the hidden column would tell equal rows apart
		}
		if why := b.sortKey(m, info, e, span, o.Desc); why != "" {
			return why
		}
	}
	return ""
}

// target resolves a position or an alias to the expression in the select list and its place; an alias comes before a
// column of the same name, as in ORDER BY of the server.
func (b *builder) target(s *sqlparse.Select, e *sqlparse.Expr, span sqlparse.Span, fields []sqlparse.Span) (*sqlparse.Expr, sqlparse.Span) {
	if e.Op == sqlparse.Position {
		x := output(s, e)
		if x == nil {
			return nil, span
		}
		return x, fieldSpan(b.p.Statement.Text, s.Fields[e.Index-1], fields[e.Index-1])
	}
	if e.Op == sqlparse.Column && e.Table == "" {
		for k, f := range s.Fields {
			if f.Expr != nil && f.Alias != "" && lower(f.Alias) == lower(e.Name) {
				return f.Expr, fieldSpan(b.p.Statement.Text, f, fields[k])
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

// sortKey adds an expression as a key of the merge.
func (b *builder) sortKey(m *mergeShape, info *blockInfo, e *sqlparse.Expr, span sqlparse.Span, desc bool) string {
	if e.Has(sqlparse.Scalar, sqlparse.Exists, sqlparse.InQuery, sqlparse.Quantify) {
		return "ORDER BY a subquery"
	}
	if !stable(e) || e.Has(sqlparse.Variable) {
		return "ORDER BY a function that is not the same on every shard"
	}
	def := b.definition(info, e)
	if def == nil {
		return b.untypedKey(m, e, span, desc)
	}
	switch kindOf(def) {
	case plainKind:
		m.add(mergeKey{desc: desc}, plainKey(def, span))
	case numberKind:
		m.add(mergeKey{desc: desc}, hidden{before: "(", span: span, behind: ")+0"})
	case textKind:
		weight := weightOf(def)
		if weight == "" {
			return "ORDER BY text that is too long to compare by weights"
		}
		m.addText(span, desc, weight)
		if unicodeCollation(def.Charset) {
			m.order[len(m.order)-1].space = unicodeSpace
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
func (b *builder) untypedKey(m *mergeShape, e *sqlparse.Expr, span sqlparse.Span, desc bool) string {
	h := hidden{span: span}
	switch {
	case e.Op == sqlparse.Aggregate && (e.Name == "count" || e.Name == "sum" || e.Name == "avg"):
	case e.Op != sqlparse.Call || !numeric[e.Name]:
		return "ORDER BY an expression whose type is not known"
	case len(b.p.Statement.Query.Select.Group) > 0 && !e.Has(sqlparse.Aggregate):
		// It is the same in all rows of a group, but where GROUP BY has its alias, MariaDB does not see that under
		// ONLY_FULL_GROUP_BY.
		h.before, h.behind = "MAX(", ")"
	}
	if e.Name == "year" {
		h.before, h.behind = "("+h.before, h.behind+")+0" // a UNION has no year 1000
	}
	m.add(mergeKey{desc: desc}, h)
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

// definition finds the definition of a plain column; nil for anything else.
func (b *builder) definition(info *blockInfo, e *sqlparse.Expr) *mysql.ColumnDefinition41 {
	if e.Op != sqlparse.Column {
		return nil
	}
	r, _, _ := info.scope.resolve(e)
	if r == nil {
		return nil
	}
	return r.column(e.Name)
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
func (b *builder) grouped(m *mergeShape, q *sqlparse.Query, info *blockInfo, aggregated bool) string {
	s := q.Select
	switch {
	case s.Having != nil:
		return "HAVING over several shards"
	case s.Distinct && (aggregated || len(s.Group) > 0):
		return "DISTINCT over groups"
	case s.Distinct:
		return b.distinctRows(m, q, info)
	}
	if why := b.groupKeys(m, q, info); why != "" {
		return why
	}
	for k, f := range s.Fields {
		if f.Expr == nil {
			return "a star beside GROUP BY"
		}
		if why := b.groupedField(m, s, k, f.Expr, info); why != "" {
			return why
		}
	}
	m.sorted = len(m.order) > 0
	return ""
}

// keyItem is an expression in which rows must be equal to become one.
type keyItem struct {
	e    *sqlparse.Expr
	span sqlparse.Span
	used bool
}

// groupKeys takes the items of GROUP BY.
func (b *builder) groupKeys(m *mergeShape, q *sqlparse.Query, info *blockInfo) string {
	s := q.Select
	var items []*keyItem
	for k, g := range s.Group {
		e, span := b.target(s, g, m.clauses.Group[k], m.clauses.Fields)
		if e == nil || e.Op == sqlparse.Const {
			return "GROUP BY an expression of the select list"
		}
		if aliasOrColumn(info, g, e) {
			return "GROUP BY a name that is a column's and an alias's"
		}
		items = append(items, &keyItem{e: e, span: span})
	}
	return b.sortItems(m, q, info, items, "ORDER BY of groups by something else than GROUP BY")
}

// sortItems makes keys of the merge of items. What ORDER BY says of them decides their directions and sequence; an ORDER BY
// of anything else needs all rows first, which is what other says.
func (b *builder) sortItems(m *mergeShape, q *sqlparse.Query, info *blockInfo, items []*keyItem, other string) string {
	for _, it := range items {
		if d := b.definition(info, it.e); d != nil && d.Type == mysql.TypeTimestamp && !b.p.Mode.MariaDB {
			return "groups of TIMESTAMPs over several shards" // MySQL's have local times in a temporary table, by its sql_mode
		}
	}
	for k, o := range q.Order {
		if o.Expr.Op == sqlparse.Const || o.Expr.Op == sqlparse.Param {
			continue // a constant orders nothing
		}
		e, _ := b.target(q.Select, o.Expr, m.clauses.Order[k], m.clauses.Fields)
		found := false
		for _, it := range items {
			if e != nil && !it.used && same(it.e, e) {
				it.used, found = true, true
				m.group = append(m.group, len(m.order))
				if why := b.sortKey(m, info, it.e, it.span, o.Desc); why != "" {
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
		m.group = append(m.group, len(m.order))
		if why := b.sortKey(m, info, it.e, it.span, false); why != "" {
			return why
		}
	}
	return ""
}

// column tells whether a table of the block has a column of that name.
func (info *blockInfo) column(e *sqlparse.Expr) bool {
	r, _, _ := info.scope.resolve(e)
	return r != nil && r.column(e.Name) != nil
}

// same tells whether two expressions are plainly the same column.
func same(a, b *sqlparse.Expr) bool {
	return a.Op == sqlparse.Column && b.Op == sqlparse.Column && lower(a.Name) == lower(b.Name) &&
		(a.Table == "" || b.Table == "" || lower(a.Table) == lower(b.Table)) || a == b
}

// groupedField takes an item of the select list of a grouped query: a column of GROUP BY or a plain aggregate.
func (b *builder) groupedField(m *mergeShape, s *sqlparse.Select, column int, e *sqlparse.Expr, info *blockInfo) string {
	if e.Op != sqlparse.Aggregate {
		if e.Has(sqlparse.Aggregate) {
			return "an expression over an aggregate"
		}
		for _, g := range s.Group {
			if x := output(s, g); x != nil && (same(x, e) || x.Op == sqlparse.Column && x.Table == "" && lower(x.Name) == lower(s.Fields[column].Alias)) {
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
		if len(e.Args) != 1 || !b.addsUp(info, e.Args[0]) {
			return "a sum of numbers that have more digits than are shown"
		}
	case "min", "max":
		if why := b.extreme(m, s, &a, e, info); why != "" {
			return why
		}
	case "avg":
		arg, ok := sqlparse.CallArgument(b.p.Statement.Text, fieldSpan(b.p.Statement.Text, s.Fields[column], m.clauses.Fields[column]))
		if !ok || len(e.Args) != 1 {
			return "an aggregate of this form"
		}
		if !b.addsUp(info, e.Args[0]) {
			return "an average of numbers that have more digits than are shown"
		}
		a.fn, a.sum, a.count = Avg, len(m.hidden), len(m.hidden)+1
		m.hidden = append(m.hidden, hidden{before: "SUM(", span: arg, behind: ")"}, hidden{before: "COUNT(", span: arg, behind: ")"})
	default:
		return e.Name + "() over several shards"
	}
	m.aggregates = append(m.aggregates, a)
	return ""
}

// extreme takes MIN or MAX of a column. Of text the shards give the weight of their least or greatest value, too.
func (b *builder) extreme(m *mergeShape, s *sqlparse.Select, a *shapeAggregate, e *sqlparse.Expr, info *blockInfo) string {
	a.fn = Min
	if e.Name == "max" {
		a.fn = Max
	}
	if len(e.Args) != 1 {
		return "an aggregate of this form"
	}
	d := b.definition(info, e.Args[0])
	switch {
	case d == nil:
	case d.Type == mysql.TypeTimestamp && b.p.Mode.MariaDB:
		// Not by the local time, as MySQL does, which repeats itself when clocks are put back.
		arg, ok := sqlparse.CallArgument(b.p.Statement.Text, fieldSpan(b.p.Statement.Text, s.Fields[a.column], m.clauses.Fields[a.column]))
		if !ok {
			return "an aggregate of this form"
		}
		a.by = &mergeKey{hidden: len(m.hidden)}
		m.hidden = append(m.hidden, hidden{before: e.Name + "(UNIX_TIMESTAMP(", span: arg, behind: "))"})
		return ""
	case kindOf(d) == plainKind && d.Type != mysql.TypeBit:
		return ""
	case kindOf(d) == textKind && weightOf(d) != "":
		a.by = &mergeKey{hidden: len(m.hidden)}
		if unicodeCollation(d.Charset) {
			a.by.space = unicodeSpace
		}
		call := fieldSpan(b.p.Statement.Text, s.Fields[a.column], m.clauses.Fields[a.column])
		m.hidden = append(m.hidden, hidden{before: "WEIGHT_STRING(", span: call, behind: weightOf(d)})
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
