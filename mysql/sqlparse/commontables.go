package sqlparse

import "kingshard/mysql/sqltext"

// CommonTable is a common table expression of the WITH clause that begins a statement. MySQL manual: "WITH (Common Table Expressions)".
type CommonTable struct {
	Name string // unquoted
	// Definition is from the name to the end of the parentheses around the query.
	Definition Span
}

// CommonTables finds the common table expressions of the WITH clause that a text begins with, in their order; ok is false where there is none. recursive says that they may name themselves.
func CommonTables(text string, m sqltext.Mode) (list []CommonTable, recursive, ok bool) {
	tokens, ok := lex(text, m)
	s := newScan(tokens)
	if !ok || !s.skip("with") {
		return nil, false, false
	}
	recursive = s.skip("recursive")
	for {
		if s.k >= len(s.tokens) {
			return nil, false, false
		}
		t := CommonTable{Name: s.tokens[s.k].word, Definition: Span{Pos: s.tokens[s.k].Pos}}
		s.k++
		if s.opens() {
			s.group()
		}
		if !s.skip("as") || !s.opens() {
			return nil, false, false
		}
		t.Definition.End = s.group()
		list = append(list, t)
		if s.k >= len(s.tokens) || s.tokens[s.k].word != "," {
			return list, recursive, true
		}
		s.k++
	}
}

// opens reports whether an opening parenthesis comes next.
func (s *scan) opens() bool { return s.k < len(s.tokens) && s.tokens[s.k].nesting() > 0 }

// group passes over parentheses with what is within them, and returns where they end.
func (s *scan) group() (end int) {
	depth := 0
	for ; s.k < len(s.tokens); s.k++ {
		if depth += s.tokens[s.k].nesting(); depth == 0 {
			end = s.tokens[s.k].End
			s.k++
			return end
		}
	}
	return end
}
