package twophase

import (
	"strconv"
	"time"
)

// proxy is a process: what it knows is gone when it dies.
type proxy struct {
	s        *sim
	id       uint32
	life     int // which process it is
	up       bool
	paused   time.Duration // until when it stands still
	held     []func()      // what it will do then
	wall     time.Duration // how far its clock is off
	seq      uint64
	pool     [][]*link
	links    []*link
	resolver *Resolver
	auditor  *Auditor
	orphans  *BranchAuditor
	clocks   map[string]clockReading // of servers, by name
}

// clockReading is what a server's clock was.
type clockReading struct{ clock, at time.Duration }

// clockFor is for how long clocks are reckoned.
const clockFor = 10 * time.Second

// deadline returns what a server would answer to DoClock, if that is known.
func (p *proxy) deadline(server string) string {
	r, ok := p.clocks[server]
	if !ok || p.s.now-r.at > clockFor {
		return ""
	}
	return p.deadlineAt(r.clock + p.s.now - r.at)
}

func (p *proxy) deadlineAt(clock time.Duration) string {
	return strconv.FormatInt(int64(clock+p.s.timing.Deadline), 10)
}

// start begins a process.
func (p *proxy) start() {
	p.life++
	p.up = true
	p.pool = make([][]*link, len(p.s.nodes))
	p.links = nil
	p.clocks = map[string]clockReading{}
	p.seq = uint64(p.life) << 32
	p.resolver, p.auditor = NewResolver(p.s.timing, p.s.secret), NewAuditor(p.s.timing, p.s.secret)
	p.orphans = NewBranchAuditor(p.s.secret)
	for n := range p.s.nodes {
		p.later(p.s.between(0, resolveEvery), func() { p.resolve(n) })
		p.later(p.s.between(0, p.s.auditEvery), func() { p.audit(n) })
	}
}

// die ends the process; its connections break.
func (p *proxy) die() {
	p.up, p.paused, p.held = false, 0, nil
	for _, k := range p.links {
		k.calls, k.lost = nil, nil
		k.cut()
	}
}

// deliver has do carried out by this process: not if it is dead, and later if it stands still.
func (p *proxy) deliver(do func()) { p.deliverTo(p.life, do) }

func (p *proxy) deliverTo(life int, do func()) {
	switch {
	case !p.up || p.life != life:
	case p.paused > p.s.now:
		p.held = append(p.held, func() { p.deliverTo(life, do) })
	default:
		do()
	}
}

// pause has the process stand still.
func (p *proxy) pause(d time.Duration) {
	p.paused = max(p.paused, p.s.now+d)
	p.s.at(p.paused, p.resume)
}

// resume has it go on, unless it is to stand still for longer.
func (p *proxy) resume() {
	if p.paused <= p.s.now {
		held := p.held
		p.held = nil
		for _, do := range held {
			do()
		}
	}
}

func (p *proxy) later(d time.Duration, do func()) {
	life := p.life
	p.s.after(d, func() { p.deliverTo(life, do) })
}

// seconds is the process's clock.
func (p *proxy) seconds() int64 { return int64((p.s.now+p.wall)/time.Second) + 1_000_000 }

const (
	resolveEvery = 2 * time.Second
	adminTimeout = 3 * time.Second
)

// ask carries out commands on a connection of the proxies' account.
func (p *proxy) ask(node int, cmds []command, done func(replies []reply, lost bool)) {
	k := p.dial(node)
	if k == nil {
		p.later(10*time.Millisecond, func() { done(nil, true) })
		return
	}
	over := false
	k.send(cmds, func(replies []reply, lost bool) {
		if over = true; !lost {
			k.put()
		}
		done(replies, lost)
	})
	p.later(adminTimeout, func() {
		if !over {
			k.close()
		}
	})
}

// commands are those that Action.Statements has as SQL.
func (p *proxy) commands(a Action) []command {
	switch a.Do {
	case DoClock:
		return []command{{op: opClock}}
	case DoPrepare:
		return []command{{op: opBranch, row: a.Row}, {op: opXAEnd, xid: a.XID}, {op: opXAPrepare, xid: a.XID}}
	case DoDecide:
		n, _ := strconv.ParseInt(a.Deadline, 10, 64)
		return []command{{op: opDecide, row: a.Row, deadline: time.Duration(n)}}
	case DoCommit:
		return []command{{op: opCommit}}
	case DoRollback:
		return []command{{op: opRollback}}
	case DoOnePhase:
		return []command{{op: opXAEnd, xid: a.XID}, {op: opXACommitOne, xid: a.XID}}
	case DoCommitBranch:
		return []command{{op: opXACommit, xid: a.XID}}
	case DoRollbackBranch:
		return []command{{op: opXAEnd, xid: a.XID}, {op: opXARollback, xid: a.XID}}
	case DoKill:
		return []command{{op: opKill, id: a.Holder.Connection(), server: a.Holder.Server()}}
	case DoFind:
		return []command{{op: opFind, id: a.Holder.Connection(), server: a.Holder.Server()}}
	}
	ops := map[Do]op{DoFence: opInsert, DoRead: opRowRead, DoReadLocked: opRowShare, DoPeek: opRowPeek, DoMark: opMark, DoDelete: opDelete, DoFinish: opFinish}
	return []command{{op: ops[a.Do], row: a.Row}}
}

// answer is what the replies to commands(a) mean.
func (p *proxy) answer(a Action, replies []reply, lost bool) Answer {
	ans := Answer{Do: a.Do, Node: a.Node, Key: a.Row.Key, Result: OK}
	if lost {
		ans.Result = NoAnswer
		return ans
	}
	for k, r := range replies {
		if a.Do == DoRollbackBranch && k < len(replies)-1 {
			continue
		}
		if r.code != 0 && ans.Code == 0 {
			ans.Result, ans.Code = Rejected, r.code
		}
	}
	last := replies[len(replies)-1]
	ans.Row, ans.Found = last.row, last.found
	if a.Do == DoClock {
		ans.Text = p.deadlineAt(last.time)
	}
	return ans
}

// administer carries out an action of the proxies' account.
func (p *proxy) administer(a Action, done func(Answer)) {
	node := p.s.index(a.Node)
	if traced != "" {
		was := done
		p.s.trace(a.XID.GTRID, "proxy %d: %v on %d, key %s", p.id, a.Do, node, a.Row.Key)
		done = func(ans Answer) {
			p.s.trace(a.XID.GTRID, "proxy %d: %v on %d: %d %d %v", p.id, a.Do, node, ans.Result, ans.Code, ans.Row)
			was(ans)
		}
	}
	if p.s.breaks(a, p, done) {
		return
	}
	p.s.trouble(p, node, nil)
	cmds := p.commands(a)
	if (a.Do == DoKill || a.Do == DoFind) && cmds[0].server != p.s.primary[node].name {
		p.later(time.Millisecond, func() {
			ans := Answer{Do: a.Do, Node: a.Node, Result: OK}
			if a.Do == DoKill {
				ans.Result, ans.Code = Rejected, errNoSuchThread
			}
			done(ans)
		})
		return
	}
	p.ask(node, cmds, func(replies []reply, lost bool) { done(p.answer(a, replies, lost)) })
	if p.s.healed == 0 && p.s.chance(40) { // what is done twice does no harm
		p.ask(node, cmds, func([]reply, bool) {})
	}
}

// resolve is the loop of the resolver for a node.
func (p *proxy) resolve(node int) {
	p.later(p.s.between(resolveEvery*8/10, resolveEvery), func() { p.resolve(node) })
	p.ask(node, []command{{op: opXARecover}}, func(replies []reply, lost bool) {
		if lost {
			return
		}
		var rows []Prepared
		for _, x := range replies[0].xids {
			data := x.GTRID.String() + x.Node.String()
			rows = append(rows, Prepared{FormatID: FormatID, GTRIDLength: gtridLen, BQUALLength: nodeLen, Data: data})
		}
		p.resolving(p.resolver.Listed(p.s.nodes[node], rows, p.s.now, p.seconds()))
	})
}

func (p *proxy) resolving(list []Action) {
	for _, a := range list {
		if a.Do == DoReport {
			p.s.incident(a.Incident)
			continue
		}
		p.administer(a, func(ans Answer) { p.resolving(p.resolver.Answered(a.XID, ans)) })
	}
}

// audit is the loop of the auditor for a node.
func (p *proxy) audit(node int) {
	p.later(p.s.between(p.s.auditEvery*8/10, p.s.auditEvery), func() { p.audit(node) })
	p.ask(node, []command{{op: opList}}, func(replies []reply, lost bool) {
		if !lost {
			p.auditing(p.auditor.Listed(p.s.nodes[node], replies[0].rows, true, p.s.now))
		}
	})
	if p.s.chance(3) {
		p.ask(node, []command{{op: opExpire}}, func([]reply, bool) {})
	}
	if p.s.mutation == mutationNone {
		p.ask(node, []command{{op: opListBranches, xid: XID{Node: p.s.nodes[node]}}}, func(replies []reply, lost bool) {
			if !lost {
				p.seeking(p.orphans.Listed(p.s.nodes[node], replies[0].rows))
			}
		})
	}
}

func (p *proxy) auditing(list []Action) {
	for _, a := range list {
		if a.Do == DoReport {
			p.s.incident(a.Incident)
			continue
		}
		p.administer(a, func(ans Answer) { p.auditing(p.auditor.Answered(a.XID.GTRID, ans, p.s.now)) })
	}
}

func (p *proxy) seeking(list []Action) {
	for _, a := range list {
		if a.Do == DoReport {
			p.s.incident(a.Incident)
			continue
		}
		p.administer(a, func(ans Answer) { p.seeking(p.orphans.Answered(a.XID, ans)) })
	}
}
