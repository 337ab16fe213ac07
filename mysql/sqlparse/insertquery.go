package sqlparse

import "kingshard/mysql/sqltext"

// InsertQuery finds the query of an INSERT ... SELECT or REPLACE ... SELECT, parentheses around it included; behind it is ON DUPLICATE KEY UPDATE or RETURNING, or nothing. ok is false for
// other forms.
func InsertQuery(text string, m sqltext.Mode) (query Span, ok bool) {
	tokens, ok := lex(text, m)
	s := newScan(tokens)
	if !ok || !s.skip("insert", "replace") {
		return query, false
	}
	depth := 0
	for ; s.k < len(s.tokens); s.k++ {
		t := s.tokens[s.k]
		if query.Pos == 0 && depth == 0 && (is(t, "values") || is(t, "value") || is(t, "set")) {
			return query, false
		}
		if query.Pos == 0 && depth == 0 && s.beginsQuery() {
			query = Span{t.Pos, s.tokens[len(s.tokens)-1].End}
		}
		if query.Pos > 0 && depth == 0 && (s.are("on", "duplicate", "key", "update") || s.are("returning") && s.tokens[s.k-1].word != ".") {
			query.End = s.tokens[s.k-1].End
			break
		}
		depth += t.nesting()
	}
	return query, query.Pos > 0
}

// beginsQuery reports whether what comes next is a query behind the table of an INSERT, and its columns.
func (s *scan) beginsQuery() bool {
	behind := s.tokens[s.k-1]
	if behind.word == "." || is(behind, "into") {
		return false
	}
	t := s.tokens[s.k]
	for k := s.k; t.nesting() > 0 && k+1 < len(s.tokens); {
		k++
		t = s.tokens[k]
	}
	return is(t, "select") || is(t, "with") || is(t, "table") && s.k > 1
}

// are reports whether these words come next.
func (s *scan) are(words ...string) bool {
	for k, w := range words {
		if s.k+k >= len(s.tokens) || !is(s.tokens[s.k+k], w) {
			return false
		}
	}
	return true
}
