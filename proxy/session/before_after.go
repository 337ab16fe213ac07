package session

import (
	"slices"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
)

// admit refuses statements that cannot be right as the session is.
func (xs *exchanges) admit(q *query) error {
	if xs.client.txn.Holding() && xs.client.txn.LastOnHeld {
		return nil
	}
	if q.info.Class == sqltext.GetDiagnostics {
		return refuse("GET DIAGNOSTICS works inside a transaction only; use SHOW WARNINGS")
	}
	if in := q.carried(); in != nil && tellsDiagnostics(in.Info.Class) {
		return errHiddenDiagnostics
	}
	if q.info.Class == sqltext.Execute {
		if st, ok, _ := xs.executed(q); ok && tellsDiagnostics(st.info.Class) {
			return errHiddenDiagnostics
		}
	}
	return nil
}

// before pins the connection for what the statement is about to do on it, and tells which reasons are new.
func (xs *exchanges) before(q *query) (added txn.Pins) {
	had := xs.client.txn.Pins
	xs.client.txn.Pins &^= 1 << txn.PinFoundRows
	xs.effects.pinReached(q.reached)
	if !plainClass(q.info.Class) || q.info.Traits&stateful != 0 {
		xs.pinFor(q.text, &q.info)
	}
	if q.within != nil {
		xs.beforeWithin(q)
	}
	if !xs.client.state.Autocommit && opensTransaction(q) {
		xs.client.txn.Pin(txn.PinAutocommit)
		if q.info.Class == sqltext.Savepoint {
			xs.client.txn.Pin(txn.PinSavepoint)
		}
	}
	return xs.client.txn.Pins&^had | q.pinned
}

// beforeWithin pins the connection for what the statements within are about to do on it.
func (xs *exchanges) beforeWithin(q *query) {
	for k := range q.within.Inner {
		in := &q.within.Inner[k]
		if in.Later {
			continue
		}
		xs.pinFor(in.Text, &in.Info)
		switch in.Info.Class {
		case sqltext.Set:
			if !in.Assigned || setsMore(in) {
				xs.client.txn.Pin(txn.PinUnknown)
			}
			if !in.Assigned {
				xs.pinBound(state.BoundUnseen(in.Text, in.Mode))
			}
		case sqltext.Prepare:
			xs.prepared(in, false, q)
			xs.client.txn.Pin(txn.PinPrepare)
		}
	}
	if q.unknown() {
		xs.client.txn.Pin(txn.PinUnknown)
		xs.client.txn.Pin(txn.PinUserVariable)
	}
}

// setsMore tells whether what SET STATEMENT sets may last longer than the statement.
func setsMore(in *sqltext.Inner) bool {
	list, ok := sqltext.ParseSet(in.Text, in.Mode)
	return !ok || slices.ContainsFunc(list, func(a sqltext.Assignment) bool { return a.Scope != sqltext.Session || state.PerStatement[a.Name] })
}

// pinFor pins the connection for what a statement, the client's or one within it, leaves on it.
func (xs *exchanges) pinFor(text string, i *sqltext.Info) {
	for _, p := range [...]struct {
		trait  sqltext.Traits
		reason txn.Reason
	}{
		{sqltext.UserVarWrite, txn.PinUserVariable},
		{sqltext.GetLock, txn.PinUserLock},
		{sqltext.CalcFoundRows, txn.PinFoundRows},
		{sqltext.SetsState, txn.PinUnknown},
	} {
		if i.Has(p.trait) {
			xs.client.txn.Pin(p.reason)
		}
	}
	// The body of a routine is not looked into: it runs when it is called.
	if i.Has(sqltext.Doubt) && !(i.Class == sqltext.DDL && i.Has(sqltext.Body)) {
		xs.client.txn.Pin(txn.PinUnknown)
	}
	switch i.Class {
	case sqltext.CreateTemporary:
		xs.client.txn.Pin(txn.PinTempTable)
	case sqltext.LockTables:
		xs.client.txn.Pin(txn.PinLockTables)
	case sqltext.Flush:
		if flushLocks(text) {
			xs.client.txn.Pin(txn.PinLockTables)
		}
	case sqltext.Call, sqltext.CompoundBegin:
		xs.client.txn.Pin(txn.PinProcedure)
	case sqltext.XA:
		if xaVerb(text, "START", "BEGIN") {
			xs.client.txn.Pin(txn.PinXA)
		}
	case sqltext.Other:
		xs.client.txn.Pin(txn.PinUnknown)
	}
}

// harmlessWhenFailed are the reasons that a statement which failed does not leave behind.
const harmlessWhenFailed = 1<<txn.PinUnknown | 1<<txn.PinLockTables | 1<<txn.PinTempTable | 1<<txn.PinXA | 1<<txn.PinPrepare

// carriesOut tells whether the statement carries out others, one or several.
func (q *query) carriesOut() bool {
	switch q.info.Class {
	case sqltext.SetStatement, sqltext.Execute, sqltext.CompoundBegin, sqltext.Call:
		return true
	}
	return q.within != nil && q.info.Class != sqltext.Prepare && len(q.within.Inner) > 0
}

// preparesUnseen are the reasons of which a connection may have statements prepared that no text of the client's tells of.
const preparesUnseen = 1<<txn.PinProcedure | 1<<txn.PinUnknown | 1<<txn.PinTracker | 1<<txn.PinStored

// executesNothing reports whether q is an EXECUTE on a connection on which nothing can have been prepared.
func (xs *exchanges) executesNothing(q *query, added txn.Pins) bool {
	if q.info.Class != sqltext.Execute || xs.client.txn.Pins&^added&(1<<txn.PinPrepare|preparesUnseen) != 0 || xs.client.textStmts.held() {
		return false
	}
	_, named := sqltext.ParseExecute(q.text, xs.client.mode())
	return named
}

// describes reports whether statements of a class read a table's definition, and none of its rows.
func describes(c sqltext.Class) bool {
	return c == sqltext.Show || c == sqltext.Describe || c == sqltext.Explain
}

// after gives the connection back, or keeps it, once the responses are through.
func (xs *exchanges) after(p backend.Pooled, q *query, failed bool, added txn.Pins) {
	switch {
	case failed && xs.executesNothing(q, added):
		xs.client.txn.Pins &^= added & harmlessWhenFailed
	case failed && q.carriesOut():
		// It may have failed behind what it has done.
	case failed:
		xs.client.txn.Pins &^= added & harmlessWhenFailed
	case q.info.Class == sqltext.UnlockTables:
		xs.client.txn.Unpin(txn.PinLockTables)
	case q.info.Class == sqltext.XA && xaVerb(q.text, "COMMIT", "ROLLBACK"):
		xs.client.txn.Unpin(txn.PinXA)
	case q.info.Class == sqltext.Deallocate && !xs.client.textStmts.held():
		xs.client.txn.Unpin(txn.PinPrepare)
	case q.info.Class == sqltext.Commit, q.info.Class == sqltext.Rollback, commitsByItself(q.info.Class):
		if xs.client.txn.Unpin(txn.PinNextTransaction); !p.Conn.Status.Has(mysql.ServerStatusInTrans) {
			xs.client.txn.Current = txn.Characteristics{}
		}
	}
	xs.nameStands(q, failed)
	used := !failed && q.node != nil && !describes(q.info.Class) && xs.client.txn.UsesUpNext(p, xs.client.state.Autocommit) ||
		xs.client.txn.LeavesCurrent(p, failed)
	if q.info.Class == sqltext.DDL {
		xs.effects.defining(p, q, true)
	}
	if class := q.info.Class; xs.client.state.Autocommit || !failed && (class == sqltext.Commit || class == sqltext.Rollback || commitsByItself(class)) {
		xs.client.txn.Ended(p)
	}
	if xs.client.state.Followed() {
		p.Key = xs.client.state.Setting()
	}
	learnt := xs.setsUnseen(q, added)
	if learnt && xs.client.ahead().lease != nil {
		xs.client.txn.Unlearned, learnt = true, false // a loop does not wait for answers: the session's next command does
	}
	warns := xs.client.state.Diagnostics.WarningCount > 0 && !q.cut && !q.warned && !q.asked
	if learnt {
		var err error
		if warns { // which the server forgets when it is asked
			err, warns, q.warned = xs.client.fetchWarnings(p, q.rename), false, true
		}
		if err == nil {
			err = xs.learnUnseen(p, q)
		}
		if err != nil {
			xs.leases.dropAnswered(p, err)
			return
		}
	}
	if xs.client.txn.HasOthers() && xs.client.txn.Holds(p) && !failed && endsTransaction(q.info.Class) {
		xs.client.txn.EndOthers(xs.client.run) // another one may have begun
	}
	beside := xs.client.txn.Beside(p) || xs.client.txn.Holding() && !xs.client.txn.Holds(p) // it goes back, whatever the session keeps
	goes := beside || xs.client.txn.Pins == 0 && !xs.client.txn.InTransaction() && !p.Conn.Status.Has(mysql.ServerStatusInTrans)
	if warns && (goes || used || xs.client.state.InsertID.Doubtful()) {
		// Who has it next, or the session's own question, makes the server forget them.
		if err := xs.client.fetchWarnings(p, q.rename); err != nil {
			xs.leases.dropBehind(p, err)
			return
		}
		q.warned = true
	}
	if used {
		if err := xs.client.observed.Run(p, xs.client.state.DB(), txn.SQLCommit); err != nil {
			xs.leases.dropBehind(p, err)
			return
		}
	}
	if xs.client.txn.Holding() && !xs.client.txn.Holds(p) && q.info.Has(sqltext.UserVarWrite) && q.info.Class != sqltext.Explain {
		if err := takeVariablesBack(xs.leases, p, q); err != nil {
			xs.leases.dropAnswered(p, err)
			return
		}
	}
	xs.leases.release(p)
	if q.cut || q.warned || q.asked || learnt || used {
		xs.client.txn.LastOnHeld = false // what the server knows of the statement is not what the client heard
	}
	xs.client.state.Found.Known(xs.client.txn.Conn(), xs.client.txn.LastOnHeld)
	if xs.client.txn.LastOnHeld {
		xs.client.txn.SetLastNames(q.rename)
	} else {
		xs.client.txn.SetLastNames(nil)
	}
}
