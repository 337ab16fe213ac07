package plan

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/router"
	"kingshard/router/rule"
)

// autoIncrementFlag marks the column of a definition. MySQL manual: "Column Definition Flags".
const autoIncrementFlag = 512

// autoIncrement is the AUTO_INCREMENT column of a table of several shards, as an INSERT gives it values. Rows that leave it to the table need an
// id that somebody has drawn, as each sub-table would count for itself: it must be in the text, or among the parameters, before the row has a
// place. MySQL manual: "Using AUTO_INCREMENT".
type autoIncrement struct {
	column string
	quoted string    // in backticks
	cell   int       // its number among the columns of the INSERT, from 0; -1: it is left out
	values []operand // by row; none where it is left out. That of DEFAULT is 0
	// list is where the text takes the column in, of an INSERT that leaves it out: among others where listed is set, else with names in front
	// of it.
	list   int
	listed bool
	others []string // that are to be listed behind it
	empty  bool     // its rows are empty: the others have their defaults, as ON DUPLICATE KEY UPDATE may ask for them
	set    bool     // the SET form
}

// ErrDraws says that rows of an INSERT need ids: the execution's Draws tells how many, WithIDs and IDParams put them in.
var ErrDraws = errors.New("ids are to be drawn first")

// autoIncrementOf finds the column of a table and its values in rows of an INSERT into columns; nil where the table counts by itself, or not.
func autoIncrementOf(t *Ref, columns []string, rows [][]*sqlparse.Expr, m sqltext.Mode) (*autoIncrement, error) {
	all := t.columns()
	k := slices.IndexFunc(all, func(d mysql.ColumnDefinition41) bool { return d.Flags&autoIncrementFlag != 0 })
	if k < 0 || len(t.Table.Shards) < 2 {
		return nil, nil
	}
	quoted, _ := sqltext.QuoteIdent(all[k].Name, m)
	a := &autoIncrement{column: all[k].Name, quoted: quoted, cell: lastColumn(columns, all[k].Name)}
	if a.cell < 0 {
		return a, nil
	}
	for _, row := range rows {
		if a.cell >= len(row) {
			return nil, Refuse("Column count doesn't match value count at row 1")
		}
		v, known := operandOf(row[a.cell])
		switch {
		case row[a.cell].Op == sqlparse.Default && row[a.cell].Name == "":
			v = operand{value: value.NewInt(0), param: -1} // and so it stays 0 where that is no request for an id
		case !known:
			v = operand{param: notKnown}
		}
		a.values = append(a.values, v)
	}
	return a, nil
}

// notKnown is the parameter of a value that only the server knows: it is taken for one that the row gives.
const notKnown = -2

// mayLeave reports whether the text itself leaves the column of a row to the table, or gives something that is no id.
func (a *autoIncrement) mayLeave(row int) bool {
	o := a.values[row]
	if o.param != -1 {
		return false
	}
	n, ok := rule.WholeNumber(o.value)
	return !ok || n.Kind() == value.Int && n.Int() == 0
}

// findPlaces finds where the text takes the column in.
func (a *autoIncrement) findPlaces(t *Ref, in *sqlparse.Insert, text string, m sqltext.Mode) error {
	if a.set = in.SetForm; a.set && a.cell >= 0 && a.values[0].param == notKnown {
		return Refuse("SET of the AUTO_INCREMENT column %s of the sharded table %s to an expression: give a value, leave it out, or use VALUES", a.column, in.Table.Name)
	}
	if a.cell >= 0 {
		return nil
	}
	ok := false
	if a.list, a.listed, ok = sqlparse.InsertList(text, m); !ok {
		return needsAuto(a.column, in.Table.Name)
	}
	a.empty = len(in.Rows[0]) == 0 && len(in.OnUpdate) > 0
	if a.empty || !a.listed && len(in.Rows[0]) > 0 {
		for _, d := range t.Columns {
			if !router.SameColumn(d.Name, a.column) {
				a.others = append(a.others, d.Name)
			}
		}
	}
	return nil
}

// countedIDs is what the rows of an execution ask of their AUTO_INCREMENT column.
type countedIDs struct {
	draws   int
	largest uint64
	last    uint64 // of the last row
	unknown bool   // only the server knows some
	left    []bool // by row
}

// countIDs notes which rows need an id, and the largest id that others give; it returns ErrDraws if there are any of the first.
func (e *Execution) countIDs(o *Insert) error {
	e.ids.draws, e.ids.largest, e.ids.unknown, e.ids.left = 0, 0, e.plan.gainsIDs != nil, e.ids.left[:0]
	a := o.auto
	if a == nil {
		return nil
	}
	for row := range e.rows(o.count) {
		left := a.cell < 0
		if !left {
			n, leaves, err := e.idOf(a, row)
			if err != nil {
				return err
			}
			left = leaves
			e.ids.largest, e.ids.last = max(e.ids.largest, n), n
		}
		e.ids.left = append(e.ids.left, left)
		if left {
			e.ids.draws++
		}
	}
	if e.ids.draws > 0 {
		return ErrDraws
	}
	return nil
}

// idOf gives the id that a row gives, unless it leaves it to the table: 1 for one that no counter gets to or that only the server knows.
func (e *Execution) idOf(a *autoIncrement, row int) (id uint64, leaves bool, err error) {
	o := &a.values[min(row, len(a.values)-1)]
	if o.param == notKnown {
		e.ids.unknown = true
		return 1, false, nil
	}
	v, ok := o.of(&e.values, row)
	if !ok {
		return 0, false, noID(a.column, e.plan.Target.Parsed.Name)
	}
	if v.IsNull() {
		return 0, true, nil
	}
	n, ok := rule.WholeNumber(v)
	switch {
	case !ok:
		return 0, false, noID(a.column, e.plan.Target.Parsed.Name)
	case n.Uint() == 0:
		return 0, !e.ZeroStays, nil
	case n.Kind() == value.Int && n.Int() < 1:
		e.ids.unknown = true // what a server tells of it
		return 1, false, nil
	}
	return n.Uint(), false, nil
}

// Draws returns how many ids the rows need, after Route returned ErrDraws.
func (e *Execution) Draws() int { return e.ids.draws }

// InsertRows returns how many rows an INSERT into a table with an AUTO_INCREMENT column has, after Route.
func (e *Execution) InsertRows() int { return len(e.ids.left) }

// Left reports whether a row, from 0, needs an id.
func (e *Execution) Left(row int) bool { return e.ids.left[row] }

// LargestID returns the largest id that rows of the INSERT give themselves; 0 if none does, or it is none.
func (e *Execution) LargestID() uint64 { return e.ids.largest }

// BringsIDs reports whether all rows of the INSERT give their ids, none of which only the server knows; last is that of the last row.
func (e *Execution) BringsIDs() (last uint64, brings bool) {
	return e.ids.last, e.ids.draws == 0 && e.ids.largest > 0 && !e.ids.unknown
}

// UnknownIDs reports whether some ids that the statement brings are such as only the server knows.
func (e *Execution) UnknownIDs() bool { return e.ids.unknown }

// givesIDs notes that rows of r get ids by assignments that are not in the text of any row.
func (p *Plan) givesIDs(r *Ref, assignments []sqlparse.Assignment) {
	if len(r.Table.Shards) < 2 {
		return
	}
	for _, d := range r.columns() {
		if d.Flags&autoIncrementFlag == 0 {
			continue
		}
		for _, a := range assignments {
			if router.SameColumn(a.Column, d.Name) && !knownID(a) {
				p.gainsIDs = r
			}
		}
	}
}

// knownID reports whether an assignment gives an id that the row has, or that of the row that was to be inserted.
func knownID(a sqlparse.Assignment) bool {
	e := a.Expr
	if e.Op == sqlparse.Call && strings.EqualFold(e.Name, "last_insert_id") && len(e.Args) == 1 {
		e = e.Args[0]
	}
	return (e.Op == sqlparse.Column || e.Op == sqlparse.Values) && router.SameColumn(e.Name, a.Column)
}

// GainsIDs returns the table that gets ids which only the servers know; nil if none does.
func (p *Plan) GainsIDs() *router.Table {
	if p.gainsIDs == nil {
		return nil
	}
	return p.gainsIDs.Table
}

// InsertsAll reports whether each row of an INSERT is one row of the table in the end, or the INSERT fails.
func (p *Plan) InsertsAll() bool {
	return p.Statement.Insert != nil && !p.Statement.Insert.Ignore && len(p.Statement.Insert.OnUpdate) == 0
}

// AutoIncrement returns the name of the AUTO_INCREMENT column of an INSERT for which Route returned ErrDraws.
func (p *Plan) AutoIncrement() string { return p.Operator.(*Insert).auto.column }

// WithIDs appends to b the client's text with ids in the rows that need one, after Route returned ErrDraws: first, then each increment more than the
// one before. It is for texts of which no value is a parameter.
func (e *Execution) WithIDs(b []byte, first, increment uint64) ([]byte, error) {
	return e.takeIn(b, e.ids.left, func(b []byte, _, _ int) []byte {
		b = strconv.AppendUint(b, first, 10)
		first += increment
		return b
	})
}

// IDParams is the text of a prepared INSERT in which the id of each row that needs one in some execution is a parameter.
type IDParams struct {
	Text string
	// Args are the numbers of the client's parameters that those of the text stand for, in order; -1 for one that the client's text has not.
	Args []int
	// IDs are, by row, the places in Args of the ids; -1 for one that the text gives.
	IDs []int
}

// IDParams makes the text for all executions of a prepared INSERT for which Route returned ErrDraws, as long as ZeroStays does.
func (e *Execution) IDParams() (*IDParams, error) {
	o, params := e.plan.Operator.(*Insert), e.plan.Statement.Params
	p := &IDParams{IDs: make([]int, o.count)}
	left := make([]bool, o.count)
	for row := range left {
		p.IDs[row] = -1
		left[row] = o.auto.cell < 0
		if !left[row] && o.auto.values[row].param == -1 {
			var err error
			if _, left[row], err = e.idOf(o.auto, row); err != nil {
				return nil, err
			}
		}
	}
	seen := 0
	clients := func(end int) {
		for ; seen < len(params) && params[seen] < end; seen++ {
			if row := slices.IndexFunc(o.auto.values, func(v operand) bool { return v.param == seen }); row >= 0 {
				p.IDs[row] = len(p.Args)
			}
			p.Args = append(p.Args, seen)
		}
	}
	text, err := e.takeIn(nil, left, func(b []byte, row, at int) []byte {
		clients(at)
		p.IDs[row] = len(p.Args)
		p.Args = append(p.Args, -1)
		return append(b, '?')
	})
	if err != nil {
		return nil, err
	}
	clients(len(e.plan.Statement.Text) + 1)
	p.Text = string(text)
	return p, nil
}

// takeIn appends the client's text, in which the rows that are left have what id appends for their AUTO_INCREMENT column: id is told the row
// and the place in the client's text.
func (e *Execution) takeIn(b []byte, left []bool, id func(b []byte, row, at int) []byte) ([]byte, error) {
	o := e.plan.Operator.(*Insert)
	a, text := o.auto, e.plan.Statement.Text
	if e.digest != nil {
		text = e.sql
	}
	if a.cell >= 0 {
		return e.replaceIDs(b, text, left, id)
	}
	at := e.textPlace(a.list)
	b = a.appendColumn(append(b, text[:at]...), e.plan)
	if a.set {
		b = append(id(b, 0, at), ", "...)
	} else {
		for row := range left {
			begin := e.rowPlace(o, row) + 1
			b = id(append(b, text[at:begin]...), row, begin)
			if len(o.rows[0].Cells) > 0 {
				b = append(b, ", "...)
			}
			if a.empty {
				b = append(b, strings.Repeat(", DEFAULT", len(a.others))...)
			}
			at = begin
		}
	}
	return append(b, text[at:]...), nil
}

// textPlace gives the place in the client's text of one in the plan's, which is ahead of the rows.
func (e *Execution) textPlace(pos int) int {
	if e.digest == nil {
		return pos
	}
	return e.place(pos)
}

// rowPlace gives the place in the client's text of a row's parenthesis.
func (e *Execution) rowPlace(o *Insert, row int) int {
	if e.digest != nil && e.fold.rows > 0 {
		return e.digest.Rows[e.fold.row+row].Pos
	}
	return e.textPlace(o.rows[row].Pos)
}

// appendColumn appends what the column is listed as.
func (a *autoIncrement) appendColumn(b []byte, p *Plan) []byte {
	switch {
	case a.set:
		return append(append(append(b, ' '), a.quoted...), " = "...)
	case a.listed && len(p.Statement.Insert.Rows[0]) > 0:
		return append(append(b, a.quoted...), ", "...)
	case !a.listed:
		b = append(b, '(')
	}
	b = append(b, a.quoted...)
	for _, other := range a.others {
		b = append(append(b, ", "...), p.quote(other)...)
	}
	if !a.listed {
		b = append(b, ") "...)
	}
	return b
}

// replaceIDs appends the text with what id appends in the place of the values that leave the column to the table.
func (e *Execution) replaceIDs(b []byte, text string, left []bool, id func(b []byte, row, at int) []byte) ([]byte, error) {
	if !slices.Contains(left, true) {
		return append(b, text...), nil
	}
	o := e.plan.Operator.(*Insert)
	rows, ok := sqlparse.ValuesRows(text, e.plan.Mode)
	if o.auto.set {
		rows = []sqlparse.RowSpan{{Cells: sqlparse.AssignmentSpans(text, e.plan.Mode, false)}}
		ok = len(rows[0].Cells) > o.auto.cell
	}
	if !ok || len(rows) != len(left) {
		return b, needsAuto(o.auto.column, e.plan.Target.Parsed.Name)
	}
	at := 0
	for k, row := range rows {
		if left[k] {
			cell := row.Cells[o.auto.cell]
			b = id(append(b, text[at:cell.Pos]...), k, cell.Pos)
			at = cell.End
		}
	}
	return append(b, text[at:]...), nil
}
