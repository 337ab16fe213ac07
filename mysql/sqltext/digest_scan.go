package sqltext

import "strings"

// clause is what literals are to the part of a statement at hand.
type clause uint8

const (
	clauseHeld   clause = iota // tables and the like: literals stay, those of subqueries are looked at
	clauseList                 // of columns: everything stays, blanks too
	clauseKept                 // ORDER BY and the like: everything stays
	clauseOpen                 // conditions and assignments
	clauseLimit                // of LIMIT
	clauseValues               // rows of VALUES
)

// level is what is known within a pair of parentheses, and outside of all.
type level struct {
	clause  clause
	frozen  bool // all literals stay, whatever the clause
	exact   bool // blanks stay as they are
	items   bool // what begins behind '(' and ',' may be a value
	between bool // the next AND belongs to a BETWEEN
	isRow   bool // of a List
	rows    bool // the levels inside are rows of a List
	kind    ListKind

	// Of the last row inside: where its part of the key is, and its List, -1 for none.
	lastPos, lastEnd int
	list             int

	// Of a row: what stood where it began.
	pos, key, literals, lists, edges, selects int
}

// levelsMax bounds the depth of parentheses. What is deeper than that has no digest.
const levelsMax = 256

// digester makes a digest. What it does not read itself it leaves to the lexer, and it cuts texts as that does.
type digester struct {
	d    *Digest
	sql  string
	l    Lexer
	from int // the text from here on is not in the key yet

	edges       int // marks of version comments before the gap at hand
	selects     int // SELECTs so far
	prev, prev2 role
	begun       bool // a first word was seen
	insert      bool // INSERT or REPLACE
	call        bool // prev is a word that no quotes are around: behind it '(' begins a call
	listed      bool // prev begins a list of columns
	top         level
}

// run reads the statement. It returns false where there is no digest.
func (s *digester) run() bool {
	s.prev, s.prev2 = roleOther, roleOther
	end := 0
	for {
		pos, ok := s.gap(end)
		if !ok {
			return false
		}
		if pos == len(s.sql) || s.sql[pos] == ';' {
			return s.finish(end, pos)
		}
		c := s.sql[pos]
		if !s.begun && c != '(' && (!plainByte[c] || isDigit(c)) {
			return false
		}
		switch {
		case s.prev == roleDot && c != '`':
			end = s.slow(pos) // only the lexer knows what a dot does to it
		case plainByte[c]:
			if isDigit(c) {
				end = s.number(pos)
			} else {
				end = s.word(pos, c)
			}
		case c == '\'':
			end = s.token(s.l.str(pos, pos, KindString))
		case c == ',':
			end = pos + 1
			s.set(roleComma)
		case c == '(':
			end = s.open(pos)
		case c == ')':
			end = s.close(pos)
		case c == '=':
			end = pos + 1
			s.set(roleCompare)
		case c == '`':
			end = s.backticks(pos)
		case c == '.' && s.l.at(pos+1) == '`':
			end = pos + 1
			s.set(roleDot)
		default:
			end = s.slow(pos)
		}
		if end < 0 {
			return false
		}
	}
}

// finish ends the digest behind the last token. Behind a ';' nothing may come.
func (s *digester) finish(end, pos int) bool {
	s.flush(end)
	if pos > s.from && s.keeps(end, pos) {
		s.flush(pos)
	}
	for s.l.pos = pos; ; {
		switch s.l.Next().Kind {
		case KindSemicolon:
			if s.l.inVersion {
				return false
			}
		case KindEOF:
			return s.begun && len(s.d.levels) == 0 && !s.l.Doubt()
		default:
			return false
		}
	}
}

// set takes note of a token's role.
func (s *digester) set(r role) {
	s.prev2, s.prev = s.prev, r
	s.call, s.listed = false, false
}

// flush puts the text up to end into the key.
func (s *digester) flush(end int) {
	if end > s.from {
		s.d.Key = append(s.d.Key, s.sql[s.from:end]...)
	}
	s.from = end
}

// gap passes over blanks and comments from end, where a token ended, and returns where the next begins.
func (s *digester) gap(end int) (pos int, ok bool) {
	pos, s.edges = end, s.l.edges
	if pos < len(s.sql) && s.sql[pos] == ' ' && s.begun {
		pos++
	}
	if pos < len(s.sql) && byteClass[s.sql[pos]]&(byteBlank|byteMark) == 0 {
		return pos, true
	}
	s.l.pos = pos
	if !s.l.skip() {
		return 0, false
	}
	pos = s.l.pos
	if pos == end || pos == len(s.sql) || s.sql[pos] == ';' {
		return pos, true
	}
	if s.sql[end:pos] == " " && s.begun || s.exact() || s.keeps(end, pos) {
		return pos, true
	}
	s.flush(end)
	if s.begun {
		s.d.Key = append(s.d.Key, ' ')
	}
	s.from = pos
	return pos, true
}

// exact tells whether blanks stay as they are: names of columns are made of them.
func (s *digester) exact() bool { return s.top.exact || s.top.clause == clauseList && !s.listed }

// keeps tells whether something between two tokens must be in the key: marks of version comments, hints, and comments that
// may name a node.
func (s *digester) keeps(from, to int) bool {
	text := s.sql[from:to]
	if s.l.edges != s.edges {
		return true
	}
	for {
		k := strings.Index(text, "/*")
		if k < 0 {
			return false
		}
		text = text[k+2:]
		if text == "" || text[0] == '!' || text[0] == '+' || strings.HasPrefix(text, "M!") {
			return true
		}
		n := strings.Index(text, "*/")
		if n < 0 || nodeName(text[:n]) {
			return true
		}
		text = text[n+2:]
	}
}

// slow has the lexer read the token at pos.
func (s *digester) slow(pos int) int {
	s.l.pos = pos
	return s.token(s.l.Next())
}

// token takes the token that the lexer read, and returns where it ends; -1 where there is no digest.
func (s *digester) token(t Token) int {
	switch t.Kind {
	case KindWord:
		return s.named(t.Pos, t.End)
	case KindQuotedIdent, KindUserVar, KindSysVar:
		s.set(roleOperand)
		return t.End
	case KindString:
		if c := s.sql[t.Pos]; c != '\'' && c != '"' {
			s.set(roleLiteral) // N'x'
			return t.End
		}
		return s.literal(t.Pos, t.End, LiteralString)
	case KindNumber, KindHex, KindBit, KindParam:
		return s.literal(t.Pos, t.End, literalKind(s.sql, t))
	case KindOp:
		return s.operator(t)
	}
	return -1
}

// backticks takes an identifier in backticks at pos.
func (s *digester) backticks(pos int) int {
	end := 0
	if !s.l.mode.Charset.Multibyte() {
		end = backtickEnd(s.sql, pos)
	}
	if end == 0 {
		return s.slow(pos)
	}
	s.set(roleOperand)
	return end
}

// plainByte tells the bytes of unquoted identifiers that are read here: those of ASCII.
var plainByte = func() (t [256]bool) {
	for c := range 0x80 {
		t[c] = isIdent(byte(c)) && c != '$'
	}
	return t
}()

// word reads an unquoted word, or a name of several parts, that begins at pos with c.
func (s *digester) word(pos int, c byte) int {
	sql := s.sql
	end, dotted := pos+1, false
	for {
		for end < len(sql) && plainByte[sql[end]] {
			end++
		}
		if end+1 >= len(sql) || sql[end] != '.' || !plainByte[sql[end+1]] {
			break
		}
		dotted = true
		end++
	}
	if end < len(sql) {
		switch next := sql[end]; {
		case next >= 0x80 || next == '$':
			return s.slow(pos)
		case next == '\'' && end == pos+1:
			if c |= 0x20; c == 'n' || c == 'x' || c == 'b' {
				return s.slow(pos)
			}
		}
	}
	s.l.identEnd = end
	if dotted && s.begun {
		s.set(roleOperand)
		s.call = true
		return end
	}
	return s.named(pos, end)
}

// named takes an unquoted word.
func (s *digester) named(pos, end int) int {
	r := roleOperand
	if s.prev != roleDot {
		r = wordRoles[lookup(s.sql[pos:end])]
	}
	if !s.begun && !s.begin(r) || s.prev == roleValues { // VALUES ROW(1) is rare
		return -1
	}
	listed := false
	switch {
	case r == roleOperand:
	case r == roleNull:
		return s.null(pos, end)
	case r == roleSelect:
		s.top.clause, listed = clauseList, true
		s.selects++
	case r >= roleFrom || r == roleAnd || r == roleBetween:
		r = s.keyword(r)
	}
	s.set(r)
	s.call = r == roleOperand
	s.listed = listed
	return end
}

// begin takes the first word. It returns false for the statements that have no digest.
func (s *digester) begin(r role) bool {
	switch r {
	case roleSelect:
	case roleInsert, roleChange, roleWith:
		if len(s.d.levels) > 0 {
			return false
		}
		s.insert = r == roleInsert
	default:
		return false
	}
	s.begun = true
	return true
}

// keyword does what a word does to the clause at hand, and returns the role that it has for what follows.
func (s *digester) keyword(r role) role {
	t := &s.top
	outermost := len(s.d.levels) == 0
	switch r {
	case roleAnd:
		if t.between {
			t.between = false
			return roleLead
		}
	case roleBetween:
		t.between = true
		return roleLead
	case roleFrom:
		if t.clause == clauseList {
			t.clause = clauseHeld
		}
	case roleJoin, roleUnion:
		t.clause = clauseHeld
	case roleWhere:
		t.clause = clauseOpen
	case roleOn:
		if t.clause == clauseHeld || t.clause == clauseValues {
			t.clause = clauseOpen
		}
	case roleOrder:
		if t.clause != clauseHeld || !s.insert || !outermost { // INSERT INTO
			t.clause = clauseKept
		}
	case roleLimit:
		t.clause = clauseLimit
		return roleLimit
	case roleOffset:
		if t.clause == clauseLimit {
			return roleLimit
		}
		return roleOperand
	case roleSet:
		if t.clause == clauseHeld && outermost {
			t.clause = clauseOpen
		}
	case roleValues:
		if s.insert && outermost && t.clause == clauseHeld && s.prev == roleOperand {
			t.clause, t.rows, t.kind, t.list = clauseValues, true, ListValues, -1
			return roleValues
		}
		return roleOperand // VALUES(a) is a call
	case roleOnInsert:
		if s.insert && outermost && s.prev == roleOther {
			t.clause = clauseOpen
		}
		return roleOperand
	}
	return roleOther
}

// operator takes an operator that is not read in run.
func (s *digester) operator(t Token) int {
	if c := s.sql[t.Pos]; t.End == t.Pos+1 && (c == '-' || c == '+') && s.value() {
		if end := s.signed(t); end != 0 {
			return end
		}
	}
	s.set(opRole(s.sql[t.Pos:t.End]))
	return t.End
}
