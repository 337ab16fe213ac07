package sqltext

// simpleClasses are the classes that a first word tells; Empty for other words.
var simpleClasses = [kwXA + 1]Class{
	kwTable: Table, kwValues: Values, kwUpdate: Update, kwDelete: Delete, kwTruncate: Truncate, kwUse: Use, kwCommit: Commit,
	kwSavepoint: Savepoint, kwXA: XA, kwFlush: Flush, kwKill: Kill, kwPrepare: Prepare, kwExecute: Execute,
	kwDeallocate: Deallocate, kwCall: Call, kwDo: Do, kwHandler: Handler, kwHelp: Help, kwGet: GetDiagnostics,
	kwSignal: Signal, kwResignal: Signal, kwGrant: Grant, kwRevoke: Grant, kwOptimize: Admin, kwCheck: Admin,
	kwChecksum: Admin, kwRepair: Admin, kwCache: Admin, kwInstall: Admin, kwUninstall: Admin, kwShutdown: Admin,
	kwRestart: Admin, kwClone: Admin, kwImport: Admin, kwBinlog: BinlogStmt, kwChange: ChangeReplication,
	kwPurge: ChangeReplication, kwStop: ChangeReplication,
}

// statement decides the class of the statement whose first token is at hand. It passes over the words that only say so;
// body reads the rest.
func (s *scanner) statement() {
	if s.cur.sig == sigOpen {
		s.parenthesised()
		return
	}
	if s.cur.Kind != KindWord {
		s.unknown()
		return
	}
	k := s.key()
	if k == kwSelect {
		s.class = Select // body reads the word itself, for the hint behind it
		return
	}
	if c := simpleClasses[k]; c != Empty {
		s.class = c
		s.advance()
		return
	}
	s.longer(k)
}

// longer decides where the first word is not enough.
func (s *scanner) longer(k keyword) {
	switch k {
	case kwInsert:
		s.insert(Insert)
	case kwReplace:
		s.insert(Replace)
	case kwWith:
		s.with()
	case kwSet:
		s.set()
	case kwShow:
		s.show()
	case kwDesc, kwDescribe, kwExplain:
		s.explain()
	case kwAnalyze:
		s.analyze()
	case kwLoad:
		s.load()
	case kwCreate, kwAlter, kwDrop, kwRename:
		s.define(k)
	case kwBegin, kwStart, kwRollback, kwRelease:
		s.transaction(k)
	case kwLock, kwUnlock, kwBackup, kwReset:
		s.lock(k)
	case kwIf, kwCase, kwLoop, kwWhile, kwRepeat, kwFor:
		if !s.maria {
			s.unknown()
			return
		}
		s.class = CompoundBegin
		s.info.Traits |= Body
	default:
		s.unknown()
	}
}

// unknown is for what no server reads, or newer servers than these tables.
func (s *scanner) unknown() {
	s.class = Other
	s.doubt()
}

// parenthesised reads the parentheses ahead of a query.
func (s *scanner) parenthesised() {
	s.class = Select
	for s.cur.sig == sigOpen {
		s.token()
		s.advance()
	}
	if !s.at(kwSelect) && !s.at(kwWith) && !s.at(kwTable) && !s.at(kwValues) {
		s.unknown()
	}
}

// insert reads up to the name of the table, since '(' behind that begins no call.
func (s *scanner) insert(c Class) {
	s.class = c
	s.advance()
	for s.take(kwLowPriority) || s.take(kwDelayed) || s.take(kwHighPriority) || s.take(kwIgnore) {
	}
	s.take(kwInto)
	for s.cur.Kind == KindWord || s.cur.Kind == KindQuotedIdent {
		s.advance()
		if s.cur.sig != sigDot {
			break
		}
		s.advance()
	}
	s.prev.Kind, s.prev.sig = KindEOF, sigNone
}

// with reads the tables of WITH up to the statement that they are for. MySQL manual: "WITH (Common Table Expressions)".
func (s *scanner) with() {
	s.class, s.header = With, true
	s.advance()
	s.take(kwRecursive)
	for ; s.cur.Kind != KindEOF && s.cur.Kind != KindSemicolon; s.advance() {
		if s.depth != 0 {
			s.token()
			continue
		}
		s.header = false
		switch k := s.key(); {
		case s.cur.sig == sigOpen && s.prev.sig == sigClose:
			return
		case k == kwSelect, k == kwTable, k == kwValues:
			return
		case k == kwUpdate, k == kwDelete:
			s.class = simpleClasses[k]
			s.advance()
			return
		case k == kwInsert, k == kwReplace:
			s.longer(k)
			return
		}
		s.header = true
		s.token()
	}
	s.header = false
	s.doubt()
}

// set begins SET, or reads SET STATEMENT up to the statement that it is for. MariaDB Knowledge Base: "SET STATEMENT".
func (s *scanner) set() {
	s.advance()
	if !s.maria || !s.at(kwStatement) {
		s.class, s.target = Set, true
		return
	}
	if s.outer != Empty {
		s.unknown()
		return
	}
	s.outer = SetStatement
	s.advance()
	for ; s.cur.Kind != KindEOF && s.cur.Kind != KindSemicolon; s.advance() {
		if s.depth == 0 && s.at(kwFor) {
			s.token()
			s.advance()
			s.prev.sig = sigNone // no FOR UPDATE
			s.within = s.cur.Pos
			s.statement()
			return
		}
		s.token()
	}
	s.doubt()
}

// show tells the statements of SHOW apart that the session answers.
func (s *scanner) show() {
	s.class = Show
	s.advance()
	switch {
	case s.take(kwFull):
		if s.at(kwProcesslist) {
			s.class = ShowProcesslist
		}
		return
	case s.take(kwCount):
		for s.cur.Kind == KindOp {
			s.advance()
		}
		if !s.at(kwWarnings) && !s.at(kwErrors) {
			s.doubt()
		}
	}
	switch {
	case s.at(kwProcesslist):
		s.class = ShowProcesslist
	case s.at(kwWarnings):
		s.class = ShowWarnings
	case s.at(kwErrors):
		s.class = ShowErrors
	}
}

// load reads LOAD up to where it says whose file it is.
func (s *scanner) load() {
	s.advance()
	switch {
	case s.at(kwIndex):
		s.class = Admin
		return
	case !s.at(kwData) && !foldEqual(s.text(), "xml"):
		s.unknown()
		return
	}
	s.class = LoadData
	s.advance()
	if s.at(kwLowPriority) || foldEqual(s.text(), "concurrent") {
		s.advance()
	}
	if s.at(kwLocal) {
		s.class = LoadDataLocal
	}
}
