package session

import (
	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// With autocommit off a transaction begins with the first statement that touches something, and lasts until COMMIT, ROLLBACK
// or a statement that commits by itself. The server's flag tells less: it is not set by SAVEPOINT, nor by a table of an engine without
// transactions, whose metadata lock lasts as long, too. So the connection is the session's from that statement on. MySQL manual:
// "autocommit, Commit, and Rollback", "Metadata Locking".

// opensTransaction tells whether a statement begins the transaction of a session with autocommit off.
func opensTransaction(q *query) bool {
	switch q.info.Class {
	case sqltext.Select, sqltext.With, sqltext.Explain, sqltext.Do, sqltext.Set:
		return sqltext.Mentions(q.text, "from") || sqltext.Mentions(q.text, "table") || q.info.Traits&(stateful|sqltext.ForUpdate) != 0
	case sqltext.Empty, sqltext.Show, sqltext.ShowWarnings, sqltext.ShowErrors, sqltext.ShowProcesslist, sqltext.Use, sqltext.Kill, sqltext.Help,
		sqltext.Commit, sqltext.Rollback, sqltext.Deallocate, sqltext.Describe, sqltext.GetDiagnostics, sqltext.UnlockTables:
		return false
	}
	return !commitsByItself(q.info.Class)
}

// commitsByItself tells the classes that end an open transaction. MySQL manual: "Statements That Cause an Implicit Commit".
func commitsByItself(c sqltext.Class) bool {
	switch c {
	case sqltext.DDL, sqltext.Truncate, sqltext.Grant, sqltext.Admin, sqltext.Flush:
		return true
	}
	return false
}

// endsTransaction tells the classes that end an open transaction, whether or not they begin another one.
func endsTransaction(c sqltext.Class) bool {
	return c == sqltext.Begin || c == sqltext.Commit || c == sqltext.Rollback || commitsByItself(c)
}

// keepForTransaction pins the connection of a session with autocommit off for what q begins there.
func (s *Session) keepForTransaction(q *query) {
	if s.state.Autocommit || !opensTransaction(q) {
		return
	}
	s.pin(pinAutocommit)
	if q.info.Class == sqltext.Savepoint {
		s.pin(pinSavepoint)
	}
}

// endOfTransaction ends that where q has, on p, ended the transaction.
func (s *Session) endOfTransaction(p backend.Pooled, q *query, failed bool) {
	if !s.pins.has(pinAutocommit) || p.Conn.Status.Has(mysql.ServerStatusInTrans) {
		return
	}
	switch class := q.info.Class; {
	case s.state.Autocommit, !failed && (class == sqltext.Commit || class == sqltext.Rollback || commitsByItself(class)):
		s.pins &^= ofTransaction
	}
}

// readsInTransaction tells whether the transaction of a session with autocommit off has begun where it reads only: SAVEPOINT keeps the held
// connection and begins none there.
func (s *Session) readsInTransaction() bool {
	if s.state.Autocommit {
		return false
	}
	for _, p := range s.others {
		if p.Conn.Status.Has(mysql.ServerStatusInTrans) {
			return true
		}
	}
	return false
}

// ofTransaction are the reasons that end with the transaction of a session with autocommit off.
const ofTransaction = 1<<pinAutocommit | 1<<pinSavepoint

// stepAside makes the held connection one that the transaction only read from, if it is on another node than the statement's and
// has nothing but that: a transaction changes rows of one node, which a first read elsewhere does not choose.
func (s *Session) stepAside(node string) {
	p := s.held
	if p.Pooled == nil || p.Instance.Node == node || s.pins != 1<<pinAutocommit || p.Conn.Status.Has(mysql.ServerStatusInTrans) || s.state.InsertID.OnlyOn() != nil {
		return
	}
	if s.others == nil {
		s.others = map[string]backend.Pooled{}
	}
	s.others[p.Instance.Node] = p
	s.held, s.heldLast = backend.Pooled{}, false
	s.unpin(pinAutocommit)
}
