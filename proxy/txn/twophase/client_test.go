package twophase

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// clientOp is a statement of a client's.
type clientOp struct {
	node, account, delta int
	op                   op
}

// client is one transaction of a client's, and what it heard.
type client struct {
	s       *sim
	p       *proxy
	number  int
	ops     []clientOp
	links   map[int]*link
	t       *Transaction
	co      *Coordinator
	changed []int // nodes
	heard   Outcome
	told    bool
	sent    bool // COMMIT was
	busy    bool // a statement is being answered
	ended   bool // the coordinator is over, or the process died
}

const statementTimeout = 5 * time.Second

// next sends the next statement, or ends the transaction.
func (c *client) next(k int) {
	if c.co != nil {
		return
	}
	if _, doomed := c.doomed(); doomed {
		c.end(false)
		return
	}
	if k == len(c.ops) {
		c.end(!c.s.chance(12))
		return
	}
	o := c.ops[k]
	n := c.s.nodes[o.node]
	cmds := []command{{op: o.op, account: o.account, delta: o.delta, tag: uint(c.number*nodesMax + o.node)}}
	l := c.links[o.node]
	begins := l == nil
	if begins {
		if l = c.p.dial(o.node); l == nil {
			c.end(false)
			return
		}
		cmds = append([]command{c.begin(o.node, l)}, cmds...)
	}
	if o.op == opAdd {
		if c.s.mutation != mutationUnchanged || len(c.changed) == 0 {
			c.t.Change(n)
		}
		if !slices.Contains(c.changed, o.node) {
			c.changed = append(c.changed, o.node)
		}
	}
	c.busy = true
	l.send(cmds, func(replies []reply, lost bool) {
		c.busy = false
		c.answered(k, n, replies, lost)
	})
	c.p.later(statementTimeout, func() {
		if c.busy && c.co == nil && !l.broken {
			l.close()
		}
	})
}

func (c *client) doomed() (Cause, bool) {
	if c.t == nil {
		return Cause{}, false
	}
	return c.t.Doomed()
}

// begin makes the link part of the transaction.
func (c *client) begin(node int, l *link) command {
	n := c.s.nodes[node]
	holder := Holder(l.m.name + ":" + strconv.FormatUint(l.c.id, 10))
	c.links[node] = l
	l.lost = func() {
		if c.co == nil {
			c.t.Lost(n)
		}
	}
	if c.t == nil {
		c.p.seq++
		c.t = Begin(GTRID{Anchor: n, Proxy: c.p.id, Start: uint32(c.p.seconds()), Sequence: c.p.seq}, holder)
		return command{op: opBegin}
	}
	c.t.Enlist(Branch{Node: n, Holder: holder, Holds: l.m.family != mysqlDetach, Compounds: l.m.family == mariadb})
	return command{op: opXAStart, xid: XID{c.t.GTRID, n}}
}

func (c *client) answered(k int, n NodeID, replies []reply, lost bool) {
	if lost {
		c.t.Lost(n)
		c.end(false)
		return
	}
	if len(replies) == 2 && replies[0].code != 0 {
		c.s.violate("a transaction began on a connection that was not clean: error %d", replies[0].code)
	}
	switch code := replies[len(replies)-1].code; {
	case code == errLockWait:
		c.end(false)
		return
	case code != 0 && c.s.mutation == mutationDeadlock:
	case code != 0:
		c.t.Failed(n, code)
		if _, doomed := c.t.Doomed(); !doomed {
			c.s.violate("a statement failed with error %d", code)
		}
		c.end(false)
		return
	}
	c.p.later(c.s.between(0, 5*time.Millisecond), func() { c.next(k + 1) })
}

// end has the coordinator end the transaction.
func (c *client) end(commit bool) {
	if c.co != nil {
		return
	}
	if c.t == nil {
		c.told, c.ended, c.heard = true, true, Outcome{End: Rollback}
		return
	}
	c.sent = commit
	c.t.Deadline = c.p.deadline(c.t.Branches()[0].Holder.Server())
	c.co = NewCoordinator(c.t, c.s.timing, c.s.secret, c.s.strict)
	if commit {
		c.perform(c.co.Commit())
	} else {
		c.perform(c.co.Rollback())
	}
}

// perform does what the coordinator asks for.
func (c *client) perform(list []Action) {
	for _, a := range list {
		c.s.trace(c.t.GTRID, "coordinator %d: %v on %d", c.number, a.Do, c.s.index(a.Node))
		switch {
		case a.Do == DoTimer:
			c.p.later(a.After, func() { c.perform(c.co.Expired(a.Timer)) })
		case a.Do == DoReport:
			c.s.incident(a.Incident)
		case a.Do == DoRelease:
			c.links[c.s.index(a.Node)].put()
		case a.Do == DoClose:
			c.links[c.s.index(a.Node)].close()
		case a.Do >= DoFence:
			c.p.administer(a, func(ans Answer) { c.perform(c.co.Answered(ans)) })
		default:
			c.branch(a)
		}
	}
	if o, ok := c.co.Outcome(); ok && !c.told {
		c.told, c.heard = true, o
	}
	if c.co.Over() {
		c.ended = true
		if !c.told {
			c.s.violate("transaction %d is over, and its client has heard nothing", c.number)
		}
	}
}

// branch does what is for a branch's own connection.
func (c *client) branch(a Action) {
	l := c.links[c.s.index(a.Node)]
	l.lost = nil
	c.s.trouble(c.p, l.node, l)
	answer := func(ans Answer) {
		c.s.trace(c.t.GTRID, "coordinator %d: %v on %d: %d %d", c.number, ans.Do, l.node, ans.Result, ans.Code)
		c.perform(c.co.Answered(ans))
	}
	switch {
	case c.s.mutation == mutationEarlyDecision && a.Do == DoPrepare:
		l.send(c.p.commands(a), func([]reply, bool) {})
		c.p.later(0, func() { answer(Answer{Do: a.Do, Node: a.Node, Key: a.Row.Key, Result: OK}) })
		return
	case c.s.mutation == mutationEarlyCommit && a.Do == DoDecide:
		for node, other := range c.links {
			if n := c.s.nodes[node]; n != a.Node {
				other.send([]command{{op: opXACommit, xid: XID{c.t.GTRID, n}}}, func([]reply, bool) {})
			}
		}
	}
	if a.Do == DoPrepare && c.s.forging && c.s.healed == 0 && c.s.chance(6) {
		c.forge()
	}
	send := l.send
	switch {
	case a.Compound:
		send = l.sendCompound
	case a.Stepwise:
		send = l.sendStepwise
	}
	send(c.p.commands(a), func(replies []reply, lost bool) {
		ans := c.p.answer(a, replies, lost)
		if a.Do == DoClock && ans.Result == OK {
			c.p.clocks[l.m.name] = clockReading{replies[0].time, c.s.now}
		}
		if c.s.mutation == mutationNoFence && a.Do == DoDecide && lost {
			ans.Result, ans.Code = Rejected, errNull
		}
		answer(ans)
	})
	if a.Do == DoCommit || a.Do == DoOnePhase { // the caller's own time-out
		c.p.later(8*time.Second, func() { l.expire(c) })
	}
	if a.Do == DoCommitBranch {
		c.p.later(8*time.Second, func() { l.expire(c) })
	}
}

// expire closes a link whose answer did not come, unless the client has given it back.
func (l *link) expire(c *client) {
	if !c.ended && !l.returned && !l.broken && len(l.calls) > 0 {
		l.close()
	}
}

// forge is a client that gets past the refusal of statements about ks_meta, and cannot sign.
func (c *client) forge() {
	anchor := c.s.index(c.t.GTRID.Anchor)
	var others []NodeID
	for _, b := range c.t.Branches()[1:] {
		others = append(others, b.Node)
	}
	row := Row{Key: c.t.GTRID.String(), State: Committed, Parts: Parts(c.t.GTRID.Anchor, others), MAC: fmt.Sprintf("%064d", 0)}
	if c.s.mutation == mutationNoMAC {
		row = c.s.secret.sign(row)
	}
	c.s.forged[c.t.GTRID] = true
	if k := c.p.dial(anchor); k != nil {
		k.send([]command{{op: opInsert, row: row}}, func(_ []reply, lost bool) { k.put() })
	}
}

// reader reads several nodes at once until it has a whole transaction's view of them.
type reader struct {
	s     *sim
	p     *proxy
	nodes []int
	tries int
}

func (r *reader) try() {
	r.tries++
	if r.tries > 20 {
		return
	}
	begun, pending, failed := r.s.now, len(r.nodes), false
	snapshots := make([]Snapshot, len(r.nodes))
	applied := make([]uint64, len(r.nodes))
	for k, node := range r.nodes {
		ask := func() {
			r.p.ask(node, []command{{op: opSnapshot}}, func(replies []reply, lost bool) {
				pending--
				if lost {
					failed = true
				} else {
					snapshots[k] = Snapshot{Node: r.s.nodes[node], Rows: replies[0].rows}
					applied[k] = replies[0].applied
				}
				switch {
				case pending > 0:
				case failed:
					r.again()
				default:
					r.judge(begun, snapshots, applied, nil)
				}
			})
		}
		if r.s.slowReads > 0 && r.s.chance(2) {
			r.p.later(r.s.between(0, r.s.slowReads), ask)
		} else {
			ask()
		}
	}
}

func (r *reader) again() { r.p.later(r.s.between(5*time.Millisecond, 300*time.Millisecond), r.try) }

// judge has the snapshots compared.
func (r *reader) judge(begun time.Duration, snapshots []Snapshot, applied []uint64, asked map[GTRID]*Row) {
	result, ask := Consistent(r.s.secret, snapshots, asked)
	if r.s.mutation == mutationReads {
		result = Whole
	}
	switch {
	case r.s.now-begun > r.s.timing.Spread && r.s.mutation != mutationSpread, result == Torn:
		r.s.tornReads++
		r.again()
	case result == Whole:
		r.s.reads++
		r.compare(applied)
	default:
		r.s.asks++
		asked, pending, failed := map[GTRID]*Row{}, len(ask), false
		for _, g := range ask {
			r.p.ask(r.s.index(g.Anchor), []command{{op: opRowRead, row: Row{Key: g.String()}}}, func(replies []reply, lost bool) {
				if pending--; lost {
					failed = true
				} else {
					asked[g] = replies[0].row
				}
				switch {
				case pending > 0:
				case failed:
					r.again()
				default:
					r.judge(begun, snapshots, applied, asked)
				}
			})
		}
	}
}

// compare compares what the reader has seen with the transactions.
func (r *reader) compare(applied []uint64) {
	for _, c := range r.s.clients {
		has, lacks := false, false
		for k, node := range r.nodes {
			if !slices.Contains(c.changed, node) {
				continue
			}
			if applied[k]&(1<<uint(c.number*nodesMax+node)) != 0 {
				has = true
			} else {
				lacks = true
			}
		}
		if has && lacks && !(c.t != nil && r.s.lostBranch(c.t.GTRID)) {
			r.s.violate("a reader saw a part of transaction %d on nodes %v", c.number, r.nodes)
		}
	}
}
