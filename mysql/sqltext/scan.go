package sqltext

// sig is what a token is to its neighbours: a keyword, 0 for another word, or one of the values below.
type sig uint16

const (
	sigOp     sig = 0x100 // plus the byte of an operator of one byte
	sigLongOp sig = 0x180 // plus the first byte of a longer one
	sigKind   sig = 0x200 // plus the Kind of any other token
	sigNone   sig = 0x300 // no token

	sigOpen    = sigOp + '('
	sigClose   = sigOp + ')'
	sigComma   = sigOp + ','
	sigDot     = sigOp + '.'
	sigEqual   = sigOp + '='
	sigAssign  = sigLongOp + ':'
	sigUserVar = sigKind + sig(KindUserVar)
	sigQuoted  = sigKind + sig(KindQuotedIdent)
)

// item is a token with what is known of it.
type item struct {
	Token
	sig sig
	w   uint16 // place of an unquoted word in the table
}

// scanner reads one statement, with one token at hand and the two before it remembered.
type scanner struct {
	sql       string
	l         Lexer
	maria     bool
	info      Info
	cur, prev item
	prev2     sig
	last      int // end of what belongs to the statement so far
	depth     int // of parentheses

	class  Class   // of the statement; of the one within, if outer is set
	outer  Class   // Explain, SetStatement or none
	within int     // where the statement within begins, if outer is set and there is one
	object keyword // what CREATE, ALTER or DROP is about
	header bool    // among the tables of a leading WITH
	target bool    // at the place of a variable that SET sets
	into   bool    // in the list behind INTO
	calls  *calls  // collects calls; nil to classify only
}

// advance takes the next token.
func (s *scanner) advance() {
	if s.cur.Kind != KindEOF {
		s.last = s.cur.End
	}
	s.prev2 = s.prev.sig
	s.prev = s.cur
	t := s.l.Next()
	s.cur.Token = t
	s.cur.w = 0
	if s.l.closed > s.last {
		s.last = s.l.closed
	}
	switch t.Kind {
	case KindWord:
		s.cur.sig = sig(kwNone)
		w := lookup(s.sql[t.Pos:t.End])
		switch k := words[w].key; {
		case w == 0:
			if s.sql[t.Pos] >= 0x80 && s.prev.sig != sigDot && wideProxySchema(s.sql[t.Pos:t.End]) {
				s.info.Traits |= SystemSchema
			}
		case s.prev.sig != sigDot:
			s.cur.w, s.cur.sig = w, sig(k)
			if systemSchema[k] {
				s.info.Traits |= SystemSchema
			}
		case k == kwNextval || k == kwCurrval:
			s.info.Traits |= EffectFunction // of a sequence, in MariaDB's Oracle mode
		}
	case KindOp:
		if t.End-t.Pos == 1 {
			s.cur.sig = sigOp + sig(s.sql[t.Pos])
		} else {
			s.cur.sig = sigLongOp + sig(s.sql[t.Pos])
		}
	default:
		s.cur.sig = sigKind + sig(t.Kind)
		if t.Kind == KindQuotedIdent && s.prev.sig != sigDot && systemQuoted(s.sql, t.Pos, t.End) {
			s.info.Traits |= SystemSchema
		}
	}
}

// key gives the keyword at hand, kwNone for anything else.
func (s *scanner) key() keyword {
	if s.cur.sig < sigOp {
		return keyword(s.cur.sig)
	}
	return kwNone
}

// at tells whether the token at hand is the keyword.
func (s *scanner) at(k keyword) bool { return s.cur.sig == sig(k) }

// take passes over the token at hand if it is the keyword.
func (s *scanner) take(k keyword) bool {
	if s.at(k) {
		s.advance()
		return true
	}
	return false
}

// doubt marks the statement as one that may do anything.
func (s *scanner) doubt() { s.info.Traits |= Doubt }

// token adds to the traits what the token at hand says.
func (s *scanner) token() {
	if s.info.Traits&Body != 0 && s.class == DDL {
		return // what the routine will do does not happen now
	}
	if s.prev.sig == sigUserVar {
		s.afterUserVar()
	}
	if s.calls != nil && s.at(kwSelect) && !s.header {
		s.calls.selected = true
	}
	switch s.cur.Kind {
	case KindWord:
		if k := s.key(); k != kwNone {
			s.keyword(k)
		}
		if s.prev.sig == sig(kwInto) {
			s.intoWord()
		}
	case KindOp:
		s.op()
	case KindUserVar:
		s.userVar()
		return
	case KindSysVar:
		s.sysVar()
	case KindParam:
		s.info.Traits |= Param
	}
	if (s.into || s.target) && s.cur.sig != sigComma {
		s.into = false
		s.target = s.target && s.cur.Kind == KindWord && scopeWord(s.text())
	}
}

// text gives the token at hand as written.
func (s *scanner) text() string { return s.sql[s.cur.Pos:s.cur.End] }

func (s *scanner) keyword(k keyword) {
	t := &s.info.Traits
	switch k {
	case kwUpdate, kwShare:
		if s.prev.sig == sig(kwFor) {
			*t |= ForUpdate
		}
	case kwIn:
		if s.prev.sig == sig(kwLock) {
			*t |= ForUpdate
		}
	case kwOutfile, kwDumpfile:
		if s.prev.sig == sig(kwInto) {
			*t |= IntoOutfile
		}
	case kwSQLCalcFoundRows:
		*t |= CalcFoundRows
	case kwCurrentUser:
		*t |= CurrentUser
		if s.calls != nil {
			s.calls.currentUser(s)
		}
	case kwFor:
		if s.prev.sig == sig(kwValue) && (s.prev2 == sig(kwNext) || s.prev2 == sig(kwPrevious)) {
			*t |= EffectFunction // NEXT VALUE FOR sequence
		}
	case kwSelect:
		s.masterHint()
	}
}

// masterHint looks for the hint right behind the SELECT at hand.
func (s *scanner) masterHint() {
	s.l.notes &^= noteMaster
	ahead := s.l
	ahead.Next()
	if ahead.notes&noteMaster != 0 {
		s.info.Traits |= MasterHint
	}
}

// intoWord deals with a word behind INTO. In a query that is a file, or a variable of a routine, of which there is none.
func (s *scanner) intoWord() {
	if s.class.query() && !s.at(kwOutfile) && !s.at(kwDumpfile) {
		s.doubt()
	}
}

func (s *scanner) op() {
	switch s.cur.sig {
	case sigOpen:
		s.depth++
		if s.prev.Kind == KindWord && s.prev.sig < sigOp {
			s.wordCall()
		} else if s.prev.sig == sigQuoted {
			s.quotedCall()
		}
	case sigClose:
		s.depth--
	case sigComma:
		if s.depth == 0 && s.class == Set {
			s.target = true
		}
	case sigAssign:
		if s.prev.sig != sigUserVar {
			s.assign()
		}
	}
}

// assign deals with := behind anything but a user variable.
func (s *scanner) assign() {
	if s.outer == SetStatement && s.class == Empty {
		return
	}
	switch s.class {
	case Set, Insert, Replace, Update, Call, LoadData, LoadDataLocal:
		return // a plain = there
	}
	s.info.Traits |= SetsState | Doubt
}

// userVar deals with @x; whether it is read or written the next token says.
func (s *scanner) userVar() {
	switch s.class {
	case Call, Execute, LoadData, LoadDataLocal, GetDiagnostics:
		s.info.Traits |= UserVarRead | UserVarWrite
	}
	if s.prev.sig == sig(kwInto) {
		s.into = true
	} else if s.prev.sig != sigComma {
		s.into = false
	}
}

// afterUserVar decides what the user variable before the token at hand was for.
func (s *scanner) afterUserVar() {
	switch {
	case s.target: // the left side of SET
	case s.class == Grant: // the host of an account
	case s.into || s.cur.sig == sigAssign:
		s.info.Traits |= UserVarWrite
	default:
		s.info.Traits |= UserVarRead
	}
}

func (s *scanner) sysVar() {
	if s.target {
		return
	}
	t := sysVarTrait(s.text())
	s.info.Traits |= t
	if s.calls != nil {
		s.calls.add(s, Span{Pos: s.cur.Pos, End: s.cur.End, What: t})
	}
}

// ownPrefix begins the names of the proxy's own variables, of which no server knows.
const ownPrefix = "ks_"

// ReadsIdentity reports whether the text of a system variable is that of one which has the connection's last AUTO_INCREMENT value.
func ReadsIdentity(text string) bool { return sysVarTrait(text) == SysVarIdentity }

// sysVarTrait tells what reading a system variable means.
func sysVarTrait(text string) Traits {
	scope, name := splitSysVar(text)
	if n := len(name); n > 2 && name[0] == '`' {
		name = name[1 : n-1]
	}
	if foldEqual(scope, "global") {
		return SysVarRead
	}
	switch {
	case foldEqual(name, "warning_count"), foldEqual(name, "error_count"):
		return SysVarWarningCount
	case foldEqual(name, "identity"), foldEqual(name, "last_insert_id"):
		return SysVarIdentity
	case foldEqual(name, "pseudo_thread_id"):
		return SysVarPseudoThread
	case len(name) > len(ownPrefix) && foldEqual(name[:len(ownPrefix)], ownPrefix):
		return SysVarOwn
	}
	return SysVarRead
}
