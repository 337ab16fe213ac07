package sqlparse

import "kingshard/mysql/sqltext"

// CommonTable is a common table expression of the WITH clause that begins a statement. MySQL manual: "WITH (Common Table Expressions)".
type CommonTable struct {
	Name string // unquoted
	// Definition is from the name to the end of the parentheses around the query.
	Definition Span
}

// WithClause is a WITH clause of a text.
type WithClause struct {
	List      []CommonTable
	Recursive bool // they may name themselves
	// Scope is from WITH to the end of what may name them: of the parentheses around it, or of the text.
	Scope Span
}

// CommonTables finds the common table expressions of the WITH clause that a text begins with, in their order; ok is false where there is none. recursive says that they may name themselves.
func CommonTables(text string, m sqltext.Mode) (list []CommonTable, recursive, ok bool) {
	tokens, ok := lex(text, m)
	s := newScan(tokens)
	if !ok {
		return nil, false, false
	}
	return s.commonTables()
}

// WithClauses finds all WITH clauses of a text, in the order in which they begin; ok is false where the text cannot be read.
func WithClauses(text string, m sqltext.Mode) (list []WithClause, ok bool) {
	tokens, ok := lex(text, m)
	if !ok {
		return nil, false
	}
	s := newScan(tokens)
	var open []int // the clauses whose scope has not ended, -1 for parentheses around them
	end := func(at int) {
		for k := len(open) - 1; k >= 0 && open[k] >= 0; k-- {
			list[open[k]].Scope.End, open = at, open[:k]
		}
	}
	for k, t := range s.tokens {
		switch n := t.nesting(); {
		case n > 0:
			open = append(open, -1)
		case n < 0:
			if end(t.Pos); len(open) == 0 {
				return nil, false
			}
			open = open[:len(open)-1]
		}
		if clause := (scan{tokens: s.tokens, k: k}); t.Kind == sqltext.KindWord {
			if tables, recursive, is := clause.commonTables(); is {
				open = append(open, len(list))
				list = append(list, WithClause{tables, recursive, Span{Pos: t.Pos}})
			}
		}
	}
	end(len(text))
	return list, len(open) == 0
}

// commonTables passes over a WITH clause; ok is false where none comes next.
func (s *scan) commonTables() (list []CommonTable, recursive, ok bool) {
	if !s.skip("with") {
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
