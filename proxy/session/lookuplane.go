package session

import (
	"syscall"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/fastlane"
	"kingshard/router/plan"
)

// looking is an index's part in a query: a loop asks it first where the query's rows are.
type looking struct {
	plan  *plan.Plan // the query's, nil where no index is asked
	query plan.Query
	// placed says that the query is placed by what the index said.
	placed bool
	// p is the connection on which the answer is still to come for a goroutine; zero where the question is to be asked anew.
	p backend.Pooled
}

// asks reports whether the index is to answer first.
func (k *looking) asks() bool { return k.plan != nil && !k.placed }

// looksLooped reports whether a loop asks the index of a query where its rows are: one question to one server.
func (la *laned) looksLooped(q *query) bool {
	queries, ok := q.plan.Lookup().Queries(&la.client.lookup().execution)
	if !ok || len(queries) != 1 || len(queries[0].Text) >= largeText {
		return false
	}
	la.client.task().looking = looking{plan: q.plan, query: queries[0]}
	return true
}

// seekLookup has the question sent on a connection that the loop has or can have at once.
func (la *laned) seekLookup(h *loopState) {
	query := &la.client.task().looking.query
	i := la.client.schema.Nodes[query.Node].Primary
	if i.State() == backend.Down || i.Unlooped() || i.Waiters() > 0 || !la.exchanges.effects.loopable(i, query.Text) {
		la.handOver(h.loop, stepServe)
		return
	}
	lp := h.poolOf(loopPoolKey{i, la.client.state.Setting()})
	if len(lp.line) > 0 {
		la.handOver(h.loop, stepServe)
		return
	}
	le, _ := lp.lend()
	if le == nil {
		la.handOver(h.loop, stepServe)
		return
	}
	le.laned = la
	if !la.beginLooped(h.loop) {
		le.laned = nil // a goroutine has it by now
		le.Put()
		return
	}
	defer la.caught(h.loop)
	la.client.ahead().lease = le
	h.relabel(&la.client.observed)
	le.p.Conn.Command(mysql.ComQuery, query.Text)
	h.request(le)
}

// readyLookup takes what the index's server has sent.
func (la *laned) readyLookup(l *fastlane.Loop, c *fastlane.Conn, le *loopConn) {
	defer la.caught(l)
	switch err := le.p.Conn.ReadNow(); {
	case err == syscall.EAGAIN:
		l.Park(c, le)
		return
	case err != nil:
		la.leaveLookup(le)
		return
	}
	switch le.walk.Arrived(le.p.Conn.Unread(), le.p.Conn.Capabilities) {
	case mysql.ArrivedPart:
		l.Park(c, le)
	case mysql.ArrivedPlain, mysql.ArrivedAside:
		la.lookedUp(le)
	default:
		la.leaveLookup(le)
	}
}

// lookedUp places the query by an answer that has come whole, and has it sent.
func (la *laned) lookedUp(le *loopConn) {
	h := le.pool.h
	h.relabel(&la.client.observed)
	// A KILL holds the lock until the server has heard of it, for which a loop cannot wait.
	if killed, ok := la.client.entry.TryTake(); killed || !ok {
		la.leaveLookup(le)
		return
	}
	k := &la.client.task().looking
	if err := la.leases.placeBy(k.plan.Lookup(), le.p); err != nil {
		le.Leave()
		le.p.Taint()
		la.handOver(h.loop, stepLookup)
		return
	}
	k.placed = true
	le.Put()
	if q := &la.client.task().query; la.decidesLooped(q) {
		la.seek(h)
	} else {
		la.handOver(h.loop, stepLookup)
	}
}

// leaveLookup has a goroutine wait for the answer.
func (la *laned) leaveLookup(le *loopConn) {
	la.client.task().looking.p = le.p
	le.Leave()
	la.handOver(le.pool.h.loop, stepLookup)
}

// finishLookup ends a query whose index the loop has asked, or was about to ask.
func (la *laned) finishLookup() *endError {
	la.client.observed.Relabel()
	la.client.conn.ResetSequence()
	if _, err := la.client.conn.ReadPacket(); err != nil { // it is there: Peek gave it
		return clientEnd(err)
	}
	q, k := &la.client.task().query, &la.client.task().looking
	la.client.passed = true
	la.rights.countRules(q.st)
	var err error
	if !k.placed && k.p.Pooled != nil {
		err = la.leases.placeBy(k.plan.Lookup(), k.p)
		if killed := la.client.entry.TakeRunning(); killed || err != nil {
			k.p.Taint()
		} else {
			k.placed = true
			k.p.Put()
		}
	}
	if la.client.entry.IsCancelled() {
		err = interrupted()
	} else {
		_, err = la.run(q) // which asks the index anew if that has not answered
	}
	return la.client.conclude(la.client.ahead().command, la.client.settle(err))
}
