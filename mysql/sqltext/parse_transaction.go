package sqltext

// Transaction is a statement of transaction control.
type Transaction struct {
	Class Class // Begin, Commit, Rollback, RollbackTo, Savepoint or ReleaseSavepoint
	// ConsistentSnapshot, ReadOnly and ReadWrite are the characteristics that START TRANSACTION names.
	ConsistentSnapshot, ReadOnly, ReadWrite bool
	// Chain and Release are what COMMIT and ROLLBACK name.
	Chain, Release bool
	// Name is that of the savepoint, without quotes. It may alias the text.
	Name string
}

// ParseTransaction takes BEGIN, START TRANSACTION, COMMIT, ROLLBACK and the statements of savepoints apart. MySQL manual:
// "START TRANSACTION, COMMIT, and ROLLBACK Statements", "SAVEPOINT, ROLLBACK TO SAVEPOINT, and RELEASE SAVEPOINT
// Statements".
func ParseTransaction(sql string, m Mode) (Transaction, bool) {
	p := newParser(sql, m)
	t, ok := p.transaction()
	if !ok || !p.done() {
		return Transaction{}, false
	}
	return t, true
}

func (p *parser) transaction() (t Transaction, ok bool) {
	switch {
	case p.words("begin"):
		p.words("work")
		return Transaction{Class: Begin}, true
	case p.words("start", "transaction"):
		return p.startTransaction()
	case p.words("commit"):
		t.Class = Commit
	case p.words("rollback"):
		t.Class = Rollback
	case p.words("savepoint"):
		t.Name, ok = p.ident()
		t.Class = Savepoint
		return t, ok
	case p.words("release", "savepoint"):
		t.Name, ok = p.ident()
		t.Class = ReleaseSavepoint
		return t, ok
	default:
		return t, false
	}
	p.words("work")
	if t.Class == Rollback && p.words("to") {
		if p.is("savepoint") {
			p.savepointWord()
		}
		t.Name, ok = p.ident()
		t.Class = RollbackTo
		return t, ok
	}
	return p.completion(t)
}

// savepointWord passes over the word SAVEPOINT unless it is the savepoint's name.
func (p *parser) savepointWord() {
	saved := *p
	p.next()
	if p.tok.Kind != KindWord && p.tok.Kind != KindQuotedIdent {
		*p = saved
	}
}

func (p *parser) startTransaction() (Transaction, bool) {
	t := Transaction{Class: Begin}
	if p.tok.Kind == KindEOF || p.tok.Kind == KindSemicolon {
		return t, true
	}
	for {
		switch {
		case p.words("with", "consistent", "snapshot"):
			t.ConsistentSnapshot = true
		case p.words("read", "only"):
			t.ReadOnly = true
		case p.words("read", "write"):
			t.ReadWrite = true
		default:
			return t, false
		}
		if !p.op(",") {
			return t, !(t.ReadOnly && t.ReadWrite)
		}
	}
}

// completion reads [AND [NO] CHAIN] [[NO] RELEASE].
func (p *parser) completion(t Transaction) (Transaction, bool) {
	if !p.words("and", "no", "chain") {
		t.Chain = p.words("and", "chain")
	}
	if !p.words("no", "release") {
		t.Release = p.words("release")
	}
	return t, !(t.Chain && t.Release)
}
