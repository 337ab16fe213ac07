package sqlparse

import "kingshard/mysql/sqltext"

// ChangeParts are the places of what an UPDATE or DELETE of any form has. Table is all that is behind UPDATE, FROM or USING.
type ChangeParts struct {
	With Span // the WITH clause; empty without one
	ChangeClauses
}

// FindChangeParts finds the parts; ok is false for any other statement.
func FindChangeParts(text string, m sqltext.Mode) (p ChangeParts, ok bool) {
	if list, _, with := CommonTables(text, m); with {
		p.With.End = list[len(list)-1].Definition.End
	}
	begin := p.With.End
	tokens, ok := lex(text[begin:], m)
	if !ok || len(tokens) == 0 {
		return p, false
	}
	s := newScan(tokens)
	ahead := ""
	if s.skip("delete") {
		depth, ignore := 0, false
		for ; s.k < len(s.tokens) && (depth > 0 || !is(s.tokens[s.k], "from")); s.k++ {
			depth += s.tokens[s.k].nesting()
			ignore = ignore || depth == 0 && is(s.tokens[s.k], "ignore")
		}
		if s.k == len(s.tokens) {
			return p, false
		}
		from := s.tokens[s.k].End
		for k := s.k; k+1 < len(s.tokens) && !is(s.tokens[k], "where"); k++ {
			if is(s.tokens[k], "using") {
				from = s.tokens[k].End
				break
			}
			if s.tokens[k].nesting() > 0 || is(s.tokens[k], "join") {
				break // the USING of a join
			}
		}
		ahead = "DELETE FROM "
		if ignore {
			ahead = "DELETE IGNORE FROM "
		}
		begin += from
	}
	if p.ChangeClauses, ok = FindChangeClauses(ahead+text[begin:], m); !ok {
		return p, false
	}
	shift := func(s *Span) {
		if !s.Empty() {
			s.Pos, s.End = s.Pos+begin-len(ahead), s.End+begin-len(ahead)
		}
	}
	for _, span := range []*Span{&p.Table, &p.Where, &p.OrderBy, &p.Limit} {
		shift(span)
	}
	for k := range p.Values {
		shift(&p.Values[k])
	}
	return p, true
}
