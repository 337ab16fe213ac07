package sqlparse

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// TableClauses finds what stands in a text from a place on, behind the name of a table: PARTITION (p, ...), and behind the alias the index hints. Each is empty where it is not there.
// MySQL manual: "Partition Selection", "Index Hints".
func TableClauses(text string, from int, m sqltext.Mode) (partition, hints Span) {
	l := sqltext.NewLexer(text[from:], m)
	var t sqltext.Token
	word := ""
	next := func() {
		t = l.Next()
		word = strings.ToLower(text[from+t.Pos : from+t.End])
	}
	// list passes over a list in parentheses, and returns where it ends; 0 where there is none.
	list := func() (end int) {
		if word != "(" {
			return 0
		}
		for t.Kind != sqltext.KindEOF && word != ")" {
			next()
		}
		end = from + t.End
		next()
		return end
	}
	next()
	if word == "partition" {
		at := from + t.Pos
		if next(); word == "(" {
			partition = Span{at, list()}
		}
	}
	hint := func() bool {
		return t.Kind == sqltext.KindWord && (word == "use" || word == "force" || word == "ignore")
	}
	if word == "as" {
		next()
		next()
	} else if (t.Kind == sqltext.KindWord || t.Kind == sqltext.KindQuotedIdent) && !hint() {
		next() // an alias; a word of another clause has no hints behind it
	}
	for hint() {
		at := from + t.Pos
		for next(); word == "index" || word == "key" || word == "for" || word == "join" || word == "order" || word == "group" || word == "by"; {
			next()
		}
		end := list()
		if end == 0 {
			break
		}
		if hints.Empty() {
			hints.Pos = at
		}
		hints.End = end
	}
	return partition, hints
}
