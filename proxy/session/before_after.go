package session

import (
	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// admit refuses statements that cannot be right through shared connections, before anything is sent.
func (s *Session) admit(q *query) error {
	switch q.info.Class {
	case sqltext.Handler:
		return refuse("HANDLER keeps a cursor on one connection; use SELECT ... LIMIT")
	case sqltext.LoadDataLocal:
		if !s.account.LocalInfile || !s.conn.Capabilities.Has(mysql.ClientLocalFiles) {
			return newError(KSLocalInfile, "")
		}
	case sqltext.ChangeReplication, sqltext.BinlogStmt:
		return refuse("replication is administered on the database servers, not through the proxy")
	case sqltext.GetDiagnostics:
		if s.held.Pooled == nil || !s.heldLast {
			return refuse("GET DIAGNOSTICS works inside a transaction only; use SHOW WARNINGS")
		}
	case sqltext.Flush:
		if flushLocks(q.text) && !s.account.Process {
			return refuse("FLUSH TABLES WITH READ LOCK stops the server for every user; it needs the right process")
		}
	}
	return nil
}

// before pins the connection for what the statement is about to do on it, and tells which reasons are new.
func (s *Session) before(q *query) (added pinSet) {
	had := s.pins
	s.pins &^= 1 << pinFoundRows
	s.pinReached(q.reached)
	for _, p := range [...]struct {
		trait  sqltext.Traits
		reason pinReason
	}{
		{sqltext.UserVarWrite, pinUserVariable},
		{sqltext.GetLock, pinUserLock},
		{sqltext.CalcFoundRows, pinFoundRows},
		{sqltext.SetsState, pinUnknown},
	} {
		if q.info.Has(p.trait) {
			s.pin(p.reason)
		}
	}
	// The body of a routine is not looked into: it runs when it is called.
	if q.info.Has(sqltext.Doubt) && !(q.info.Class == sqltext.DDL && q.info.Has(sqltext.Body)) {
		s.pin(pinUnknown)
	}
	switch q.info.Class {
	case sqltext.CreateTemporary:
		s.pin(pinTempTable)
	case sqltext.LockTables:
		s.pin(pinLockTables)
	case sqltext.Flush:
		if flushLocks(q.text) {
			s.pin(pinLockTables)
		}
	case sqltext.Call, sqltext.CompoundBegin:
		s.pin(pinProcedure)
	case sqltext.XA:
		if xaVerb(q.text, "START", "BEGIN") {
			s.pin(pinXA)
		}
	case sqltext.Other:
		s.pin(pinUnknown)
	}
	s.keepForTransaction(q)
	return s.pins&^had | q.pinned
}

// harmlessWhenFailed are the reasons that a statement which failed does not leave behind.
const harmlessWhenFailed = 1<<pinUnknown | 1<<pinLockTables | 1<<pinTempTable | 1<<pinXA | 1<<pinPrepare

// after gives the connection back, or keeps it, once the responses are through.
func (s *Session) after(p backend.Pooled, q *query, failed bool, added pinSet) {
	switch {
	case failed:
		s.pins &^= added & harmlessWhenFailed
	case q.info.Class == sqltext.UnlockTables:
		s.unpin(pinLockTables)
	case q.info.Class == sqltext.XA && xaVerb(q.text, "COMMIT", "ROLLBACK"):
		s.unpin(pinXA)
	case q.info.Class == sqltext.Deallocate && len(s.textStmts) == 0:
		s.unpin(pinPrepare)
	case q.info.Class == sqltext.Commit, q.info.Class == sqltext.Rollback:
		s.unpin(pinNextTransaction)
	}
	if q.info.Class == sqltext.DDL {
		s.defining(p, q, true)
	}
	s.endOfTransaction(p, q, failed)
	s.followDB(p)
	if s.state.warningCount > 0 && !q.cut && !q.warned && (s.isOther(p) || s.pins == 0 && !s.inTransaction() && !p.Conn.Status.Has(mysql.ServerStatusInTrans)) {
		if err := s.fetchWarnings(p, q.rename); err != nil {
			s.drop(p)
			return
		}
	}
	s.release(p)
	if q.cut || q.warned {
		s.heldLast = false // what the server knows of the statement is not what the client heard
	}
	s.heldNames = s.heldNames[:0]
	if s.heldLast {
		s.heldNames = append(s.heldNames, q.rename...)
	}
}
