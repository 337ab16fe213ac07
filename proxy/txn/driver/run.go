package driver

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/txn/decisions"
	"kingshard/proxy/txn/twophase"
)

// The pauses between two looks at what was left behind.
const (
	resolveEvery = 2 * time.Second
	auditEvery   = 10 * time.Second
	// That for branches which were committed and have no decision.
	seekEvery = time.Minute
)

// seekAfter is the age in seconds of branches' rows that the audit of decisions has had time to look at.
const seekAfter = 60

// expireMax is how many rows are deleted at a time that are kept for those who ask.
const expireMax = 1000

// Wanted is whether the configuration has transactions over several nodes.
type Wanted uint8

// What configurations say.
const (
	WantedNot   Wanted = iota
	WantedIfFit        // where the servers of all nodes qualify
	WantedAlways
)

// Run ends what any process has left behind, until stop is closed. Several processes may do so at the same time. wanted returns what the configuration
// in force says; where it has no transactions over several nodes Run looks where this process has made some, or servers have their table, as of another configuration or
// of clients that asked for them.
func (d *Driver) Run(stop <-chan struct{}, wanted func() Wanted) {
	r := newResolving(d)
	defer r.close()
	for {
		pause := time.NewTimer(r.pause())
		select {
		case <-stop:
			pause.Stop()
			return
		case <-d.wake:
			pause.Stop()
		case <-pause.C:
		}
		switch w := wanted(); {
		case w == WantedAlways || d.agreed.Load() || r.tableThere(stop):
			r.look(stop)
		case w == WantedIfFit && time.Since(r.asked) >= fitEvery:
			r.asked = time.Now()
			_, _ = d.ask(time.Now().Add(adminTimeout)) // which logs it
		}
	}
}

// resolving is what Run knows.
type resolving struct {
	administrators
	secret   twophase.Secret // nil before the key of rows is known, as the resolver is
	resolver *twophase.Resolver
	watcher  *twophase.Resolver // in its place until then, to list what is prepared
	auditor  *twophase.Auditor
	orphans  *twophase.BranchAuditor
	began    time.Time
	audited  time.Time
	sought   time.Time             // when branches without a decision were looked for
	stranded map[strandedAt]string // how far the primary had logged when it was seen not to have the branch
	told     map[string]string     // what was logged last of a node
	seen     map[string]bool       // by the address of the primary: whether it was asked for the table
	there    bool                  // one of them has it
	asked    time.Time             // when servers were asked last whether they qualify, of a configuration that leaves it to them
}

// tableThere reports whether a server has the table of decisions. Each is asked once.
func (r *resolving) tableThere(stop <-chan struct{}) bool {
	for _, n := range r.d.sorted() {
		if ended(stop) {
			return false
		}
		if addr := n.Primary.Addr; !r.there && !r.seen[addr] {
			there, err := decisions.There(n, time.Now().Add(adminTimeout))
			r.seen[addr], r.there = err == nil, there
		}
	}
	return r.there
}

// ended reports whether stop is closed.
func ended(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

func newResolving(d *Driver) *resolving {
	return &resolving{administrators: newAdministrators(d, &silent{}), began: time.Now(), told: map[string]string{}, stranded: map[strandedAt]string{}, seen: map[string]bool{}}
}

// pause returns how long to wait for the next look. A branch that was found is not kept waiting for longer than it has to.
func (r *resolving) pause() time.Duration {
	pause := resolveEvery/2 + rand.N(resolveEvery)
	if r.resolver != nil {
		if after, is := r.resolver.Due(r.now()); is {
			pause = min(pause, after)
		}
	}
	return pause
}

// now is by a clock that does not jump.
func (r *resolving) now() time.Duration { return time.Since(r.began) }

// look looks at all nodes once.
func (r *resolving) look(stop <-chan struct{}) {
	r.leave()
	r.silent.forget()
	secret, err := r.d.ask(time.Now().Add(adminTimeout))
	if r.resolver == nil {
		if err != nil {
			r.watch(err, stop) // who begins a transaction hears of it, too
			return
		}
		r.secret = secret
		r.resolver, r.auditor, r.orphans = twophase.NewResolver(r.d.timing, secret), twophase.NewAuditor(r.d.timing, secret), twophase.NewBranchAuditor(secret)
	}
	audits, seeks := time.Since(r.audited) >= auditEvery, time.Since(r.sought) >= seekEvery
	if audits {
		r.audited = time.Now()
	}
	if seeks {
		r.sought = time.Now()
	}
	nodes := r.d.sorted()
	for _, n := range nodes { // ahead of all audits, which may take long
		if ended(stop) {
			return
		}
		r.resolve(n)
	}
	for _, n := range nodes {
		if ended(stop) {
			return
		}
		if audits {
			r.audit(n)
		}
		if seeks {
			r.seek(n)
			r.strandings(n)
		}
	}
	r.publish(r.resolver, "")
}

// publish tells who asks for it what is in doubt. unready is why nothing can be done about it, "" where something can.
func (r *resolving) publish(from *twophase.Resolver, unready string) {
	doubt, oldest := from.InDoubt(r.now())
	r.d.counts.inDoubt(doubt, oldest)
	r.d.doubtful.Store(&doubtful{list: from.Doubts(r.now()), unready: unready})
}

// watch looks for what is prepared on the nodes that answer, and ends nothing: without the key of all nodes no row can be believed.
func (r *resolving) watch(unready error, stop <-chan struct{}) {
	if r.watcher == nil {
		timing := r.d.timing
		timing.ResolveAfter = math.MaxInt64
		r.watcher = twophase.NewResolver(timing, nil)
	}
	for _, n := range r.d.sorted() {
		if ended(stop) {
			return
		}
		admin := r.admin(n)
		if admin == nil {
			continue
		}
		list, err := admin.prepared(time.Now().Add(adminTimeout))
		if err != nil {
			r.failed(n, err)
			continue
		}
		for _, a := range r.watcher.Listed(twophase.NodeIDOf(n.Name), list, r.now(), time.Now().Unix()) {
			r.d.report(a.Incident) // there is nothing else that it asks for
		}
	}
	r.publish(r.watcher, unready.Error())
}

// failed closes a connection to a node that did not answer as it should, and logs what it said: once, where that is a server's error.
func (r *resolving) failed(n *backend.Node, err error) {
	var refused *mysql.SQLError
	if text := err.Error(); errors.As(err, &refused) && r.told[n.Name] != text {
		r.told[n.Name] = text
		r.d.log.Warn("what other proxies left behind cannot be looked for", "node", n.Name, "instance", n.Primary.Addr, "error", text)
	}
	r.lost(n)
}

// prepared lists what is prepared on a node, and reports whether it could. A connection that was there from before may be one to a server that has
// started again meanwhile: the look is not put off for that.
func (r *resolving) prepared(n *backend.Node) (list []twophase.Prepared, ok bool) {
	for kept := r.admins[n.Primary.Addr] != nil; ; kept = false {
		admin := r.admin(n)
		if admin == nil {
			return nil, false
		}
		list, err := admin.prepared(time.Now().Add(adminTimeout))
		if err == nil {
			return list, true
		}
		r.failed(n, err)
		if !kept {
			return nil, false
		}
	}
}

// resolve ends the branches of one node, several at a time: they are independent, and whoever ends one waits for its servers to write.
func (r *resolving) resolve(n *backend.Node) {
	list, ok := r.prepared(n)
	if !ok {
		return
	}
	left := &leftBehind{d: r.d, resolver: r.resolver}
	left.begins = r.resolver.Listed(twophase.NodeIDOf(n.Name), list, r.now(), time.Now().Unix())
	for k := range left.begins { // ahead of those who help, whose connections may be the last that a server takes
		if anchor := r.d.node(left.begins[k].XID.Anchor); anchor != nil {
			r.admin(anchor)
		}
	}
	var working sync.WaitGroup
	for range min(len(left.begins), endAtOnce) - 1 {
		working.Go(func() { left.help(n, r.silent) })
	}
	left.endAll(&r.administrators)
	working.Wait()
}

// audit follows the decisions of one node until all have them.
func (r *resolving) audit(n *backend.Node) {
	id := twophase.NodeIDOf(n.Name)
	for after, last := "", false; !last; {
		admin := r.admin(n)
		if admin == nil {
			return
		}
		list, err := admin.decided(after, time.Now().Add(adminTimeout))
		if err != nil {
			r.failed(n, err)
			return
		}
		if last = len(list) < listMax; !last {
			after = list[len(list)-1].Key
		}
		r.all(r.auditor.Listed(id, list, last, r.now()), func(a twophase.Action, answer twophase.Answer) []twophase.Action {
			return r.auditor.Answered(a.XID.GTRID, answer, r.now())
		})
	}
	if admin := r.admin(n); admin != nil {
		admin.conn.Net.SetDeadline(time.Now().Add(adminTimeout))
		if err := admin.conn.Exec(twophase.Expire(r.d.timing.Retention, expireMax)); err != nil {
			r.failed(n, err)
		}
	}
}
