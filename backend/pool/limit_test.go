package pool

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// limited is a Config of a pool whose limit a test sets; used is what the pool told last.
func limited(maximum int) (cfg Config[*fakeConn, string], limit *atomic.Int32, used *atomic.Pointer[Use]) {
	limit, used = new(atomic.Int32), new(atomic.Pointer[Use])
	limit.Store(int32(maximum))
	cfg = Config[*fakeConn, string]{Max: maximum, Limit: func(u Use) int {
		used.Store(&u)
		return int(limit.Load())
	}}
	return cfg, limit, used
}

// interval lets the pool ask for its limit.
func interval() {
	time.Sleep(LimitInterval)
	synctest.Wait()
}

// A lowered limit leaves what is lent, has others wait though connections are idle, but for those who hold other ones, and comes into force by itself.
func TestLimit(t *testing.T) {
	cfg, limit, used := limited(4)
	inBubble(t, cfg, func(t *testing.T, p *testPool, s *server) {
		a, b, c := get(t, p, ""), get(t, p, ""), get(t, p, "")
		limit.Store(2)
		interval()
		if st := p.Stats(); st.Limit != 2 || st.Max != 4 || *used.Load() != (Use{Lent: 3}) {
			t.Errorf("%+v, used %+v", st, used.Load())
		}
		waits := start(p, "", time.Hour, nil)
		p.Put(c)
		pending(t, waits) // two are lent still, and one is idle
		if _, full := p.TryGet(""); !full {
			t.Error("TryGet does not tell that all that may be are lent")
		}
		var place Place[*fakeConn, string]
		line := Line[*fakeConn, string]{Tell: func(*Place[*fakeConn, string]) {}}
		if err := p.Enqueue(&place, &line, in(time.Hour)); err != nil {
			t.Fatalf("a place beyond the limit: %v", err)
		}
		ahead, err := p.GetAhead("", in(time.Second), nil)
		if err != nil || ahead != c {
			t.Fatalf("who holds another connection got %v, %v", ahead, err)
		}
		p.Put(ahead)
		pending(t, waits)
		p.Put(a)
		if r := answered(t, waits); r.pc != a {
			t.Fatalf("the first in line got %+v", r)
		}
		limit.Store(3)
		interval()
		if got := p.Answered(&place, ""); got != c {
			t.Errorf("the place got %v of a raised limit, want the idle connection", got)
		}
		if *used.Load() != (Use{Lent: 3, Waited: true}) {
			t.Errorf("used %+v", used.Load())
		}
		if dials, _ := s.count(); dials != 3 {
			t.Errorf("%d connections were opened", dials)
		}
		for _, pc := range []*testPooled{a, b, c} {
			p.Put(pc)
		}
	})
}

// The errors of those who waited in vain name the limit.
func TestLimitInErrors(t *testing.T) {
	cfg, limit, _ := limited(4)
	limit.Store(1)
	cfg.MaxWaiters = 1
	inBubble(t, cfg, func(t *testing.T, p *testPool, s *server) {
		pc := get(t, p, "")
		waits := start(p, "", time.Second, nil)
		_, err := p.Get("", in(time.Second), nil)
		if e, ok := errors.AsType[*CrowdedError](err); !ok || e.InUse != 1 || e.Max != 1 {
			t.Errorf("one too many: %v", err)
		}
		time.Sleep(time.Second)
		if e, ok := errors.AsType[*TimeoutError](answered(t, waits).err); !ok || e.InUse != 1 || e.Max != 1 {
			t.Errorf("too late: %v", e)
		}
		p.Put(pc)
	})
}

// A connection that was idle while others waited may be dead when it is lent to them.
func TestLimitRaisedOverDead(t *testing.T) {
	cfg, limit, _ := limited(2)
	inBubble(t, cfg, func(t *testing.T, p *testPool, s *server) {
		a, b := get(t, p, ""), get(t, p, "")
		limit.Store(1)
		interval()
		p.Put(b)
		var place Place[*fakeConn, string]
		line := Line[*fakeConn, string]{Tell: func(*Place[*fakeConn, string]) {}}
		if err := p.Enqueue(&place, &line, in(time.Hour)); err != nil {
			t.Fatal(err)
		}
		b.Conn.dead.Store(true)
		time.Sleep(2 * aliveAfter)
		limit.Store(2)
		interval()
		if got := p.Answered(&place, ""); got != nil {
			t.Fatal("a dead connection was lent")
		}
		pc, err := p.Take(&place, in(time.Second), nil)
		if err != nil || pc == b || pc.Conn.dead.Load() {
			t.Fatalf("%v, %v", pc, err)
		}
		p.Put(pc)
		p.Put(a)
	})
}
