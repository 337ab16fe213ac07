package sqlparse

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// SingleDelete puts blanks over the table that DELETE t FROM t ... deletes from, so that [FindChangeClauses] reads it as DELETE FROM t ...; it
// returns any other text as it is. MySQL manual: "DELETE Statement", "Multi-Table Deletes".
func SingleDelete(text string, m sqltext.Mode) string {
	tokens, ok := lex(text, m)
	s := newScan(tokens)
	if !ok || !s.skip("delete") {
		return text
	}
	for s.skip("low_priority", "quick", "ignore") {
	}
	first := s.k
	for s.k < len(tokens) && !is(tokens[s.k], "from") {
		s.k++
	}
	if s.k == first || s.k == len(tokens) {
		return text
	}
	begin, end := tokens[first].Pos, tokens[s.k-1].End
	return text[:begin] + strings.Repeat(" ", end-begin) + text[end:]
}
