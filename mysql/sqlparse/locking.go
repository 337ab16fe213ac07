package sqlparse

import "kingshard/mysql/sqltext"

// LockingClause finds the clause that a query ends with and by which it locks what it reads: FOR UPDATE, FOR SHARE or LOCK IN SHARE MODE. ok is false where there is none, and where it is for
// some of the tables only. MySQL manual: "Locking Reads".
func LockingClause(text string, m sqltext.Mode) (clause Span, ok bool) {
	tokens, ok := lex(text, m)
	if !ok {
		return clause, false
	}
	s := newScan(tokens)
	depth := 0
	for ; s.k < len(s.tokens); s.k++ {
		t := s.tokens[s.k]
		depth += t.nesting()
		switch {
		case depth > 0:
		case s.are("for", "update"), s.are("for", "share"), s.are("lock", "in", "share", "mode"):
			clause = Span{t.Pos, s.tokens[len(s.tokens)-1].End}
		case clause.Pos > 0 && is(t, "of"):
			return clause, false
		}
	}
	return clause, clause.Pos > 0
}
