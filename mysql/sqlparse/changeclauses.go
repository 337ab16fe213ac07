package sqlparse

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// ChangeClauses are the places of the clauses of an UPDATE or DELETE of one table.
type ChangeClauses struct {
	Table                 Span   // the reference to the table, with alias and partitions
	Values                []Span // what SET assigns, in order
	Where, OrderBy, Limit Span   // empty without the clause
	End                   int    // of the statement, a trailing semicolon left out
	Ignore                bool
}

// FindChangeClauses finds the clauses; ok is false for any other form.
func FindChangeClauses(text string, m sqltext.Mode) (c ChangeClauses, ok bool) {
	tokens, ok := lex(text, m)
	s := loadScan{scan: newScan(tokens), text: text, m: m}
	tokens = s.tokens
	update := s.skip("update")
	if !ok || !update && !s.skip("delete") {
		return c, false
	}
	for {
		if s.skip("ignore") {
			c.Ignore = true
		} else if !s.skip("low_priority", "quick") {
			break
		}
	}
	if !update && !s.skip("from") || s.k >= len(tokens) {
		return c, false
	}
	c.Table.Pos = tokens[s.k].Pos
	open, depth, set := &c.Table, 0, !update
	var list Span   // of SET
	var value *Span // that of the assignment at hand, once its sign is read
	for ; s.k < len(tokens); s.k++ {
		t := tokens[s.k]
		depth += t.nesting()
		if open == &list && depth == 0 {
			switch {
			case t.word == "," && value != nil:
				value.End, value = tokens[s.k-1].End, nil
			case (t.word == "=" || t.word == ":=") && value == nil && s.k+1 < len(tokens):
				c.Values = append(c.Values, Span{Pos: tokens[s.k+1].Pos})
				value = &c.Values[len(c.Values)-1]
			}
		}
		if depth > 0 || t.Kind != sqltext.KindWord || tokens[s.k-1].word == "." {
			continue
		}
		var next *Span
		switch w := strings.ToLower(t.word); {
		case w == "set" && !set:
			set = true
			open.End, open = tokens[s.k-1].End, &list
			continue
		case w == "returning":
			return c, false
		case !set:
			continue
		case w == "where":
			next = &c.Where
		case w == "order":
			next = &c.OrderBy
		case w == "limit":
			next = &c.Limit
		default:
			continue
		}
		if next.Pos > 0 {
			return c, false
		}
		open.End = tokens[s.k-1].End
		if value != nil {
			value.End, value = open.End, nil
		}
		next.Pos, open = t.Pos, next
	}
	c.End = tokens[len(tokens)-1].End
	open.End = c.End
	if value != nil {
		value.End = c.End
	}
	return c, set && depth == 0
}
