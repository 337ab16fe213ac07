package pool

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// offered is what became of a load.
type offered struct {
	mu                    sync.Mutex
	served, refused, late int
	waitMax, refusedIn    time.Duration // of those served, and of those refused
}

// offer has a borrower come each gap for a time, keep a connection for hold, and have patience.
func offer(t *testing.T, p *testPool, gap, patience, during time.Duration, hold func() time.Duration) *offered {
	t.Helper()
	o := &offered{}
	var all sync.WaitGroup
	for range during / gap {
		all.Go(func() {
			came := time.Now()
			pc, err := p.Get("", came.Add(patience), nil)
			waited := time.Since(came)
			o.mu.Lock()
			var crowded *CrowdedError
			switch {
			case err == nil:
				o.waitMax = max(o.waitMax, waited)
			case errors.As(err, &crowded):
				o.refused++
				o.refusedIn = max(o.refusedIn, waited)
			case errors.Is(err, ErrTimeout):
				o.late++
			default:
				t.Error(err)
			}
			o.mu.Unlock()
			if err == nil {
				time.Sleep(hold())
				p.Put(pc)
				o.mu.Lock()
				o.served++
				o.mu.Unlock()
			}
		})
		time.Sleep(gap)
	}
	all.Wait()
	return o
}

// Under three times the load that connections can take nearly all of that is served, in time, and the rest is refused on the spot, from the
// first second on. When statements become slower some of those who are in line already wait in vain.
func TestOverload(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 8}, func(t *testing.T, p *testPool, _ *server) {
		const patience = 2 * time.Second
		last := time.Minute
		for _, hold := range []time.Duration{20 * time.Millisecond, 60 * time.Millisecond, 5 * time.Millisecond} {
			during := 30 * time.Second
			capacity := int(during/hold) * 8
			o := offer(t, p, hold/24, patience, during, func() time.Duration { return hold })
			if o.served < capacity*9/10 || o.waitMax > patience || o.refusedIn != 0 {
				t.Errorf("held for %v: %d of %d served, %d refused within %v, %d late, waited for %v", hold, o.served, capacity, o.refused, o.refusedIn, o.late, o.waitMax)
			}
			if slower := hold > last; o.late > 0 && !slower || o.late > o.refused/5 {
				t.Errorf("held for %v: %d waited in vain, %d were refused at once", hold, o.late, o.refused)
			}
			last = hold
		}
		if st := p.Stats(); st.Gets[Rejected].N == 0 || st.Waiting != 0 {
			t.Errorf("%+v", st)
		}
	})
}

// Nobody is refused whose turn comes in time: not for a burst, and not because connections are held for long.
func TestPatienceIsEnough(t *testing.T) {
	for _, c := range []struct {
		what              string
		n                 int
		gap, held, before time.Duration
	}{
		{"a burst", 2000, time.Microsecond, 20 * time.Millisecond, 0},
		{"a second each", 50, time.Microsecond, time.Second, 0},
		{"behind long ones", 7, time.Second, time.Millisecond, 9 * time.Second},
	} {
		inBubble(t, Config[*fakeConn, string]{Max: 8}, func(t *testing.T, p *testPool, _ *server) {
			var before sync.WaitGroup
			for range 8 {
				pc := get(t, p, "")
				before.Go(func() {
					time.Sleep(c.before)
					p.Put(pc)
				})
			}
			o := offer(t, p, c.gap, 10*time.Second, time.Duration(c.n)*c.gap, func() time.Duration { return c.held })
			before.Wait()
			if o.served != c.n {
				t.Errorf("%s: %d of %d served, %d refused, %d late", c.what, o.served, c.n, o.refused, o.late)
			}
		})
	}
}

// Nobody is refused while the pool is still being filled, however many wait for that.
func TestPatienceWhileDialling(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 64, DialsMax: 1}, func(t *testing.T, p *testPool, s *server) {
		s.set(nil, 400*time.Millisecond)
		const n = 700
		if o := offer(t, p, time.Millisecond, 10*time.Second, n*time.Millisecond, func() time.Duration { return time.Millisecond }); o.served != n {
			t.Errorf("%d of %d served, %d refused, %d late", o.served, n, o.refused, o.late)
		}
	})
}

// Nobody is refused for how slowly a line moved that was there for a moment, or long ago.
func TestPatienceWithoutGround(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 2}, func(t *testing.T, p *testPool, _ *server) {
		const n = 40
		slow := func(during, pause time.Duration) {
			held := []*Pooled[*fakeConn, string]{get(t, p, ""), get(t, p, "")}
			ch := start(p, "", time.Minute, nil)
			time.Sleep(during)
			for _, pc := range held {
				p.Put(pc)
			}
			p.Put(answered(t, ch).pc)
			time.Sleep(pause)
		}
		for _, before := range [][2]time.Duration{{2 * time.Second, time.Second}, {20 * time.Second, 11 * time.Second}} {
			slow(before[0], before[1])
			if o := offer(t, p, time.Microsecond, 10*time.Second, n*time.Microsecond, func() time.Duration { return time.Millisecond }); o.served != n {
				t.Errorf("behind %v: %d of %d served, %d refused, %d late", before, o.served, n, o.refused, o.late)
			}
			time.Sleep(11 * time.Second)
		}
		slow(20*time.Second, time.Second) // that is one
		if o := offer(t, p, time.Microsecond, 10*time.Second, n*time.Microsecond, func() time.Duration { return time.Millisecond }); o.refused == 0 {
			t.Error("nobody is refused though the line has hardly moved for 20 s")
		}
	})
}

// Who is refused hears the limit and the usage; who holds connections of other pools is let in.
func TestCrowded(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 1}, func(t *testing.T, p *testPool, _ *server) {
		held := get(t, p, "")
		first, second := start(p, "", time.Minute, nil), start(p, "", time.Minute, nil)
		time.Sleep(10 * time.Second)
		_, err := p.Get("", in(time.Second), nil)
		const want = "too many are waiting for a connection: 2 are, one more might for 13.333s of the 1s that it has; 1 of 1 in use"
		if !errors.Is(err, ErrTooManyWaiters) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		ahead := make(chan error, 1)
		go func() {
			pc, err := p.GetAhead("", in(time.Second), nil)
			if err == nil {
				p.Put(pc)
			}
			ahead <- err
		}()
		time.Sleep(time.Millisecond)
		p.Put(held)
		if err := <-ahead; err != nil {
			t.Errorf("who waits ahead: %v", err)
		}
		for _, ch := range []<-chan result{first, second} {
			r := answered(t, ch)
			if r.err != nil {
				t.Fatal(r.err)
			}
			p.Put(r.pc)
		}
	})
}
