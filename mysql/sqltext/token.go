package sqltext

// Kind is the kind of a token.
type Kind uint8

// The kinds.
const (
	KindEOF         Kind = iota
	KindWord             // identifier or keyword without quotes
	KindQuotedIdent      // `x`, and "x" under ANSI_QUOTES
	KindString           // 'x', N'x', and "x" without ANSI_QUOTES
	KindNumber           // 1, .5, 1e5
	KindHex              // 0x1f, X'1f'
	KindBit              // 0b1, B'1'
	KindParam            // ?
	KindUserVar          // @x, @'x', @`x`; also the host part of an account name
	KindSysVar           // @@x, @@session.x
	KindOp               // operator or punctuation, one to three bytes
	KindSemicolon        // ;
	KindInvalid          // what no server reads, or not every server reads alike; always with Doubt
)

// Token is a piece of the text, from byte Pos up to byte End.
type Token struct {
	Kind     Kind
	Pos, End int
}

// Bits of byteClass.
const (
	byteBlank = 1 << iota
	byteIdent // may be part of an unquoted identifier
	byteDigit
	byteHex
	byteMark // may begin a comment, or end a version comment
)

// byteClass says what a byte is to the lexer.
var byteClass = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c == ' ' || c >= '\t' && c <= '\r':
			t[c] = byteBlank
		case c >= '0' && c <= '9':
			t[c] = byteIdent | byteDigit | byteHex
		case c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
			t[c] = byteIdent | byteHex
		case c >= 'g' && c <= 'z' || c >= 'G' && c <= 'Z' || c == '_' || c == '$' || c >= 0x80:
			t[c] = byteIdent
		case c == '#' || c == '-' || c == '/' || c == '*':
			t[c] = byteMark
		}
	}
	return t
}()

func isBlank(c byte) bool { return byteClass[c]&byteBlank != 0 }
func isIdent(c byte) bool { return byteClass[c]&byteIdent != 0 }
func isDigit(c byte) bool { return byteClass[c]&byteDigit != 0 }
func isHex(c byte) bool   { return byteClass[c]&byteHex != 0 }

// foldEqual compares s, of ASCII letters in any case, with lower, which is in lower case.
func foldEqual(s, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for k := 0; k < len(s); k++ {
		c := s[k]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[k] {
			return false
		}
	}
	return true
}
