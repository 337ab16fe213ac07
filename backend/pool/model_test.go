package pool

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// model is the pool as one would explain it: lists, and no concurrency. Patience and dials are ideal: a Get waits for
// an hour, which never passes, and a dial takes no time.
type model struct {
	max     int
	limit   *atomic.Int32 // of loans, but to who waits ahead
	idle    []*testPooled // oldest first
	lent    []*testPooled
	evicted []string             // settings of connections lent with another, oldest first
	stale   map[*testPooled]bool // borrowed before CloseIdle
	waiting []waitingGet
	refuse  bool // the server refuses
	held    bool // dials are held back
	probing bool // the last dial failed: one at a time
	seen    map[*fakeConn]bool
}

type waitingGet struct {
	want   string
	ahead  bool
	ch     <-chan result
	cancel chan struct{}
}

func (m *model) open() int { return len(m.idle) + len(m.lent) }

// room reports whether one more may be lent than are lent and so many others.
func (m *model) room(ahead bool, others int) bool {
	return ahead || len(m.lent)+others < min(int(m.limit.Load()), m.max)
}

// expect is what a Get must give now: an idle connection, a new one, an error, or nothing yet.
func (m *model) expect(want string, ahead bool, now time.Duration) (pc *testPooled, dial, refused bool) {
	if !m.room(ahead, 0) {
		return nil, false, false
	}
	newest := func(key string) *testPooled {
		for _, pc := range slices.Backward(m.idle) {
			if pc.Key == key {
				return pc
			}
		}
		return nil
	}
	if pc = newest(want); pc != nil {
		return pc, false, false
	}
	if pc = newest(""); pc != nil {
		return pc, false, false
	}
	if len(m.idle) > 0 && now-m.idle[0].idleSince >= restedAfter {
		return m.idle[0], false, false
	}
	if mayDial := m.open() < m.max && !m.held; len(m.idle) > 0 {
		if !mayDial || len(m.waiting) > 0 {
			return m.idle[0], false, false
		}
		k := slices.Index(m.evicted, want)
		if k < 0 || len(m.idle) >= evictedMax {
			return m.idle[0], false, false
		}
		m.evicted = slices.Delete(m.evicted, k, k+1)
	}
	if m.open() < m.max && !m.held && !m.refuse {
		return nil, true, false
	}
	if m.open() < m.max && !m.held {
		m.held, m.probing = true, true // it dials and is refused
		if len(m.idle) == 0 {
			return nil, false, true
		}
	}
	if len(m.idle) > 0 {
		return m.idle[0], false, false
	}
	return nil, false, m.held && len(m.lent) == 0
}

// machine drives a pool and its model.
type machine struct {
	m model
	p *testPool
	s *server
}

func (x *machine) lend(rt *rapid.T, r result, pc *testPooled) {
	if r.err != nil || pc != nil && r.pc != pc {
		rt.Fatalf("got %+v, want connection %+v", r, pc)
	}
	if pc == nil {
		if x.m.seen[r.pc.Conn] || r.pc.Key != "" {
			rt.Fatalf("got connection %d with %q, want a new one", r.pc.Conn.id, r.pc.Key)
		}
		x.m.seen[r.pc.Conn] = true
		x.m.held, x.m.probing = false, false
	}
	x.m.idle = slices.DeleteFunc(x.m.idle, func(i *testPooled) bool { return i == r.pc })
	x.m.lent = append(x.m.lent, r.pc)
}

// receive gives the answer that must be there.
func receive(rt *rapid.T, ch <-chan result) result {
	synctest.Wait()
	select {
	case r := <-ch:
		return r
	default:
		rt.Fatal("a Get was not answered")
		return result{}
	}
}

func (x *machine) get(rt *rapid.T) {
	x.getBy(rt, x.p.Get, false)
}

func (x *machine) getAhead(rt *rapid.T) { x.getBy(rt, x.p.GetAhead, true) }

func (x *machine) getBy(rt *rapid.T, get func(string, time.Time, <-chan struct{}) (*testPooled, error), ahead bool) {
	want := rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "want")
	cancel := make(chan struct{})
	pc, dial, refused := x.m.expect(want, ahead, x.p.now())
	ch := startBy(get, want, time.Hour, cancel)
	switch {
	case pc != nil || dial:
		if pc != nil && pc.Key != want && pc.Key != "" {
			x.m.evicted = append(x.m.evicted, pc.Key)
			x.m.evicted = x.m.evicted[max(0, len(x.m.evicted)-evictedMax):]
		}
		x.lend(rt, receive(rt, ch), pc)
	case refused:
		if r := receive(rt, ch); !errors.Is(r.err, errRefused) {
			rt.Fatalf("got %+v, want a refusal", r)
		}
	default:
		at := len(x.m.waiting)
		if k := slices.IndexFunc(x.m.waiting, func(w waitingGet) bool { return !w.ahead }); ahead && k >= 0 {
			at = k
		}
		x.m.waiting = slices.Insert(x.m.waiting, at, waitingGet{want, ahead, ch, cancel})
	}
}

// slotFreed answers waiters who may have an idle connection or dial now, or need not hope. Those who may dial do so together: a refusal of one
// does not call back the others.
func (x *machine) slotFreed(rt *rapid.T) {
	for len(x.m.waiting) > 0 {
		if n := len(x.m.idle); n > 0 && x.m.room(x.m.waiting[0].ahead, 0) {
			x.lend(rt, x.firstWaiter(rt), x.m.idle[n-1])
			continue
		}
		dials := 0
		for dials < len(x.m.waiting) && x.m.open()+dials < x.m.max && x.m.room(x.m.waiting[dials].ahead, dials) {
			dials++
		}
		if x.m.probing {
			dials = min(dials, 1)
		}
		if x.m.held || dials <= 0 {
			break
		}
		for range dials {
			r := x.firstWaiter(rt)
			if !x.m.refuse {
				x.lend(rt, r, nil)
				continue
			}
			x.m.held, x.m.probing = true, true
			if !errors.Is(r.err, errRefused) {
				rt.Fatalf("a waiter got %+v, want a refusal", r)
			}
		}
	}
	for x.m.held && x.m.open() == 0 && len(x.m.waiting) > 0 {
		if r := x.firstWaiter(rt); !errors.Is(r.err, errRefused) {
			rt.Fatalf("a waiter without hope got %+v", r)
		}
	}
}

// firstWaiter gives the answer to the first in line, who leaves it.
func (x *machine) firstWaiter(rt *rapid.T) result {
	w := x.m.waiting[0]
	x.m.waiting = x.m.waiting[1:]
	return receive(rt, w.ch)
}

func (x *machine) pick(rt *rapid.T) *testPooled {
	if len(x.m.lent) == 0 {
		rt.Skip("nothing lent")
	}
	i := rapid.IntRange(0, len(x.m.lent)-1).Draw(rt, "loan")
	return x.m.lent[i]
}

func (x *machine) drop(pc *testPooled) {
	x.m.lent = slices.DeleteFunc(x.m.lent, func(l *testPooled) bool { return l == pc })
}

func (x *machine) put(rt *rapid.T) {
	pc := x.pick(rt)
	pc.Key = rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "key")
	surplus := x.m.stale[pc] || x.m.open() > x.m.max
	x.p.Put(pc)
	switch {
	case surplus:
		x.drop(pc)
		x.slotFreed(rt)
	case len(x.m.waiting) > 0 && x.m.room(x.m.waiting[0].ahead, -1):
		if r := x.firstWaiter(rt); r.pc != pc {
			rt.Fatalf("the first waiter got %+v", r)
		}
	default:
		x.drop(pc)
		x.m.idle = append(x.m.idle, pc)
	}
	if pc.Conn.closed.Load() != surplus {
		rt.Fatalf("closed: %v, want %v", !surplus, surplus)
	}
}

func (x *machine) taint(rt *rapid.T) {
	pc := x.pick(rt)
	x.p.Taint(pc)
	x.drop(pc)
	x.slotFreed(rt)
}

func (x *machine) giveUp(rt *rapid.T) {
	if len(x.m.waiting) == 0 {
		rt.Skip("nobody waits")
	}
	i := rapid.IntRange(0, len(x.m.waiting)-1).Draw(rt, "waiter")
	w := x.m.waiting[i]
	x.m.waiting = slices.Delete(x.m.waiting, i, i+1)
	close(w.cancel)
	if r := receive(rt, w.ch); r.err != ErrCancelled {
		rt.Fatalf("cancelled, got %+v", r)
	}
}

func (x *machine) setMax(rt *rapid.T) {
	x.m.max = rapid.IntRange(1, 5).Draw(rt, "max")
	x.p.SetMax(x.m.max)
	for x.m.open() > x.m.max && len(x.m.idle) > 0 {
		x.m.idle = x.m.idle[1:]
	}
	x.slotFreed(rt)
}

func (x *machine) setLimit(rt *rapid.T) {
	x.m.limit.Store(int32(rapid.IntRange(1, 5).Draw(rt, "limit")))
	x.p.Adapt()
	x.slotFreed(rt)
}

func (x *machine) closeIdle(rt *rapid.T) {
	x.p.CloseIdle()
	x.m.idle = nil
	for _, pc := range x.m.lent {
		x.m.stale[pc] = true
	}
	x.slotFreed(rt)
}

func (x *machine) server(rt *rapid.T) {
	x.m.refuse = !x.m.refuse
	x.s.set(nil, 0)
	if x.m.refuse {
		x.s.set(errRefused, 0)
	}
}

// backoffEnds lets more time pass than any back-off takes, so that the outcome does not depend on the lot.
func (x *machine) backoffEnds(rt *rapid.T) {
	if x.m.refuse {
		rt.Skip("each dial would begin another back-off")
	}
	time.Sleep(2 * backoffMax)
	x.m.held = false
	x.slotFreed(rt)
}

// check compares everything that can be seen from outside, and that nobody was answered who should wait.
func (x *machine) check(rt *rapid.T) {
	synctest.Wait()
	st := x.p.Stats()
	if st.Idle != len(x.m.idle) || st.InUse != len(x.m.lent) || st.Waiting != len(x.m.waiting) || st.Max != x.m.max ||
		st.Open != x.m.open() || st.Dialling != 0 {
		rt.Fatalf("%d idle, %d lent, %d waiting, ceiling %d expected; %+v",
			len(x.m.idle), len(x.m.lent), len(x.m.waiting), x.m.max, st)
	}
	if x.p.Lent() != st.InUse {
		rt.Fatalf("%d on loan, %d are shown", st.InUse, x.p.Lent())
	}
	if _, open := x.s.count(); open != st.Open {
		rt.Fatalf("%d connections open, %d expected", open, st.Open)
	}
	for i, w := range x.m.waiting {
		if len(w.ch) != 0 {
			rt.Fatalf("waiter %d was answered out of turn", i)
		}
	}
}

// unbounded hides the T that rapid would ask for the test's deadline, which a bubble does not have.
type unbounded struct{ *testing.T }

func TestModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(unbounded{t}, func(rt *rapid.T) {
			s := &server{}
			x := &machine{m: model{max: 3, limit: new(atomic.Int32), stale: map[*testPooled]bool{}, seen: map[*fakeConn]bool{}}, s: s}
			x.m.limit.Store(3)
			x.p = Open(Config[*fakeConn, string]{Max: 3, Dial: s.dial, Limit: func(Use) int { return int(x.m.limit.Load()) }})
			defer func() {
				x.p.Close()
				for _, pc := range x.m.lent {
					x.p.Put(pc)
				}
				synctest.Wait()
				if _, open := s.count(); open != 0 {
					rt.Errorf("%d connections left open", open)
				}
			}()
			rt.Repeat(map[string]func(*rapid.T){
				"get": x.get, "get again": x.get, "get ahead": x.getAhead, "set limit": x.setLimit, "put": x.put, "taint": x.taint, "give up": x.giveUp,
				"set max": x.setMax, "close idle": x.closeIdle, "server": x.server, "back-off ends": x.backoffEnds, "": x.check,
			})
		})
	})
}
