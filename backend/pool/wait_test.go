package pool

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaitersAreServedInOrder(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 1}, func(t *testing.T, p *testPool, s *server) {
		pc := get(t, p, "a")
		var waiting []<-chan result
		for range 3 {
			waiting = append(waiting, start(p, "b", time.Minute, nil))
		}
		if st := p.Stats(); st.Waiting != 3 {
			t.Fatalf("%d waiting", st.Waiting)
		}
		for i, ch := range waiting {
			time.Sleep(time.Second)
			p.Put(pc)
			if r := answered(t, ch); r.err != nil || r.pc != pc {
				t.Fatalf("waiter %d: %+v", i, r)
			}
			for _, other := range waiting[i+1:] {
				pending(t, other)
			}
		}
		p.Put(pc)
		got := p.Stats().Gets[Waited]
		if got.N != 3 || got.Wait != 6*time.Second {
			t.Errorf("waited: %+v", got)
		}
	})
}

// What ends a connection hands its slot to the first waiter, who dials.
func TestSlotGoesToWaiter(t *testing.T) {
	for name, end := range map[string]func(*testPool, *testPooled){
		"taint":     func(p *testPool, pc *testPooled) { p.Taint(pc) },
		"lifetime":  func(p *testPool, pc *testPooled) { time.Sleep(2 * time.Minute); p.Put(pc) },
		"closeidle": func(p *testPool, pc *testPooled) { p.CloseIdle(); p.Put(pc) },
		"raise":     func(p *testPool, pc *testPooled) { p.SetMax(2) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config[*fakeConn, string]{Max: 1, MaxLifetime: time.Minute}, func(t *testing.T, p *testPool, s *server) {
				pc := get(t, p, "")
				ch := start(p, "", time.Hour, nil)
				pending(t, ch)
				end(p, pc)
				r := answered(t, ch)
				if r.err != nil || r.pc.Conn.id != 1 {
					t.Fatalf("%+v", r)
				}
				p.Put(r.pc)
				if name == "raise" {
					p.Put(pc)
				}
			})
		})
	}
}

func TestTimeout(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 1}, func(t *testing.T, p *testPool, s *server) {
		pc := get(t, p, "")
		ch := start(p, "", 3*time.Second, nil)
		time.Sleep(3 * time.Second)
		r := answered(t, ch)
		var e *TimeoutError
		if !errors.Is(r.err, ErrTimeout) || !errors.As(r.err, &e) || e.Waited != 3*time.Second || e.InUse != 1 || e.Max != 1 {
			t.Fatalf("%+v", r.err)
		}
		if want := "no connection was free in time: waited 3s, 1 of 1 in use"; e.Error() != want {
			t.Errorf("text %q, want %q", e, want)
		}
		if st := p.Stats(); st.Gets[TimedOut] != (Count{1, 3 * time.Second}) || st.Waiting != 0 {
			t.Errorf("%+v", st)
		}
		p.Put(pc)
	})
}

// A deadline that has passed, the zero time too, gives what is idle but neither waits nor dials.
func TestPassedDeadline(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 2}, func(t *testing.T, p *testPool, s *server) {
		if _, err := p.Get("a", time.Time{}, nil); !errors.Is(err, ErrTimeout) {
			t.Fatalf("empty pool: %v", err)
		}
		p.Put(get(t, p, "b"))
		pc, err := p.Get("a", time.Time{}, nil)
		if err != nil {
			t.Fatalf("idle connection not given: %v", err)
		}
		p.Put(pc)
		if dials, _ := s.count(); dials != 1 {
			t.Errorf("%d dials", dials)
		}
	})
}

func TestCancel(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 1}, func(t *testing.T, p *testPool, s *server) {
		pc := get(t, p, "")
		cancel := make(chan struct{})
		first := start(p, "", time.Minute, cancel)
		second := start(p, "", time.Minute, nil)
		time.Sleep(2 * time.Second)
		close(cancel)
		if r := answered(t, first); r.err != ErrCancelled {
			t.Fatalf("%+v", r)
		}
		p.Put(pc)
		if r := answered(t, second); r.pc != pc {
			t.Fatalf("the next in line got %+v", r)
		}
		if got := p.Stats().Gets[Cancelled]; got != (Count{1, 2 * time.Second}) {
			t.Errorf("%+v", got)
		}
		p.Put(pc)
	})
}

func TestTooManyWaiters(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 1, MaxWaiters: 2}, func(t *testing.T, p *testPool, s *server) {
		pc := get(t, p, "")
		a, b := start(p, "", time.Minute, nil), start(p, "", time.Minute, nil)
		if _, err := p.Get("", in(time.Minute), nil); !errors.Is(err, ErrTooManyWaiters) {
			t.Fatal(err)
		}
		p.Put(pc)
		p.Put(answered(t, a).pc)
		p.Put(answered(t, b).pc)
		if got := p.Stats().Gets[Rejected].N; got != 1 {
			t.Errorf("%d rejected", got)
		}
	})
}

// A waiter that is answered in the moment in which it gives up passes the answer on.
func TestAnswerPassedOn(t *testing.T) {
	for name, giveBack := range map[string]func(*testPool, *testPooled){"conn": (*testPool).Put, "slot": (*testPool).Taint} {
		for range 50 {
			inBubble(t, Config[*fakeConn, string]{Max: 1}, func(t *testing.T, p *testPool, s *server) {
				pc := get(t, p, "")
				cancel := make(chan struct{})
				first := start(p, "", time.Minute, cancel)
				second := start(p, "", time.Minute, nil)
				close(cancel) // both at once: the first waiter may see either
				giveBack(p, pc)
				r := answered(t, first)
				if r.err == nil {
					pending(t, second)
					p.Put(r.pc)
				} else if r.err != ErrCancelled {
					t.Fatalf("%s: %v", name, r.err)
				}
				if r = answered(t, second); r.err != nil {
					t.Fatalf("%s: the next in line got %v", name, r.err)
				}
				p.Put(r.pc)
			})
		}
	}
}

// One whose deadline has passed before it could wake is skipped: whoever gives a connection back does not hand it to
// somebody who has gone.
func TestExpiredWaiterIsSkipped(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 1}, func(t *testing.T, p *testPool, s *server) {
		pc := get(t, p, "")
		expired := start(p, "", time.Minute, nil)
		live := start(p, "", time.Minute, nil)
		p.mu.Lock()
		p.queue.first.deadline = p.now()
		p.mu.Unlock()
		p.Put(pc)
		if r := answered(t, expired); !errors.Is(r.err, ErrTimeout) {
			t.Errorf("expired: %+v", r)
		}
		if r := answered(t, live); r.pc != pc {
			t.Errorf("live: %+v", r)
		}
		p.Put(pc)
	})
}

// Waiting does not allocate once waiters have been made. The pool's one connection goes back and forth.
func TestWaitingDoesNotAllocate(t *testing.T) {
	s := &server{}
	p := Open(Config[*fakeConn, string]{Max: 1, Dial: s.dial})
	defer p.Close()
	pc, err := p.Get("", in(time.Minute), nil)
	if err != nil {
		t.Fatal(err)
	}
	lent, stop, done := make(chan *testPooled), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			pc, err := p.Get("", in(time.Minute), stop)
			if err != nil {
				return
			}
			lent <- pc
		}
	}()
	if n := testing.AllocsPerRun(500, func() {
		for p.Stats().Waiting == 0 {
			time.Sleep(time.Microsecond)
		}
		p.Put(pc)
		pc = <-lent
	}); n > waitAllocsMax {
		t.Errorf("%v allocations per wait", n)
	}
	close(stop)
	<-done
	p.Put(pc)
	if st := p.Stats(); st.InUse != 0 || st.Open != 1 || st.Waiting != 0 {
		t.Errorf("%+v", st)
	}
}

// Who comes in the moment in which a back-off ends stays behind those who waited through it.
func TestNewcomerDoesNotOvertake(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 4}, func(t *testing.T, p *testPool, s *server) {
		pc := get(t, p, "")
		s.set(errRefused, 0)
		_, _ = p.Get("", in(time.Minute), nil)
		first := start(p, "", time.Minute, nil)
		s.set(nil, time.Second)
		p.mu.Lock()
		p.backoff.until = p.now() // over, but the pool's goroutine has not woken
		p.mu.Unlock()
		newcomer := start(p, "", time.Minute, nil)
		time.Sleep(2 * time.Second)
		a, b := answered(t, first), answered(t, newcomer)
		if a.err != nil || b.err != nil || a.pc.Conn.id != 1 || b.pc.Conn.id != 2 {
			t.Errorf("first %+v, newcomer %+v", a, b)
		}
		for _, pc := range []*testPooled{pc, a.pc, b.pc} {
			p.Put(pc)
		}
	})
}

// Those who hold other connections go ahead of those who hold none; among themselves each comes in turn.
func TestGetAheadIsServedFirst(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 1}, func(t *testing.T, p *testPool, s *server) {
		pc := get(t, p, "")
		cancel := make(chan struct{})
		ahead := func(cancel chan struct{}) <-chan result {
			ch := make(chan result, 1)
			go func() {
				pc, err := p.GetAhead("", time.Now().Add(time.Minute), cancel)
				ch <- result{pc, err, time.Now()}
			}()
			synctest.Wait()
			return ch
		}
		first := start(p, "", time.Minute, nil)
		second := ahead(nil)
		gone := ahead(cancel)
		third := ahead(nil)
		last := start(p, "", time.Minute, nil)
		close(cancel)
		if r := answered(t, gone); !errors.Is(r.err, ErrCancelled) {
			t.Fatalf("cancelled: %+v", r)
		}
		fourth := ahead(nil)
		for k, ch := range []<-chan result{second, third, fourth, first, last} {
			p.Put(pc)
			if r := answered(t, ch); r.err != nil || r.pc != pc {
				t.Fatalf("number %d: %+v", k, r)
			}
		}
		p.Put(pc)
		if st := p.Stats(); st.Waiting != 0 || st.InUse != 0 {
			t.Errorf("%+v", st)
		}
	})
}
