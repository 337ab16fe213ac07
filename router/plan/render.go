package plan

import (
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"kingshard/mysql/sqlparse"
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
}

// tableEdits lists the places to change, in the order of the text.
func (b *builder) tableEdits() (edits []edit) {
	st := b.p.Statement
	plain := st.Kind != sqlparse.SelectKind && st.Kind != sqlparse.UpdateKind && !(st.Kind == sqlparse.DeleteKind && st.Change.Multi)
	for _, r := range b.p.Refs {
		if r.Parsed.At.Empty() {
			continue
		}
		bare := plain && (r == b.p.Target || b.p.Target == nil || st.Kind == sqlparse.DDL || st.Kind == sqlparse.Maintain)
		edits = append(edits, edit{span: r.Parsed.At, ref: r, alias: !bare && r.Parsed.Alias == "", db: r.Parsed.DB != ""})
		for _, q := range r.Parsed.Qualifiers {
			db := strings.Contains(st.Text[q.Pos:q.End], ".")
			switch {
			case bare && r.Parsed.Alias == "":
				edits = append(edits, edit{span: q, ref: r, db: db})
			case db && r.moves():
				edits = append(edits, edit{span: q, ref: r, insert: quote(r.Parsed.Label())})
			}
		}
	}
	edits = append(edits, b.fieldNames(edits)...)
	slices.SortStableFunc(edits, func(a, b edit) int { return a.span.Pos - b.span.Pos })
	return edits
}

// moves tells whether shards of the table are in other databases than the client names, where its database.table.column
// means nothing.
func (r *Ref) moves() bool {
	return slices.ContainsFunc(r.Table.Shards, func(s router.Shard) bool { return s.DB != r.Table.DB })
}

// aliasMax is the longest alias of a column, in characters.
const aliasMax = 256

// fieldNames gives items of the select list that have no alias their own text as one, where names of tables change
// within it: the client's name of the column is the item's text.
func (b *builder) fieldNames(edits []edit) (names []edit) {
	q := b.p.Statement.Query
	if b.p.Statement.Kind != sqlparse.SelectKind || q.Select == nil {
		return nil
	}
	c, ok := sqlparse.SelectClauses(b.p.Statement.Text, b.p.Mode)
	if !ok || len(c.Fields) != len(q.Select.Fields) {
		return nil
	}
	for k, f := range q.Select.Fields {
		span := c.Fields[k]
		text := b.p.Statement.Text[span.Pos:span.End]
		if f.Expr == nil || f.Alias != "" || f.Expr.Op == sqlparse.Column || len(text) > aliasMax {
			continue
		}
		if slices.ContainsFunc(edits, func(e edit) bool { return e.span.Pos >= span.Pos && e.span.End <= span.End }) {
			names = append(names, edit{span: sqlparse.Span{Pos: span.End, End: span.End}, insert: " AS " + quote(text), item: span.Pos})
		}
	}
	return names
}

// places says which physical table each reference is.
type places func(*Ref) router.Shard

// writer collects the text of a statement for the servers and the parameters in it.
type writer struct {
	p     *Plan
	place places
	buf   []byte
	args  []int
	begin int // of the piece that copyLiterals writes
}

// copy writes a piece of the client's text with the tables' physical names.
func (w *writer) copy(pos, end int) {
	if w.p.literals != nil {
		w.copyLiterals(pos, end)
		return
	}
	text := w.p.Statement.Text
	from := pos
	for _, e := range w.p.edits {
		if e.span.Pos < pos || e.span.End > end || e.item != 0 && pos >= e.item {
			continue
		}
		w.buf = append(w.buf, text[from:e.span.Pos]...)
		if e.insert != "" {
			w.add(e.insert)
		} else {
			w.name(e)
		}
		from = e.span.End
	}
	w.buf = append(w.buf, text[from:end]...)
	for k, at := range w.p.Statement.Params {
		if at >= pos && at < end {
			w.args = append(w.args, k)
		}
	}
}

// copyLiterals is copy with the literals of one execution in the place of parameters.
func (w *writer) copyLiterals(pos, end int) {
	edits := w.p.edits
	w.begin = pos
	for k, at := range w.p.Statement.Params {
		if at < pos || at >= end {
			continue
		}
		edits = w.copyTo(pos, at, edits)
		w.add(w.p.literals[k])
		pos = at + 1
	}
	w.copyTo(pos, end, edits)
}

// copyTo writes a piece without parameters, and gives the edits behind it.
func (w *writer) copyTo(pos, end int, edits []edit) []edit {
	text := w.p.Statement.Text
	for len(edits) > 0 && edits[0].span.End <= end {
		e := edits[0]
		edits = edits[1:]
		if e.span.Pos < pos || e.item != 0 && w.begin >= e.item {
			continue
		}
		w.buf = append(w.buf, text[pos:e.span.Pos]...)
		if e.insert != "" {
			w.add(e.insert)
		} else {
			w.name(e)
		}
		pos = e.span.End
	}
	w.buf = append(w.buf, text[pos:end]...)
	return edits
}

func (w *writer) name(e edit) {
	s := w.place(e.ref)
	if e.ref.Table.Rule == nil && s == e.ref.Table.Shards[0] {
		text := w.p.Statement.Text
		w.add(text[e.span.Pos:e.span.End])
		return
	}
	if e.db || s.DB != e.ref.Table.DB {
		w.add(quote(s.DB), ".")
	}
	w.add(quote(s.Table))
	if e.alias {
		w.add(" AS ", quote(e.ref.Parsed.Name))
	}
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
}

// whole writes the client's statement as it is, but for the names.
func (p *Plan) whole(node string, place places) Query {
	w := writer{p: p, place: place, buf: make([]byte, 0, p.size())}
	w.copy(0, len(p.Statement.Text))
	q := Query{Node: node, Text: unsafe.String(unsafe.SliceData(w.buf), len(w.buf)), Args: w.args} // nobody writes to the buffer again
	for _, r := range p.Refs {
		if r.Table.Rule != nil {
			q.Shards = append(q.Shards, place(r))
		}
	}
	return q
}

// size is about how long a text for a server gets.
func (p *Plan) size() int {
	n := len(p.Statement.Text) + 48*len(p.edits)
	for _, l := range p.literals {
		n += len(l)
	}
	return n
}

// position gives the places of all references for one position of the sharded tables.
func (p *Plan) position(at int) (string, places) {
	node := ""
	for _, r := range p.Refs {
		if r.Table.Kind == router.Sharded {
			node = r.Table.Shards[at].Node
			break
		}
	}
	if node == "" && p.Target != nil {
		node = p.Target.Table.Shards[at].Node
	}
	return node, func(r *Ref) router.Shard {
		if r.Table.Kind == router.Sharded {
			return r.Table.Shards[at]
		}
		return onNode(r, node)
	}
}

// onNode is the copy of a table on a node; the first one where there is none.
func onNode(r *Ref, node string) router.Shard {
	for _, s := range r.Table.Shards {
		if s.Node == node {
			return s
		}
	}
	return r.Table.Shards[0]
}

// hiddenName is the name of a hidden column.
func hiddenName(k int) string { return "ks_h" + strconv.Itoa(k) }

// piece writes the statement of a merge for one position. rows is the most rows that are asked for, -1 for all.
func (m *mergeShape) piece(w *writer, rows int64) {
	c := &m.clauses
	fieldsEnd := c.Fields[len(c.Fields)-1].End
	if c.Calc.Empty() {
		w.copy(0, fieldsEnd)
	} else {
		w.copy(0, c.Calc.Pos) // parts of a UNION may not have it
		w.copy(c.Calc.End, fieldsEnd)
	}
	for k, h := range m.hidden {
		w.add(", ", h.before)
		w.copy(h.span.Pos, h.span.End)
		w.add(h.behind, " AS ", hiddenName(k))
	}
	end := c.Tail
	if !c.Limit.Empty() {
		end = c.Limit.Pos
	}
	if !m.sorted {
		w.copy(fieldsEnd, end)
		if rows >= 0 {
			w.add(" LIMIT ", strconv.FormatInt(rows, 10))
		}
		w.add(" ")
		w.copy(c.Tail, c.End)
		return
	}
	if !c.OrderBy.Empty() {
		end = c.OrderBy.Pos
	}
	w.copy(fieldsEnd, end)
	m.orderBy(w)
	if rows == 0 {
		w.add(" LIMIT 0") // of groups only none can be counted before the merge
	}
	w.add(" ")
	w.copy(c.Tail, c.End)
}

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
func (p *Plan) nodeQuery(positions []int, rows int64) Query {
	m := p.merge
	grouped := len(m.aggregates) > 0 || len(m.group) > 0
	node, _ := p.position(positions[0])
	w := writer{p: p}
	q := Query{Node: node}
	for k, at := range positions {
		_, w.place = p.position(at)
		for _, r := range p.Refs {
			if r.Table.Rule != nil {
				q.Shards = append(q.Shards, w.place(r))
			}
		}
		if len(positions) > 1 {
			if k > 0 {
				w.add(" UNION ALL ")
			}
			w.add("(")
		}
		m.piece(&w, rows)
		if len(positions) > 1 {
			w.add(")")
		}
	}
	if len(positions) > 1 {
		m.orderBy(&w)
		if rows >= 0 && !grouped {
			w.add(" LIMIT ", strconv.FormatInt(rows, 10))
		}
		d := writer{p: p}
		_, d.place = p.position(positions[0])
		m.piece(&d, 0)
		q.Describe, q.DescribeArgs = string(d.buf), d.args
	}
	q.Text, q.Args = string(w.buf), w.args
	return q
}

// insertQuery writes an INSERT of some of the rows for one position.
func (p *Plan) insertQuery(at int, rows []int) Query {
	node, place := p.position(at)
	w := writer{p: p, place: place}
	spans := p.insert.rows
	w.copy(0, spans[0].Pos)
	for k, row := range rows {
		if k > 0 {
			w.add(", ")
		}
		w.copy(spans[row].Pos, spans[row].End)
	}
	w.copy(spans[len(spans)-1].End, len(p.Statement.Text))
	return Query{Node: node, Text: string(w.buf), Args: w.args, Shards: []router.Shard{p.Target.Table.Shards[at]}}
}
