package twophase

import (
	"slices"
	"time"
)

// link is a proxy's end of a connection to a server. Messages stay in order, and one that was sent before the link was cut may arrive or not.
type link struct {
	s        *sim
	p        *proxy
	node     int
	m        *model
	c        *modelConn
	broken   bool
	drop     bool // requests under way do not arrive
	out, in  time.Duration
	calls    []*call
	lost     func() // whoever uses the link is told that it broke
	returned bool
}

type call struct {
	done    func(replies []reply, lost bool)
	replies []reply
	want    int
}

// dial connects to the node's primary; nil is that it cannot be reached.
func (p *proxy) dial(node int) *link {
	pool := p.pool[node]
	for len(pool) > 0 {
		k := pool[len(pool)-1]
		pool = pool[:len(pool)-1]
		p.pool[node] = pool
		if !k.broken && k.m == p.s.primary[node] {
			k.returned = false
			return k
		}
	}
	m := p.s.primary[node]
	if !m.up {
		return nil
	}
	k := &link{s: p.s, p: p, node: node, m: m, c: m.connect()}
	k.c.gone = func() { p.s.after(p.s.delay(node), k.hear) }
	p.links = append(p.links, k)
	return k
}

// put gives the link back to its proxy.
func (k *link) put() {
	k.lost = nil
	if !k.broken && !k.returned {
		k.returned = true
		k.p.pool[k.node] = append(k.p.pool[k.node], k)
	}
}

// send sends commands at once. done is called once.
func (k *link) send(cmds []command, done func(replies []reply, lost bool)) {
	c := &call{done: done, want: len(cmds)}
	if k.broken {
		k.s.after(0, func() { k.p.deliver(func() { done(nil, true) }) })
		return
	}
	k.calls = append(k.calls, c)
	k.out = max(k.out, k.s.now+k.s.delay(k.node))
	k.s.at(k.out, func() {
		if k.drop {
			return
		}
		for _, cmd := range cmds {
			k.c.send(cmd, func(r reply) { k.replied(c, r) })
		}
	})
}

// sendCompound sends commands that are one statement: the server carries each out when the one before has succeeded, and answers once.
func (k *link) sendCompound(cmds []command, done func(replies []reply, lost bool)) {
	c := &call{done: done, want: 1}
	if k.broken {
		k.s.after(0, func() { k.p.deliver(func() { done(nil, true) }) })
		return
	}
	k.calls = append(k.calls, c)
	k.out = max(k.out, k.s.now+k.s.delay(k.node))
	k.s.at(k.out, func() {
		if !k.drop {
			k.c.sendCompound(cmds, func(r reply) { k.replied(c, r) })
		}
	})
}

// sendStepwise sends each command when the one before has succeeded.
func (k *link) sendStepwise(cmds []command, done func(replies []reply, lost bool)) {
	k.send(cmds[:1], func(replies []reply, lost bool) {
		if lost || replies[0].code != 0 || len(cmds) == 1 {
			done(replies, lost)
			return
		}
		k.sendStepwise(cmds[1:], done)
	})
}

func (k *link) replied(c *call, r reply) {
	if c.replies = append(c.replies, r); len(c.replies) < c.want {
		return
	}
	k.in = max(k.in, k.s.now+k.s.delay(k.node))
	k.s.at(k.in, func() {
		at := slices.Index(k.calls, c)
		if k.broken || at < 0 {
			return
		}
		k.calls = slices.Delete(k.calls, at, at+1)
		k.p.deliver(func() { c.done(c.replies, false) })
	})
}

// hear is how the proxy learns that the link broke.
func (k *link) hear() {
	if k.broken {
		return
	}
	k.broken = true
	calls, lost := k.calls, k.lost
	k.calls, k.lost = nil, nil
	for _, c := range calls {
		k.p.deliver(func() { c.done(nil, true) })
	}
	if lost != nil && len(calls) == 0 {
		k.p.deliver(lost)
	}
}

// cut breaks the link in the network: the server learns it soon, or only when the network is healed for a while.
func (k *link) cut() {
	if k.broken {
		return
	}
	k.drop = k.s.chance(2)
	k.hear()
	if k.s.chance(3) {
		k.s.halfOpen = append(k.s.halfOpen, k.c)
	} else {
		k.s.after(k.s.between(0, 3*time.Second), k.c.close)
	}
}

// close is the proxy's own: what was sent before arrives before.
func (k *link) close() {
	if k.broken {
		return
	}
	k.broken = true
	calls := k.calls
	k.calls, k.lost = nil, nil
	k.s.at(max(k.out, k.s.now+k.s.delay(k.node)), k.c.close)
	for _, c := range calls {
		k.p.deliver(func() { c.done(nil, true) })
	}
}
