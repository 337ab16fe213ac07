package pool

import (
	"testing"
	"time"
)

// fill leaves idle connections with these keys, the first one idle for longest.
func fill(t *testing.T, p *testPool, keys ...string) []*testPooled {
	t.Helper()
	pcs := make([]*testPooled, len(keys))
	for i := range keys {
		pcs[i] = get(t, p, "new")
	}
	for i, k := range keys {
		pcs[i].Key = k
		p.Put(pcs[i])
		time.Sleep(time.Millisecond)
	}
	return pcs
}

func TestChoice(t *testing.T) {
	for _, c := range []struct {
		name    string
		idle    []string
		max     int
		want    string
		chosen  int // index into idle; -1 for a new one
		outcome Outcome
	}{
		{"same setting, most recent", []string{"a", "a", "b"}, 3, "a", 1, Hit},
		{"clean wanted and there", []string{"", "", "b"}, 3, "", 1, Hit},
		{"clean before a new one", []string{"", "b"}, 3, "a", 0, HitClean},
		{"most recent of the clean ones", []string{"", "", "b"}, 3, "a", 1, HitClean},
		{"a new one before another setting", []string{"b"}, 2, "a", -1, Dialled},
		{"another setting, least recent", []string{"b", "c", "b"}, 3, "a", 0, HitOther},
		{"another setting for a clean one", []string{"b", "c"}, 2, "", 0, HitOther},
		{"nothing idle", nil, 1, "a", -1, Dialled},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, Config[*fakeConn, string]{Max: c.max}, func(t *testing.T, p *testPool, s *server) {
				pcs := fill(t, p, c.idle...)
				before := p.Stats()
				pc := get(t, p, c.want)
				chosen := -1
				for i := range pcs {
					if pcs[i] == pc {
						chosen = i
					}
				}
				if chosen != c.chosen {
					t.Errorf("chose %d, want %d", chosen, c.chosen)
				}
				after := p.Stats()
				for o := range after.Gets {
					want := before.Gets[o].N
					if Outcome(o) == c.outcome {
						want++
					}
					if after.Gets[o].N != want {
						t.Errorf("outcome %v: %d, want %d", Outcome(o), after.Gets[o].N, want)
					}
				}
				p.Put(pc)
			})
		})
	}
}

// Every way out of the idle lists leaves both orders whole.
func TestIdleOrder(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 6}, func(t *testing.T, p *testPool, s *server) {
		pcs := fill(t, p, "a", "b", "a", "c", "a", "b")
		order := []struct {
			want string
			i    int
		}{{"a", 4}, {"x", 0}, {"b", 5}, {"x", 1}, {"a", 2}, {"b", 3}}
		for _, o := range order {
			if pc := get(t, p, o.want); pc != pcs[o.i] {
				t.Fatalf("Get(%q) gave connection %d, want %d", o.want, pc.Conn.id, pcs[o.i].Conn.id)
			}
		}
		if len(p.idle.tops) != 0 || p.idle.newest != nil || p.idle.oldest != nil {
			t.Errorf("idle list not empty: %+v", p.idle)
		}
		for _, pc := range pcs {
			p.Put(pc)
		}
	})
}

func TestAliveOnlyAfterIdleSecond(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 2}, func(t *testing.T, p *testPool, s *server) {
		pcs := fill(t, p, "", "")
		first := pcs[1].Conn
		first.dead.Store(true)
		pc := get(t, p, "")
		if pc.Conn != first || first.checks.Load() != 0 {
			t.Errorf("a connection just used was checked %d times", first.checks.Load())
		}
		p.Put(pc)
		time.Sleep(1100 * time.Millisecond)
		pc = get(t, p, "")
		if pc != pcs[0] || !first.closed.Load() || pc.Conn.checks.Load() != 1 {
			t.Errorf("the dead connection was not passed over: %+v", pc)
		}
		st := p.Stats()
		if st.Closed[ClosedDead] != 1 || st.Open != 1 || st.InUse != 1 {
			t.Errorf("%+v", st)
		}
		p.Put(pc)
	})
}

func TestAllDeadDialsAnew(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 3}, func(t *testing.T, p *testPool, s *server) {
		for _, pc := range fill(t, p, "a", "", "b") {
			pc.Conn.dead.Store(true)
		}
		time.Sleep(2 * time.Second)
		pc := get(t, p, "a")
		if dials, _ := s.count(); dials != 4 || pc.Conn.dead.Load() {
			t.Errorf("%d dials, dead %v", dials, pc.Conn.dead.Load())
		}
		p.Put(pc)
	})
}

func TestGivenBackTwicePanics(t *testing.T) {
	for name, again := range map[string]func(*testPool, *testPooled){"Put": (*testPool).Put, "Taint": (*testPool).Taint} {
		inBubble(t, Config[*fakeConn, string]{Max: 1}, func(t *testing.T, p *testPool, s *server) {
			pc := get(t, p, "")
			p.Put(pc)
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("second %s went unnoticed", name)
					}
				}()
				again(p, pc)
			}()
			p.Put(get(t, p, "")) // the pool goes on
		})
	}
}

// Clients that come and go, each with one setting at first and another one later, do not make the pool grow.
func TestRestedConnectionBeforeANewOne(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 100}, func(t *testing.T, p *testPool, s *server) {
		for range 10 {
			var pcs []*testPooled
			for range 5 {
				pcs = append(pcs, get(t, p, "login"))
			}
			for _, pc := range pcs {
				pc.Key = "later"
				p.Put(pc)
			}
			time.Sleep(2 * restedAfter)
		}
		if st := p.Stats(); st.Open != 5 {
			t.Errorf("%d connections are open, at most 5 were in use", st.Open)
		}
		// Those in use by others a moment ago are left to them.
		var pcs []*testPooled
		for range 5 {
			pcs = append(pcs, get(t, p, "later"))
		}
		for _, pc := range pcs {
			p.Put(pc)
		}
		get(t, p, "login")
		if st := p.Stats(); st.Open != 6 {
			t.Errorf("%d connections are open, want a sixth", st.Open)
		}
	})
}
