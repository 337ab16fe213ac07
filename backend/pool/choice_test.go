package pool

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
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
		{"another setting before a new one", []string{"b"}, 2, "a", 0, HitOther},
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

func TestCheckIdle(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 3}, func(t *testing.T, p *testPool, s *server) {
		pcs := fill(t, p, "", "")
		for _, pc := range pcs {
			pc.Conn.dead.Store(true)
		}
		time.Sleep(time.Millisecond)
		p.CheckIdle()
		pc := get(t, p, "")
		if dials, _ := s.count(); dials != 3 || pc.Conn.dead.Load() || !pcs[0].Conn.closed.Load() || !pcs[1].Conn.closed.Load() {
			t.Errorf("%d dials, dead %v", dials, pc.Conn.dead.Load())
		}
		time.Sleep(time.Millisecond)
		p.Put(pc)
		if again := get(t, p, ""); again != pc || pc.Conn.checks.Load() != 0 {
			t.Errorf("a connection that came back later was checked %d times", pc.Conn.checks.Load())
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

// Clients that come and go, each with one setting at first and another one later, do not make the pool grow; nor do settings that
// nobody has twice.
func TestClientsThatComeAndGo(t *testing.T) {
	for name, later := range map[string]func(n int) string{
		"one setting":          func(int) string { return "later" },
		"a setting of its own": func(n int) string { return strconv.Itoa(n) },
	} {
		for _, pause := range []time.Duration{0, time.Millisecond, 2 * restedAfter} {
			t.Run(fmt.Sprint(name, pause), func(t *testing.T) {
				inBubble(t, Config[*fakeConn, string]{Max: 1000}, func(t *testing.T, p *testPool, s *server) {
					for n := range 400 {
						for _, key := range []string{"login", later(n)} {
							pcs := make([]*testPooled, 5)
							for k := range pcs {
								pcs[k] = get(t, p, key)
								pcs[k].Key = key
							}
							for _, pc := range pcs {
								p.Put(pc)
							}
							time.Sleep(pause)
						}
					}
					if st := p.Stats(); st.Open > 10 {
						t.Errorf("%d connections are open, and 5 were in use at a time with 2 settings", st.Open)
					}
				})
			})
		}
	}
}

// The same of many at a time, whose turns overlap: the pool grows by no more idle connections than the settings that may come again.
func TestSettingsThatDoNotComeAgain(t *testing.T) {
	const clients, visits = 16, 2000
	inBubble(t, Config[*fakeConn, string]{Max: 5000}, func(t *testing.T, p *testPool, s *server) {
		s.set(nil, 2*time.Millisecond)
		var group sync.WaitGroup
		for n := range clients {
			group.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(n)))
				for k := range visits {
					for _, key := range []string{"login", fmt.Sprint(n, k)} {
						pc, err := p.Get(key, time.Now().Add(time.Minute), nil)
						if err != nil {
							t.Error(err)
							return
						}
						pc.Key = key
						time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
						p.Put(pc)
					}
				}
			})
		}
		group.Wait()
		if st := p.Stats(); st.Open > clients+evictedMax {
			t.Errorf("%d connections are open for %d clients", st.Open, clients)
		}
	})
}

// As many settings as come again and again get a connection each; where they take turns there is no other way to spare them the change.
func TestSettingsInTurns(t *testing.T) {
	const settings = evictedMax
	inBubble(t, Config[*fakeConn, string]{Max: 1000}, func(t *testing.T, p *testPool, s *server) {
		turn := func() {
			for k := range settings {
				pc := get(t, p, strconv.Itoa(k))
				pc.Key = strconv.Itoa(k)
				p.Put(pc)
			}
		}
		for range 100 {
			turn()
		}
		before := p.Stats()
		turn()
		if st := p.Stats(); st.Open != settings || st.Gets[Hit].N-before.Gets[Hit].N != settings {
			t.Errorf("%d connections for %d settings, %d lent with theirs", st.Open, settings, st.Gets[Hit].N-before.Gets[Hit].N)
		}
	})
}

// What is remembered of settings lent away has an end.
func TestEvicted(t *testing.T) {
	var e evicted[int]
	for k := range 3 * evictedMax {
		e.add(k)
	}
	if len(e.keys) != evictedMax || e.take(2*evictedMax-1) || !e.take(2*evictedMax) || e.take(2*evictedMax) || !e.take(3*evictedMax-1) {
		t.Errorf("%d are remembered: %v", len(e.keys), e.keys)
	}
}
