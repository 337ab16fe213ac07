package sqltext

import "bytes"

// open takes '(' at pos: with the list behind it, if it is IN with literals only.
func (s *digester) open(pos int) int {
	if len(s.d.levels) == levelsMax {
		return -1
	}
	t := &s.top
	frozen := t.frozen || t.clause == clauseList || t.clause == clauseKept || t.clause == clauseLimit
	if s.prev == roleIn && !frozen && t.clause == clauseOpen {
		if end := s.in(pos); end > 0 {
			return end
		}
	}
	in := level{frozen: frozen, exact: t.exact || t.clause == clauseList, clause: t.clause, list: -1}
	if frozen || s.prev == roleType || s.prev == roleTable {
		in.frozen, in.clause = true, clauseKept
	}
	switch s.prev {
	case roleIn:
		in.items, in.rows, in.kind = true, true, ListInRows
	case roleCompare, roleLead:
		in.items = true
	case roleOperand:
		in.items = s.call
	case roleOpen, roleComma:
		in.items = t.items
	}
	first := s.prev == roleOpen || s.prev == roleValues
	if t.rows && !in.frozen && (t.kind == ListInRows || t.clause == clauseValues) && (first || s.prev == roleComma) {
		s.beginRow(&in, pos)
	}
	if in.clause == clauseValues {
		in.clause = clauseOpen
	}
	s.d.levels = append(s.d.levels, s.top)
	s.top = in
	s.set(roleOpen)
	return pos + 1
}

// close takes ')' at pos.
func (s *digester) close(pos int) int {
	n := len(s.d.levels)
	if n == 0 {
		return -1
	}
	in := s.top
	s.top = s.d.levels[n-1]
	s.d.levels = s.d.levels[:n-1]
	if in.isRow && !s.endRow(&in, pos+1) {
		return -1
	}
	s.set(roleOperand)
	return pos + 1
}

// beginRow takes note of what there is where a row begins.
func (s *digester) beginRow(in *level, pos int) {
	s.flush(pos)
	in.isRow, in.items, in.kind = true, true, s.top.kind
	in.pos, in.key, in.literals, in.lists, in.edges = pos, len(s.d.Key), len(s.d.Literals), len(s.d.Lists), s.l.edges
	in.selects = s.selects
	if s.l.inVersion {
		in.edges = -1
	}
}

// endRow adds a row to the list of the row before it, if that has the same layout, and else begins a new list. It returns
// false for what cannot be cut into rows: version comments, lists and subqueries within a row of VALUES.
func (s *digester) endRow(in *level, end int) bool {
	d, t := s.d, &s.top
	s.flush(end)
	if in.edges != s.l.edges || in.lists != len(d.Lists) || in.selects != s.selects {
		t.list = -1
		return in.kind != ListValues
	}
	row := Row{in.pos, end}
	if t.list >= 0 && separates(d.Key[t.lastEnd:in.key]) && bytes.Equal(d.Key[t.lastPos:t.lastEnd], d.Key[in.key:]) {
		d.Lists[t.list].Rows++
		d.Key = d.Key[:t.lastEnd]
	} else {
		t.list = len(d.Lists)
		t.lastPos, t.lastEnd = in.key, len(d.Key)
		d.Lists = append(d.Lists, List{
			Kind: in.kind, First: in.literals, Rows: 1, Width: len(d.Literals) - in.literals, Row: len(d.Rows),
		})
	}
	d.Rows = append(d.Rows, row)
	for k := in.literals; k < len(d.Literals); k++ {
		d.Literals[k].List = int32(t.list)
	}
	return true
}

// separates tells whether a part of the key is nothing but a comma and blanks.
func separates(key []byte) bool {
	return len(bytes.Trim(key, " ")) == 1 && bytes.IndexByte(key, ',') >= 0
}

// in reads the list of IN whose '(' is at pos, and returns where it ends; 0 if it holds anything but literals, or comments.
func (s *digester) in(pos int) int {
	d, saved := s.d, s.l
	first, list := len(d.Literals), int32(len(d.Lists))
	mark := byte(0)
	for at := pos + 1; ; at++ {
		from, end, kind, ok := s.element(s.l.run(at, byteBlank))
		if !ok {
			break
		}
		switch mark {
		case 0:
			mark = literalMarks[kind]
		case literalMarks[kind]:
		default:
			mark = markMixed
		}
		d.Literals = append(d.Literals, Literal{Pos: from, End: end, Kind: kind, List: list})
		at = s.l.run(end, byteBlank)
		switch s.l.at(at) {
		case ',':
			continue
		case ')':
			s.flush(pos + 1)
			d.Key = append(d.Key, '?', '[', mark, ']')
			s.from = at
			d.Lists = append(d.Lists, List{Kind: ListIn, First: first, Rows: len(d.Literals) - first, Width: 1})
			s.set(roleOperand)
			return at + 1
		}
		break
	}
	d.Literals, s.l = d.Literals[:first], saved
	return 0
}

// element reads a literal of a list, which begins at pos.
func (s *digester) element(pos int) (from, end int, kind LiteralKind, ok bool) {
	from = pos
	c := s.l.at(pos)
	if c == '-' || c == '+' {
		pos++
		if c = s.l.at(pos); !isDigit(c) && c != '.' {
			return 0, 0, 0, false
		}
	}
	if isDigit(c) {
		end = s.l.run(pos, byteDigit)
		if next := s.l.at(end); !isIdent(next) && next != '.' {
			return from, end, LiteralInt, true
		}
	}
	if isIdent(c) && !isDigit(c) && s.l.at(pos+1) != '\'' || c == '(' || pos >= len(s.sql) {
		return 0, 0, 0, false
	}
	s.l.pos = pos
	t := s.l.Next()
	kind, ok = listLiteral(s.sql, t)
	ok = ok && t.Pos == pos && (from == pos || t.Kind == KindNumber)
	return from, t.End, kind, ok
}
