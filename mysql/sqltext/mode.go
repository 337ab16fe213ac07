package sqltext

// Mode is what decides, beside the text itself, how a server reads a statement. The zero Mode is a MySQL of unknown version
// with default sql_mode.
type Mode struct {
	ANSIQuotes         bool // sql_mode ANSI_QUOTES: "x" is an identifier
	NoBackslashEscapes bool // sql_mode NO_BACKSLASH_ESCAPES: a backslash in a string is a backslash
	PipesAsConcat      bool // sql_mode PIPES_AS_CONCAT: || joins strings and binds tighter than OR
	HighNotPrecedence  bool // sql_mode HIGH_NOT_PRECEDENCE: NOT binds as ! does
	IgnoreSpace        bool // sql_mode IGNORE_SPACE: a blank may be between a function's name and its parenthesis
	MariaDB            bool
	Charset            Charset // of character_set_client
	// ServerVersion is 80400 for MySQL 8.4.0, 101119 for MariaDB 10.11.19. With 0 every version comment is a Doubt.
	ServerVersion int32
}

// Charset is what the lexer must know of the client's character set.
type Charset uint8

// The charsets. MySQL manual: "Character Sets, Collations, Unicode".
const (
	// ASCIISafe are sets in which no byte of a longer character looks like ASCII: utf8mb4, utf8mb3, ascii, binary. In
	// unquoted text anything that is not valid UTF-8 is a Doubt.
	ASCIISafe Charset = iota
	// SingleByte are latin1 and the other sets of one byte a character. Bytes that are blanks in one of them are a Doubt in
	// unquoted text.
	SingleByte
	GBK
	SJIS // and cp932
	Big5
	GB18030
)

// Multibyte reports whether the second byte of a character may look like a quote, a backslash or a letter.
func (c Charset) Multibyte() bool { return c >= GBK }

// charLen gives the length in bytes of the character that s begins with: 1 for a byte that stands alone, 0 for the lead
// byte of a longer one without a valid rest, which the server takes for a character of its own.
func (c Charset) charLen(s string) int {
	lead := s[0]
	if lead < 0x80 || !c.isLead(lead) {
		return 1
	}
	if len(s) > 1 && c.isTrail(s[1]) {
		return 2
	}
	if c == GB18030 && len(s) > 3 && isDigit(s[1]) && s[2] >= 0x81 && s[2] <= 0xfe && isDigit(s[3]) {
		return 4
	}
	return 0
}

func (c Charset) isLead(b byte) bool {
	switch c {
	case SJIS:
		return b >= 0x81 && b <= 0x9f || b >= 0xe0 && b <= 0xfc
	case Big5:
		return b >= 0xa1 && b <= 0xf9
	}
	return b >= 0x81 && b <= 0xfe
}

func (c Charset) isTrail(b byte) bool {
	switch c {
	case SJIS:
		return b >= 0x40 && b <= 0x7e || b >= 0x80 && b <= 0xfc
	case Big5:
		return b >= 0x40 && b <= 0x7e || b >= 0xa1 && b <= 0xfe
	}
	return b >= 0x40 && b <= 0x7e || b >= 0x80 && b <= 0xfe
}
