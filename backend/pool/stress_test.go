package pool

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestStress lets four clients per connection do everything at once, with real time: each Get must be answered, the
// ceiling must hold, a connection must be lent to one at a time, and nothing may be left over.
func TestStress(t *testing.T) {
	const ceiling, clients, duration = 8, 4 * 8, 2 * time.Second
	s := &server{}
	p := Open(Config[*fakeConn, string]{
		Max: ceiling, MaxWaiters: clients - ceiling - 2, DialsMax: 4, DialTimeout: 50 * time.Millisecond,
		IdleTimeout: 60 * time.Millisecond, MaxLifetime: 100 * time.Millisecond,
		Limit: func(Use) int { return 1 + rand.IntN(ceiling) },
		Dial: func(deadline time.Time) (*fakeConn, error) {
			if rand.IntN(50) == 0 {
				return nil, errRefused
			}
			return s.dial(deadline)
		},
	})
	var lent sync.Map // *fakeConn in use
	var ends [outcomes]atomic.Uint64
	var total atomic.Uint64
	stop := make(chan struct{})
	var operator, group sync.WaitGroup
	operator.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
			switch rand.IntN(4) {
			case 0:
				p.CloseIdle()
			case 1:
				p.SetMax(1 + rand.IntN(ceiling))
			case 2:
				p.Adapt()
			case 3:
				if st := p.Stats(); st.Idle+st.InUse+st.Dialling > st.Open || st.InUse < 0 || st.Dialling > 4 {
					t.Errorf("%+v", st)
				}
			}
		}
	})
	for range clients {
		group.Go(func() {
			for began := time.Now(); time.Since(began) < duration; total.Add(1) {
				stressOnce(t, p, &lent, &ends)
			}
		})
	}
	group.Wait()
	close(stop)
	operator.Wait()
	p.SetMax(ceiling)
	if st := p.Stats(); st.Open != st.Idle || st.Waiting != 0 || st.InUse != 0 {
		t.Errorf("left over: %+v", st)
	}
	checkStressCounts(t, p, &ends, total.Load())
	p.Close()
	if _, open := s.count(); open != 0 {
		t.Errorf("%d connections left open", open)
	}
	if s.peak > ceiling {
		t.Errorf("%d connections at once, ceiling %d", s.peak, ceiling)
	}
}

// stressOnce is one loan of a client.
func stressOnce(t *testing.T, p *testPool, lent *sync.Map, ends *[outcomes]atomic.Uint64) {
	var cancel chan struct{}
	if rand.IntN(4) == 0 {
		cancel = make(chan struct{})
		timer := time.AfterFunc(rand.N(time.Millisecond), func() { close(cancel) })
		defer timer.Stop()
	}
	want := [3]string{"", "a", "b"}[rand.IntN(3)]
	pc, err := p.Get(want, time.Now().Add(rand.N(5*time.Millisecond)), cancel)
	if err != nil {
		var timeout *TimeoutError
		if !errors.As(err, &timeout) && !errors.Is(err, errRefused) && err != ErrCancelled && !errors.Is(err, ErrTooManyWaiters) {
			t.Errorf("unexpected: %v", err)
		}
		ends[outcomeOf(err)].Add(1)
		time.Sleep(rand.N(2 * time.Millisecond)) // as a client would; else refusals crowd out everything
		return
	}
	ends[Hit].Add(1)
	if _, twice := lent.LoadOrStore(pc.Conn, true); twice || pc.Conn.closed.Load() {
		t.Errorf("lent twice: %v, closed: %v", twice, pc.Conn.closed.Load())
	}
	pc.Key = want
	if rand.IntN(3) == 0 {
		time.Sleep(rand.N(200 * time.Microsecond))
	}
	lent.Delete(pc.Conn)
	if rand.IntN(10) == 0 {
		p.Taint(pc)
	} else {
		p.Put(pc)
	}
}

// checkStressCounts compares what the clients saw with what the pool counted.
func checkStressCounts(t *testing.T, p *testPool, ends *[outcomes]atomic.Uint64, total uint64) {
	t.Helper()
	st := p.Stats()
	var sum, success uint64
	for o, c := range st.Gets {
		sum += c.N
		if Outcome(o) <= Waited {
			success += c.N
		} else if c.N != ends[o].Load() {
			t.Errorf("%v: counted %d, seen %d", Outcome(o), c.N, ends[o].Load())
		}
	}
	if sum != total || success != ends[Hit].Load() {
		t.Errorf("%d of %d counted, %d of %d with success", sum, total, success, ends[Hit].Load())
	}
	for _, o := range []Outcome{Hit, HitClean, HitOther, Dialled, Waited, TimedOut, Rejected, Cancelled, DialFailed} {
		if st.Gets[o].N == 0 {
			t.Errorf("no Get ended as %v: the test does not reach it", o)
		}
	}
	t.Logf("%+v", st)
}
