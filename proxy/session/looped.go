package session

import (
	"runtime/debug"
	"syscall"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/fastlane"
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
func (s *Session) Ready(l *fastlane.Loop, c *fastlane.Conn) {
	defer s.caught(l)
	h := l.Ticker().(*shelves)
	s.client.spares = &h.spares
	s.client.conn.NoWait(&h.spares.buffers)
	if err := s.client.conn.ReadNow(); err == syscall.EAGAIN && s.client.conn.Buffered() == 0 {
		if s.client.shared.mover.Load() != nil {
			s.handOver(l, stepMove)
			return
		}
		l.Park(c, s)
		return
	} else if err != nil {
		s.handOver(l, stepServe) // which finds out what is wrong
		return
	}
	p := s.client.conn.Peek()
	if p == nil && s.client.conn.Full() && s.client.conn.ReadNow() == nil { // a long statement
		p = s.client.conn.Peek()
	}
	if len(p) == 0 {
		s.handOver(l, stepServe)
		return
	}
	switch mysql.Command(p[0]) {
	case mysql.ComPing:
		s.concluded(l, s.next())
		return
	case mysql.ComQuery, mysql.ComStmtExecute:
		if s.client.shared.Labels.On() {
			h.labelled = true
		}
		if s.free() && s.runsLooped(p) {
			s.seek(h)
			return
		}
	}
	s.handOver(l, stepServe)
}

// free reports whether nothing binds the session's next statement to more than the setting of a connection.
func (s *Session) free() bool {
	s.client.snap = s.client.shared.Snapshot.Load()
	return s.client.schemaCurrent() && s.client.txn.Free() && s.client.state.Autocommit && s.client.sink == nil && !s.client.account.Limited() && !s.client.shared.Draining.Load() &&
		!s.client.shared.Pause.on()
}

// runsLooped reports whether the loop runs the command: it is one exchange with a server, or a short one with each of a few shards, and
// nothing about it has to be waited for. On false nothing has changed but that it is known whether the statement is traced.
func (s *Session) runsLooped(p []byte) bool {
	s.client.more = false
	s.client.task().x, s.client.ahead().command, s.client.ahead().text, s.client.ahead().digested = exchange{}, mysql.Command(p[0]), "", false
	q := &s.client.task().query
	if !s.read(q, p) || !s.allowsLooped(q) {
		return false
	}
	if s.client.shared.Labels.On() {
		s.client.observed.Label(s.client.user, s.client.ahead().text, s.client.mode())
	}
	switch n, err := s.routing.decide(q); {
	case err != nil:
		return false // a goroutine tells the client
	case n == nextShards:
		return s.mergesLooped(q)
	case n == nextProcedure:
		return false
	}
	s.client.task().x.target = s.routing.route(q)
	return len(q.text) <= loopedText && !s.routing.betterElsewhere(q, s.client.task().x.target)
}

// read makes q the statement of a command; false if there are several, or it is for a goroutine to say what is wrong with it.
func (s *Session) read(q *query, p []byte) bool {
	if mysql.Command(p[0]) == mysql.ComStmtExecute {
		st, ok := s.stmts.get(p[1:])
		if !ok || st.long != nil || st.longErr != nil || st.cursor != nil || s.client.traceExecution(st, p[1:]) {
			return false
		}
		ex := &s.client.task().execution
		*ex = execution{}
		if s.stmts.decodeExecution(ex, st, p[1:]) != nil {
			return false
		}
		q.execute(st, ex)
		s.client.ahead().text = st.text
		s.client.recognize(st)
		return true
	}
	attributes, text, err := s.client.splitAttributes(p[1:])
	if err != nil || len(text) > loopedText {
		return false
	}
	if t := s.client.snap.Tracer; t != nil && observe.ChooseQuery(t, &s.client.task().choice, attributes, text) {
		return false // traced statements run on goroutines
	}
	info := s.client.classify(text)
	if info.Next < len(text) {
		return false
	}
	q.begin(text, &info)
	q.attributes, q.source = attributes, text
	s.client.ahead().text = text
	return true
}

// allowsLooped reports whether the client may send the statement, and the rules want nothing done with it.
func (s *Session) allowsLooped(q *query) bool {
	if q.st != nil {
		return s.rights.passesExecution(q.st) && s.rights.permitExecution(q.st) == nil
	}
	if s.client.snap.Blacklist != nil && s.client.snap.Blacklist.Match(q.text, s.client.mode()) {
		return false
	}
	return s.rights.permit(q.text, &q.info) == nil && s.rights.passes(q.text, &q.info)
}

// seek has the statement sent on a connection that the loop has or can have at once, or puts the session in line for one.
func (s *Session) seek(h *shelves) {
	if s.client.task().merging != nil {
		s.seekMerge(h)
		return
	}
	instance := s.client.task().x.target.Instance(0)
	if instance.State() == backend.Down || instance.Unlooped() || !s.effects.loopable(instance, s.client.task().query.text) {
		s.handOver(h.loop, stepServe)
		return
	}
	s.client.ahead().instance = instance
	setting := s.client.state.Setting()
	sh := h.shelf(shelfKey{instance, setting})
	if s.client.ahead().point = s.point(h, setting); s.client.ahead().point != nil {
		sh.gather(s)
		return
	}
	s.seekAlone(sh)
}

// seekAlone has the statement sent on a connection that it has for itself, or puts the session in line for one.
func (s *Session) seekAlone(sh *shelf) {
	l := sh.h.loop
	le, wait := sh.take(s)
	switch {
	case le == nil && !wait:
		s.handOver(l, stepServe)
		return
	case !s.commence(l):
		if le != nil {
			le.session = nil // a goroutine has it by now
			le.Put()
		}
		return
	}
	if wait {
		if s.client.ahead().since.IsZero() {
			s.client.ahead().since = time.Now()
			s.client.observed.Ask(s.client.ahead().since.Sub(s.client.entry.Since()))
			s.client.entry.Wants(sh.key.instance)
		}
		sh.stand(s)
		return
	}
	s.launch(le)
}

// commence notes for others that the session has a statement; false when somebody closed the session meanwhile.
func (s *Session) commence(l *fastlane.Loop) bool {
	if s.client.ahead().since.IsZero() { // else it was in line
		if !s.begin(s.client.ahead().command, s.client.ahead().text) {
			s.finishLoop(l, &endError{reason: process.EndKilled})
			return false
		}
		s.client.observed.Class = s.client.task().query.info.Class
	}
	return true
}

// outOfLine notes that the session does not wait for a connection any more.
func (s *Session) outOfLine() {
	if t := s.client.tasked; t != nil && !t.ahead.since.IsZero() {
		t.ahead.since = time.Time{}
		s.client.entry.Wants(nil)
	}
}

// lineOver tells whether the session cannot wait any longer for a connection to come back: its time is over, or somebody
// ended the wait.
func (s *Session) lineOver() bool {
	return s.client.entry.IsCancelled() || time.Since(s.client.ahead().since) >= s.client.snap.Config.PoolWaitTimeout.Duration()
}

// launch queues the statement on a connection of the loop, to be sent at the end of the round. The loop goes on when something of the
// response has come.
func (s *Session) launch(le *lease) {
	l := le.shelf.h.loop
	defer s.caught(l)
	le.shelf.h.relabel(&s.client.observed) // it may have waited for le
	s.client.ahead().lease = le
	x := &s.client.task().x
	x.p = le.p
	s.leases.passed = true
	if !s.preparedOn(le) || s.exchanges.lacksInsertID(le.p, &s.client.task().query) {
		s.outOfLine()
		le.Leave()
		s.client.ahead().offer = le.p
		s.handOver(l, stepServe)
		return
	}
	if max(s.client.conn.Buffered(), len(s.client.task().query.text)) >= largeText && !s.client.setRunning(le.p) { // some of it may leave at once
		le.Put()
		s.finishLoop(l, &endError{reason: process.EndKilled})
		return
	}
	s.outOfLine()
	s.client.conn.ResetSequence()
	if _, err := s.client.conn.ReadPacket(); err != nil { // it is there: Peek gave it
		s.lane.end = clientEnd(err)
		le.Leave()
		s.leases.drop(le.p)
		s.handOver(l, stepEnd)
		return
	}
	// What the loop took the statement for keeps it from sending anything else.
	_ = s.exchanges.start(x, &s.client.task().query)
	s.client.observed.CountLooped()
	s.rights.countRules(s.client.task().query.st)
	le.shelf.h.request(le)
}

// Ready takes what a backend has sent.
func (le *lease) Ready(l *fastlane.Loop, c *fastlane.Conn) {
	switch {
	case le.lost:
		return
	case len(le.queue) > 0:
		le.readyShared(l)
		return
	}
	s := le.session
	if s == nil {
		if err := le.p.Conn.ReadNow(); err == syscall.EAGAIN {
			l.Park(c, le)
			return
		}
		le.discard()
		return
	}
	if s.client.task().merging != nil {
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
func (s *Session) answer(l *fastlane.Loop, le *lease) {
	// A KILL holds the lock until the server has heard of it, for which a loop cannot wait.
	if _, ok := s.client.entry.TryTake(); !ok {
		le.Leave()
		s.handOver(l, stepFinish)
		return
	}
	s.deliver(l, le)
}

// deliver finishes a response that has come whole. What is queued for the client is sent at the end of the round.
func (s *Session) deliver(l *fastlane.Loop, le *lease) {
	le.shelf.h.relabel(&s.client.observed)
	_, again, err := s.exchanges.finish(&s.client.task().x, &s.client.task().query)
	switch {
	case len(le.queue) > 0 && le.queue[0] == s:
		s.client.ahead().lease = nil // who shares it sees to the connection
	case s.client.ahead().lease == le:
		le.Leave() // the session holds the connection from here on, or it was dropped
	}
	if again {
		s.handOver(l, stepRepeat)
		return
	}
	if end := s.settle(err); end != nil {
		s.concluded(l, s.conclude(s.client.ahead().command, end))
		return
	}
	le.shelf.h.answer(s)
}

// concluded has the session wait for its next command, or end.
func (s *Session) concluded(l *fastlane.Loop, end *endError) {
	if end != nil {
		s.finishLoop(l, end)
		return
	}
	if s.client.conn.Unsent() > 0 {
		s.handOver(l, stepServe)
		return
	}
	if s.client.shared.mover.Load() != nil {
		s.handOver(l, stepMove)
		return
	}
	if !l.ParkHome(s.lane.conn, s) {
		s.handOver(l, stepServe)
	}
}

// finishLoop has a goroutine end the session.
func (s *Session) finishLoop(l *fastlane.Loop, end *endError) {
	s.lane.end = end
	s.handOver(l, stepEnd)
}

// caught ends a handler: the session whose handler panicked ends, and no other.
func (s *Session) caught(l *fastlane.Loop) {
	r := recover()
	if h := l.Ticker().(*shelves); h.labelled {
		h.labelled = false
		observe.Unlabel()
	}
	if r == nil {
		return
	}
	s.client.shared.Log.Error("panic in a session", "conn", s.client.id, "panic", r, "stack", string(debug.Stack()))
	if t := s.client.tasked; t != nil {
		switch le := t.ahead.lease; {
		case le != nil && len(le.queue) > 0:
			t.ahead.lease = nil
			le.scatter(s)
		case le != nil:
			le.Leave()
			s.client.entry.TakeRunning()
			le.p.Taint()
		case t.merging != nil:
			t.merging.panicked(l)
			t.merging = nil
		}
	}
	s.finishLoop(l, &endError{reason: process.EndPanic})
}
