package session

import (
	"runtime/debug"
	"syscall"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/fastlane"
	"kingshard/proxy/faultpoint"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
	"kingshard/proxy/session/state"
)

// walk is how far a response has come.
type walk = mysql.Walk

// loopedText is the length in bytes of the longest statement that a loop takes: the time for longer ones would be missed by others.
const loopedText = 48 << 10

// Ready takes a command that has come while the session waited in a loop. It answers there what it can without waiting for
// anything but one backend's response; the rest goes to a goroutine.
func (la *laned) Ready(l *fastlane.Loop, c *fastlane.Conn) {
	defer la.caught(l)
	h := l.Ticker().(*loopState)
	la.client.scratch = &h.scratch
	la.client.conn.NoWait(&h.scratch.buffers)
	if err := la.client.conn.ReadNow(); err == syscall.EAGAIN && la.client.conn.Buffered() == 0 {
		if la.client.shared.mover.Load() != nil {
			la.handOver(l, stepMove)
			return
		}
		l.Park(c, la)
		return
	} else if err != nil {
		la.handOver(l, stepServe) // which finds out what is wrong
		return
	}
	p := la.client.conn.Peek()
	if p == nil && la.client.conn.Full() && la.client.conn.ReadNow() == nil { // a long statement
		p = la.client.conn.Peek()
	}
	if len(p) == 0 {
		la.handOver(l, stepServe)
		return
	}
	switch mysql.Command(p[0]) {
	case mysql.ComPing:
		la.concluded(l, la.Session.next())
		return
	case mysql.ComQuery, mysql.ComStmtExecute:
		if la.client.shared.Labels.On() {
			h.labelled = true
		}
		if la.free() && la.runsLooped(p) {
			la.seek(h)
			return
		}
	}
	la.handOver(l, stepServe)
}

// free reports whether nothing binds the session's next statement to more than the setting of a connection.
func (la *laned) free() bool {
	la.client.snap = la.client.shared.Snapshot.Load()
	return la.client.schemaCurrent() && la.client.txn.Free() && la.client.spread == nil && la.client.state.Autocommit && la.client.sink == nil && !la.client.account.Limited() && !la.client.shared.Draining.Load() &&
		!la.client.shared.Pause.on()
}

// runsLooped reports whether the loop runs the command: it is one exchange with a server, or a short one with each of a few shards, and
// nothing about it has to be waited for. On false nothing has changed but that it is known whether the statement is traced.
func (la *laned) runsLooped(p []byte) bool {
	la.client.more = false
	la.client.task().x, la.client.ahead().command, la.client.ahead().text, la.client.ahead().digested = exchange{}, mysql.Command(p[0]), "", false
	q := &la.client.task().query
	if !la.read(q, p) || !la.allowsLooped(q) {
		return false
	}
	if la.client.shared.Labels.On() {
		la.client.observed.Label(la.client.entry.Name(), la.client.ahead().text, la.client.mode())
	}
	return la.decidesLooped(q)
}

// decidesLooped reports whether the loop does what is decided about a statement.
func (la *laned) decidesLooped(q *query) bool {
	switch n, err := la.routing.decide(q); {
	case err != nil:
		return false // a goroutine tells the client
	case n == actionLookup:
		return la.looksLooped(q)
	case n == actionShards:
		return la.mergesLooped(q)
	case n == actionProcedure:
		return false
	}
	la.client.task().x.target = la.routing.route(q)
	return len(q.text) <= loopedText && !la.routing.betterElsewhere(q, la.client.task().x.target)
}

// read makes q the statement of a command; false if there are several, or it is for a goroutine to say what is wrong with it.
func (la *laned) read(q *query, p []byte) bool {
	if mysql.Command(p[0]) == mysql.ComStmtExecute {
		st, ok := la.stmts.get(p[1:])
		if !ok || st.long != nil || st.longErr != nil || st.cursor != nil || la.client.traceExecution(st, p[1:]) {
			return false
		}
		ex := &la.client.task().execution
		*ex = execution{}
		if la.stmts.decodeExecution(ex, st, p[1:]) != nil {
			return false
		}
		q.execute(st, ex)
		la.client.ahead().text = st.text
		la.client.recognize(st)
		return true
	}
	attributes, text, err := la.client.splitAttributes(p[1:])
	if err != nil || len(text) > loopedText {
		return false
	}
	if t := la.client.snap.Tracer; t != nil && observe.ChooseQuery(t, &la.client.task().choice, attributes, text) {
		return false // traced statements run on goroutines
	}
	info := la.client.classify(text)
	if info.Next < len(text) {
		return false
	}
	q.begin(text, &info)
	q.attributes, q.source = attributes, text
	la.client.ahead().text = text
	return true
}

// allowsLooped reports whether the client may send the statement, and the rules want nothing done with it.
func (la *laned) allowsLooped(q *query) bool {
	if q.st != nil {
		return la.rights.passesExecution(q.st) && la.rights.permitExecution(q.st) == nil
	}
	if la.client.snap.Blacklist != nil && la.client.snap.Blacklist.Match(q.text, la.client.mode()) {
		return false
	}
	return la.rights.permit(q.text, &q.info) == nil && la.rights.passes(q.text, &q.info)
}

// seek has the statement sent on a connection that the loop has or can have at once, or puts the session in line for one.
func (la *laned) seek(h *loopState) {
	switch {
	case la.client.task().looking.asks():
		la.seekLookup(h)
		return
	case la.client.task().merging != nil:
		la.seekMerge(h)
		return
	}
	target := la.client.task().x.target
	instance := target.Instance(0)
	if target.Asks || !backend.Has(instance, target.After) || instance.State() == backend.Down || fallsBack(target, instance) || instance.Unlooped() || !la.exchanges.effects.loopable(instance, la.client.task().query.text) {
		la.handOver(h.loop, stepServe)
		return
	}
	la.client.ahead().instance = instance
	setting := la.client.state.Setting()
	lp := h.poolOf(loopPoolKey{instance, setting})
	if la.client.ahead().point = la.point(h, setting); la.client.ahead().point != nil {
		lp.gather(la)
		return
	}
	la.seekAlone(lp)
}

// seekAlone has the statement sent on a connection that it has for itself, or puts the session in line for one.
func (la *laned) seekAlone(lp *loopPool) {
	l := lp.h.loop
	le, wait := lp.take(la)
	switch {
	case le == nil && !wait:
		la.handOver(l, stepServe)
		return
	case !la.beginLooped(l):
		if le != nil {
			le.laned = nil // a goroutine has it by now
			le.Put()
		}
		return
	}
	if wait {
		if la.client.ahead().since.IsZero() {
			la.client.ahead().since = time.Now()
			la.client.observed.Ask(la.client.ahead().since.Sub(la.client.entry.Since()))
			la.client.entry.Wants(lp.key.instance)
		}
		lp.stand(la)
		return
	}
	la.launch(le)
}

// beginLooped notes for others that the session has a statement; false when somebody closed the session meanwhile.
func (la *laned) beginLooped(l *fastlane.Loop) bool {
	if !la.client.ahead().begun { // else it was in line, or an index was asked
		if !la.client.begin(la.client.ahead().command, la.client.ahead().text) {
			la.finishLoop(l, &endError{reason: process.EndKilled})
			return false
		}
		la.client.ahead().begun = true
		la.client.observed.Class = la.client.task().query.info.Class
	}
	return true
}

// lineOver tells whether the session cannot wait any longer for a connection to come back: its time is over, or somebody
// ended the wait.
func (la *laned) lineOver() bool {
	return la.client.entry.IsCancelled() || time.Since(la.client.ahead().since) >= la.client.snap.Config.PoolWaitTimeout.Duration()
}

// launch queues the statement on a connection of the loop, to be sent at the end of the round. The loop goes on when something of the
// response has come.
func (la *laned) launch(le *loopConn) {
	l := le.pool.h.loop
	defer la.caught(l)
	le.pool.h.relabel(&la.client.observed) // it may have waited for le
	la.client.ahead().lease = le
	x := &la.client.task().x
	x.p = le.p
	la.client.passed = true
	if !heard(&la.client.shared.Indexes, la.client.task().query.watched) || !la.preparedOn(le) || la.exchanges.lacksInsertID(le.p, &la.client.task().query) {
		la.client.outOfLine()
		le.Leave()
		la.client.ahead().offer = le.p
		la.handOver(l, stepServe)
		return
	}
	if max(la.client.conn.Buffered(), len(la.client.task().query.text)) >= largeText && !la.client.setRunning(le.p) { // some of it may leave at once
		le.Put()
		la.finishLoop(l, &endError{reason: process.EndKilled})
		return
	}
	la.client.outOfLine()
	la.client.conn.ResetSequence()
	if _, err := la.client.conn.ReadPacket(); err != nil { // it is there: Peek gave it
		la.end = clientEnd(err)
		le.Leave()
		la.exchanges.leases.drop(le.p)
		la.handOver(l, stepEnd)
		return
	}
	faultpoint.Reach(faultpoint.BeforeSend)
	// What the loop took the statement for keeps it from sending anything else.
	_ = la.exchanges.start(x, &la.client.task().query)
	la.client.observed.CountLooped()
	la.rights.countRules(la.client.task().query.st)
	le.pool.h.request(le)
}

// Ready takes what a backend has sent.
func (le *loopConn) Ready(l *fastlane.Loop, c *fastlane.Conn) {
	switch {
	case le.lost:
		return
	case len(le.queue) > 0:
		le.readyShared(l)
		return
	}
	s := le.laned
	if s == nil {
		if err := le.p.Conn.ReadNow(); err == syscall.EAGAIN {
			l.Park(c, le)
			return
		}
		le.discard()
		return
	}
	switch {
	case s.client.task().looking.asks():
		s.readyLookup(l, c, le)
		return
	case s.client.task().merging != nil:
		s.readyMerge(l, c, le)
		return
	}
	defer s.caught(l)
	switch err := le.p.Conn.ReadNow(); {
	case err == syscall.EAGAIN:
		l.Park(c, le)
		return
	case err != nil:
		le.Leave()
		s.handOver(l, stepFinish)
		return
	}
	switch le.walk.Arrived(le.p.Conn.Unread(), le.p.Conn.Capabilities) {
	case mysql.ArrivedPart:
		l.Park(c, le)
	case mysql.ArrivedPlain:
		if id := mysql.ArrivedInsertID(le.p.Conn.Unread()); id == 0 || !state.InsertsRows(s.client.task().query.info.Class) || !s.exchanges.mayGiveID(&s.client.task().query, id) {
			s.answer(l, le)
			return
		}
		// The connection is to be asked what it made of that.
		fallthrough
	default:
		le.Leave()
		s.handOver(l, stepFinish)
	}
}

// answer takes a response that has come whole to the client.
func (la *laned) answer(l *fastlane.Loop, le *loopConn) {
	// A KILL holds the lock until the server has heard of it, for which a loop cannot wait.
	if _, ok := la.client.entry.TryTake(); !ok {
		le.Leave()
		la.handOver(l, stepFinish)
		return
	}
	la.deliver(l, le)
}

// deliver finishes a response that has come whole. What is queued for the client is sent at the end of the round.
func (la *laned) deliver(l *fastlane.Loop, le *loopConn) {
	le.pool.h.relabel(&la.client.observed)
	_, again, err := la.exchanges.finish(&la.client.task().x, &la.client.task().query)
	switch {
	case len(le.queue) > 0 && le.queue[0] == la:
		la.client.ahead().lease = nil // who shares it sees to the connection
	case la.client.ahead().lease == le:
		le.Leave() // the session holds the connection from here on, or it was dropped
	}
	if ids := la.client.task().query.ids; again || ids != nil && ids.collided {
		la.handOver(l, stepRepeat)
		return
	}
	if end := la.client.settle(err); end != nil {
		la.concluded(l, la.client.conclude(la.client.ahead().command, end))
		return
	}
	le.pool.h.answer(la)
}

// concluded has the session wait for its next command, or end.
func (la *laned) concluded(l *fastlane.Loop, end *endError) {
	if end != nil {
		la.finishLoop(l, end)
		return
	}
	if la.client.conn.Unsent() > 0 {
		la.handOver(l, stepServe)
		return
	}
	if la.client.shared.mover.Load() != nil {
		la.handOver(l, stepMove)
		return
	}
	if !l.ParkHome(la.conn, la) {
		la.handOver(l, stepServe)
	}
}

// finishLoop has a goroutine end the session.
func (la *laned) finishLoop(l *fastlane.Loop, end *endError) {
	la.end = end
	la.handOver(l, stepEnd)
}

// caught ends a handler: the session whose handler panicked ends, and no other.
func (la *laned) caught(l *fastlane.Loop) {
	r := recover()
	if h := l.Ticker().(*loopState); h.labelled {
		h.labelled = false
		observe.Unlabel()
	}
	if r == nil {
		return
	}
	la.client.shared.Log.Error("panic in a session", "conn", la.client.id, "panic", r, "stack", string(debug.Stack()))
	if t := la.client.tasked; t != nil {
		switch le := t.ahead.lease; {
		case le != nil && len(le.queue) > 0:
			t.ahead.lease = nil
			le.scatter(la)
		case le != nil:
			le.Leave()
			la.client.entry.TakeRunning()
			le.p.Taint()
		case t.merging != nil:
			t.merging.panicked(l)
			t.merging = nil
		}
	}
	la.finishLoop(l, &endError{reason: process.EndPanic})
}
