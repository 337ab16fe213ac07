package sqltext

import "strings"

// Unquote gives the value of a literal 'x' or "x", or the name in a quoted identifier. ok is false for anything else, and
// for what does not end with its first closing quote. MySQL manual: "String Literals", "Schema Object Names".
func Unquote(s string, m Mode) (value string, ok bool) {
	l := NewLexer(s, m)
	if s == "" || s[0] != '\'' && s[0] != '"' && s[0] != '`' {
		return "", false
	}
	t := l.Next()
	if t.Pos != 0 || t.End != len(s) || t.Kind != KindString && t.Kind != KindQuotedIdent {
		return "", false
	}
	inner := s[1 : len(s)-1]
	if strings.IndexByte(inner, '\\') < 0 && strings.IndexByte(inner, s[0]) < 0 {
		return inner, true
	}
	return unescape(inner, s[0], t.Kind == KindString && !m.NoBackslashEscapes, m.Charset), true
}

// unescape gives what stands between quotes its meaning: doubled quotes, and escapes where a backslash begins them.
func unescape(s string, quote byte, escapes bool, cs Charset) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 0x80 && cs.Multibyte():
			n := max(cs.charLen(s[i:]), 1)
			b = append(b, s[i:i+n]...)
			i += n - 1
		case c == quote:
			b = append(b, c)
			i++ // the quote is there twice
		case c == '\\' && escapes && i+1 < len(s):
			i++
			b = appendEscape(b, s[i])
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// appendEscape appends the meaning of a backslash and c.
func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '0':
		c = 0
	case 'b':
		c = '\b'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'Z':
		c = 0x1a
	case '%', '_':
		b = append(b, '\\') // for LIKE to see
	}
	return append(b, c)
}

// UnquoteIdent gives the name that an identifier stands for: what is within its quotes, if it has any under that mode, and
// else the text itself.
func UnquoteIdent(s string, m Mode) string {
	if s == "" || s[0] != '`' && (s[0] != '"' || !m.ANSIQuotes) {
		return s
	}
	if name, ok := Unquote(s, m); ok {
		return name
	}
	return s
}
