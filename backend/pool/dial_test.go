package pool

import (
	"errors"
	"testing"
	"time"
)

func TestDialDeadline(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 2, DialTimeout: 5 * time.Second}, func(t *testing.T, p *testPool, s *server) {
		for _, patience := range []time.Duration{3 * time.Second, time.Minute} {
			pc, err := p.Get("", in(patience), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := time.Until(s.deadline), min(patience, 5*time.Second); got != want {
				t.Errorf("dial within %v, want %v", got, want)
			}
			defer p.Put(pc)
		}
	})
}

func TestDialsAtOnce(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 20, DialsMax: 3}, func(t *testing.T, p *testPool, s *server) {
		s.set(nil, time.Second)
		var all []<-chan result
		for range 20 {
			all = append(all, start(p, "", time.Minute, nil))
		}
		if st := p.Stats(); st.Dialling != 3 || st.Waiting != 17 {
			t.Errorf("%+v", st)
		}
		time.Sleep(time.Minute)
		for _, ch := range all {
			r := answered(t, ch)
			if r.err != nil {
				t.Fatal(r.err)
			}
			p.Put(r.pc)
		}
		if s.dialsPeak != 3 {
			t.Errorf("%d dials at once", s.dialsPeak)
		}
	})
}

func TestBackoff(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 4}, func(t *testing.T, p *testPool, s *server) {
		s.set(errRefused, 0)
		_, first := p.Get("", in(time.Minute), nil)
		var e *DialError
		if !errors.As(first, &e) || !errors.Is(first, errRefused) {
			t.Fatal(first)
		}
		began := time.Now()
		if _, err := p.Get("", in(time.Minute), nil); err != first || !time.Now().Equal(began) {
			t.Fatalf("in back-off: %v after %v", err, time.Since(began))
		}
		if dials, _ := s.count(); dials != 1 {
			t.Fatalf("%d dials in back-off", dials)
		}
		time.Sleep(70 * time.Millisecond)
		s.set(nil, 0)
		p.Put(get(t, p, ""))
		if st := p.Stats(); st.DialFailures != 1 || st.Gets[DialFailed].N != 2 {
			t.Errorf("%+v", st)
		}
		s.set(errRefused, 0)
		p.CloseIdle()
		if _, err := p.Get("", in(time.Minute), nil); err == nil {
			t.Fatal("no error")
		}
		if got := p.backoff.failures; got != 1 {
			t.Errorf("%d failures after a success and one more, want 1", got)
		}
	})
}

func TestBackoffGrows(t *testing.T) {
	want := backoffMin
	for n := range 100 {
		if d := backoffDelay(n); d < want*8/10 || d > want*12/10 {
			t.Fatalf("delay %v after %d failures, want about %v", d, n, want)
		}
		want = min(2*want, backoffMax)
	}
	var b backoff
	for range 16 { // one incident, sixteen dials under way
		b.failed(&DialError{errRefused}, 0, 0)
	}
	if b.failures != 1 {
		t.Errorf("%d failures counted for dials under way together", b.failures)
	}
}

// While connections are on loan a Get in back-off waits for one of them.
func TestBackoffWaitsForLoans(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 4}, func(t *testing.T, p *testPool, s *server) {
		pc := get(t, p, "")
		s.set(errRefused, 0)
		if _, err := p.Get("", in(time.Minute), nil); !errors.Is(err, errRefused) {
			t.Fatal(err)
		}
		ch := start(p, "", time.Minute, nil)
		pending(t, ch)
		p.Put(pc)
		if r := answered(t, ch); r.pc != pc {
			t.Fatalf("%+v", r)
		}
		p.Put(pc)
	})
}

// When the last loan ends in a taint while dials are held back those who wait hear why, at once.
func TestBackoffFailsWaitersWithoutHope(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 4}, func(t *testing.T, p *testPool, s *server) {
		pc := get(t, p, "")
		s.set(errRefused, 0)
		_, _ = p.Get("", in(time.Minute), nil)
		a, b := start(p, "", time.Minute, nil), start(p, "", time.Minute, nil)
		began := time.Now()
		p.Taint(pc)
		for _, ch := range []<-chan result{a, b} {
			if r := answered(t, ch); !errors.Is(r.err, errRefused) || !r.at.Equal(began) {
				t.Errorf("%+v", r)
			}
		}
	})
}

// At the end of the back-off the first waiter dials although nothing came back; a success lets the others dial too.
func TestBackoffEnds(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 4}, func(t *testing.T, p *testPool, s *server) {
		pc := get(t, p, "")
		s.set(errRefused, 0)
		_, _ = p.Get("", in(time.Minute), nil)
		var all []<-chan result
		for range 3 {
			all = append(all, start(p, "", time.Minute, nil))
		}
		s.set(nil, 0)
		time.Sleep(70 * time.Millisecond)
		for _, ch := range all {
			r := answered(t, ch)
			if r.err != nil {
				t.Fatal(r.err)
			}
			p.Put(r.pc)
		}
		p.Put(pc)
	})
}

func TestOneDialWhileFailing(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 40}, func(t *testing.T, p *testPool, s *server) {
		s.set(errRefused, 0)
		_, _ = p.Get("", in(time.Minute), nil)
		time.Sleep(100 * time.Millisecond)
		s.set(errRefused, time.Second)
		s.dialsPeak = 0
		var all []<-chan result
		for range 20 {
			all = append(all, start(p, "", time.Minute, nil))
		}
		time.Sleep(time.Second)
		for _, ch := range all {
			if r := answered(t, ch); !errors.Is(r.err, errRefused) {
				t.Errorf("%+v", r)
			}
		}
		if s.dialsPeak != 1 {
			t.Errorf("%d dials at once on a server that fails", s.dialsPeak)
		}
	})
}

// A borrower in a hurry who finds the server slow does not make it count as failing.
func TestHurriedDialIsNoFailure(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 4, DialTimeout: 5 * time.Second}, func(t *testing.T, p *testPool, s *server) {
		s.set(nil, time.Second)
		_, err := p.Get("", in(100*time.Millisecond), nil)
		var e *TimeoutError
		if !errors.As(err, &e) || e.LastDial == nil || e.Waited != 100*time.Millisecond {
			t.Fatalf("%v", err)
		}
		p.Put(func() *testPooled { pc, _ := p.Get("", in(time.Minute), nil); return pc }())
		if st := p.Stats(); st.DialFailures != 1 || st.Gets[TimedOut].N != 1 || st.Gets[Dialled].N != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// A connection with another setting is better than an error.
func TestFailedDialFallsBackToIdle(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 4}, func(t *testing.T, p *testPool, s *server) {
		pcs := fill(t, p, "a")
		s.set(errRefused, 0)
		if pc := get(t, p, "b"); pc != pcs[0] {
			t.Errorf("%+v", pc)
		}
		p.Put(pcs[0])
	})
}

func TestCancelledDial(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 1}, func(t *testing.T, p *testPool, s *server) {
		cancel := make(chan struct{})
		s.set(nil, time.Second)
		ch := start(p, "", time.Minute, cancel)
		next := start(p, "", time.Minute, nil)
		close(cancel)
		time.Sleep(time.Second)
		if r := answered(t, ch); r.err != ErrCancelled {
			t.Fatalf("%+v", r)
		}
		r := answered(t, next)
		if r.err != nil || r.pc.Conn.id != 0 {
			t.Fatalf("the connection did not go to the next in line: %+v", r)
		}
		p.Put(r.pc)
		s.set(nil, 0)
		p.CloseIdle()
		if _, err := p.Get("", in(time.Minute), cancel); err != ErrCancelled {
			t.Errorf("a borrower who had gone was dialled for: %v", err)
		}
		if dials, _ := s.count(); dials != 1 {
			t.Errorf("%d dials", dials)
		}
	})
}

// A panic of the dialler costs no slot.
func TestDialPanic(t *testing.T) {
	s := &server{}
	broken := true
	p := Open(Config[*fakeConn, string]{Max: 1, Dial: func(d time.Time) (*fakeConn, error) {
		if broken {
			panic("broken dialler")
		}
		return s.dial(d)
	}})
	defer p.Close()
	func() {
		defer func() { _ = recover() }()
		_, _ = p.Get("", in(time.Minute), nil)
	}()
	if st := p.Stats(); st.Open != 0 || st.Dialling != 0 {
		t.Errorf("%+v", st)
	}
	broken = false
	p.Put(get(t, p, ""))
}
