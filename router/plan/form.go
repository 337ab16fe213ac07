package plan

import (
	"strings"

	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
)

// A form is a text with ? in the place of its literals, of the lists of IN, and with one row of VALUES. Texts of one digest
// have one form, so that the form's plan serves them all: what is known of places in the form is found in a text by the
// places of its literals.

// Form gives the form of a text with its digest. ok is false where literals and rows cannot be told apart well enough: the
// text is planned as it is.
func Form(sql string, d *sqltext.Digest) (text string, ok bool) {
	var b strings.Builder
	at, values := 0, 0
	for k := 0; k < len(d.Literals); {
		literal := &d.Literals[k]
		if literal.Kind == sqltext.LiteralParam {
			return "", false
		}
		b.WriteString(sql[at:literal.Pos])
		b.WriteByte('?')
		at = literal.End
		l := d.List(literal)
		switch {
		case l == nil || l.Kind != sqltext.ListIn:
			k++
			if last := l != nil && l.Rows > 1 && k == l.First+l.Width; last {
				b.WriteString(sql[at:d.Rows[l.Row].End])
				at, k = d.Rows[l.Row+l.Rows-1].End, l.First+l.Rows*l.Width
			}
		default:
			for _, other := range d.Literals[k : l.First+l.Rows] {
				if other.Kind == sqltext.LiteralParam {
					return "", false
				}
			}
			k = l.First + l.Rows
			at = d.Literals[k-1].End
		}
	}
	for _, l := range d.Lists {
		switch l.Kind {
		case sqltext.ListValues:
			values++
			if l.Rows > 1 && l.Width == 0 {
				return "", false
			}
		case sqltext.ListInRows:
			if l.Rows > 1 {
				return "", false
			}
		}
	}
	b.WriteString(sql[at:])
	return b.String(), values <= 1
}

// values are those of one execution: of the parameters of a prepared statement, or of the literals of a text.
type values struct {
	bound []value.Value

	// Of a text that has the plan's form; digest is nil without one.
	sql    string
	digest *sqltext.Digest
	mode   sqltext.Mode
	params []int // the plan's, by their places in its text
	slots  []slot
	fold   foldedRows
}

// slot is where a parameter of the form is in the text: so many literals from the first on, one but for lists of IN. end is
// that of the last in the text.
type slot struct{ first, count, end int }

// foldedRows is the list of VALUES with more rows than the form's one.
type foldedRows struct {
	rows  int // 0 without one
	row   int // place in Digest.Rows of the first
	width int // literals in each
	// The form's row has the slots from first to last and ends at formEnd; the text's last row ends at end.
	first, last, formEnd, end int
}

// read finds the places of a form's parameters in a text. It returns false if the text is not the form but for what stands in
// the place of them.
func (v *values) read(p *Plan, sql string, d *sqltext.Digest) bool {
	v.bound, v.sql, v.digest, v.mode, v.params = nil, sql, d, p.Mode, p.Statement.Params
	v.slots, v.fold = v.slots[:0], foldedRows{}
	form := p.Statement.Text
	at, from := 0, 0 // behind the last literal, in the form and in the text
	for k := 0; k < len(d.Literals); {
		literal := &d.Literals[k]
		n := len(v.slots)
		if n == len(v.params) || form[at:v.params[n]] != sql[from:literal.Pos] {
			return false
		}
		s := slot{first: k, count: 1, end: literal.End}
		l := d.List(literal)
		if l != nil && l.Kind == sqltext.ListIn {
			s.count = l.Rows
			s.end = d.Literals[k+l.Rows-1].End
		}
		k += s.count
		v.slots = append(v.slots, s)
		at, from = v.params[n]+1, s.end
		if l != nil && l.Rows > 1 && l.Kind == sqltext.ListValues && k == l.First+l.Width {
			tail := sql[from:d.Rows[l.Row].End]
			if !strings.HasPrefix(form[at:], tail) {
				return false
			}
			at += len(tail)
			from, k = d.Rows[l.Row+l.Rows-1].End, l.First+l.Rows*l.Width
			v.fold = foldedRows{rows: l.Rows, row: l.Row, width: l.Width, first: n + 1 - l.Width, last: n, formEnd: at, end: from}
			if p.edited(v.params[v.fold.first], at) {
				return false
			}
		}
	}
	if len(v.slots) != len(v.params) || form[at:] != sql[from:] {
		return false
	}
	for _, param := range p.short {
		s := &v.slots[param]
		if literal := &d.Literals[s.first]; s.count > 1 || literal.End-literal.Pos > p.shortChars {
			return false
		}
	}
	return true
}

// edited tells whether a place of the text that changes is within a piece.
func (p *Plan) edited(pos, end int) bool {
	for _, e := range p.edits {
		if e.span.Pos < end && e.span.End > pos {
			return true
		}
	}
	return false
}

// rows is the number of rows of an INSERT where the plan has n.
func (v *values) rows(n int) int {
	if v.fold.rows > 0 {
		return v.fold.rows
	}
	return n
}

// at gives the value of a parameter; for one within VALUES that of a row. The value lives as long as the text, or as the
// bound values.
func (v *values) at(param, row int) (value.Value, bool) {
	if v.digest == nil {
		if param < len(v.bound) {
			return v.bound[param], true
		}
		return value.Value{}, false
	}
	if param >= len(v.slots) || v.slots[param].count != 1 {
		return value.Value{}, false
	}
	k := v.slots[param].first
	if row > 0 && param >= v.fold.first && param <= v.fold.last {
		k += row * v.fold.width
	}
	return v.digest.Literals[k].Value(v.sql, v.mode)
}

// count is the number of values of a parameter: more than one for a list of IN.
func (v *values) count(param int) int {
	if v.digest != nil && param >= 0 && param < len(v.slots) {
		return v.slots[param].count
	}
	return 1
}

// element gives the k-th value of a parameter.
func (v *values) element(param, k int) (value.Value, bool) {
	if v.count(param) == 1 {
		return v.at(param, 0)
	}
	return v.digest.Literals[v.slots[param].first+k].Value(v.sql, v.mode)
}

// place gives the place in the text of one in the form that is not within a parameter, nor within rows of VALUES that the
// form has not.
func (v *values) place(pos int) int {
	n := before(v.params, pos)
	if n == 0 {
		return pos
	}
	n--
	if v.fold.rows > 0 && n == v.fold.last && pos >= v.fold.formEnd {
		return v.fold.end + pos - v.fold.formEnd
	}
	return v.slots[n].end + pos - v.params[n] - 1
}

// before counts the parameters that stand before a place.
func before(params []int, pos int) int {
	low, high := 0, len(params)
	for low < high {
		if mid := (low + high) / 2; params[mid] < pos {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}
