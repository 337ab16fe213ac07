package pool

import (
	"testing"
	"time"
)

func TestClose(t *testing.T) {
	for name, end := range map[string]func(*testPool){"Close": (*testPool).Close, "Drain": (*testPool).Drain} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config[*fakeConn, string]{Max: 2}, func(t *testing.T, p *testPool, s *server) {
				lent, kept := get(t, p, ""), get(t, p, "")
				blocked := start(p, "", time.Minute, nil)
				end(p)
				end(p)
				if r := answered(t, blocked); r.err != ErrClosed {
					t.Errorf("waiter: %+v", r)
				}
				if _, err := p.Get("", in(time.Minute), nil); err != ErrClosed {
					t.Errorf("Get: %v", err)
				}
				if lent.Conn.closed.Load() {
					t.Error("a connection on loan was closed")
				}
				p.Put(lent)
				p.Put(kept)
				if _, open := s.count(); open != 0 {
					t.Errorf("%d connections open", open)
				}
				if st := p.Stats(); st.Open != 0 || st.Gets[Refused].N != 2 {
					t.Errorf("%+v", st)
				}
			})
		})
	}
}

func TestCloseWhileDialling(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 1}, func(t *testing.T, p *testPool, s *server) {
		s.set(nil, time.Second)
		ch := start(p, "", time.Minute, nil)
		p.Close()
		time.Sleep(time.Second)
		if r := answered(t, ch); r.err != ErrClosed {
			t.Errorf("%+v", r)
		}
		if _, open := s.count(); open != 0 {
			t.Errorf("%d connections open", open)
		}
	})
}

func TestCloseIdle(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 4}, func(t *testing.T, p *testPool, s *server) {
		pcs := fill(t, p, "a", "b", "c")
		lent := get(t, p, "c")
		s.set(nil, time.Second)
		p.evicted.add("x")
		dialling := start(p, "x", time.Minute, nil) // for which a new one is opened
		p.CloseIdle()
		for i := range 2 {
			if !pcs[i].Conn.closed.Load() {
				t.Errorf("idle connection %d still open", i)
			}
		}
		p.Put(lent)
		time.Sleep(time.Second)
		p.Put(answered(t, dialling).pc)
		if _, open := s.count(); open != 0 {
			t.Errorf("%d connections of the old generation open", open)
		}
		s.set(nil, 0)
		p.Put(get(t, p, ""))
		if st := p.Stats(); st.Idle != 1 || st.Closed[ClosedRetired] != 4 {
			t.Errorf("%+v", st)
		}
	})
}

func TestSetMax(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 6}, func(t *testing.T, p *testPool, s *server) {
		pcs := fill(t, p, "", "", "", "", "", "")
		var lent []*testPooled
		for range 3 {
			lent = append(lent, get(t, p, ""))
		}
		p.SetMax(4) // two of the three idle ones go, the oldest
		if !pcs[0].Conn.closed.Load() || !pcs[1].Conn.closed.Load() || pcs[2].Conn.closed.Load() {
			t.Error("not the oldest idle ones were closed")
		}
		p.SetMax(2)
		for i, pc := range lent {
			p.Put(pc)
			if want := i == 0; pc.Conn.closed.Load() != want {
				t.Errorf("loan %d closed: %v", i, !want)
			}
		}
		if st := p.Stats(); st.Open != 2 || st.Idle != 2 || st.Max != 2 {
			t.Errorf("%+v", st)
		}
		p.SetMax(-5)
		if st := p.Stats(); st.Max != 1 || st.Open != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// The slot is not free before the connection is closed.
func TestCeilingWhileClosing(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 1}, func(t *testing.T, p *testPool, s *server) {
		pc := get(t, p, "")
		ch := start(p, "", time.Minute, nil)
		p.Taint(pc)
		r := answered(t, ch)
		if r.err != nil || s.peak != 1 {
			t.Errorf("%v, %d open at once", r.err, s.peak)
		}
		p.Put(r.pc)
	})
}
