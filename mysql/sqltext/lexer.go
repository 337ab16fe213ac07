package sqltext

import "unicode/utf8"

// Lexer cuts a text into tokens as the server's lexer does. It is a value: a copy looks ahead. MySQL manual: "Language
// Structure".
type Lexer struct {
	sql    string
	mode   Mode
	pos    int
	forced int // where an identifier must begin, being right behind a dot; -1 for nowhere
	// identEnd is where the last unquoted identifier ended: a dot right there belongs to it, so t.1 is no number.
	identEnd int

	inVersion bool // within a version comment that applies
	opened    int  // where the last such comment begins
	closed    int  // where the last such comment ended
	edges     int  // begins and ends of version comments so far

	commentPos, commentEnd int // what the first plain comment holds; -1 without one
	notes                  uint8
}

// Bits of Lexer.notes.
const (
	noteDoubt   = 1 << iota // something was read that is malformed or ambiguous
	noteVersion             // a version comment was seen, applied or not
	noteMaster              // a comment /*master*/ or /*primary*/ was seen
	noteHint                // an optimizer hint was seen
	noteClock               // an optimizer hint was seen that sets the clock
)

// NewLexer returns a Lexer at the start of sql.
func NewLexer(sql string, m Mode) Lexer { return lexerAt(sql, 0, m) }

func lexerAt(sql string, pos int, m Mode) Lexer {
	return Lexer{sql: sql, mode: m, pos: pos, forced: -1, identEnd: -1, opened: -1, closed: -1, commentPos: -1}
}

// Doubt tells whether something read so far was malformed or ambiguous.
func (l *Lexer) Doubt() bool { return l.notes&noteDoubt != 0 }

// Next returns the next token, at the end of the text KindEOF for ever. Comments and blanks are skipped; version comments
// that the server carries out are read as if their marks were not there.
func (l *Lexer) Next() Token {
	if !l.skip() {
		return l.invalid(l.pos, len(l.sql))
	}
	pos := l.pos
	if pos >= len(l.sql) {
		return Token{KindEOF, pos, pos}
	}
	c := l.sql[pos]
	if l.forced == pos {
		return l.word(pos)
	}
	switch {
	case isDigit(c):
		return l.number(pos)
	case isIdent(c):
		return l.wordOrLiteral(pos, c)
	}
	switch c {
	case '\'':
		return l.str(pos, pos, KindString)
	case '"':
		if l.mode.ANSIQuotes {
			return l.quotedIdent(pos, pos, KindQuotedIdent)
		}
		return l.str(pos, pos, KindString)
	case '`':
		return l.quotedIdent(pos, pos, KindQuotedIdent)
	case '@':
		return l.variable(pos)
	case ';':
		return l.token(KindSemicolon, pos, pos+1)
	case '.':
		return l.dot(pos)
	case '?':
		if isIdent(l.at(pos + 1)) {
			return l.invalid(pos, pos+1)
		}
		return l.token(KindParam, pos, pos+1)
	}
	return l.op(pos, c)
}

// at gives the byte at pos, 0 behind the end.
func (l *Lexer) at(pos int) byte {
	if pos < len(l.sql) {
		return l.sql[pos]
	}
	return 0
}

func (l *Lexer) token(k Kind, pos, end int) Token {
	l.pos = end
	return Token{k, pos, end}
}

func (l *Lexer) invalid(pos, end int) Token {
	l.notes |= noteDoubt
	return l.token(KindInvalid, pos, end)
}

// wordOrLiteral reads a word, or a literal that begins with a letter: N'x', X'1f', B'1'.
func (l *Lexer) wordOrLiteral(pos int, c byte) Token {
	if l.at(pos+1) == '\'' {
		switch c | 0x20 {
		case 'n':
			return l.str(pos, pos+1, KindString)
		case 'x':
			return l.quotedDigits(pos, KindHex)
		case 'b':
			return l.quotedDigits(pos, KindBit)
		}
	}
	if c == '$' {
		// An identifier on older servers, perhaps the begin of dollar-quoted text on newer ones.
		l.notes |= noteDoubt
	}
	return l.word(pos)
}

// word reads an unquoted identifier from pos.
func (l *Lexer) word(pos int) Token {
	s := l.sql
	end, seen := pos, byte(0)
	for end < len(s) && isIdent(s[end]) {
		seen |= s[end]
		end++
	}
	if seen >= 0x80 {
		end = l.wideWord(pos, end)
	}
	l.identEnd = end
	return l.token(KindWord, pos, end)
}

// wideWord checks an identifier with bytes beyond ASCII that seems to end at end, and returns where it does.
func (l *Lexer) wideWord(pos, end int) int {
	switch cs := l.mode.Charset; {
	case cs == ASCIISafe:
		if !utf8.ValidString(l.sql[pos:end]) {
			l.notes |= noteDoubt
		}
	case cs == SingleByte:
		for _, c := range []byte(l.sql[pos:end]) {
			switch c {
			case 0x85, 0x9a, 0xa0, 0xca, 0xff: // next line, and the no-break spaces of ISO 8859, KOI8, DOS and Macintosh
				l.notes |= noteDoubt
			}
		}
	default:
		for end = pos; end < len(l.sql) && isIdent(l.sql[end]); {
			n := cs.charLen(l.sql[end:])
			if n == 0 {
				l.notes |= noteDoubt
				n = 1
			}
			end += n
		}
	}
	return end
}

// number reads what begins with a digit: a number, or an identifier such as 1a.
func (l *Lexer) number(pos int) Token {
	if l.sql[pos] == '0' {
		switch l.at(pos + 1) {
		case 'x':
			if end := l.run(pos+2, byteHex); end > pos+2 && !isIdent(l.at(end)) {
				return l.token(KindHex, pos, end)
			}
			return l.word(pos)
		case 'b':
			end := pos + 2
			for c := l.at(end); c == '0' || c == '1'; c = l.at(end) {
				end++
			}
			if end > pos+2 && !isIdent(l.at(end)) {
				return l.token(KindBit, pos, end)
			}
			return l.word(pos)
		}
	}
	end := l.run(pos, byteDigit)
	c := l.at(end)
	switch {
	case c == '.':
		return l.fraction(pos, end+1)
	case !isIdent(c):
		return l.token(KindNumber, pos, end)
	case c|0x20 == 'e':
		if exp := l.exponent(end); exp > 0 {
			return l.token(KindNumber, pos, exp)
		}
	}
	return l.word(pos)
}

// run gives the end of the bytes of a class from pos.
func (l *Lexer) run(pos int, class uint8) int {
	for pos < len(l.sql) && byteClass[l.sql[pos]]&class != 0 {
		pos++
	}
	return pos
}

// exponent gives the end of the exponent whose e is at pos, 0 when it is none.
func (l *Lexer) exponent(pos int) int {
	pos++
	if c := l.at(pos); c == '+' || c == '-' {
		pos++
	}
	if !isDigit(l.at(pos)) {
		return 0
	}
	return l.run(pos, byteDigit)
}

// fraction reads the rest of a number behind its point. An e without digits makes servers forget what they have read so
// far, which hides text from whoever looks for it: nobody writes that in earnest.
func (l *Lexer) fraction(pos, end int) Token {
	end = l.run(end, byteDigit)
	if l.at(end)|0x20 != 'e' {
		return l.token(KindNumber, pos, end)
	}
	if exp := l.exponent(end); exp > 0 {
		return l.token(KindNumber, pos, exp)
	}
	return l.invalid(pos, end+1)
}

// dot reads a point: between the parts of a name, or before the digits of a number.
func (l *Lexer) dot(pos int) Token {
	next := l.at(pos + 1)
	if isDigit(next) && l.identEnd != pos {
		return l.fraction(pos, pos+1)
	}
	if isIdent(next) {
		l.forced = pos + 1
	}
	return l.token(KindOp, pos, pos+1)
}

// op reads an operator or punctuation.
func (l *Lexer) op(pos int, c byte) Token {
	n := 1
	next := l.at(pos + 1)
	switch c {
	case '(', ')', ',', '*', '+', '/', '%', '^', '~', '=', '{', '}', '[', ']':
	case ':':
		if next == '=' {
			n = 2
		}
	case '-':
		if next == '>' {
			n = 2
			if l.at(pos+2) == '>' {
				n = 3
			}
		}
	case '<':
		switch {
		case next == '=' && l.at(pos+2) == '>':
			n = 3
		case next == '=' || next == '>' || next == '<':
			n = 2
		}
	case '>':
		if next == '=' || next == '>' {
			n = 2
		}
	case '!':
		if next == '=' {
			n = 2
		}
	case '&', '|':
		if next == c {
			n = 2
		}
	case '\\':
		if l.mode.MariaDB && next == 'N' {
			return l.token(KindWord, pos, pos+2)
		}
		return l.invalid(pos, pos+1)
	default:
		return l.invalid(pos, pos+1)
	}
	return l.token(KindOp, pos, pos+n)
}
