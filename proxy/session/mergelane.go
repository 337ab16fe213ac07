package session

import (
	"syscall"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/value"
	"kingshard/proxy/fastlane"
	"kingshard/proxy/faultpoint"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

const (
	// loopedShards is how many shards a loop asks for one statement at most.
	loopedShards = 16
	// loopedMerge is how many bytes of answers a loop merges for one statement: the time for more would be missed by others.
	loopedMerge = 64 << 10
)

// mergesLooped reports whether a loop runs a query on several shards: those that are asked one thing each, and whose answers are merged. It
// goes to goroutines where anything about it is out of the common run.
func (la *laned) mergesLooped(q *query) bool {
	p, r := q.plan, q.route
	if la.leases.branches().readsAtomic() {
		return false
	}
	if _, merges := r.Operator.(*plan.Merge); !merges || q.st != nil || p.CalcFoundRows() || len(r.Queries) > loopedShards || q.attributes != nil {
		return false
	}
	for k := range r.Queries {
		if query := &r.Queries[k]; query.Describe != "" || len(query.Text) >= largeText {
			return false
		}
	}
	qs := &la.exchanges.several().queries
	m := qs.newMerging(q, p, r, qs.mergeLimit(p, r), make([]txn.Lease, 0, len(r.Queries)))
	m.laned, m.of = la, p
	la.client.task().merging = m
	return true
}

// seekMerge has the queries sent on connections that the loop has or can have at once. A goroutine waits for them where it has not.
func (la *laned) seekMerge(h *loopState) {
	m := la.client.task().merging
	if !m.lend(h, la.client.state.Setting()) {
		m.putBack()
		la.client.task().merging = nil
		la.handOver(h.loop, stepServe)
		return
	}
	if !la.beginLooped(h.loop) {
		m.putBack() // a goroutine has the session by now
		return
	}
	la.launchMerge(h)
}

// lend gets a connection to each shard; false if there is one that the loop has no connection to and cannot get one at once, or others
// wait for one.
func (m *merging) lend(h *loopState, setting *backend.Setting) bool {
	nodes := m.laned.client.schema.Nodes
	for k := range m.route.Queries {
		if i := nodes[m.route.Queries[k].Node].Primary; i.State() == backend.Down || i.Unlooped() || i.Waiters() > 0 || !m.laned.exchanges.effects.loopable(i, m.route.Queries[k].Text) {
			return false
		}
	}
	for k := range m.route.Queries {
		node := nodes[m.route.Queries[k].Node]
		lp := h.poolOf(loopPoolKey{node.Primary, setting})
		if len(lp.line) > 0 {
			return false
		}
		le, _ := lp.lend()
		if le == nil {
			return false
		}
		le.laned = m.laned
		m.loans = append(m.loans, txn.Lease{Pooled: le.p, Node: node.Name, Loop: le})
	}
	return true
}

// putBack gives connections on which nothing was sent back to their pools, where the goroutine that the session goes to looks for them.
func (m *merging) putBack() {
	for k := range m.loans {
		le := m.loans[k].Loop.(*loopConn)
		le.laned = nil
		le.pool.out--
		le.p.Conn.Release()
		le.giveBack()
	}
	m.loans = nil
}

// launchMerge queues the queries, to be sent at the end of the round. The loop goes on when something of their answers has come.
func (la *laned) launchMerge(h *loopState) {
	defer la.caught(h.loop)
	m := la.client.task().merging
	la.client.passed = true
	la.client.observed.Spread(planOf(m.route.Operator), len(m.route.Queries))
	h.relabel(&la.client.observed)
	la.client.conn.ResetSequence()
	if _, err := la.client.conn.ReadPacket(); err != nil { // it is there: Peek gave it
		la.end = clientEnd(err)
		m.putBack()
		la.handOver(h.loop, stepEnd)
		return
	}
	for k := range m.route.Queries {
		l, query := &m.loans[k], &m.route.Queries[k]
		la.exchanges.effects.reachOn(l, query.Text)
		l.Started(la.client.id, la.client.observed.ShardSpan(l.Instance, la.client.state.DB(), query.Text))
		faultpoint.Reach(faultpoint.BeforeSend)
		l.Conn.Command(mysql.ComQuery, query.Text)
		m.asked(m.of, query, source(l, value.TextRow))
	}
	m.left = len(m.route.Queries)
	la.client.observed.Counters.Scattered.Add(1)
	la.client.observed.CountLooped()
	la.rights.countRules(nil)
	h.merges = append(h.merges, la)
	h.loop.AtRoundEnd()
}

// offerMerge offers what launchMerge has queued; false if it is not to be sent.
func (la *laned) offerMerge(h *loopState) bool {
	defer la.caught(h.loop)
	h.relabel(&la.client.observed)
	m := la.client.task().merging
	if !la.exchanges.several().shards.publish(m.loans) {
		for k := range m.loans {
			m.loans[k].Taint()
		}
		m.loans = nil
		la.handOver(h.loop, stepMerge)
		return false
	}
	for k := range m.loans {
		la.offer(h, m.loans[k].Loop.(*loopConn).conn, m.loans[k].Conn.Conn)
	}
	return true
}

// sendMerge sends what is left of the queries.
func (la *laned) sendMerge(h *loopState) {
	defer la.caught(h.loop)
	h.relabel(&la.client.observed)
	m := la.client.task().merging
	for k := range m.loans {
		if c := m.loans[k].Conn; c.Flush() != nil || c.Unsent() > 0 {
			la.leaveMerge(h.loop)
			return
		}
	}
	for k := range m.loans {
		le := m.loans[k].Loop.(*loopConn)
		h.loop.Park(le.conn, le)
	}
	h.merging = append(h.merging, m)
	h.arm()
}

// readyMerge takes what a shard has sent.
func (la *laned) readyMerge(l *fastlane.Loop, c *fastlane.Conn, le *loopConn) {
	defer la.caught(l)
	m := la.client.task().merging
	switch err := le.p.Conn.ReadNow(); {
	case err == syscall.EAGAIN:
		l.Park(c, le)
		return
	case err != nil:
		la.leaveMerge(l)
		return
	}
	m.begun = true
	arrived := le.walk.Arrived(le.p.Conn.Unread(), le.p.Conn.Capabilities)
	switch {
	case arrived != mysql.ArrivedPart && arrived != mysql.ArrivedPlain, m.buffered() > loopedMerge:
		la.leaveMerge(l)
		return
	case arrived == mysql.ArrivedPart:
		l.Park(c, le)
		return
	}
	if m.left--; m.left == 0 {
		la.deliverMerge(l, le.pool.h)
	}
}

// buffered is how many bytes of answers there are.
func (m *merging) buffered() (n int) {
	for k := range m.loans {
		n += m.loans[k].Conn.Buffered()
	}
	return n
}

// sweepMerges has goroutines send what has come of merges that a slow shard holds up: loops merge answers that are there whole only.
func (h *loopState) sweepMerges() {
	waiting := h.merging[:0]
	for _, m := range h.merging {
		switch {
		case m.over:
		case m.begun && m.seen:
			m.laned.hurryMerge(h.loop)
		default:
			m.seen = m.begun
			waiting = append(waiting, m)
		}
	}
	clear(h.merging[len(waiting):])
	h.merging = waiting
}

// hurryMerge is leaveMerge on a tick.
func (la *laned) hurryMerge(l *fastlane.Loop) {
	defer la.caught(l)
	la.leaveMerge(l)
}

// deliverMerge merges answers that are there whole. What is queued for the client is sent at the end of the round.
func (la *laned) deliverMerge(l *fastlane.Loop, h *loopState) {
	// A KILL holds the lock until the servers have heard of it, for which a loop cannot wait.
	if _, ok := la.client.entry.TryTake(); !ok {
		la.leaveMerge(l)
		return
	}
	la.client.task().merging.over = true
	h.relabel(&la.client.observed)
	_, err := la.exchanges.several().queries.finishMerging(&la.client.task().query, la.client.task().merging)
	la.client.task().merging = nil
	if end := la.client.settle(err); end != nil {
		la.concluded(l, la.client.conclude(la.client.ahead().command, end))
		return
	}
	h.answer(la)
}

// leaveMerge has a goroutine wait for the rest of the answers and merge them.
func (la *laned) leaveMerge(l *fastlane.Loop) {
	la.client.task().merging.leave(l)
	la.handOver(l, stepMerge)
}

// leave takes the connections out of the loop.
func (m *merging) leave(l *fastlane.Loop) {
	m.over = true
	for k := range m.loans {
		le := m.loans[k].Loop.(*loopConn)
		l.Unpark(le.conn)
		le.Leave()
		m.loans[k].Loop = nil
	}
}

// panicked closes the connections that the merge still had when a handler panicked: nobody knows what is still to come on them.
func (m *merging) panicked(l *fastlane.Loop) {
	m.over = true
	m.laned.client.entry.Unpublish()
	for k := range m.loans {
		if le, looped := m.loans[k].Loop.(*loopConn); looped && le.laned == m.laned {
			l.Unpark(le.conn)
			m.loans[k].Taint()
		}
	}
}
