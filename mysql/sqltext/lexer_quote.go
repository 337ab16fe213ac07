package sqltext

import (
	"strings"
	"unicode/utf8"
)

// str reads a string whose opening quote is at open; the token begins at pos. MySQL manual: "String Literals".
func (l *Lexer) str(pos, open int, k Kind) Token {
	s, quote := l.sql, l.sql[open]
	multi := l.mode.Charset.Multibyte()
	if !multi {
		// Most strings hold nothing that needs a look byte by byte.
		n := strings.IndexByte(s[open+1:], quote)
		if n < 0 {
			return l.invalid(pos, len(s))
		}
		end := open + 1 + n
		if l.at(end+1) != quote && (l.mode.NoBackslashEscapes || strings.IndexByte(s[open+1:end], '\\') < 0) {
			return l.token(k, pos, end+1)
		}
	}
	for i := open + 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			if l.at(i+1) != quote {
				return l.token(k, pos, i+1)
			}
			i++
		case c == '\\' && !l.mode.NoBackslashEscapes:
			i++ // one byte, as the server does, even where a longer character begins
		case c >= 0x80 && multi:
			i += l.wide(i) - 1
		}
	}
	return l.invalid(pos, len(s))
}

// wide gives the length of the character at i, at least 1.
func (l *Lexer) wide(i int) int {
	n := l.mode.Charset.charLen(l.sql[i:])
	if n == 0 {
		l.notes |= noteDoubt
		return 1
	}
	return n
}

// quotedIdent reads an identifier whose opening quote is at open. A backslash means nothing in it. MySQL manual: "Schema
// Object Names".
func (l *Lexer) quotedIdent(pos, open int, k Kind) Token {
	s, quote := l.sql, l.sql[open]
	multi := l.mode.Charset.Multibyte()
	for i := open + 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			if l.at(i+1) != quote {
				return l.token(k, pos, i+1)
			}
			i++
		case c == 0:
			return l.invalid(pos, len(s))
		case c >= 0x80 && multi:
			i += l.wide(i) - 1
		}
	}
	return l.invalid(pos, len(s))
}

// quotedDigits reads X'1f' and B'01'. MySQL manual: "Hexadecimal Literals", "Bit-Value Literals".
func (l *Lexer) quotedDigits(pos int, k Kind) Token {
	end := pos + 2
	for end < len(l.sql) && (k == KindHex && isHex(l.sql[end]) || l.sql[end] == '0' || l.sql[end] == '1') {
		end++
	}
	if l.at(end) != '\'' || k == KindHex && (end-pos)%2 != 0 {
		return l.invalid(pos, end)
	}
	return l.token(k, pos, end+1)
}

// variable reads what begins with @. MySQL manual: "User-Defined Variables", "Using System Variables".
func (l *Lexer) variable(pos int) Token {
	switch c := l.at(pos + 1); {
	case c == '@':
		return l.sysVar(pos)
	case c == '`' || c == '"' && l.mode.ANSIQuotes:
		return l.quotedIdent(pos, pos+1, KindUserVar)
	case c == '\'' || c == '"':
		return l.str(pos, pos+1, KindUserVar)
	}
	end := pos + 1
	seen := byte(0)
	for end < len(l.sql) && (isIdent(l.sql[end]) || l.sql[end] == '.') {
		seen |= l.sql[end]
		end++
	}
	if end == pos+1 {
		return l.invalid(pos, end)
	}
	if seen >= 0x80 && (l.mode.Charset != ASCIISafe || !utf8.ValidString(l.sql[pos:end])) {
		l.notes |= noteDoubt // where the name ends depends on the character set
	}
	return l.token(KindUserVar, pos, end)
}

// sysVar reads a system variable with its scope: @@x, @@session.x, @@`x`. There may be blanks and comments around the dots.
func (l *Lexer) sysVar(pos int) Token {
	first := l.namePart(pos + 2)
	if first < 0 {
		return l.invalid(pos, pos+2)
	}
	end := first
	for {
		next := l.behindDot(end)
		if next < 0 {
			return l.invalid(pos, end)
		}
		if next == end {
			break
		}
		end = next
	}
	if end == first && scopeWord(l.sql[pos+2:first]) {
		return l.invalid(pos, end)
	}
	if oddSysVar(l.sql[pos:end]) {
		l.notes |= noteDoubt // MySQL may take it for a variable whose name is of other letters
	}
	return l.token(KindSysVar, pos, end)
}

// behindDot gives the end of the name behind the dot that comes next after end: end where none comes next, -1 where no name is behind it.
func (l *Lexer) behindDot(end int) int {
	ahead := *l
	ahead.pos = end
	if l.at(end) != '.' && (!ahead.skip() || ahead.at(ahead.pos) != '.') {
		return end
	}
	ahead.pos++
	if !ahead.skip() {
		return -1
	}
	next := ahead.namePart(ahead.pos)
	if ahead.edges != l.edges {
		l.notes |= noteDoubt // other servers read another name
		return end
	}
	*l = ahead
	return next
}

// namePart gives the end of the name, quoted or not, that begins at pos; -1 without one.
func (l *Lexer) namePart(pos int) int {
	if l.at(pos) == '`' {
		t := l.quotedIdent(pos, pos, KindQuotedIdent)
		if t.Kind == KindInvalid {
			return -1
		}
		return t.End
	}
	end := pos
	for end < len(l.sql) && isIdent(l.sql[end]) {
		if l.sql[end] >= 0x80 {
			l.notes |= noteDoubt
		}
		end++
	}
	if end == pos {
		return -1
	}
	return end
}

// scopeWord tells the words that may stand before a system variable's name.
func scopeWord(s string) bool {
	switch len(s) {
	case 5:
		return foldEqual(s, "local")
	case 6:
		return foldEqual(s, "global")
	case 7:
		return foldEqual(s, "session") || foldEqual(s, "persist")
	case 12:
		return foldEqual(s, "persist_only")
	}
	return false
}

// oddSysVar reports whether a system variable as it is written has an odd name.
func oddSysVar(text string) bool {
	return Odd(strings.ReplaceAll(SysVar(text)[2:], "`", ""))
}

// SysVar gives the text of a system variable without the blanks and comments that may be around its dots. It leaves a text as it is, and so
// odd, that has a comment which servers read in different ways.
func SysVar(text string) string {
	plain := true
	for k := 2; k < len(text) && plain; k++ {
		plain = isIdent(text[k]) || text[k] == '.'
	}
	if plain || strings.Contains(text, "/*!") || strings.Contains(text, "/*M!") || strings.Contains(text, "/*m!") {
		return text
	}
	b := []byte("@@")
	for l := lexerAt(text, 2, Mode{}); ; {
		t := l.Next()
		switch t.Kind {
		case KindEOF:
			return string(b)
		case KindInvalid:
			return text
		}
		b = append(b, text[t.Pos:t.End]...)
	}
}

// splitSysVar takes the text of a system variable apart. scope is "" without one; name keeps its quotes and case.
func splitSysVar(text string) (scope, name string) {
	text = SysVar(text)[2:]
	if scope, name, ok := strings.Cut(text, "."); ok && scopeWord(scope) {
		return scope, name
	}
	return "", text
}
