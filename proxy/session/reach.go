package session

import (
	"slices"

	"strings"

	"kingshard/backend"
	"kingshard/backend/stored"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/txn"
)

// A statement may reach triggers, stored functions and views, which leave behind in the session what the text does not show. What each
// server has of them is known (backend/stored): a statement that reaches one with effects keeps its connection for the session.

// effects tells what a client's statements may reach on a server.
type effects struct{ client *client }

// reach notes in q what the statement may reach on the connection that it is about to run on; db is the current database there.
func (ef *effects) reach(p backend.Pooled, q *query, db string) {
	q.reached = 0
	if q.stopsClock() || q.info.Class == sqltext.DDL && q.info.Has(sqltext.Body) && schedulesByExpression(q.text, ef.client.mode()) {
		p.Conn.Marked = true
	}
	o := p.Instance.Stored()
	if reachesNone(o, &q.info, db) {
		return
	}
	e := ef.reachable(o, q.text, &q.info, db)
	if q.within != nil {
		for k := range q.within.Inner {
			if in := &q.within.Inner[k]; !in.Later && !reachesNone(o, &in.Info, db) {
				e |= ef.reachable(o, in.Text, &in.Info, db)
			}
		}
	}
	if e&(stored.UserVariables|stored.State) != 0 {
		p.Conn.Marked = true
	}
	if o != nil || q.carriesOut() { // else nobody knows yet: for so short a while it is enough that the connection is cleaned up
		q.reached = e
	}
}

// stopsClock reports whether the clock of a connection may stand still behind the statement, also if it is only prepared or fails.
func (q *query) stopsClock() bool {
	return q.info.Has(sqltext.HintClock) || q.within != nil && slices.ContainsFunc(q.within.Inner, func(in sqltext.Inner) bool { return in.Info.Has(sqltext.HintClock) })
}

// readsToDefine reports whether DDL may read rows or compute values: CREATE TABLE ... AS of a query, a default that is filled in.
func readsToDefine(text string, m sqltext.Mode) bool {
	tables := 0
	l := sqltext.NewLexer(text, m)
	for t := l.Next(); t.Kind != sqltext.KindEOF; t = l.Next() {
		switch strings.ToLower(text[t.Pos:t.End]) {
		case "select", "values", "nextval", "next", "lastval", "previous", ":=":
			return true
		case "table":
			if tables++; tables > 1 {
				return true // CREATE TABLE x AS TABLE y
			}
		}
	}
	return false
}

// schedulesByExpression reports whether a definition is that of an event whose schedule is computed now, by more than numbers.
func schedulesByExpression(text string, m sqltext.Mode) bool {
	event := false
	l := sqltext.NewLexer(text, m)
	for t := l.Next(); t.Kind != sqltext.KindEOF; t = l.Next() {
		switch word := strings.ToLower(text[t.Pos:t.End]); {
		case word == "event":
			event = true
		case !event && (word == "procedure" || word == "function" || word == "trigger" || word == "package"), word == "do":
			return false
		case event && (word == "(" || t.Kind == sqltext.KindUserVar):
			return true
		}
	}
	return false
}

// reachesNone reports whether a statement reaches nothing with effects, whatever its text is.
func reachesNone(o *stored.Objects, info *sqltext.Info, db string) bool {
	switch {
	case info.Has(sqltext.EffectFunction):
		return false
	case plainClass(info.Class) && !info.Has(sqltext.SystemSchema|sqltext.Doubt) && !sqltext.IsSystemSchema(db):
		return o.PlainOutside()
	}
	return o.Plain()
}

// reachable is what a statement may reach on a server.
func (ef *effects) reachable(o *stored.Objects, text string, info *sqltext.Info, db string) stored.Effects {
	class := info.Class
	if class == sqltext.SetStatement || class == sqltext.Explain && info.Has(sqltext.Analyze) {
		class = info.Target
	}
	writes := false
	switch class {
	case sqltext.Select, sqltext.With, sqltext.Table, sqltext.Values, sqltext.Show, sqltext.Describe, sqltext.Explain, sqltext.Do, sqltext.Set:
	case sqltext.Insert, sqltext.Replace, sqltext.Update, sqltext.Delete, sqltext.LoadData, sqltext.LoadDataLocal, sqltext.Call, sqltext.Other,
		sqltext.CreateTemporary, sqltext.CompoundBegin, sqltext.Execute, sqltext.Prepare:
		writes = true
	case sqltext.DDL:
		if !info.Has(sqltext.EffectFunction) && !readsToDefine(text, ef.client.mode()) {
			return 0
		}
		writes = true
	default:
		return 0
	}
	var e stored.Effects
	if class != sqltext.Set && class != sqltext.Show && class != sqltext.Describe || info.Has(sqltext.EffectFunction) || sqltext.Mentions(text, "select") || o != nil {
		e = o.Reach(text, db, ef.client.mode(), writes)
	}
	if info.Has(sqltext.EffectFunction) {
		e |= stored.Called(text, ef.client.mode())
	}
	return e
}

// leaves are the traits of statements that leave something behind on their connection.
const leaves = sqltext.UserVarWrite | sqltext.GetLock | sqltext.LastInsertIDSet | sqltext.SetsState | sqltext.HintClock | sqltext.Doubt

// reachOn marks a connection where a statement that is to be sent as one of several, or by the proxy itself, may leave something behind.
func (ef *effects) reachOn(l *txn.Lease, text string) {
	o, info := l.Instance.Stored(), &ef.client.task().query.info
	if info.Has(leaves) {
		l.Conn.Marked = true // it is not pinned: what it leaves is on some node only
	}
	if reachesNone(o, info, l.Key.Database()) {
		return
	}
	e := ef.reachable(o, text, info, l.Key.Database())
	if e&(stored.UserVariables|stored.State) == 0 {
		return
	}
	l.Conn.Marked = true
	if ef.client.txn.Holds(l.Pooled) && o != nil {
		ef.pinReached(e)
	}
}

// pinReached keeps the connection for what a statement has reached.
func (ef *effects) pinReached(e stored.Effects) {
	if e&stored.UserVariables != 0 {
		ef.client.txn.Pin(txn.PinUserVariable)
	}
	if e&stored.State != 0 {
		ef.client.txn.Pin(txn.PinStored)
	}
}

// effectless reports whether a statement reaches nothing with effects on any server of a node.
func (ef *effects) effectless(n *backend.Node, q *query) bool {
	if !ef.effectlessOn(n.Primary, q) {
		return false
	}
	for _, i := range n.Replicas { // Instances allocates, and this is on the way of every read
		if !ef.effectlessOn(i, q) {
			return false
		}
	}
	return true
}

// effectlessOn reports whether a statement reaches nothing with effects on an instance, as far as is known.
func (ef *effects) effectlessOn(i *backend.Instance, q *query) bool {
	o := i.Stored()
	return o == nil || reachesNone(o, &q.info, ef.client.state.DB()) || ef.reachable(o, q.text, &q.info, ef.client.state.DB()) == 0
}

// loopable reports whether a statement reaches nothing on an instance, so that it may run in a loop.
func (ef *effects) loopable(i *backend.Instance, text string) bool {
	o, info, db := i.Stored(), &ef.client.task().query.info, ef.client.state.DB()
	if st := ef.client.task().query.st; st != nil {
		db = st.setting.Database()
	}
	return reachesNone(o, info, db) || ef.reachable(o, text, info, db) == 0
}

// definesStored reports whether a statement may make, change or move stored objects.
func definesStored(info *sqltext.Info, text string) bool {
	if info.Class != sqltext.DDL {
		return false
	}
	for _, word := range [...]string{"trigger", "view", "function", "procedure", "package", "rename", "nextval", "next value", "sequence"} {
		if sqltext.Mentions(text, word) {
			return true
		}
	}
	return false
}

// defining notes for the instances of a node that q may change their stored objects, or, after it has run, has them asked for these.
func (ef *effects) defining(p backend.Pooled, q *query, done bool) {
	n := ef.client.snap.Nodes[p.Instance.Node]
	if n == nil || !definesStored(&q.info, q.text) {
		return
	}
	for _, i := range n.Instances() {
		if done {
			i.StoredChanged(q.text)
		} else {
			i.AmendStored(strings.Clone(q.text), p.Key.Database(), ef.client.mode())
		}
	}
}
