package session

import (
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
)

// mayWrite are the traits of statements that may change, lock or put something outside of their session, whatever their class. A function
// that is not known to be free of effects may be a stored one, which writes.
const mayWrite = sqltext.IntoOutfile | sqltext.ForUpdate | sqltext.GetLock | sqltext.ReleaseLock | sqltext.EffectFunction | sqltext.Temporary |
	sqltext.Multi | sqltext.Doubt | sqltext.SetsState | sqltext.Body

// readsOnly tells whether a statement changes nothing but its session, as far as its text shows. What is not known to is none: a new class
// of statements has to be let in here. An EXECUTE of a name is none, as its text is not there.
func readsOnly(text string, i *sqltext.Info, m sqltext.Mode) bool {
	if i.Has(mayWrite) {
		return false
	}
	switch i.Class {
	case sqltext.Empty, sqltext.Show, sqltext.ShowWarnings, sqltext.ShowErrors, sqltext.ShowProcesslist, sqltext.Describe, sqltext.Help,
		sqltext.Begin, sqltext.Commit, sqltext.Rollback, sqltext.RollbackTo, sqltext.Savepoint, sqltext.ReleaseSavepoint,
		sqltext.Use, sqltext.Kill, sqltext.UnlockTables, sqltext.Do, sqltext.Deallocate, sqltext.GetDiagnostics:
		return true
	case sqltext.Explain:
		return isQuery(i.Target)
	case sqltext.Set:
		return setsSession(text, m)
	case sqltext.Prepare, sqltext.Execute, sqltext.SetStatement:
		return readsWithin(text, m)
	}
	return isQuery(i.Class)
}

// readsWithin reports whether all statements that one contains only read, of which there must be some that can be read.
func readsWithin(text string, m sqltext.Mode) bool {
	c := sqltext.ContentsOf(text, m)
	if c.Unread || len(c.Dynamic) > 0 || len(c.Inner) == 0 {
		return false
	}
	for k := range c.Inner {
		in := &c.Inner[k]
		if in.Info.Class == sqltext.Execute || in.Info.Class == sqltext.Prepare || !readsOnly(in.Text, &in.Info, in.Mode) {
			return false
		}
	}
	return true
}

// isQuery tells the classes that give rows of tables.
func isQuery(c sqltext.Class) bool {
	switch c {
	case sqltext.Select, sqltext.With, sqltext.Table, sqltext.Values:
		return true
	}
	return false
}

// setsSession tells whether a SET reaches no further than its session. Roles are the servers' account's, which others share.
func setsSession(text string, m sqltext.Mode) bool {
	assignments, ok := sqltext.ParseSet(text, m)
	for _, a := range assignments {
		switch a.Scope {
		case sqltext.Session, sqltext.NextTransaction, sqltext.User, sqltext.Names, sqltext.CharacterSet:
		default:
			return false
		}
	}
	return ok
}

// permit refuses what a user who may only read may not do, before anything is sent. Statements about the proxy itself go by the user's
// rights.
func (ri *rights) permit(text string, i *sqltext.Info) error {
	if !ri.client.account.ReadOnly || ri.permitted(text, i) {
		return nil
	}
	return ri.client.readDenied(commandOf(text, i, ri.client.mode()))
}

// permitExecution refuses the execution of a prepared statement that writes: the user may have been allowed to when it was prepared.
func (ri *rights) permitExecution(st *stmt) error {
	if !ri.client.account.ReadOnly {
		return nil
	}
	info := st.info
	if st.source != st.text {
		info = sqltext.Classify(st.source, st.mode)
	}
	if ri.readsOnlyEverywhere(st.source, &info, st.mode) {
		return nil
	}
	return ri.client.readDenied(commandOf(st.source, &info, st.mode))
}

func (ri *rights) permitted(text string, i *sqltext.Info) bool {
	switch i.Class {
	case sqltext.Show, sqltext.Other:
		// What a server may get and read in another way is none of the proxy's own.
		if ri.client.account.Rights != account.None && !i.Has(sqltext.VersionComment|sqltext.Multi|sqltext.Doubt) && mayBeOwn(text, ri.client.mode()) {
			a, ddl := parseAdminDDL(text, ri.client.mode())
			return !ddl || a.verb == "list"
		}
	case sqltext.Execute:
		if ex, ok := sqltext.ParseExecute(text, ri.client.mode()); ok {
			return !i.Has(mayWrite) && ri.client.textStmts[ex.Name].reads
		}
	}
	return ri.readsOnlyEverywhere(text, i, ri.client.mode())
}

// readsOnlyEverywhere is readsOnly on all servers that the user has: a comment for some versions of a server says something else to others,
// and a function of MariaDB's may be a stored one of MySQL's.
func (ri *rights) readsOnlyEverywhere(text string, i *sqltext.Info, m sqltext.Mode) bool {
	if !readsOnly(text, i, m) {
		return false
	}
	for _, other := range ri.modesElsewhere(m, mayDiffer(text, i, m)) {
		if info := sqltext.Classify(text, other); !readsOnly(text, &info, other) {
			return false
		}
	}
	return true
}

// Versions older and newer than that of any server; 0 is a version that is not known.
const (
	oldest = 1
	newest = 999999
)

// mayDiffer tells whether servers of other versions may read a text in another way.
func mayDiffer(text string, i *sqltext.Info, m sqltext.Mode) bool {
	if i.Has(sqltext.VersionComment) || strings.Contains(text, ofMariaDB) {
		return true
	}
	return i.Contains() && sqltext.ContentsOf(text, m).Versions
}

// ofMariaDB begins what only MariaDB reads, and MySQL takes for a comment like others.
const ofMariaDB = "/*M!"

// readDenied is what a user who may only read hears of what else was asked for: what a server says to one without the privilege. Drivers
// take it for a lack of rights, where 1290, --read-only, has some look for another server.
func (c *client) readDenied(command string) *mysql.SQLError {
	return mysql.NewSQLError(mysql.ERTableaccessDenied, "%s command denied to user '%s'@'%s': the user may only read", command, c.entry.Name(), c.entry.Host())
}

// commandOf names a statement that is refused: by its first word, and by what is wrong with it if that is not its class.
func commandOf(text string, i *sqltext.Info, m sqltext.Mode) string {
	l := sqltext.NewLexer(text, m)
	t := l.Next()
	word := "This"
	if t.Kind == sqltext.KindWord && t.End-t.Pos <= 32 {
		word = strings.ToUpper(text[t.Pos:t.End])
	}
	if !isQuery(i.Class) {
		return word
	}
	for _, c := range []struct {
		trait sqltext.Traits
		what  string
	}{
		{sqltext.ForUpdate, " with a lock"}, {sqltext.IntoOutfile, " INTO OUTFILE"},
		{sqltext.EffectFunction | sqltext.GetLock | sqltext.ReleaseLock, " with a function that may have effects"},
		{sqltext.Doubt, ", which cannot be read for certain,"},
	} {
		if i.Has(c.trait) {
			return word + c.what
		}
	}
	return word
}
