package sqltext

// Span is a call, or a system variable, whose value belongs to the session.
type Span struct {
	Pos, End int    // bytes of the text
	What     Traits // one of the traits asked for
	Text     string // as written, an alias of the text
	// SelectItem tells that it makes up a whole item of the outermost select list and has no alias, so that it names the
	// column: what takes its place needs Text for an alias.
	SelectItem bool
}

// Functions finds, in the first statement of sql, the calls and variables with a trait of want: ConnectionID,
// LastInsertID, RowCount, FoundRows, CurrentUser, SysVarIdentity, SysVarWarningCount, SysVarPseudoThread. They come in the
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

// calls collects spans, and follows the outermost select list.
type calls struct {
	want     Traits
	spans    []Span
	state    listState
	depth    int  // of parentheses around the select list
	fresh    bool // the next token begins an item
	item     int  // where the item at hand begins
	selected bool // a SELECT was seen
}

type listState uint8

const (
	listAhead listState = iota
	listWithin
	listBehind
)

// follow takes note of the token at hand.
func (c *calls) follow(s *scanner) {
	switch c.state {
	case listAhead:
		if s.at(kwSelect) && !s.header {
			c.selected = true
			if s.class == Select || s.class == With {
				c.state, c.depth, c.fresh = listWithin, s.depth, true
			}
		}
	case listWithin:
		switch {
		case c.fresh && selectOption(s.key()):
		case s.depth == c.depth && (endsList(s.key()) || s.cur.sig == sigClose):
			c.state = listBehind
		case s.depth == c.depth && s.cur.sig == sigComma:
			c.fresh = true
		case c.fresh:
			c.fresh, c.item = false, s.cur.Pos
		}
	}
}

// selectOption tells the words between SELECT and the first item.
func selectOption(k keyword) bool {
	switch k {
	case kwAll, kwDistinct, kwDistinctRow, kwHighPriority, kwStraightJoin, kwSQLBigResult, kwSQLBufferResult, kwSQLCache,
		kwSQLCalcFoundRows, kwSQLNoCache, kwSQLSmallResult:
		return true
	}
	return false
}

// endsList tells the keywords that end a select list.
func endsList(k keyword) bool {
	switch k {
	case kwFrom, kwInto, kwWhere, kwGroup, kwHaving, kwOrder, kwLimit, kwUnion, kwExcept, kwIntersect, kwFor, kwLock,
		kwProcedure:
		return true
	}
	return false
}

// endsItem tells whether the token ends an item of a select list.
func endsItem(t Token, sql string) bool {
	switch t.Kind {
	case KindEOF, KindSemicolon:
		return true
	case KindOp:
		return sql[t.Pos] == ')' || sql[t.Pos] == ','
	case KindWord:
		return endsList(words[lookup(sql[t.Pos:t.End])].key)
	}
	return false
}

// currentUser adds CURRENT_USER without parentheses; with them it is added as a call.
func (c *calls) currentUser(s *scanner) {
	ahead := s.l
	if t := ahead.Next(); t.Kind == KindOp && s.sql[t.Pos] == '(' {
		return
	}
	c.add(s, Span{Pos: s.cur.Pos, End: s.cur.End, What: CurrentUser}, s.l)
}

// add adds a span; behind stands behind it.
func (c *calls) add(s *scanner, span Span, behind Lexer) {
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
	if c.state == listWithin && !c.fresh && c.item == span.Pos {
		span.SelectItem = endsItem(behind.Next(), s.sql)
	}
	c.spans = append(c.spans, span)
}
