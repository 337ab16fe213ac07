package sqltext

import "strings"

// skip passes over blanks and comments, and over the marks of version comments that apply. It returns false, at the
// faulty place, when a comment does not end. MySQL manual: "Comments".
func (l *Lexer) skip() bool {
	s := l.sql
	for l.pos < len(s) {
		c := s[l.pos]
		switch {
		case byteClass[c]&(byteBlank|byteMark) == 0:
			return true
		case isBlank(c):
			l.pos++
		case c == '#':
			l.lineComment()
		case c == '-' && l.dashComment():
			l.lineComment()
		case c == '/' && l.at(l.pos+1) == '*':
			if !l.comment() {
				return false
			}
		case c == '*' && l.inVersion && l.at(l.pos+1) == '/':
			l.pos += 2
			l.inVersion = false
			l.closed = l.pos
			l.edges++
		default:
			return true
		}
	}
	if l.inVersion {
		l.inVersion = false
		return false
	}
	return true
}

// dashComment tells whether a comment begins at the dash: two of them and a blank, a control character or the end.
func (l *Lexer) dashComment() bool {
	if l.at(l.pos+1) != '-' {
		return false
	}
	c := l.at(l.pos + 2)
	if c >= 0x80 && l.mode.Charset == SingleByte {
		l.notes |= noteDoubt // a control character in some of these sets
	}
	return c <= ' ' || c == 0x7f
}

// lineComment passes over a comment up to the end of the line. A NUL ends it too and is an error then.
func (l *Lexer) lineComment() {
	for l.pos < len(l.sql) && l.sql[l.pos] != '\n' && l.sql[l.pos] != 0 {
		l.pos++
	}
}

// comment passes over the comment at pos, or enters it if it is a version comment that applies.
func (l *Lexer) comment() bool {
	body := l.pos + 2
	switch l.at(body) {
	case '!':
		return l.versionComment(body+1, false)
	case 'M':
		if l.mode.MariaDB && l.at(body+1) == '!' {
			return l.versionComment(body+2, true)
		}
	}
	n := strings.Index(l.sql[body:], "*/")
	if n < 0 {
		return false
	}
	text := l.sql[body : body+n]
	l.pos = body + n + 2
	if len(text) > 0 && text[0] == '+' {
		l.hint(text)
		return true
	}
	if l.commentPos < 0 {
		l.commentPos, l.commentEnd = body, body+n
	}
	if isMaster(text) {
		l.notes |= noteMaster
	}
	return true
}

// isMaster tells the comment texts that ask for the primary.
func isMaster(text string) bool { return foldEqual(text, "master") || foldEqual(text, "primary") }

// hint notes an optimizer hint. Within one, servers read quoted names: when a quote is open at the first end mark, they
// may read on where others stop. MySQL manual: "Optimizer Hints".
func (l *Lexer) hint(text string) {
	l.notes |= noteHint
	if Mentions(text, "set_var") && (Mentions(text, "timestamp") || Mentions(text, "insert_id") || strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })) {
		l.notes |= noteClock
	}
	open := byte(0)
	for k := 0; k < len(text); k++ {
		switch c := text[k]; {
		case c == open:
			open = 0
		case open == 0 && (c == '\'' || c == '"' || c == '`'):
			open = c
		}
	}
	if open != 0 {
		l.notes |= noteDoubt
	}
}

// versionComment deals with /*!...*/, and /*M!...*/ of MariaDB, from the byte behind the exclamation mark.
func (l *Lexer) versionComment(pos int, maria bool) bool {
	l.notes |= noteVersion
	digits := 0
	for digits < 6 && isDigit(l.at(pos+digits)) {
		digits++
	}
	// MySQL before 8.1 reads five digits whatever follows.
	if digits == 6 && !l.mode.MariaDB && l.mode.ServerVersion < 80100 {
		digits = 5
	}
	if digits < 5 {
		return l.enter(pos)
	}
	version := int32(0)
	for _, c := range []byte(l.sql[pos : pos+digits]) {
		version = 10*version + int32(c-'0')
	}
	applies := version <= l.mode.ServerVersion
	if l.mode.MariaDB && !maria && version >= 50700 && version <= 99999 {
		applies = false // text for MySQL 5.7 and later, which MariaDB is not
	}
	if l.mode.ServerVersion == 0 {
		l.notes |= noteDoubt
	}
	if applies {
		return l.enter(pos + digits)
	}
	return l.skipNested(pos + digits)
}

// enter goes on reading within a version comment.
func (l *Lexer) enter(pos int) bool {
	if l.inVersion {
		l.notes |= noteDoubt // the first end mark closes both, and the second is an error to some servers
	} else {
		l.opened = l.pos
	}
	l.inVersion = true
	l.edges++
	l.pos = pos
	return true
}

// skipNested passes over a version comment that does not apply; one level of comments may be inside.
func (l *Lexer) skipNested(pos int) bool {
	for pos+1 < len(l.sql) {
		switch l.sql[pos : pos+2] {
		case "*/":
			l.pos = pos + 2
			return true
		case "/*":
			n := strings.Index(l.sql[pos+2:], "*/")
			if n < 0 {
				return false
			}
			pos += n + 4
		default:
			pos++
		}
	}
	return false
}
