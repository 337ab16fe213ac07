package session

import (
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// tellsDiagnostics reports whether statements of a class tell what the one before has left in the diagnostics area.
func tellsDiagnostics(c sqltext.Class) bool {
	return c == sqltext.ShowWarnings || c == sqltext.ShowErrors || c == sqltext.GetDiagnostics
}

var errHiddenDiagnostics = refuse("SHOW WARNINGS, SHOW ERRORS or GET DIAGNOSTICS within another statement, behind one of which no connection of the session's knows: " +
	"send SHOW WARNINGS by itself")

// clearDiagnostics has a MariaDB server forget what another session's statement has left in the diagnostics area of a connection from the
// pool, ahead of a statement that may tell of it unseen, or that leaves it there on a connection that the session is to keep.
func (xs *exchanges) clearDiagnostics(p backend.Pooled, q *query) error {
	if !p.Conn.Info.MariaDB || xs.client.txn.Holds(p) || p.Conn.Diagnosed == xs.client.id {
		return nil
	}
	kept := xs.keptByTransaction(p) || !plainClass(q.info.Class) && (q.info.Class != sqltext.Set || q.st != nil || strings.ContainsAny(q.text, "@(")) || q.info.Has(stateful)
	if q.info.Class != sqltext.GetDiagnostics && !q.carriesOut() && (!kept || tableUseOf(q.text, q.info.Class, xs.client.mode()) == usesTable) {
		return nil
	}
	return xs.forgetDiagnostics(p)
}

// keptByTransaction reports whether a transaction keeps a connection that the session has just acquired, whatever its statement is.
func (xs *exchanges) keptByTransaction(p backend.Pooled) bool {
	return p.Conn.Status.Has(mysql.ServerStatusInTrans) || !xs.client.state.Autocommit
}

// forgetDiagnostics has a MariaDB server forget what is in the diagnostics area of a connection from the pool.
func (xs *exchanges) forgetDiagnostics(p backend.Pooled) error {
	if !p.Conn.Info.MariaDB || xs.client.txn.Holds(p) || p.Conn.Diagnosed == xs.client.id {
		return nil
	}
	p.Conn.Diagnosed = xs.client.id
	return p.Conn.Exec("DO (SELECT 1 FROM (SELECT 1) AS t)") // a statement without tables leaves it as it is
}

// tableUse is what a statement's text tells of whether the statement uses a table: where it does, MariaDB clears the diagnostics area ahead of it, and
// where not leaves that as it was.
type tableUse uint8

const (
	mayUseTable tableUse = iota
	usesTable
	usesNoTable
)

// tableUseOf reads a statement of a class.
func tableUseOf(text string, c sqltext.Class, m sqltext.Mode) tableUse {
	switch c {
	case sqltext.Insert, sqltext.Replace, sqltext.Update, sqltext.Delete:
		return usesTable
	case sqltext.Select, sqltext.Values, sqltext.Do, sqltext.Set:
	default:
		return mayUseTable
	}
	use, depth := usesNoTable, 0
	for l := sqltext.NewLexer(text, m); ; {
		switch t := l.Next(); {
		case t.Kind == sqltext.KindEOF:
			return use
		case text[t.Pos:t.End] == "(":
			depth++
		case text[t.Pos:t.End] == ")":
			depth--
		case strings.EqualFold(text[t.Pos:t.End], "from"):
			if use = mayUseTable; depth > 0 || c != sqltext.Select { // of a subquery, or of a function
				continue
			}
			if t = l.Next(); t.Kind != sqltext.KindEOF && !strings.EqualFold(text[t.Pos:t.End], "dual") {
				return usesTable
			}
			return mayUseTable
		}
	}
}

// preparedUnseen reports whether preparing a statement leaves the diagnostics area as it was: MariaDB's does, unless it uses a table.
func preparedUnseen(text string, c sqltext.Class, m sqltext.Mode) bool {
	return m.MariaDB && tableUseOf(text, c, m) != usesTable
}

// leavesDiagnostics reports whether the server has left the diagnostics area as it was: MariaDB does behind a statement that certainly uses no
// table and gives no warning.
func leavesDiagnostics(p backend.Pooled, q *query, res *mysql.Response, m sqltext.Mode) bool {
	if !p.Conn.Info.MariaDB || res.OK.Warnings > 0 || q.reached != 0 {
		return false
	}
	switch q.info.Class {
	case sqltext.Begin, sqltext.Commit, sqltext.Rollback, sqltext.RollbackTo, sqltext.Savepoint, sqltext.ReleaseSavepoint, sqltext.UnlockTables, sqltext.Deallocate,
		sqltext.ShowWarnings, sqltext.ShowErrors, sqltext.GetDiagnostics:
		return true
	}
	return tableUseOf(q.text, q.info.Class, m) == usesNoTable
}

// keepDiagnostics goes on showing what a statement before has left, behind one on p that left it as it was.
func (xs *exchanges) keepDiagnostics(p backend.Pooled, q *query) {
	c := xs.client
	if c.heldTells() && c.txn.Holds(p) {
		q.rename = c.txn.LastNames()
		return
	}
	keepWarnings(c)
	q.warned = true // the session has it, and p has not
}
