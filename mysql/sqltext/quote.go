package sqltext

import "strings"

// QuoteIdent writes a name as an identifier in backticks. ok is false where no server reads this name from it under the mode: the name has a
// NUL, or bytes that are no character of the client's set, the last of which might take the closing quote for its second half. MySQL
// manual: "Schema Object Names".
func QuoteIdent(name string, m Mode) (text string, ok bool) {
	if strings.IndexByte(name, 0) >= 0 {
		return "", false
	}
	return quoted(name, '`', false, m.Charset)
}

// QuoteString writes a text as a string in single quotes. ok is false where the text has bytes that are no character of the client's set.
// MySQL manual: "String Literals".
func QuoteString(value string, m Mode) (text string, ok bool) {
	return quoted(value, '\'', !m.NoBackslashEscapes, m.Charset)
}

// QuoteAlias writes the name of a column behind AS: an identifier or, where the name has a NUL, a string.
func QuoteAlias(name string, m Mode) (text string, ok bool) {
	if text, ok = QuoteIdent(name, m); ok {
		return text, true
	}
	return QuoteString(name, m)
}

// quoted writes s between quotes, with those in it twice, and backslashes too if they escape. Second bytes of characters that look like one
// or the other stay as they are.
func quoted(s string, quote byte, escapes bool, cs Charset) (text string, ok bool) {
	if !cs.Multibyte() && strings.IndexByte(s, quote) < 0 && (!escapes || strings.IndexByte(s, '\\') < 0) {
		return string(quote) + s + string(quote), true
	}
	b := make([]byte, 0, len(s)+2)
	b = append(b, quote)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 0x80 && cs.Multibyte():
			n := cs.charLen(s[i:])
			if n == 0 {
				return "", false
			}
			b = append(b, s[i:i+n]...)
			i += n - 1
			continue
		case c == quote, c == '\\' && escapes:
			b = append(b, c)
		}
		b = append(b, c)
	}
	return string(append(b, quote)), true
}
