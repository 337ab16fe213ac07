package sqltext

// Classify reads the first statement of sql and says what it is and where it ends. It allocates nothing.
func Classify(sql string, m Mode) Info {
	s := scanner{sql: sql, l: NewLexer(sql, m), maria: m.MariaDB}
	return s.run()
}

// run reads one statement from where the lexer stands.
func (s *scanner) run() Info {
	s.info.Next = len(s.sql)
	s.prev.sig, s.prev2 = sigNone, sigNone
	s.advance()
	s.leading()
	s.last = s.cur.Pos
	if s.l.inVersion {
		s.last = s.l.opened
	}
	s.info.First = s.last
	if s.class == Empty && s.cur.Kind != KindEOF && s.cur.Kind != KindSemicolon {
		s.statement()
	}
	s.body()
	s.finish()
	return s.info
}

// leading looks at the comments ahead of the statement.
func (s *scanner) leading() {
	if s.l.notes&noteMaster != 0 {
		s.l.notes &^= noteMaster
		s.info.Traits |= MasterHint
	}
	if s.l.commentPos < 0 {
		return
	}
	if name := s.sql[s.l.commentPos:s.l.commentEnd]; nodeName(name) && !isMaster(name) {
		s.info.NodeHint = name
	}
}

func nodeName(s string) bool {
	for k := 0; k < len(s); k++ {
		if c := s[k]; (!isIdent(c) || c == '$' || c >= 0x80) && c != '.' && c != '-' {
			return false
		}
	}
	return s != ""
}

// body reads the statement to its end. Where the end is not certain, a ';' with more behind it makes a Doubt.
func (s *scanner) body() {
	for {
		if s.prev.sig == sigUserVar && (s.cur.Kind == KindEOF || s.cur.Kind == KindSemicolon) {
			s.afterUserVar()
		}
		switch s.cur.Kind {
		case KindEOF:
			s.info.End = s.last
			return
		case KindSemicolon:
			if s.certain() {
				s.info.End = s.last
				return
			}
			s.inner()
		default:
			s.token()
			s.skim()
			s.advance()
		}
	}
}

// certain tells whether the ';' at hand ends the statement for every server.
func (s *scanner) certain() bool {
	return s.info.Traits&(Body|Doubt) == 0 && s.l.notes&noteDoubt == 0 && !s.l.inVersion
}

// inner passes over a ';' that may be inside of the statement.
func (s *scanner) inner() {
	if s.l.inVersion {
		s.doubt()
	}
	last := s.last
	for s.cur.Kind == KindSemicolon {
		s.advance()
	}
	if s.cur.Kind == KindEOF {
		s.last = last
		return
	}
	s.info.Traits |= Multi | Doubt
}

// finish looks behind the statement's end and sums up what the lexer noted.
func (s *scanner) finish() {
	i, notes := &s.info, s.l.notes
	i.Class = s.class
	if s.outer != Empty {
		i.Class, i.Target = s.outer, s.class
	}
	if s.cur.Kind == KindSemicolon {
		s.findNext()
	}
	if notes&noteDoubt != 0 {
		i.Traits |= Doubt
	}
	if notes&noteVersion != 0 {
		i.Traits |= VersionComment
	}
	if notes&noteHint != 0 {
		i.Traits |= Hint
	}
	if notes&noteClock != 0 {
		i.Traits |= HintClock
	}
}

// findNext tells what comes behind the ';' at hand: another statement, or, behind one, comments alone. Servers take blanks and ';' off a
// text's end before they read it.
func (s *scanner) findNext() {
	next, end := s.cur.End, len(s.sql)
	for end > next && (s.sql[end-1] == ';' || isBlank(s.sql[end-1])) {
		end--
	}
	t, another := s.cur.Token, false
	for t.Kind == KindSemicolon {
		t = s.l.Next()
		another = another || t.Kind == KindSemicolon && t.Pos < end // of an empty statement, which is an error
	}
	for next < end && isBlank(s.sql[next]) {
		next++
	}
	switch {
	case t.Kind != KindEOF, another:
		s.info.Traits |= Multi
		s.info.Next = next
	case next < end && s.class != Empty:
		s.info.Next = next
	}
}
