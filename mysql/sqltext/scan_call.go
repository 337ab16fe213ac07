package sqltext

// wordCall deals with '(' behind an unquoted word: is it a call, and of what.
func (s *scanner) wordCall() {
	if s.prev2 == sigDot {
		s.unknownCall() // name(...) with a schema before it is a stored function
		return
	}
	w := &words[s.prev.w]
	if s.prev.w == 0 {
		if !s.namesList() {
			s.unknownCall()
		}
		return
	}
	switch {
	case w.flags&wordCall != 0:
		if w.flags&wordTight != 0 && s.prev.End != s.cur.Pos ||
			w.flags&wordMySQL != 0 && s.maria || w.flags&wordMariaDB != 0 && !s.maria {
			s.unknownCall()
		}
		s.known(w)
	case w.flags&wordPlain != 0:
	case w.key == kwOf && (s.prev2 == sig(kwMember) || s.prev2 == sig(kwAs)):
	case !s.namesList():
		s.unknownCall()
	}
}

// quotedCall deals with '(' behind a quoted identifier. Servers find their own functions under quoted names too.
func (s *scanner) quotedCall() {
	if s.prev2 != sigDot && s.namesList() {
		return
	}
	s.unknownCall()
	s.info.Traits |= words[lookup(s.sql[s.prev.Pos+1:s.prev.End-1])].traits
}

// namesList tells whether '(' begins a list of columns behind a name given just now: AS t (a, b), WITH t (a, b).
func (s *scanner) namesList() bool {
	switch s.prev2 {
	case sig(kwAs), sig(kwWith), sig(kwRecursive):
		return true
	case sigComma:
		return s.header && s.depth == 1
	}
	return false
}

// unknownCall notes a call of something that the tables do not hold.
func (s *scanner) unknownCall() {
	if s.lists() {
		return
	}
	s.info.Traits |= EffectFunction
	for k := s.prev.Pos; k < s.prev.End; k++ {
		if s.sql[k] >= 0x80 {
			s.doubt() // servers fold more letters than ASCII: it may be any function
			return
		}
	}
}

// lists tells the classes in which '(' behind a name begins a list of columns or the like; they write anyhow.
func (s *scanner) lists() bool {
	switch s.class {
	case LoadData, LoadDataLocal, DDL, CreateTemporary, DropTemporary, Grant, Admin, LockTables, Truncate, Other:
		return true
	}
	return false
}

// known notes a call of a function of the table.
func (s *scanner) known(w *word) {
	t := w.traits
	if t == 0 {
		return
	}
	behind, empty := s.closing()
	if t&LastInsertID != 0 && !empty {
		t = LastInsertIDSet
	}
	s.info.Traits |= t
	if s.calls != nil && empty && t&EffectFunction == 0 {
		s.calls.add(s, Span{Pos: s.prev.Pos, End: behind.pos, What: t})
	}
}

// closing looks whether ')' follows the '(' at hand, and returns the lexer behind it.
func (s *scanner) closing() (behind Lexer, empty bool) {
	behind = s.l
	edges := behind.edges
	t := behind.Next()
	return behind, t.Kind == KindOp && s.sql[t.Pos] == ')' && behind.edges == edges
}
