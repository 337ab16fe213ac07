package driver

import (
	"sync"

	"kingshard/backend"
	"kingshard/proxy/txn/twophase"
)

// endAtOnce is how many branches of a node are ended at a time, each on connections of its own.
const endAtOnce = 8

// leftBehind are branches of one node that several goroutines end.
type leftBehind struct {
	d *Driver

	mu       sync.Mutex
	resolver *twophase.Resolver
	begins   []twophase.Action // the first one of each branch
}

// take returns the first action of a branch that nobody has begun with, and reports whether there is one.
func (l *leftBehind) take() (first twophase.Action, is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.begins) == 0 {
		return first, false
	}
	first, l.begins = l.begins[0], l.begins[1:]
	return first, true
}

// end goes on with a branch until nothing more can be done about it now.
func (l *leftBehind) end(admins *administrators, first twophase.Action) {
	for next := []twophase.Action{first}; len(next) > 0; {
		a := next[0]
		next = next[1:]
		if a.Do == twophase.DoReport {
			l.d.report(a.Incident)
			continue
		}
		answer := admins.do(a)
		if answer.Result == twophase.OK {
			l.d.counts.resolved(a.Do)
		}
		l.mu.Lock()
		next = append(next, l.resolver.Answered(a.XID, answer)...)
		l.mu.Unlock()
	}
}

// endAll ends branches until none is left that nobody has begun with.
func (l *leftBehind) endAll(admins *administrators) {
	for first, is := l.take(); is; first, is = l.take() {
		l.end(admins, first)
	}
}

// help ends branches of the node n on connections of its own, until none is left, or a server does not answer there or takes no more connections: those that are left then
// are endAll's.
func (l *leftBehind) help(n *backend.Node, s *silent) {
	admins := newAdministrators(l.d, s)
	defer admins.close()
	for admins.admin(n) != nil && !admins.refused {
		first, is := l.take()
		if !is {
			return
		}
		l.end(&admins, first)
	}
}
