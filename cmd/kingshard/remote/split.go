package remote

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// statements cuts a text at every ';' between statements. What KS EXPLAIN is about may hold some itself: such a statement is the
// last one.
func statements(text string) (list []string) {
	l := sqltext.NewLexer(text, sqltext.Mode{})
	begin, words := 0, []string(nil)
	add := func(end int) {
		if one := strings.TrimSpace(text[begin:end]); one != "" && len(words) > 0 {
			list = append(list, one)
		}
	}
	for {
		t := l.Next()
		switch {
		case t.Kind == sqltext.KindEOF:
			add(len(text))
			return list
		case t.Kind == sqltext.KindSemicolon && !explains(words):
			add(t.Pos)
			begin, words = t.End, nil
		case len(words) < 2:
			words = append(words, text[t.Pos:t.End])
		}
	}
}

// explains tells whether a statement's first words are KS EXPLAIN.
func explains(words []string) bool {
	return len(words) == 2 && strings.EqualFold(words[0], "ks") && strings.EqualFold(words[1], "explain")
}
