package sqltext

import "strings"

// WithoutVersions gives a text as a server reads it that has version comments: with blanks in the place of those that do not apply, of the
// marks of the others, and of plain comments; optimizer hints stay. It is as long as it was, so that pieces of it are where they are in
// the text. A text without version comments is given as it is.
func WithoutVersions(sql string, m Mode) string {
	if !strings.Contains(sql, "/*!") && !strings.Contains(sql, "/*M!") {
		return sql
	}
	b := []byte(strings.Repeat(" ", len(sql)))
	l := NewLexer(sql, m)
	for t := l.Next(); t.Kind != KindEOF; t = l.Next() {
		copy(b[t.Pos:t.End], sql[t.Pos:t.End])
		begin := t.End + len(sql[t.End:]) - len(strings.TrimLeft(sql[t.End:], " \t\r\n"))
		if t.Kind == KindWord && strings.HasPrefix(sql[begin:], "/*+") {
			if n := strings.Index(sql[begin:], "*/"); n > 0 {
				copy(b[begin:begin+n+2], sql[begin:])
			}
		}
	}
	return string(b)
}
