package session

import (
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"kingshard/mysql"
	"kingshard/proxy/fastlane"
	"kingshard/proxy/faultpoint"
	"kingshard/proxy/process"
)

// Pipelined sharing: short reads of several sessions go out back to back on one connection and are answered in order, so that
// one write and few reads of it serve them all. What a statement may wait for is the ones ahead of it: each is sure to be
// short (pointread.go), there are few, and after pipelineMax those behind are asked again, each alone.
const (
	// pipelineDepth is how many statements are under way on one connection at most.
	pipelineDepth = 8
	// pipelineMax is how long the first of them may take before the others do not wait for it any longer.
	pipelineMax = 50 * time.Millisecond
)

// pipeline is what a connection needs that sessions share.
type pipeline struct {
	since   time.Duration // since when the first of the queue is waited for, as of loopState.now
	given   bool          // the session whose response was finished left the connection in order
	exposed bool          // the first was late: it is alone now, and a KILL of it is told to the server
	lost    bool          // the connection is closed
}

// gather has the session's statement leave at the end of the round, with those of others.
func (lp *loopPool) gather(la *laned) {
	if len(lp.gathered) == 0 {
		lp.h.leaving = append(lp.h.leaving, lp)
		lp.h.loop.AtRoundEnd()
	}
	lp.gathered = append(lp.gathered, la)
}

// sendAllGathered sends the statements that were gathered.
func (h *loopState) sendAllGathered() {
	for k, lp := range h.leaving {
		h.leaving[k] = nil
		lp.sendGathered()
	}
	h.leaving = h.leaving[:0]
}

// sendGathered spreads the gathered statements evenly over as few connections as hold them. Those that find no room stand in line.
func (lp *loopPool) sendGathered() {
	list := lp.gathered
	for len(list) > 0 && len(lp.line) == 0 {
		le := lp.withRoom()
		if le == nil {
			break
		}
		connections := (len(list) + pipelineDepth - 1) / pipelineDepth
		n := min((len(list)+connections-1)/connections, pipelineDepth-len(le.queue))
		list = list[le.share(list[:n]):]
	}
	for _, s := range list {
		s.seekAlone(lp)
	}
	clear(lp.gathered)
	lp.gathered = lp.gathered[:0]
}

// withRoom gives a connection for further statements: one that has none if possible, else the one that has the fewest.
func (lp *loopPool) withRoom() *loopConn {
	le, _ := lp.lend()
	if le != nil || lp.key.instance.Waiters() > 0 {
		return le
	}
	for _, other := range lp.shared {
		if other.room() > 0 && (le == nil || other.room() > le.room()) {
			le = other
		}
	}
	return le
}

// room is how many statements the connection can take. One that goes back to its pool soon takes no more.
func (le *loopConn) room() int {
	if le.exposed || le.pool.h.now-le.began >= leaseMax {
		return 0
	}
	return pipelineDepth - len(le.queue)
}

// fill has a session that has waited use the connection, and others of the line as far as there is room. first is nil where sessions share it
// already.
func (le *loopConn) fill(first *laned) {
	lp := le.pool
	var list [pipelineDepth]*laned
	n := 0
	if first != nil {
		list[n] = first
		n++
	}
	for n < le.room() && len(lp.line) > 0 && lp.line[0].client.ahead().point != nil && lp.line[0].preparedOn(le) && lp.line[0].client.task().place.Share() {
		list[n] = lp.leave(lp.line[0])
		n++
	}
	if n == 0 {
		return // the first has to be prepared, for which the connection is to be its own, or has been answered
	}
	for _, s := range list[le.share(list[:n]):n] {
		s.seekAlone(lp)
	}
}

// share sends the statements of sessions on a connection, which has room for them, and tells how many of the sessions it took
// care of.
func (le *loopConn) share(list []*laned) (taken int) {
	idle := len(le.queue) == 0
	for _, s := range list {
		taken++
		switch {
		case !s.beginLooped(le.pool.h.loop):
		case s.preparedOn(le):
			s.sendShared(le)
			if le.lost {
				return taken
			}
		case len(le.queue) == 0:
			// It has to be prepared first, for which the connection is its own.
			le.laned = s
			s.launch(le)
			return taken
		default:
			s.seekAlone(le.pool)
		}
	}
	switch {
	case len(le.queue) == 0:
		le.Put()
		return taken
	case idle:
		le.since = le.pool.h.now
		le.pool.shared = append(le.pool.shared, le)
	}
	if err := le.p.Conn.Flush(); err != nil || le.p.Conn.Unsent() > 0 {
		le.scatter(nil)
	} else if idle {
		le.pool.h.loop.Park(le.conn, le)
	}
	return taken
}

// preparedOn tells whether the statement can be sent on a connection at once.
func (la *laned) preparedOn(le *loopConn) bool {
	x, q := &la.client.task().x, &la.client.task().query
	if q.st == nil {
		return true
	}
	x.bs = la.exchanges.preparedStmt(le.p, q.text, q.st, q.ex)
	return x.bs != nil && x.bs.Mixed == nil // which pins, as only a goroutine does
}

// sendShared queues the statement on a connection behind those of others. A KILL before it is late finds it too short to be told.
func (la *laned) sendShared(le *loopConn) {
	la.client.ahead().lease = le
	le.queue = append(le.queue, la)
	defer la.caught(le.pool.h.loop)
	le.pool.h.relabel(&la.client.observed)
	la.client.passed = true
	la.client.outOfLine()
	la.client.observed.Exchange(le.p.Instance, la.client.entry.Since())
	la.client.conn.ResetSequence()
	_, _ = la.client.conn.ReadPacket() // it is there: Peek gave it
	x := &la.client.task().x
	x.p = le.p
	faultpoint.Reach(faultpoint.BeforeSend)
	// What the loop took the statement for keeps it from sending anything else.
	_ = la.exchanges.start(x, &la.client.task().query)
	la.client.observed.CountLooped()
	la.client.observed.CountShared()
	la.rights.countRules(la.client.task().query.st)
}

// readyShared takes what a backend has sent on a connection that sessions share.
func (le *loopConn) readyShared(l *fastlane.Loop) {
	defer le.caught()
	switch err := le.p.Conn.ReadNow(); {
	case err == syscall.EAGAIN:
		l.Park(le.conn, le)
		return
	case err == syscall.ENOBUFS:
		le.tooLong(l)
		return
	case err != nil:
		le.scatter(nil)
		return
	}
	for len(le.queue) > 0 {
		s := le.queue[0]
		switch arrival := le.walk.First(le.p.Conn.Unread(), le.p.Conn.Capabilities); {
		case arrival == mysql.ArrivedPart:
			le.await(l)
			return
		case arrival == mysql.ArrivedOther:
			s.lateOn(le)
			le.scatter(nil)
			return
		case s == nil:
			le.p.Conn.Skip(le.walk.Len())
		case le.exposed && !s.client.entry.TryCover():
			s.client.ahead().lease = nil
			s.handOver(l, stepAlone) // where it hears of the KILL
			le.scatter(s)
			return
		case arrival == mysql.ArrivedAside:
			// Errors and warnings are the ordinary code's, which needs the connection for itself.
			le.p.Conn.Skip(le.walk.Len())
			s.lateOn(le)
			s.client.ahead().lease = nil
			s.handOver(l, stepAlone)
		default:
			if !le.exposed {
				s.client.ahead().point.fine++
			}
			s.answerShared(l, le)
			if !le.given {
				le.scatter(s)
				return
			}
		}
		le.queue[0] = nil
		le.queue = le.queue[1:]
		le.walk, le.since = walk{}, le.pool.h.now
	}
	le.unshare()
	if le.p.Conn.Buffered() > 0 {
		le.pool.out--
		le.p.Taint() // nobody knows what it is
		return
	}
	le.Put()
}

// tooLong deals with a response that is longer than what a loop waits for.
func (le *loopConn) tooLong(l *fastlane.Loop) {
	s := le.queue[0]
	if s == nil || s.client.ahead().point == nil {
		le.scatter(nil)
		return
	}
	s.client.ahead().point.alwaysAlone(le.pool.h.now)
	s.client.observed.Counters.Late.Add(1)
	if len(le.queue) > 1 || le.exposed {
		le.scatter(nil)
		return
	}
	le.unshare()
	le.laned = s
	le.p.Conn.ExpectResponse()
	le.Leave()
	if !s.client.setRunning(le.p) {
		le.p.Taint()
		s.finishLoop(l, &endError{reason: process.EndKilled})
		return
	}
	s.handOver(l, stepFinish)
}

// caught ends the use of a connection in whose handling a fault was. Its sessions ask again, each alone.
func (le *loopConn) caught() {
	r := recover()
	if r == nil {
		return
	}
	for _, s := range le.queue {
		if s != nil {
			s.client.shared.Log.Error("panic over a shared connection", "panic", r, "stack", string(debug.Stack()))
			break
		}
	}
	le.scatter(nil)
}

// sharing gives the connection that the session shares with others; nil if it does not.
func (ls *leases) sharing() *loopConn {
	if t := ls.client.tasked; t != nil && t.ahead.lease != nil && len(t.ahead.lease.queue) > 0 {
		return t.ahead.lease
	}
	return nil
}

// await has the connection wait for the next response. Half empty, it takes more from the line.
func (le *loopConn) await(l *fastlane.Loop) {
	le.p.Conn.Release()
	l.Park(le.conn, le)
	if lp := le.pool; len(lp.line) > 0 && lp.line[0].client.ahead().point != nil && le.room() >= pipelineDepth/2 && lp.key.instance.Waiters() <= len(lp.line) {
		le.fill(nil)
	}
}

// answerShared takes the first response, which has come whole, to its client. le.given tells whether the connection is in order.
func (la *laned) answerShared(l *fastlane.Loop, le *loopConn) {
	defer la.caught(l)
	le.given = false
	behind := le.p.Conn.Buffered() - le.walk.Len()
	le.p.Conn.ExpectResponse()
	la.deliver(l, le)
	if le.given {
		le.p.Conn.Skip(le.p.Conn.Buffered() - behind) // what a client that is gone did not take
	}
}

// scatter closes a connection that cannot be gone on with. Its sessions ask again, each alone; but for one, which has been
// taken care of.
func (le *loopConn) scatter(but *laned) {
	if le.lost {
		return
	}
	le.lost = true
	list, l := le.queue, le.pool.h.loop
	le.unshare()
	le.pool.out--
	l.Unpark(le.conn)
	le.p.Conn.MayWait()
	for _, s := range list {
		if s != nil && s != but {
			s.client.ahead().lease = nil
			s.handOver(l, stepAlone)
		}
	}
	le.p.Taint()
}

// unshare ends the sharing of a connection.
func (le *loopConn) unshare() {
	le.queue, le.exposed = nil, false
	list := le.pool.shared
	for k, other := range list {
		if other == le {
			list[k] = list[len(list)-1]
			list[len(list)-1] = nil
			le.pool.shared = list[:len(list)-1]
			return
		}
	}
}

// sweepShared has those ask again, each alone, who wait behind a statement that takes long.
func (lp *loopPool) sweepShared() {
	for _, le := range slices.Clone(lp.shared) { // which scatter changes
		if lp.h.now-le.since <= pipelineMax {
			continue
		}
		first := le.queue[0]
		switch {
		case le.exposed && first != nil:
			continue
		case first == nil: // nobody waits for it any more
			le.cut()
			continue
		}
		first.lateOn(le)
		if !first.client.setRunning(le.p) {
			le.cut() // a KILL that came before has closed the session
			continue
		}
		le.exposed = true
		for k, s := range le.queue[1:] {
			if le.queue[1+k] = nil; s != nil {
				s.client.ahead().lease = nil
				s.handOver(lp.h.loop, stepAlone)
			}
		}
		lp.h.lanes.running.Go(first.client.entry.InterruptAgain) // of a KILL that came before
	}
}

// cut ends all that waits on a connection on which the server is busy: it is told to stop.
func (le *loopConn) cut() {
	p := le.p.Instance
	conn := le.p.Conn
	le.scatter(nil)
	le.pool.h.lanes.running.Go(func() { _ = p.Kill(conn, true, time.Now().Add(process.KillTimeout)) })
}

// lateOn notes that the session's statement was not what it was taken for.
func (la *laned) lateOn(le *loopConn) {
	if la != nil && la.client.ahead().point != nil {
		la.client.ahead().point.failed(le.pool.h.now)
		la.client.observed.Counters.Late.Add(1)
	}
}
