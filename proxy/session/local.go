package session

import (
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/observe"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
)

// local answers what the session itself knows best: transaction control without a backend, SET, USE, KILL, the process
// list, warnings. handled is false for everything else, and for those that a backend must see after all.
func (s *Session) local(q *query) (handled bool, err error) {
	if q.st != nil {
		return s.localExecution(q)
	}
	switch q.info.Class {
	case sqltext.Begin, sqltext.Commit, sqltext.Rollback:
		return s.settings().transaction(q)
	case sqltext.Set:
		if err := s.rights.admitSetQuery(q.text, s.client.mode()); err != nil {
			if handled, err := (composer{s}).setToQuery(q); handled {
				return true, err
			}
			return true, err
		}
		return true, s.settings().set(q)
	case sqltext.Use:
		db, ok := sqltext.ParseUse(q.text, s.client.mode())
		if !ok {
			return false, nil
		}
		err := s.comInitDB(db)
		s.client.noWarnings()
		return true, err
	case sqltext.Kill:
		return true, s.kills().killStatement(q)
	case sqltext.ShowProcesslist, sqltext.ShowWarnings, sqltext.ShowErrors:
		return s.settings().show(q)
	case sqltext.Show:
		if handled, err := s.ours().own(q); handled {
			return true, err
		}
		s.rights.ownGrants(q)
		s.client.hidePasswords(q)
		if state.ShowsStatus(q.text, s.client.mode()) {
			q.rows = &state.StatusRows{Values: state.ConnectionStatus(s.client.conn), Binary: q.st != nil}
		}
		return false, nil
	case sqltext.Other:
		if handled, err := s.ours().own(q); handled {
			return true, err
		}
		return s.admin(q)
	case sqltext.Prepare, sqltext.Execute, sqltext.Deallocate:
		had := s.client.txn.Pins
		handled, err := s.stmts.textPrepare(q)
		q.pinned = s.client.txn.Pins &^ had
		return handled, err
	}
	return false, nil
}

// admitSetQuery refuses a SET to what a query of a table with a rule gives.
func (ri *rights) admitSetQuery(text string, m sqltext.Mode) error {
	if ri.client.schema.Plans != nil && sqltext.Mentions(text, "select") && !sqltext.Mentions(text, informationSchema) && ri.client.schema.Plans.named(text, m) {
		return newError(KSRefusedSharding, "SET to a query that may name a sharded table: run the query and set its value")
	}
	return nil
}

// textPrepare carries out PREPARE and DEALLOCATE of texts that the proxy keeps, and follows all others, and EXECUTE: these statements live on one
// connection, which is held for as long as there are any.
func (ss *stmts) textPrepare(q *query) (handled bool, err error) {
	switch q.info.Class {
	case sqltext.Prepare:
		if handled, err := ss.keep(q); handled || err != nil {
			return true, err
		}
		ss.exchanges.prepared(&sqltext.Inner{Text: q.text, Info: q.info, Mode: ss.client.mode()}, ss.rights.readsOnlyEverywhere(q.text, &q.info, ss.client.mode()), q)
	case sqltext.Deallocate:
		name, ok := sqltext.ParseDeallocate(q.text, ss.client.mode())
		if ok {
			kept := ss.client.textStmts[name].kept != nil
			delete(ss.client.textStmts, name)
			if kept {
				ss.client.writeOK()
			}
			return kept, nil
		}
	case sqltext.Execute:
		// What the text does was not looked at when it was prepared: it may set or lock anything.
		ss.client.txn.Pin(txn.PinPrepare)
		return false, ss.admitExecute(q)
	}
	ss.client.txn.Pin(txn.PinPrepare)
	return false, nil
}

// prepared notes the name that a PREPARE, which is q or within it, gives.
func (xs *exchanges) prepared(in *sqltext.Inner, reads bool, q *query) {
	if xs.client.textStmts == nil {
		xs.client.textStmts = make(textStmts)
	}
	name := preparedName(in.Text, in.Mode)
	was, had := xs.client.textStmts[name]
	had = had && was.kept == nil                     // else no server has one of that name
	xs.client.textStmts[name] = textStmt{sets: true} // should it fail, the name may go on standing for what it did
	if q.info.Class != sqltext.Prepare {
		return
	}
	q.named = &namedStmt{name: name, had: had, textStmt: textStmt{reads: reads, sets: q.sets()}}
	if q.within != nil && len(q.within.Inner) == 1 {
		q.named.text = strings.Clone(q.within.Inner[0].Text)
		q.named.info = sqltext.Classify(q.named.text, q.within.Inner[0].Mode)
	}
}

// namedStmt is what a PREPARE gives a name, once the server has agreed.
type namedStmt struct {
	name string
	had  bool // it may stand for another one already
	textStmt
}

// nameStands notes what the name of a PREPARE stands for once the server has answered.
func (xs *exchanges) nameStands(q *query, failed bool) {
	switch n := q.named; {
	case n == nil:
	case !failed:
		xs.client.textStmts[n.name] = n.textStmt
	case !n.had:
		delete(xs.client.textStmts, n.name)
	}
}

// executed gives the statement that an EXECUTE carries out, as far as the client's texts tell; ok is false where its text is not known. It is
// certain unless a routine may have given the name to another one.
func (xs *exchanges) executed(q *query) (st textStmt, ok, certain bool) {
	ex, ok := sqltext.ParseExecute(q.text, xs.client.mode())
	if ok {
		st = xs.client.textStmts[ex.Name]
	}
	return st, st.text != "", xs.client.txn.Pins&(1<<txn.PinProcedure|1<<txn.PinTracker|1<<txn.PinStored) == 0
}

// admitExecute refuses an EXECUTE whose text asks for what only the statement before it has left on its connection, where that ran elsewhere
// or the proxy has asked for something since.
func (ss *stmts) admitExecute(q *query) error {
	st, ok, _ := ss.exchanges.executed(q)
	if !ok || !ss.client.txn.Holding() {
		return nil
	}
	name := ""
	switch {
	case st.info.Has(sqltext.FoundRows) && ss.client.state.Found.Unknown():
		return errLostRows
	case st.info.Traits&diagnostics != 0 && (!ss.client.txn.LastOnHeld || ss.exchanges.lacksInsertID(ss.client.txn.Held(), q)): // which a SET ahead of it would bring
		name = "ROW_COUNT(), @@warning_count or @@error_count"
	case st.info.Has(sqltext.FoundRows) && !ss.client.state.Found.Gives(ss.client.txn.Conn()):
		name = "FOUND_ROWS()"
	default:
		return nil
	}
	return newError(KSTransactionNodes, "EXECUTE of a text with "+name+" behind a statement of which its connection does not know: send the text by itself")
}

// useDB makes db the current database of the session once a backend has agreed: it exists and may be used.
func (se settings) useDB(db string) error {
	if db == "" {
		return mysql.NewSQLError(mysql.ERNoDB, "No database selected")
	}
	if sqltext.IsProxySchema(db) {
		return errProxySchema
	}
	if !se.client.txn.Holding() && se.client.txn.Begin == "" {
		if len(backend.Answering(se.leases.primaries(anyServer))) > 1 {
			err := se.leases.learnCharset()
			if err == nil {
				err = se.visit(db)
			}
			if err == nil {
				se.client.state.SetDB(db)
			}
			return err
		}
	}
	keepWarnings(se.client)
	var p backend.Pooled
	var err error
	for attempt := 0; ; attempt++ {
		if p, err = se.leases.acquireIn(db); err != nil {
			return err
		}
		// One that is in it says nothing of whether the database is still there.
		span := se.client.observed.OwnSpan(p.Instance, se.client.state.DB(), "USE")
		err = p.Conn.InitDB(db)
		observe.EndSpan(span, err)
		if !se.leases.replaces(p, attempt, err) {
			break
		}
	}
	if err != nil {
		if e, ok := err.(*mysql.SQLError); ok {
			se.leases.release(p)
			if p.Instance.Node != se.client.schema.Default.Name && e.Code == mysql.ERBadDB { // the default node may have it
				return se.leases.branches().otherNode()
			}
			return e
		}
		return se.leases.lost(p, err)
	}
	se.client.state.SetDB(db)
	p.Key = se.client.state.Setting()
	se.leases.release(p)
	return nil
}

// comInitDB runs COM_INIT_DB. MySQL manual: "COM_INIT_DB".
func (s *Session) comInitDB(db string) error {
	if err := s.settings().useDB(db); err != nil {
		return err
	}
	s.client.state.Diagnostics.RowCount = 0
	// A client that tracks the session's state is told of its new database, as by the server.
	changes := mysql.AppendLenencString([]byte{mysql.SessionTrackSchema}, mysql.AppendLenencString(nil, db))
	s.client.conn.WriteOK(&mysql.OKPacket{Status: s.client.status() | mysql.ServerSessionStateChanged, StateChanges: changes})
	return nil
}
