package sqltext

// explain reads the options of EXPLAIN and its synonyms up to the statement or the table. MySQL manual: "EXPLAIN
// Statement".
func (s *scanner) explain() {
	if s.outer != Empty {
		s.unknown()
		return
	}
	s.advance()
	s.class = Describe
	for range 16 {
		switch {
		case s.explainable():
			s.outer = Explain
			s.prev.sig = sigNone // an EXPLAIN FORMAT=... FOR SCHEMA x UPDATE locks nothing
			s.within = s.cur.Pos
			s.statement()
			return
		case s.take(kwAnalyze):
			s.info.Traits |= Analyze
		case s.take(kwFormat):
			if s.cur.sig != sigEqual {
				return // a table of that name
			}
			s.advance()
			s.advance()
		case s.take(kwExtended), s.take(kwPartitions):
		case s.take(kwInto):
			s.info.Traits |= UserVarWrite
			s.advance()
		case s.take(kwFor):
			if s.at(kwConnection) {
				s.outer, s.class = Explain, Other
				return
			}
			s.advance()
			s.advance()
		default:
			if s.info.Traits&(Analyze|UserVarWrite) != 0 {
				s.unknown()
			}
			return
		}
	}
	s.unknown()
}

// explainable tells whether a statement that EXPLAIN takes is at hand.
func (s *scanner) explainable() bool {
	switch s.key() {
	case kwSelect, kwWith, kwTable, kwValues, kwInsert, kwReplace, kwUpdate, kwDelete:
		return true
	}
	return s.cur.sig == sigOpen
}

// analyze reads ANALYZE: of tables, or in MariaDB of a statement, which is carried out.
func (s *scanner) analyze() {
	if s.maria && s.outer == Empty {
		ahead := s.l
		if t := ahead.Next(); t.Kind != KindWord || !analyzesTables(s.sql[t.Pos:t.End]) {
			s.info.Traits |= Analyze
			s.explain()
			return
		}
	}
	s.class = Admin
	s.advance()
}

// analyzesTables tells the words that may follow ANALYZE of tables.
func analyzesTables(w string) bool {
	return foldEqual(w, "table") || foldEqual(w, "tables") || foldEqual(w, "local") || foldEqual(w, "no_write_to_binlog")
}

// transaction decides the statements of transaction control that need a second word.
func (s *scanner) transaction(k keyword) {
	s.advance()
	switch k {
	case kwBegin:
		s.class = Begin
		switch {
		case s.at(kwNot):
			s.class = CompoundBegin
			s.info.Traits |= Body
		case !s.take(kwWork) && s.cur.Kind != KindEOF && s.cur.Kind != KindSemicolon:
			s.doubt() // a block, in MariaDB's Oracle mode
		}
	case kwStart:
		s.class = ChangeReplication
		if s.at(kwTransaction) {
			s.class = Begin
		}
	case kwRollback:
		s.class = Rollback
		s.take(kwWork)
		if s.at(kwTo) {
			s.class = RollbackTo
		}
	case kwRelease:
		s.class = ReleaseSavepoint
		if !s.at(kwSavepoint) {
			s.unknown()
		}
	}
}

// lock decides the statements that hold locks on the server, and RESET.
func (s *scanner) lock(k keyword) {
	s.advance()
	switch k {
	case kwLock:
		s.class = LockTables
	case kwUnlock:
		s.class = UnlockTables
		if s.at(kwInstance) {
			s.class = Admin // which leaves the locks on tables
		}
	case kwBackup:
		s.class = LockTables
		if s.at(kwUnlock) {
			s.class = Admin
		}
	case kwReset:
		s.class = ChangeReplication
		if s.at(kwPersist) || foldEqual(s.text(), "query") {
			s.class = Admin
		}
	}
}

// define decides the statements that create, change and drop things.
func (s *scanner) define(verb keyword) {
	s.class = DDL
	s.advance()
	s.object = s.findObject()
	temporary := s.info.Traits&Temporary != 0
	switch s.object {
	case kwNone:
		s.doubt()
	case kwUser, kwRole:
		s.class = Grant
	case kwInstance:
		s.class = Admin
	case kwPrepare:
		s.class = Deallocate
	case kwProcedure, kwFunction, kwTrigger, kwEvent, kwPackage, kwLibrary:
		if verb == kwCreate || verb == kwAlter && s.object == kwEvent {
			s.info.Traits |= Body
		}
	default:
		switch {
		case temporary && verb == kwCreate:
			s.class = CreateTemporary
		case temporary && verb == kwDrop:
			s.class = DropTemporary
		}
	}
}

// findObject reads up to the word that says what CREATE, ALTER, DROP or RENAME is about, and returns it.
func (s *scanner) findObject() keyword {
	for range 40 {
		if s.cur.Kind == KindEOF || s.cur.Kind == KindSemicolon || s.cur.Kind == KindInvalid {
			return kwNone
		}
		switch k := s.key(); k {
		case kwTemporary:
			s.info.Traits |= Temporary
		case kwDefiner:
			s.advance()
			if s.cur.sig == sigEqual {
				s.advance() // to the name, which may look like a keyword
			}
		case kwTable, kwTables, kwView, kwProcedure, kwFunction, kwTrigger, kwEvent, kwPackage, kwLibrary, kwUser, kwRole,
			kwDatabase, kwSchema, kwIndex, kwServer, kwTablespace, kwLogfile, kwSequence, kwSpatial, kwResource, kwInstance,
			kwPrepare:
			s.prev.sig = sigNone // the host of a definer is no variable
			return k
		}
		s.advance()
	}
	return kwNone
}
