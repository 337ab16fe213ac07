package plan

import (
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// edit is a place of the text that names a table.
type edit struct {
	span sqlparse.Span
	ref  *Ref
	// alias: the logical name follows as an alias, so that columns qualified by it stay right.
	alias bool
	// db tells that the place has a database name too.
	db bool
	// insert is text to add at the place instead. With item set it is the alias of the item of the select list that
	// begins there: it belongs to pieces that begin ahead of the item only, as hidden columns are copies of items.
	insert string
	item   int
	// key is the name of a constraint or an index that the place has.
	key *sqlparse.KeyName
	// again is what stands in the place of a common table expression's name, where scratch tables are read.
	again *written
	// clause: it is PARTITION (p) or index hints, which a scratch table has not.
	clause bool
	// settled: it is a condition that no row of the scratch tables fails.
	settled bool
}

// tableEdits lists the places to change, in the order of the text.
func (p *Plan) tableEdits() (edits []edit, err error) {
	st := p.Statement
	if f, is := p.Operator.(*Finish); is && f.narrowed != nil {
		edits = f.narrowed.edits()
	}
	plain := st.Kind != sqlparse.SelectKind && st.Kind != sqlparse.UpdateKind && !(st.Kind == sqlparse.DeleteKind && st.Change.Multi)
	for _, r := range p.Refs {
		if r.Parsed.At.Empty() {
			continue
		}
		bare := plain && (r == p.Target || p.Target == nil || st.Kind == sqlparse.DDL || st.Kind == sqlparse.Maintain)
		at := edit{span: r.Parsed.At, ref: r, alias: !bare && r.Parsed.Alias == "", db: r.Parsed.DB != ""}
		if r.Parsed.Clause != "" && r.Table.Rule != nil {
			partition, hints := sqlparse.TableClauses(st.Text, at.span.End, p.Mode)
			if !partition.Empty() {
				edits = append(edits, edit{span: partition, ref: r, clause: true, alias: at.alias})
				at.alias = false
			}
			if !hints.Empty() {
				edits = append(edits, edit{span: hints, ref: r, clause: true})
			}
		}
		if word := tableWord(st.Text[:at.span.Pos]); at.alias && r.Table.Rule != nil && word > 0 && !p.Mode.MariaDB {
			edits = append(edits, edit{span: sqlparse.Span{Pos: at.span.Pos - word, End: at.span.Pos}, insert: "SELECT * FROM "}) // TABLE takes no alias
		}
		edits = append(edits, at)
		for _, q := range r.Parsed.Qualifiers {
			db := strings.Contains(st.Text[q.Pos:q.End], ".")
			switch {
			case bare && r.Parsed.Alias == "":
				edits = append(edits, edit{span: q, ref: r, db: db})
			case db && (r.moves() || st.Kind == sqlparse.DeleteKind && r.Parsed.Alias == ""): // DELETE finds no alias by a database's name
				edits = append(edits, edit{span: q, ref: r, insert: p.quote(r.Parsed.Label())})
			}
		}
	}
	names, err := fieldNames(st, p.Mode, append(edits, p.again...))
	if err != nil {
		return nil, err
	}
	edits = append(append(edits, names...), p.again...)
	edits = append(append(edits, p.keyEdits()...), p.guardIDs()...)
	load, loads := p.Operator.(*Load)
	if loads && load.Leaves {
		column := p.quote(load.auto)
		if len(st.Load.Fields) > 0 {
			column += ", "
		}
		edits = append(edits, edit{span: sqlparse.Span{Pos: st.Load.List, End: st.Load.List}, insert: column})
	}
	if loads && !st.Load.Ignore.Empty() {
		edits = append(edits, edit{span: st.Load.Ignore, insert: " "}) // the proxy leaves the lines out
	}
	if st.Show != nil {
		if !st.Show.From.Empty() {
			edits = append(edits, edit{span: st.Show.From, insert: " "}) // the database is in front of the name then
		}
		t := p.Refs[0].Table
		if tag := mysql.PartTag(t.Name, t.Shards[0].Table); tag != "" {
			for _, span := range st.Show.NamedKeys {
				edits = append(edits, edit{span: span, insert: "REPLACE(" + st.Text[span.Pos:span.End] + ", " + p.literalOf("$"+tag) + ", '')"})
			}
		}
		// What the client sees in the column. A literal would be folded, and the result described otherwise.
		for _, span := range st.Show.Named {
			if t.Shards[0].Table == t.Name {
				break
			}
			edits = append(edits, edit{span: span, insert: "REPLACE(" + st.Text[span.Pos:span.End] + ", " +
				p.literalOf(t.Shards[0].Table) + ", " + p.literalOf(t.Name) + ")"})
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.span.Pos - b.span.Pos })
	return edits, nil
}

// literalOf writes a name as a string: one that unquotable lets pass.
func (p *Plan) literalOf(name string) string {
	text, _ := sqltext.QuoteString(name, p.Mode)
	return text
}

// tableWord gives the length of the word TABLE, with the blanks behind it, that a text ends with; 0 if it does not.
func tableWord(text string) int {
	const word = "TABLE"
	bare := strings.TrimRight(text, " \t\r\n")
	k := len(bare) - len(word)
	if k < 0 || !strings.EqualFold(bare[k:], word) || k > 0 && (bare[k-1] == '_' || bare[k-1] == '.' || bare[k-1] == '$' || bare[k-1] >= '0') {
		return 0
	}
	return len(text) - k
}

// moves tells whether shards of the table are in other databases than the client names, where its database.table.column
// means nothing.
func (r *Ref) moves() bool {
	return slices.ContainsFunc(r.Table.Shards, func(s router.Shard) bool { return s.DB != r.Table.DB })
}

// aliasMax is the longest alias of a column, in characters.
const aliasMax = 256

// fieldNames gives items of select lists that have no alias their own text as one, where names of tables change within it: the client's
// name of the column is the item's text.
func fieldNames(st *sqlparse.Statement, m sqltext.Mode, edits []edit) (names []edit, err error) {
	if st.Kind != sqlparse.SelectKind {
		return nil, nil
	}
	for _, i := range sqltext.Items(st.Text, m) {
		if !i.Unnamed || i.Plain || i.End-i.Pos > aliasMax {
			continue
		}
		if slices.ContainsFunc(edits, func(e edit) bool { return e.span.Pos >= i.Pos && e.span.End <= i.End }) {
			alias, ok := sqltext.QuoteAlias(st.Text[i.Pos:i.End], m)
			if !ok {
				return nil, Refuse("a column whose text is not of the client's character set: give it an alias")
			}
			names = append(names, edit{span: sqlparse.Span{Pos: i.End, End: i.End}, insert: " AS " + alias, item: i.Pos})
		}
	}
	return names, nil
}

// places are the positions of the tables of a plan's references, by the references' indexes.
type places []int

// shard is the physical table that places give a reference.
func (r *Ref) shard(at places) *router.Shard { return &r.Table.Shards[at[r.index]] }

// appendShards appends the physical tables that the places at hand give the tables with a rule.
func (e *Execution) appendShards(shards []router.Shard) []router.Shard {
	for _, r := range e.plan.Refs {
		if r.Table.Rule != nil {
			shards = append(shards, *r.shard(e.at))
		}
	}
	return shards
}

// writer collects the text of a statement for the servers and the parameters in it.
type writer struct {
	p      *Plan
	values *values
	at     places
	names  map[*Ref]string // of scratch tables in the place of physical ones; nil without
	times  map[*Ref]int    // how often they were written, where that may be several times
	// settled has TRUE be in place of the conditions that no row of the scratch tables fails.
	settled bool
	keys    map[router.Shard]Keys
	buf     []byte
	args    []int
}

// writer makes one for the places at hand.
func (e *Execution) writer() writer {
	return writer{p: e.plan, values: &e.values, at: e.at, keys: e.keys}
}

// copy writes a piece of the form as the client's text has it, with the tables' physical names.
func (w *writer) copy(pos, end int) {
	from, bound := pos, w.values.digest == nil // else the text has its values
	for k := range w.p.edits {
		e := &w.p.edits[k]
		if e.span.Pos > end {
			break
		}
		if e.span.Pos < from || e.span.End > end || e.item != 0 && pos >= e.item || e.settled && !w.settled {
			continue
		}
		w.piece(from, e.span.Pos)
		if bound {
			w.params(from, e.span.Pos)
		}
		switch {
		case e.insert != "":
			if w.add(e.insert); bound {
				w.params(e.span.Pos, e.span.End)
			}
		case e.settled:
			w.add("TRUE")
		case e.clause:
			w.clause(e)
		case e.key != nil:
			w.key(e.key)
		case e.again != nil && w.names != nil:
			w.again(e.again)
		case e.again != nil:
			w.piece(e.span.Pos, e.span.End)
		default:
			w.name(e)
		}
		from = e.span.End
	}
	if w.piece(from, end); bound {
		w.params(from, end)
	}
}

// params notes the parameters of a piece of a statement whose values are not in its text.
func (w *writer) params(pos, end int) {
	params := w.p.Statement.Params
	for k := before(params, pos); k < len(params) && params[k] < end; k++ {
		w.args = append(w.args, k)
	}
}

// piece writes what the client's text has in the place of a piece of the form.
func (w *writer) piece(pos, end int) {
	if w.values.digest == nil {
		w.buf = append(w.buf, w.p.Statement.Text[pos:end]...)
		return
	}
	w.buf = append(w.buf, w.values.sql[w.values.place(pos):w.values.place(end)]...)
}

func (w *writer) name(e *edit) {
	db, table := e.ref.Table.DB, ""
	if name, ok := w.names[e.ref]; ok {
		if table = name; len(w.p.again) > 0 {
			table = w.copyOf(e.ref, name)
		}
	} else {
		if e.ref.Table.Rule == nil {
			w.piece(e.span.Pos, e.span.End)
			return
		}
		s := e.ref.shard(w.at)
		db, table = s.DB, s.Table
	}
	if e.db || db != e.ref.Table.DB {
		w.quote(db)
		w.buf = append(w.buf, '.')
	}
	w.quote(table)
	if e.alias {
		w.buf = append(w.buf, " AS "...)
		w.quote(e.ref.Parsed.Name)
	}
}

// clause writes a clause of a table unless a scratch table is in its place, and the alias that is to follow.
func (w *writer) clause(e *edit) {
	if _, scratch := w.names[e.ref]; !scratch {
		w.piece(e.span.Pos, e.span.End)
	}
	if e.alias {
		w.add(" AS ")
		w.quote(e.ref.Parsed.Name)
	}
}

// quote writes a quoted name.
func (w *writer) quote(name string) {
	if strings.IndexByte(name, '`') >= 0 {
		w.add(w.p.quote(name))
		return
	}
	w.buf = append(w.buf, '`')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, '`')
}

func (w *writer) add(parts ...string) {
	for _, s := range parts {
		w.buf = append(w.buf, s...)
	}
}

// Query is the text of a statement for one server. Args are the numbers of the client's parameters that its ? stand for,
// in order.
type Query struct {
	Node string
	Text string
	Args []int
	// Shards are the physical tables that it reads or changes.
	Shards []router.Shard
	// Describe is a statement without rows whose columns are those of the result; empty where Text itself tells.
	Describe     string
	DescribeArgs []int
	// Moved, if set, is what collects the rows where they go through the proxy, in place of Text: see Scratch.Instants. It has
	// the parameters of Text.
	Moved string
	// Pieces is how often the text of a merge has the client's statement, once for each shard on the node.
	Pieces int
	// Columns are names that only the proxy gave to columns, with what they stand for in the client's text.
	Columns map[string]string

	// first is the number, from 0, that the first row of a part of an INSERT has in the client's, and next, by such numbers,
	// the row that follows, -1 behind the last.
	first int
	next  []int
}

// Row gives the number, from 1, that row n of a part of an INSERT has in the client's; 0 where there is none.
func (q *Query) Row(n int) int {
	if n < 1 || q.next == nil {
		return 0
	}
	row := q.first
	for ; n > 1 && row >= 0; n-- {
		row = q.next[row]
	}
	return row + 1
}

// Rows gives the numbers, from 1, that the rows of a part of an INSERT have in the client's, in their order; none of anything else.
func (q *Query) Rows() (numbers []int) {
	q.eachRow(func(number int) { numbers = append(numbers, number) })
	return numbers
}

// LastRow returns the number of the last row of an INSERT that the query has, from 1; 0 of any other statement.
func (q *Query) LastRow() (last int) {
	q.eachRow(func(number int) { last = number })
	return last
}

// eachRow calls f with the numbers of Rows.
func (q *Query) eachRow(f func(number int)) {
	if q.next == nil {
		return
	}
	for row := q.first; row >= 0; row = q.next[row] {
		f(row + 1)
	}
}

// whole writes the client's statement as it is, but for the names.
func (e *Execution) whole(node string) *Query { return e.wholeNamed(node, nil, false) }

// wholeNamed writes the client's statement with scratch tables in the place of some tables, and without settled conditions if it is told so.
func (e *Execution) wholeNamed(node string, names map[*Ref]string, settled bool) *Query {
	p := e.plan
	text := p.Statement.Text
	if e.digest != nil {
		text = e.sql
	}
	w := e.writer()
	w.names, w.settled, w.buf = names, settled, slices.Grow(e.buf, len(text)+48*len(p.edits))
	begin := len(w.buf)
	w.copy(0, len(p.Statement.Text))
	e.buf = w.buf
	e.one = Query{Node: node, Text: view(w.buf[begin:]), Args: w.args}
	first := len(e.shards)
	for _, r := range p.Refs {
		if r.Table.Rule == nil {
			continue
		}
		s := *r.shard(e.at)
		if name, ok := names[r]; ok {
			s = router.Shard{Node: node, DB: r.Table.DB, Table: name}
		}
		e.shards = append(e.shards, s)
	}
	e.one.Shards = e.shards[first:len(e.shards):len(e.shards)]
	return &e.one
}

// view is a text that nobody writes to again while it is used.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// wholeAgain renders the statement for a node. The text is made once where values are parameters of the server too.
func (e *Execution) wholeAgain(node string) *Query {
	p := e.plan
	if e.digest != nil || p.texts == nil {
		return e.whole(node)
	}
	k := e.samePosition(node)
	if k < 0 {
		return e.whole(node)
	}
	if q := p.texts[k].Load(); q != nil {
		return q
	}
	own := &Execution{plan: p, at: e.at}
	q := *own.whole(node)
	p.texts[k].Store(&q)
	return &q
}

// samePosition gives the position that stand would have put the tables at; -1 if they are at others.
func (e *Execution) samePosition(node string) int {
	position := -1
	for k, r := range e.plan.Refs {
		switch {
		case r.Table.Kind != router.Sharded:
			if e.at[k] != onNode(r, node) {
				return -1
			}
		case position < 0:
			position = e.at[k]
		case e.at[k] != position:
			return -1
		}
	}
	return position
}

// textsMax bounds the texts that a plan keeps, in bytes.
const textsMax = 64 << 10

// keepTexts makes room for the texts of a statement with parameters, unless they would be too long in all.
func (p *Plan) keepTexts() {
	r := p.sharded()
	if r == nil || len(p.Statement.Params) == 0 || len(r.Table.Shards)*(len(p.Statement.Text)+48*len(p.edits)) > textsMax {
		return
	}
	p.texts = make([]atomic.Pointer[Query], len(r.Table.Shards))
}

// sharded is the first reference to a sharded table; nil without one.
func (p *Plan) sharded() *Ref {
	for _, r := range p.Refs {
		if r.Table.Kind == router.Sharded {
			return r
		}
	}
	return nil
}

// ruled is the first reference to a sharded table, or the first to one with a rule.
func (p *Plan) ruled() *Ref {
	if r := p.sharded(); r != nil {
		return r
	}
	return p.Refs[slices.IndexFunc(p.Refs, func(r *Ref) bool { return r.Table.Rule != nil })]
}

// nodeAt is the node of a position of the sharded tables.
func (p *Plan) nodeAt(at int) string {
	if r := p.sharded(); r != nil {
		return r.Table.Shards[at].Node
	}
	if p.Target != nil {
		return p.Target.Table.Shards[at].Node
	}
	return ""
}

// stand puts the sharded tables at a position and the others on its node, which it gives.
func (e *Execution) stand(at int) string {
	node := e.plan.nodeAt(at)
	e.at = e.at[:0]
	for _, r := range e.plan.Refs {
		if r.Table.Kind == router.Sharded {
			e.at = append(e.at, at)
		} else {
			e.at = append(e.at, onNode(r, node))
		}
	}
	return node
}

// standOn puts all tables on a node.
func (e *Execution) standOn(node string) {
	e.at = e.at[:0]
	for _, r := range e.plan.Refs {
		e.at = append(e.at, onNode(r, node))
	}
}

// onNode is the position of a table's first copy on a node; 0 where there is none.
func onNode(r *Ref, node string) int {
	for k := range r.Table.Shards {
		if r.Table.Shards[k].Node == node {
			return k
		}
	}
	return 0
}

// hiddenName is the name of a hidden column.
func hiddenName(k int) string { return "ks_h" + strconv.Itoa(k) }

// noLimit ends a query whose rows are all wanted, whatever the session's sql_select_limit is. MySQL manual: "Server System Variables".
const noLimit = " LIMIT 18446744073709551615"

// takesAll reports whether the merge has to see all rows of the shards, whatever the session's limit is: where they become fewer before any of them is
// counted, or all are.
func (m *mergeShape) takesAll() bool {
	return len(m.aggregates) > 0 || len(m.group) > 0 || m.distinct || m.counted
}

// piece writes the statement of a merge for one position. rows is the most rows that are asked for, -1 for all;
// alone says that it is all of its node's text, which the session's limit would cut.
func (m *mergeShape) piece(w *writer, rows int64, alone bool) {
	c := &m.clauses
	fieldsEnd := c.Fields[len(c.Fields)-1].End
	listEnd := fieldsEnd
	for text := w.p.Statement.Text; w.p.Mode.IgnoreSpace && len(m.hidden) > 0 && listEnd < len(text) && blank(text[listEnd]); {
		listEnd++ // MySQL takes the blanks behind some words for a part of the column's name then
	}
	if c.Calc.Empty() {
		w.copy(0, listEnd)
	} else {
		w.copy(0, c.Calc.Pos) // parts of a UNION may not have it
		w.copy(c.Calc.End, listEnd)
	}
	if m.tagged {
		w.add(", ", strconv.Itoa(w.at[0]), " AS ks_shard")
	}
	for k, h := range m.hidden {
		w.add(", ", h.before)
		w.copy(h.span.Pos, h.span.End)
		w.add(h.behind, " AS ", hiddenName(k))
	}
	if !m.sorted {
		w.copy(fieldsEnd, firstOf(c.Tail, c.Limit))
		switch {
		case rows >= 0:
			w.add(" LIMIT ", strconv.FormatInt(rows, 10))
		case alone && m.takesAll():
			w.add(noLimit)
		}
		w.add(" ")
		w.copy(c.Tail, c.End)
		return
	}
	w.copy(fieldsEnd, firstOf(c.Tail, c.OrderBy, c.Limit))
	m.orderBy(w)
	switch {
	case rows == 0:
		w.add(" LIMIT 0") // of groups and distinct rows only none can be counted before the merge
	case alone && m.takesAll():
		w.add(noLimit)
	}
	w.add(" ")
	w.copy(c.Tail, c.End)
}

func blank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func (m *mergeShape) orderBy(w *writer) {
	for k, o := range m.order {
		if k == 0 {
			w.add(" ORDER BY ")
		} else {
			w.add(", ")
		}
		w.add(hiddenName(o.by))
		if o.desc {
			w.add(" DESC")
		}
	}
}

// nodeQuery writes the statement of a merge for all positions on one node.
func (e *Execution) nodeQuery(m *mergeShape, positions []int, rows int64) Query {
	q := Query{Node: e.plan.nodeAt(positions[0]), Pieces: len(positions)}
	w := e.mergeWriter(m, len(positions))
	begin, first := len(w.buf), len(e.shards)
	for k, at := range positions {
		e.stand(at)
		w.at = e.at
		e.shards = e.appendShards(e.shards)
		if len(positions) > 1 {
			if k > 0 {
				w.add(" UNION ALL ")
			}
			w.add("(")
		}
		m.piece(&w, rows, len(positions) == 1)
		if len(positions) > 1 {
			w.add(")")
		}
	}
	if len(positions) > 1 {
		m.orderBy(&w)
		switch {
		case m.takesAll():
			w.add(noLimit)
		case rows >= 0:
			w.add(" LIMIT ", strconv.FormatInt(rows, 10))
		}
	}
	q.Text, q.Args, q.Shards = view(w.buf[begin:]), w.args, e.shards[first:len(e.shards):len(e.shards)]
	e.buf = w.buf
	if len(positions) > 1 {
		e.stand(positions[0])
		d := e.mergeWriter(m, 1)
		begin := len(d.buf)
		m.piece(&d, 0, true)
		q.Describe, q.DescribeArgs = view(d.buf[begin:]), d.args
		e.buf = d.buf
	}
	return q
}

// mergeWriter makes a writer that has room for the statement of a merge, so often.
func (e *Execution) mergeWriter(m *mergeShape, pieces int) writer {
	w := e.writer()
	text := e.plan.Statement.Text
	if e.digest != nil {
		text = e.sql
	}
	w.buf = slices.Grow(e.buf, pieces*(len(text)+48*(len(e.plan.edits)+len(m.hidden)+1)))
	return w
}
