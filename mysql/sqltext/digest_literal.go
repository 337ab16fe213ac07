package sqltext

import "strings"

// literalMarks are the letters of the kinds in a key.
const literalMarks = "idfsxbnp"

const (
	markLimit = 'l'
	markValue = 'v'
	markMixed = 'm'
)

// literalKind tells the kind of a literal that is no string.
func literalKind(sql string, t Token) LiteralKind {
	switch t.Kind {
	case KindHex:
		return LiteralHex
	case KindBit:
		return LiteralBit
	case KindParam:
		return LiteralParam
	}
	kind := LiteralInt
	for k := t.Pos; k < t.End; k++ {
		switch sql[k] {
		case '.':
			kind = LiteralDecimal
		case 'e', 'E':
			return LiteralFloat
		}
	}
	return kind
}

// number reads what begins with a digit at pos.
func (s *digester) number(pos int) int {
	end := pos + 1
	for end < len(s.sql) && isDigit(s.sql[end]) {
		end++
	}
	if end < len(s.sql) && (isIdent(s.sql[end]) || s.sql[end] == '.') {
		return s.token(s.l.number(pos))
	}
	return s.literal(pos, end, LiteralInt)
}

// signed reads the number behind the sign t as one literal with it; 0 if none comes at once.
func (s *digester) signed(t Token) int {
	c := s.l.at(t.End)
	if !isDigit(c) && (c != '.' || !isDigit(s.l.at(t.End+1))) {
		return 0
	}
	ahead := s.l
	n := ahead.Next()
	if n.Kind != KindNumber {
		return 0
	}
	s.l = ahead
	return s.literal(t.Pos, n.End, literalKind(s.sql, n))
}

// literal takes a literal: into the key as it is written, or out of it. It returns end.
func (s *digester) literal(pos, end int, kind LiteralKind) int {
	if mark := s.mark(end, kind); mark != 0 {
		s.take(pos, end, kind, mark)
	}
	s.set(roleLiteral)
	return end
}

// take leaves a literal out of the key.
func (s *digester) take(pos, end int, kind LiteralKind, mark byte) {
	s.flush(pos)
	s.d.Key = append(s.d.Key, '?', mark)
	s.from = end
	s.d.Literals = append(s.d.Literals, Literal{Pos: pos, End: end, Kind: kind, List: -1})
}

// mark gives the letter for a literal in the key; 0 to keep the literal itself.
func (s *digester) mark(end int, kind LiteralKind) byte {
	t := &s.top
	switch {
	case kind == LiteralParam:
		return 'p'
	case t.frozen:
		return 0
	case t.clause == clauseLimit:
		if kind == LiteralInt && (s.prev == roleLimit || s.prev == roleComma) {
			return markLimit
		}
		return 0
	case !s.value():
		return 0
	}
	next, ok := s.following(end)
	if !ok {
		return 0
	}
	if t.isRow && t.kind == ListValues && (next == ',' || next == ')') && (s.prev == roleOpen || s.prev == roleComma) {
		return markValue
	}
	return literalMarks[kind]
}

// value tells whether a literal behind prev is a plain value.
func (s *digester) value() bool {
	t := &s.top
	if t.frozen || t.clause != clauseOpen {
		return false
	}
	switch s.prev {
	case roleLead:
		return true
	case roleOpen, roleComma:
		return t.items
	case roleCompare:
		return s.prev2 != roleLiteral // a comparison of constants may decide what the plan is
	case roleArithmetic:
		return s.prev2 == roleOperand
	}
	return false
}

// following looks at the token behind a literal, and gives its first byte, 0 at the end of the text. ok is false where the
// literal is part of something larger: a sum, a string of several parts, a comparison that it comes first in.
func (s *digester) following(end int) (next byte, ok bool) {
	for end < len(s.sql) && isBlank(s.sql[end]) {
		end++
	}
	c := s.l.at(end)
	switch {
	case end == len(s.sql), c == ')', c == ',', c == ';':
		return c, true
	case c == '/' || c == '-' || c == '#':
		ahead := s.l
		ahead.pos = end
		if !ahead.skip() || ahead.edges != s.l.edges || ahead.pos == end {
			return c, false
		}
		if end = ahead.pos; end == len(s.sql) {
			return 0, true
		}
		if c = s.sql[end]; c == ')' || c == ',' || c == ';' {
			return c, true
		}
	}
	if !isIdent(c) || isDigit(c) {
		return c, false
	}
	switch c | 0x20 {
	case 'c', 'd', 'm': // COLLATE, DIV, MOD
		return c, wordRoles[lookup(s.sql[end:s.l.run(end, byteIdent)])] != roleBinary
	case 'b', 'n', 'x':
		return c, s.l.at(end+1) != '\''
	}
	return c, c != '_' && c < 0x80
}

// null takes NULL: as a value of a row of INSERT it is a literal.
func (s *digester) null(pos, end int) int {
	t := &s.top
	if t.isRow && t.kind == ListValues && (s.prev == roleOpen || s.prev == roleComma) {
		if next, ok := s.following(end); ok && (next == ',' || next == ')') {
			s.take(pos, end, LiteralNull, markValue)
		}
	}
	s.set(roleLiteral)
	return end
}

// listLiteral tells whether a token of the lexer is a literal that a list may hold, and its kind.
func listLiteral(sql string, t Token) (LiteralKind, bool) {
	switch t.Kind {
	case KindString:
		return LiteralString, strings.IndexByte(`'"`, sql[t.Pos]) >= 0
	case KindNumber, KindHex, KindBit, KindParam:
		return literalKind(sql, t), true
	}
	return 0, false
}
