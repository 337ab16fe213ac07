package sqltext

// Span is a call, or a system variable, whose value belongs to the session.
type Span struct {
	Pos, End int    // bytes of the text
	What     Traits // one of the traits asked for
	Text     string // as written, an alias of the text
}

// Functions finds, in the first statement of sql, the calls and variables with a trait of want: ConnectionID,
// LastInsertID, RowCount, FoundRows, CurrentUser, SysVarIdentity, SysVarWarningCount, SysVarPseudoThread, SysVarOwn. They come in the
// order of the text. Left out are definitions, whose calls happen later (views, defaults, routines), account names, the
// targets of SET, and any statement with a Doubt.
func Functions(sql string, m Mode, want Traits) []Span {
	c := calls{want: want}
	s := scanner{sql: sql, l: NewLexer(sql, m), maria: m.MariaDB, calls: &c}
	if i := s.run(); i.Traits&Doubt != 0 {
		return nil
	}
	return c.spans
}

// calls collects spans.
type calls struct {
	want     Traits
	spans    []Span
	selected bool // a SELECT was seen
}

// currentUser adds CURRENT_USER without parentheses; with them it is added as a call.
func (c *calls) currentUser(s *scanner) {
	ahead := s.l
	if t := ahead.Next(); t.Kind == KindOp && s.sql[t.Pos] == '(' {
		return
	}
	c.add(s, Span{Pos: s.cur.Pos, End: s.cur.End, What: CurrentUser})
}

// add adds a span.
func (c *calls) add(s *scanner, span Span) {
	if span.What&c.want == 0 {
		return
	}
	switch s.class {
	case Grant, DropTemporary, Admin:
		return
	case DDL, CreateTemporary:
		if s.object != kwTable || !c.selected {
			return
		}
	}
	span.Text = s.sql[span.Pos:span.End]
	c.spans = append(c.spans, span)
}
