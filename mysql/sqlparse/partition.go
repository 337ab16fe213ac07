package sqlparse

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// PartitionEnd finds the end of the clause PARTITION (p, ...) that stands in a text from a place on, behind the name of a table;
// it is the place itself where there is none. An alias comes behind the clause.
func PartitionEnd(text string, from int, m sqltext.Mode) int {
	l := sqltext.NewLexer(text[from:], m)
	for k := 0; ; k++ {
		t := l.Next()
		word := text[from+t.Pos : from+t.End]
		switch {
		case t.Kind == sqltext.KindEOF, k == 0 && !strings.EqualFold(word, "partition"), k == 1 && word != "(":
			return from
		case word == ")":
			return from + t.End
		}
	}
}
