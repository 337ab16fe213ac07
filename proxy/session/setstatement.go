package session

import (
	"cmp"
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
)

// setsFor reports whether a statement has variables set for itself, or is the execution of one that has.
func (q *query) setsFor() bool {
	return q.within != nil && len(q.within.Inner) > 0 && q.within.Inner[0].Assigned && (q.info.Class == sqltext.SetStatement) == (q.st == nil)
}

// setFor makes SET STATEMENT ... FOR of a statement that may be on tables with rules, which no server has by these names, that statement, and gives the
// session the variables until back is called, behind the statement. back is nil where a server is to carry out the whole; it returns an error that
// ends the session. MariaDB Knowledge Base: "SET STATEMENT".
func (se settings) setFor(q *query) (back func(failed bool) error, err error) {
	set := &q.within.Inner[0]
	if q.st != nil {
		q.within = nil
		return se.give(set, q.info.Class)
	}
	if len(q.within.Inner) < 2 || se.routing.namesNode(q) {
		return nil, nil
	}
	in := &q.within.Inner[1]
	inner := query{text: in.Text, info: in.Info}
	if !planned(in.Info.Class) || !se.client.schema.Plans.mayConcern(&inner, se.client.state.DB(), in.Mode) {
		return nil, nil
	}
	if back, err = se.give(set, in.Info.Class); back == nil || err != nil {
		return nil, err
	}
	attributes, hint := q.attributes, q.info.NodeHint
	info := sqltext.Classify(in.Text, se.client.mode())
	if info.NodeHint == "" {
		info.NodeHint = hint
	}
	q.begin(in.Text, &info)
	q.attributes = attributes
	q.readWithin(se.client.mode())
	se.client.observed.Class = info.Class
	return back, nil
}

// unseenVariables are the reasons of which the held connection may have values of variables that the session does not know.
const unseenVariables = 1<<txn.PinVariable | 1<<txn.PinUnknown | 1<<txn.PinTracker | 1<<txn.PinStored | 1<<txn.PinProcedure

// give gives the session what SET STATEMENT sets, until back is called. A server tells what the values are, and its error is the client's. back is nil
// where the values cannot be given to several connections, and taken from them again.
func (se settings) give(set *sqltext.Inner, class sqltext.Class) (back func(failed bool) error, err error) {
	list, ok := sqltext.ParseSet(set.Text, set.Mode)
	if !ok || slices.ContainsFunc(list, func(a sqltext.Assignment) bool { return a.Scope != sqltext.Session || !a.Literal || isOwn(a) }) {
		return nil, nil
	}
	if err := se.leases.learnCharset(); err != nil {
		return nil, err
	}
	var columns []string
	for _, a := range list {
		columns = append(columns, "@@session."+a.Name)
	}
	var values []string
	var warned []state.Warning
	question := "SET STATEMENT " + strings.TrimPrefix(set.Text, "SET ") + " FOR SELECT " + strings.Join(columns, ", ") + ", @@warning_count FROM (SELECT 1) AS ks LIMIT 1" // warnings from before are there without a table
	if err := askTogether(se.leases, func(p backend.Pooled) error {
		count := ""
		err := p.Conn.RawRows(question, func(_ []mysql.ColumnDefinition41, cells []value.Cell) {
			values, count = valuesTold(cells[:len(list)]), string(cells[len(list)])
		})
		if err == nil && count != "0" {
			warned, err = state.ReadWarnings(p.Conn, nil)
		}
		return err
	}); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(list, func(a sqltext.Assignment) bool { return !givenToAll(a.Name) }) {
		return nil, nil
	}
	if len(warned) > 0 && !warns(class) {
		return nil, newError(KSRefusedSharding, "SET STATEMENT of a value that the server takes as another one, for maintenance or EXPLAIN of a table with a rule: "+strings.TrimPrefix(set.Text, "SET "))
	}
	if se.client.txn.Pins&unseenVariables != 0 {
		if ok, err := se.learnValues(columns, list); !ok || err != nil {
			return nil, err
		}
	}
	given := map[string]string{}
	for k, a := range list {
		text, ok := state.ValueText(values[k])
		if !ok {
			return nil, newError(KSRefusedSharding, "SET STATEMENT of "+a.Name+" for a statement on a table with a rule: the value cannot be brought to several servers")
		}
		given[a.Name] = text
	}
	undo := giveVariables(&se.client.state, given)
	if len(warned) > 0 {
		se.client.state.Diagnostics.Forget()
		se.client.state.Diagnostics.WarningCount = len(warned)
		se.client.txn.LastOnHeld = false
	}
	se.client.task().warned = warned
	return func(failed bool) error {
		undo()
		se.client.task().warned = nil
		if err := se.tellsNoMore(failed); err != nil || len(warned) == 0 {
			return err
		}
		d := &se.client.state.Diagnostics
		d.Warnings = slices.Insert(d.Warnings, 0, warned...)
		if failed {
			d.WarningCount += len(warned)
		}
		return nil
	}, nil
}

// countWarned has an OK packet of the proxy's count the warnings of what SET STATEMENT has set for the statement, too: the values that a server took as others.
func (t *task) countWarned(ok *mysql.OKPacket, m sqltext.Mode) {
	if len(t.warned) > 0 {
		ok.Warnings += uint16(min(len(t.warned), int(65535-ok.Warnings)))
		if t.query.info.Class != sqltext.Update || !readsChanged(cmp.Or(t.query.source, t.query.text), m) {
			ok.Info = infoWarnings(ok.Info, ok.Warnings)
		}
	}
}

// readsChanged reports whether an UPDATE is of several tables to MariaDB, whose "Warnings: n" is about the rows alone then: it joins some, or reads the one that it
// changes in a subquery.
func readsChanged(text string, m sqltext.Mode) bool {
	st, err := sqlparse.Parse(text, m, func(string) bool { return false })
	if err != nil || st.Change == nil || st.Change.Multi || len(st.Tables) == 0 {
		return true
	}
	of := st.Tables[0]
	return slices.ContainsFunc(st.Tables[1:], func(t *sqlparse.Table) bool {
		return strings.EqualFold(t.Name, of.Name) && (t.DB == "" || of.DB == "" || t.DB == of.DB)
	})
}

// warns reports whether a server gives the warnings of variables that SET STATEMENT sets for a statement as the statement's own. Maintenance of tables has them
// among its rows.
func warns(c sqltext.Class) bool { return c != sqltext.Admin && c != sqltext.Explain }

// learnValues has the session know what the held connection has in variables, as it may have got that unseen. ok is false for values that cannot be brought
// to several servers.
func (se settings) learnValues(columns []string, list []sqltext.Assignment) (ok bool, err error) {
	ok = true
	err = se.leases.ask("SELECT "+strings.Join(columns, ", ")+" LIMIT 1", func(_ []mysql.ColumnDefinition41, cells []value.Cell) {
		for k, told := range valuesTold(cells) {
			text, plain := state.ValueText(told)
			if ok = ok && plain; plain {
				se.client.state.Set(list[k].Name, text)
			}
		}
	})
	return ok, err
}

// valuesTold copies the values of variables that a server has told, "NULL" for NULL.
func valuesTold(cells []value.Cell) []string {
	values := make([]string, len(cells))
	for k, cell := range cells {
		if values[k] = "NULL"; cell != nil {
			values[k] = string(cell)
		}
	}
	return values
}

// givenToAll reports whether a variable can be set on several connections, and have the value again that it had. By sql_mode the rest of the text has not
// been read.
func givenToAll(name string) bool {
	return name != "sql_mode" && name != "timestamp" && !privileged[name] && !state.PerStatement[name] && !strings.HasPrefix(name, "character_set_") && !strings.HasPrefix(name, "collation_")
}

// tellsNoMore has the session know what the last statement has left, as the held connection, which may have run it, is to be asked other things.
func (se settings) tellsNoMore(failed bool) error {
	if se.client.heldTells() && (failed || se.client.state.Diagnostics.WarningCount > 0) {
		p := se.client.txn.Held()
		if err := se.client.fetchWarnings(p, se.client.txn.LastNames()); err != nil {
			return se.leases.lost(p, err)
		}
	}
	se.client.txn.LastOnHeld = false
	se.client.txn.SetLastNames(nil)
	se.client.state.Found.Known(se.client.txn.Conn(), false)
	return nil
}
