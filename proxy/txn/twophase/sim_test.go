package twophase

import (
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const nodesMax = 4

// mutation is a way to break the protocol, at the edges of its state machines.
type mutation uint8

const (
	mutationNone mutation = iota
	// mutationEarlyDecision decides before the branches have answered.
	mutationEarlyDecision
	// mutationEarlyCommit sends XA COMMIT along with the decision.
	mutationEarlyCommit
	// mutationNoFence takes a lost answer to the decision for a no.
	mutationNoFence
	// mutationGuess has resolvers roll back without asking the anchor.
	mutationGuess
	// mutationNoGuards deletes Aborted rows by their age alone, with servers that do not look at the deadline.
	mutationNoGuards
	// mutationNoHolder does so where the deadline is looked at, and clocks of servers jump.
	mutationNoHolder
	// mutationNoRowCheck takes for granted that branches which a server does not know have been committed, where servers lose some.
	mutationNoRowCheck
	// mutationNoMAC believes rows whoever made them: forgers can sign.
	mutationNoMAC
	// mutationNoKill leaves branches to the connections that prepared them.
	mutationNoKill
	// mutationNoSettle audits without a rest.
	mutationNoSettle
	// mutationReads reads without comparing.
	mutationReads
	// mutationSpread reads for as long as it takes.
	mutationSpread
	// mutationUnchanged forgets that branches other than the first were changed.
	mutationUnchanged
	// mutationDeadlock goes on behind a deadlock.
	mutationDeadlock
	mutations
)

// broken is what a mutation is called, and what it must be found by.
var broken = [mutations]struct{ name, found string }{
	mutationEarlyDecision: {"early decision", "nothing was lost|a part of transaction|is on . of"},
	mutationEarlyCommit:   {"early commit", "a part of transaction|is on . of|has the row {ksb|lock at the end|was reported"},
	mutationNoFence:       {"lost answer is no", "nothing was lost|heard that it is rolled back|is on . of"},
	mutationGuess:         {"resolver guesses", "nothing was lost|is on . of|heard that it is committed"},
	mutationNoGuards:      {"no guards", "nothing was lost|is on . of"},
	mutationNoHolder:      {"clock alone is the guard", "nothing was lost|is on . of"},
	mutationNoRowCheck:    {"rows not checked", "is on . of|a part of transaction|and its branch was committed"},
	mutationNoMAC:         {"rows not signed", "is on . of|nothing was lost|a part of transaction|heard that it is|the transaction was rolled back, and its branch was committed"},
	mutationNoKill:        {"holders not killed", "in doubt"},
	mutationNoSettle:      {"no rest", "a part of transaction"},
	mutationReads:         {"reads not compared", "a part of transaction"},
	mutationSpread:        {"long reads", "a part of transaction"},
	mutationUnchanged:     {"changes forgotten", "is on . of|a part of transaction|heard that it is"},
	mutationDeadlock:      {"on behind a deadlock", "outside of its transaction|a part of transaction"},
}

// sim is a world of proxies, servers and clients.
type sim struct {
	*loop
	seed                  uint64
	mutation              mutation
	secret                Secret
	timing                Timing
	strict                bool
	nodes                 []NodeID
	primary               []*model
	proxies               []*proxy
	clients               []*client
	budget                int // of troubles yet to come
	slow                  []time.Duration
	halfOpen              []*modelConn
	forging               bool
	jumpy                 bool
	lossy                 bool
	forged                map[GTRID]bool
	reported              map[GTRID][]Incident
	auditEvery, slowReads time.Duration
	healed                time.Duration // when all faults ended, 0 before

	reads, tornReads, asks, troubles int
	violation                        string
}

func (s *sim) violate(format string, args ...any) {
	if s.violation == "" {
		s.violation = fmt.Sprintf("at %v: ", s.now) + fmt.Sprintf(format, args...)
	}
}

func (s *sim) index(n NodeID) int { return slices.Index(s.nodes, n) }

// delay is how long a message to or from a node is under way.
func (s *sim) delay(node int) time.Duration {
	d := s.between(100*time.Microsecond, 2*time.Millisecond)
	if s.slow[node] > s.now && s.chance(3) {
		d += s.between(0, s.slow[node]-s.now)
	}
	return d
}

func (s *sim) incident(i Incident) {
	list := s.reported[i.XID.GTRID]
	if !slices.Contains(list, i) {
		s.reported[i.XID.GTRID] = append(list, i)
	}
	switch i.Kind {
	case IncidentLost:
		if !s.lostBranch(i.XID.GTRID) {
			s.violate("%v: %v was reported, and nothing was lost", i.XID, i.Kind)
		}
	case IncidentForged:
		if !s.forged[i.XID.GTRID] {
			s.violate("%v: %v was reported, and nothing was forged", i.XID, i.Kind)
		}
	default:
		s.violate("%v: %v was reported", i.XID, i.Kind)
	}
}

// lostBranch reports whether a server has lost a branch of the transaction.
func (s *sim) lostBranch(g GTRID) bool {
	for _, m := range s.primary {
		if slices.ContainsFunc(m.lost, func(x XID) bool { return x.GTRID == g }) {
			return true
		}
	}
	return false
}

// breaks answers an action of the proxies' account as the mutation would have it, and reports whether it did.
func (s *sim) breaks(a Action, p *proxy, done func(Answer)) bool {
	ans := Answer{Do: a.Do, Node: a.Node, Key: a.Row.Key, Result: OK}
	switch {
	case s.mutation == mutationGuess && a.Do == DoFence:
	case (s.mutation == mutationNoGuards || s.mutation == mutationNoHolder) && a.Do == DoFind:
	case s.mutation == mutationNoRowCheck && a.Do == DoReadLocked:
		row := s.secret.sign(Row{Key: a.Row.Key, State: BranchRow})
		ans.Row = &row
	case s.mutation == mutationNoKill && a.Do == DoKill:
	default:
		return false
	}
	p.later(time.Millisecond, func() { done(ans) })
	return true
}

// trouble makes something go wrong now and then while a message of the protocol is under way.
func (s *sim) trouble(p *proxy, node int, k *link) {
	if s.budget == 0 || s.healed != 0 || !s.chance(12) {
		return
	}
	s.budget--
	s.troubles++
	at := s.between(0, 8*time.Millisecond)
	s.after(at, func() {
		if s.healed == 0 {
			s.fault(p, node, k)
		}
	})
}

// fault is one thing that goes wrong.
func (s *sim) fault(p *proxy, node int, k *link) {
	m := s.primary[node]
	defer func() { s.trace(GTRID{}, "fault at proxy %d, node %d", p.id, node) }()
	long := s.between(10*time.Millisecond, 4*time.Second)
	if s.chance(3) {
		long = s.between(time.Second, 45*time.Second)
	}
	kind := s.rand.IntN(12)
	s.trace(GTRID{}, "kind %d for %v", kind, long)
	if s.jumpy && s.chance(2) {
		kind = 8
	}
	switch kind {
	case 0, 1, 2:
		if k == nil {
			k = p.links[s.rand.IntN(max(1, len(p.links)))]
		}
		k.cut()
	case 3:
		if m.up {
			m.crash()
			s.after(long, func() { s.restart(m) })
		}
	case 4:
		if m.up { // another server, which has all that this one had, takes its place
			m.crash()
			m.name += "'"
			s.restart(m)
		}
	case 5:
		m.pause(long)
	case 6:
		if p.up {
			p.die()
			s.after(long, func() { s.revive(p) })
		}
	case 7:
		p.pause(long)
	case 8:
		m.offset += s.between(-2*time.Minute, 2*time.Minute)
		if s.jumpy {
			p.pause(s.between(0, 45*time.Second))
		}
	case 9:
		p.wall += s.between(-20*time.Minute, 20*time.Minute)
	case 10:
		s.slow[node] = max(s.slow[node], s.now+long)
	case 11:
		for _, other := range slices.Clone(p.links) {
			other.cut()
		}
	}
}

func (s *sim) restart(m *model) {
	if !m.up {
		m.up, m.lastID = true, 0
	}
}

func (s *sim) revive(p *proxy) {
	if !p.up {
		p.start()
	}
}

// heal ends all faults.
func (s *sim) heal() {
	s.healed = s.now
	for n, m := range s.primary {
		s.restart(m)
		m.paused = min(m.paused, s.now)
		m.resume()
		s.slow[n] = 0
		m.badEnd, m.badRow = 0, 0
	}
	for _, p := range s.proxies {
		p.paused = min(p.paused, s.now)
		p.resume()
		s.revive(p)
	}
}

// newSim makes the world of a seed.
func newSim(seed uint64, m mutation) *sim {
	s := &sim{loop: newLoop(seed), seed: seed, mutation: m, secret: Secret("a key that clients do not have"), timing: DefaultTiming(),
		forged: map[GTRID]bool{}, reported: map[GTRID][]Incident{}}
	s.timing.Settle, s.timing.FenceKeep, s.auditEvery = 3*time.Second, 12*time.Second, 3*time.Second
	if s.chance(4) {
		s.slowReads = 3 * time.Second
	}
	s.timing.DecideAnswer, s.timing.Decide = 2*time.Second, 5*time.Second // as the rests of the audit are shorter, too
	if err := s.timing.Validate(); err != nil {
		panic(err)
	}
	s.strict = s.chance(2)
	s.forging = s.chance(8)
	s.lossy = s.chance(8)
	s.jumpy = s.chance(8)
	s.budget = s.rand.IntN(7)
	switch m {
	case mutationNoSettle:
		s.timing.Settle, s.auditEvery, s.slowReads = 0, 100*time.Millisecond, 1900*time.Millisecond
	case mutationSpread:
		s.slowReads, s.auditEvery = 12*time.Second, time.Second
	case mutationNoRowCheck:
		s.lossy = true
	case mutationNoMAC:
		s.forging = true
	case mutationNoGuards, mutationNoHolder:
		s.jumpy, s.budget = true, 4
	}
	families := s.rand.IntN(4) // 3 is one of each
	for n := range 2 + s.rand.IntN(nodesMax-1) {
		s.nodes = append(s.nodes, NodeIDOf(fmt.Sprint("node", n)))
		f := family(families)
		if families == 3 {
			f = family(n % 3)
		}
		model := newModel(s.loop, f, fmt.Sprint("server", n))
		model.lossy = s.lossy
		if m == mutationNoGuards {
			model.noFences = 1
		}
		if s.chance(4) {
			model.badEnd, model.badRow = 10, 10
		}
		s.primary = append(s.primary, model)
		s.slow = append(s.slow, 0)
	}
	if s.chance(10) {
		s.primary[1] = s.primary[0] // two nodes on one server
	}
	for n := range 2 + s.rand.IntN(2) {
		p := &proxy{s: s, id: uint32(n + 1)}
		s.proxies = append(s.proxies, p)
		p.start()
	}
	for range 4 + s.rand.IntN(9) {
		s.newClient()
	}
	readers := 2 + s.rand.IntN(6)
	if m == mutationNoSettle || m == mutationSpread {
		readers = 30
	}
	for range readers {
		s.newReader()
	}
	return s
}

// newClient is a transaction that moves money between two nodes, and may read and move more.
func (s *sim) newClient() {
	p := s.proxies[s.rand.IntN(len(s.proxies))]
	c := &client{s: s, p: p, number: len(s.clients), links: map[int]*link{}}
	order := s.rand.Perm(len(s.nodes))
	from, to, money := order[0], order[1], 1+s.rand.IntN(9)
	c.ops = []clientOp{
		{node: from, account: s.rand.IntN(accounts), delta: -money, op: opAdd},
		{node: to, account: s.rand.IntN(accounts), delta: money, op: opAdd},
	}
	for s.chance(2) {
		n := s.rand.IntN(len(s.nodes))
		o := clientOp{node: n, account: s.rand.IntN(accounts), op: opRead}
		switch s.rand.IntN(3) {
		case 0:
			o.op = opLockRead
		case 1:
			o.op = opAdd
		}
		c.ops = append(c.ops, o)
	}
	s.rand.Shuffle(len(c.ops), func(i, k int) { c.ops[i], c.ops[k] = c.ops[k], c.ops[i] })
	if s.chance(6) { // a transaction that changes one node at the most
		c.ops = slices.DeleteFunc(c.ops, func(o clientOp) bool { return o.op == opAdd && o.node != from })
		for k := range c.ops {
			c.ops[k].delta = 0
		}
	}
	s.clients = append(s.clients, c)
	s.after(s.between(0, 4*time.Second)/time.Duration(1+3*s.rand.IntN(2)), func() {
		if p.deliver(func() { c.next(0) }); !p.up {
			c.ended = true
		}
	})
}

func (s *sim) newReader() {
	r := &reader{s: s, p: s.proxies[s.rand.IntN(len(s.proxies))]}
	r.nodes = s.rand.Perm(len(s.nodes))[:2+s.rand.IntN(len(s.nodes)-1)]
	s.after(s.between(0, 6*time.Second), func() { r.p.deliver(r.try) })
}

// simulate runs a seed, and returns the first violation, "" if there is none.
func simulate(seed uint64, m mutation) *sim {
	s := newSim(seed, m)
	s.run(s.between(5*time.Second, 20*time.Second))
	if s.jumpy {
		s.run(s.now + 30*time.Second)
	}
	s.heal()
	s.run(s.healed + 10*time.Second)
	for n, model := range s.primary {
		for _, x := range model.sortedXIDs() {
			if model.prepared[x].prepared <= s.healed {
				s.violate("%v is in doubt on node %d 10 s after everything is back", x, n)
			}
		}
	}
	s.run(s.healed + 15*time.Second)
	for _, c := range s.halfOpen {
		c.close() // the servers have found out
	}
	s.run(s.healed + 50*time.Second)
	s.check()
	return s
}

// check looks at what is left when all is over.
func (s *sim) check() {
	total := 0
	seen := map[*model]bool{}
	for n, m := range s.primary {
		if seen[m] {
			continue
		}
		seen[m] = true
		for _, v := range m.balances {
			total += v
		}
		if m.loose > 0 {
			s.violate("node %d ran a statement outside of its transaction", n)
		}
		if len(m.prepared) > 0 {
			s.violate("node %d has prepared branches at the end", n)
		}
		for k := range m.accLocks {
			if m.accLocks[k].owner != nil || len(m.accLocks[k].shared) > 0 {
				s.violate("node %d has a lock at the end", n)
			}
		}
		for key, d := range m.dtx {
			_, g, _ := parseText(key, key[:3])
			kept := d.row.State == Aborted || d.done
			for known := range s.reported {
				kept = kept || known.Proxy == g.Proxy && known.Sequence == g.Sequence
			}
			if !kept {
				s.violate("node %d has the row %v at the end", n, d.row)
			}
		}
	}
	lost := false
	for _, c := range s.clients {
		lost = s.checkClient(c) || lost
	}
	if total != 0 && !lost {
		s.violate("%d is missing", -total)
	}
}

// checkClient compares what a client heard with what the servers have, and reports whether a branch was lost, and that known.
func (s *sim) checkClient(c *client) bool {
	has, lacks := 0, 0
	for _, node := range c.changed {
		if s.primary[node].applied&(1<<uint(c.number*nodesMax+node)) != 0 {
			has++
		} else {
			lacks++
		}
	}
	if has > 0 && lacks > 0 {
		for _, i := range s.reported[c.t.GTRID] {
			if i.Kind == IncidentLost {
				return true
			}
		}
		s.violate("transaction %d is on %d of %d nodes", c.number, has, has+lacks)
	}
	if c.p.up && c.co != nil && !c.ended && c.life() {
		s.violate("the coordinator of transaction %d never ended", c.number)
	}
	switch {
	case !c.told:
	case c.heard.End == Commit && lacks > 0 && !s.lostBranch(c.t.GTRID):
		s.violate("the client of transaction %d heard that it is committed, and it is not", c.number)
	case c.heard.End == Rollback && has > 0:
		s.violate("the client of transaction %d heard that it is rolled back (%v), and it is committed", c.number, c.heard.Cause)
	case c.heard.End == Commit && !c.sent:
		s.violate("transaction %d was committed, and nobody asked for it", c.number)
	}
	return false
}

// life reports whether the process that began the transaction is still there.
func (c *client) life() bool { return c.t.GTRID.Sequence>>32 == uint64(c.p.life) }

// seeds is how many worlds are tried: KS_SEEDS says otherwise.
func seeds(t *testing.T, n int) int {
	if text := os.Getenv("KS_SEEDS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	} else if testing.Short() {
		n /= 10
	}
	return n
}

// TestSimulator lets transactions meet faults in as many worlds as there are seeds. A world that fails is the same again with KS_SEED.
func TestSimulator(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	worlds := 20_000
	if underRace {
		worlds = 1000
	}
	first, n := uint64(1), seeds(t, worlds)
	if text := os.Getenv("KS_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, n = seed, 1
	}
	if text := os.Getenv("KS_FIRST"); text != "" {
		first, _ = strconv.ParseUint(text, 10, 64)
	}
	var committed, background, rolledBack, unknown, reads, torn, asks, troubles int
	reasons, failures := map[Reason]int{}, 0
	for seed := first; seed < first+uint64(n); seed++ {
		s := simulate(seed, mutationNone)
		if s.violation != "" {
			t.Errorf("KS_SEED=%d: %s", seed, s.violation)
			if failures++; failures == 20 {
				break
			}
		}
		for _, c := range s.clients {
			switch {
			case !c.told:
			case c.heard.End == Commit && c.heard.Background > 0:
				background++
			case c.heard.End == Commit:
				committed++
			case c.heard.End == Rollback:
				rolledBack++
				reasons[c.heard.Cause.Reason]++
			default:
				unknown++
			}
		}
		reads, torn, asks, troubles = reads+s.reads, torn+s.tornReads, asks+s.asks, troubles+s.troubles
	}
	t.Logf("%d worlds: %d committed, %d with branches in the background, %d rolled back, %d unknown; %d reads, %d tries torn, %d asked; %d faults; reasons %v",
		n, committed, background, rolledBack, unknown, reads, torn, asks, troubles, reasons)
	if n >= 1000 && (committed < 4*n || background == 0 || rolledBack == 0 || unknown == 0 || reads < n || torn == 0 || asks == 0 || troubles < n) {
		t.Error("the worlds are too quiet")
	}
}

// Each way to break the protocol is found: the simulator would see it if the protocol had the fault.
func TestSimulatorFindsFaults(t *testing.T) {
	const most = 8000
	for m := mutation(1); m < mutations; m++ {
		t.Run(strings.ReplaceAll(broken[m].name, " ", "_"), func(t *testing.T) {
			for seed := uint64(1); seed <= most; seed++ {
				if s := simulate(seed, m); s.violation != "" {
					if found, err := regexp.MatchString(broken[m].found, s.violation); err != nil || !found {
						t.Errorf("seed %d: %s, want %q", seed, s.violation, broken[m].found)
						continue
					}
					t.Logf("seed %d: %s", seed, s.violation)
					return
				}
			}
			t.Errorf("not found in %d seeds", most)
		})
	}
}
