package state

// PlainText reports whether a string has no byte that any sql_mode or character set treats in a way of its own.
func PlainText(v string) bool {
	for k := range len(v) {
		if c := v[k]; c < ' ' || c > '~' || c == '\'' || c == '\\' || c == '"' || c == '`' {
			return false
		}
	}
	return true
}

// Quote returns a string literal that every sql_mode and character set reads alike: hexadecimal unless it is plain.
func Quote(v string) string {
	if PlainText(v) {
		return "'" + v + "'"
	}
	const digits = "0123456789abcdef"
	b := []byte("_utf8mb4 x'")
	for k := range len(v) {
		b = append(b, digits[v[k]>>4], digits[v[k]&15])
	}
	return string(append(b, '\''))
}

// plainLiteral reports whether a literal reads the same everywhere: a number, a word, or a string of plain characters.
func plainLiteral(v string) bool {
	if len(v) >= 2 && v[0] == '\'' && v[len(v)-1] == '\'' {
		return PlainText(v[1 : len(v)-1])
	}
	for k := range len(v) {
		c := v[k]
		if c != '_' && c != '.' && c != '-' && c != '+' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return v != ""
}

// isNumber reports whether a value is a number as servers show it, without an exponent.
func isNumber(v string) bool {
	digits := 0
	for k := range len(v) {
		switch c := v[k]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '.' || c == '-' && k == 0:
		default:
			return false
		}
	}
	return digits > 0
}
