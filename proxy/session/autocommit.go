package session

import "kingshard/mysql/sqltext"

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
