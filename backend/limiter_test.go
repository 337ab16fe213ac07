package backend

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kingshard/backend/pool"
)

// The limit after each window.
func TestLimiter(t *testing.T) {
	const ms = time.Millisecond
	at := func(limit int, alone time.Duration) limiter {
		return limiter{least: 2, most: 100, limit: limit, alone: alone, crowded: true}
	}
	aged := at(40, 10*ms)
	aged.age = renewAfter
	for name, c := range map[string]struct {
		from    limiter
		windows []window
		want    []int
		alone   time.Duration
	}{
		"it is tried, then it doubles, up to the most": {newLimiter(2, 100),
			[]window{{took: 10 * ms, lent: 16, waited: true}, {took: 10 * ms, lent: 8, waited: true}, {took: 10 * ms, lent: 16, waited: true}, {took: 12 * ms, lent: 32, waited: true}, {took: 15 * ms, lent: 64, waited: true}}, []int{8, 16, 32, 64, 100}, 10 * ms},
		"and begins between its bounds": {newLimiter(20, 100), []window{{}}, []int{20}, 0},
		"below the least it does not go": {limiter{least: 2, most: 9, limit: 9}, []window{{took: 10 * ms, lent: 9, waited: true}, {took: 90 * ms, lent: 9}, {took: 45 * ms, lent: 4}, {took: 45 * ms, lent: 4}, {took: 31 * ms, lent: 2}, {took: 31 * ms, lent: 2}},
			[]int{9, 4, 4, 2, 2, 2}, 31 * ms},
		"nobody waits":                   {at(16, 10*ms), []window{{took: 10 * ms, lent: 16}, {lent: 16}}, []int{16, 16}, 10 * ms},
		"somebody does, below the limit": {at(16, 10*ms), []window{{took: 10 * ms, lent: 15, waited: true}}, []int{16}, 10 * ms},
		"somebody does":                  {at(16, 10*ms), []window{{took: 19 * ms, lent: 16, waited: true}, {took: 20 * ms, lent: 20, waited: true}}, []int{20, 24}, 10 * ms},
		"nothing is known":               {at(16, 10*ms), []window{{lent: 16, waited: true}}, []int{20}, 10 * ms},
		"an idle node is slow":           {at(16, 10*ms), []window{{took: 90 * ms, lent: 7}}, []int{16}, 10 * ms},
		"half helps":                     {at(16, 10*ms), []window{{took: 31 * ms, lent: 14}, {took: 11 * ms, lent: 7, waited: true}, {took: 11 * ms, lent: 7, waited: true}}, []int{7, 7, 9}, 10 * ms},
		"half is no help":                {at(16, 10*ms), []window{{took: 32 * ms, lent: 16}, {took: 31 * ms, lent: 8, waited: true}, {took: 32 * ms, lent: 16}, {took: 31 * ms, lent: 8, waited: true}, {took: 32 * ms, lent: 16, waited: true}}, []int{8, 16, 8, 16, 20}, 31 * ms},
		"half is no help once": {at(16, 10*ms), []window{{took: 31 * ms, lent: 16}, {took: 31 * ms, lent: 8}, {took: 60 * ms, lent: 16}, {took: 31 * ms, lent: 8}, {took: 31 * ms, lent: 8}, {took: 15 * ms, lent: 4}},
			[]int{8, 16, 8, 8, 4, 4}, 10 * ms},
		"of half nothing is known":        {at(16, 10*ms), []window{{took: 31 * ms, lent: 16}, {lent: 8, waited: true}}, []int{8, 16}, 10 * ms},
		"what was learned was under load": {aged, []window{{took: 10 * ms, lent: 40, waited: true}, {took: 5 * ms, lent: 20, waited: true}, {took: 4500 * time.Microsecond, lent: 10, waited: true}}, []int{20, 10, 20}, 4500 * time.Microsecond},
		"that waits for load":             {aged, []window{{took: 10 * ms, lent: 39, waited: true}}, []int{40}, 10 * ms},
		"statements become quicker":       {at(16, 10*ms), []window{{took: 2 * ms, lent: 1}, {took: 2 * ms, lent: 1}}, []int{16, 16}, 6500 * time.Microsecond},
	} {
		l := c.from
		for k, w := range c.windows {
			l.next(w)
			if l.limit != c.want[k] {
				t.Errorf("%s: %d after window %d, want %d", name, l.limit, k, c.want[k])
			}
		}
		if l.alone != c.alone {
			t.Errorf("%s: statements take %v alone, want %v", name, l.alone, c.alone)
		}
	}
}

// Buckets are no wider than an eighth, in order, and begin where tookOf says.
func TestTookBuckets(t *testing.T) {
	last := -1
	for took := time.Microsecond; took < 16*time.Second; took += 1 + took/20 {
		b := tookBucket(took)
		if from := tookOf(b); b < last || b > last+1 && last > 8 || from > took && b > 0 || from < took-took/8-2*time.Microsecond {
			t.Fatalf("%v is in bucket %d, from %v, behind %d", took, b, from, last)
		}
		last = b
	}
	if b := tookBucket(time.Hour); b != tooksBuckets-1 || tookBucket(-1) != 0 {
		t.Errorf("an hour is in bucket %d", b)
	}
	var before, now [tooksBuckets]uint32
	if took, n := lowerQuartile(&now, &before); took != 0 || n != 0 {
		t.Errorf("of nothing: %v of %d", took, n)
	}
	before[tookBucket(time.Microsecond)] = 100
	now = before
	now[tookBucket(time.Second)] += 75
	now[tookBucket(8*time.Millisecond)] += 25
	if took, n := lowerQuartile(&now, &before); n != 100 || took > 8*time.Millisecond || took < 7*time.Millisecond {
		t.Errorf("the lower quartile of %d is %v", n, took)
	}
}

// simConn is a connection of a simulated server.
type simConn struct{ *int }

// Close is that of pool.Conn.
func (simConn) Close() error { return nil }

// Alive is that of pool.Conn.
func (simConn) Alive() bool { return true }

// sim is a server that serves so many statements at once as quickly as one, and clients that send it one after another, on the clock of a bubble.
type sim struct {
	l        Latency
	p        *pool.Pool[simConn, struct{}]
	capacity atomic.Int64
	took     func() time.Duration // by a statement alone
	think    time.Duration        // of clients that have a connection
	running  atomic.Int64
	served   atomic.Int64
}

// use is one statement of a client's.
func (s *sim) use(t *testing.T) {
	pc, err := s.p.Get(struct{}{}, time.Now().Add(time.Minute), nil)
	if err != nil {
		t.Error(err)
		return
	}
	began, left := time.Now(), s.took()
	s.running.Add(1)
	for left > 0 { // others come and go meanwhile
		step := min(left, 2*time.Millisecond)
		capacity := s.capacity.Load()
		time.Sleep(step * time.Duration(max(s.running.Load(), capacity)) / time.Duration(capacity))
		left -= step
	}
	s.running.Add(-1)
	s.served.Add(1)
	s.l.Took(0, time.Since(began))
	time.Sleep(s.think)
	s.p.Put(pc)
}

// load has so many clients send statements for as long, and returns the least and the highest limit in the last third of that, and how many statements of a
// second were served then.
func (s *sim) load(t *testing.T, clients int, during time.Duration) (least, most, rate int) {
	until := time.Now().Add(during)
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for time.Now().Before(until) {
				s.use(t)
			}
		})
	}
	time.Sleep(during * 2 / 3)
	least, before := s.p.Stats().Limit, s.served.Load()
	for time.Now().Before(until) {
		time.Sleep(pool.LimitInterval)
		now := s.p.Stats().Limit
		least, most = min(least, now), max(most, now)
	}
	rate = int(float64(s.served.Load()-before) / (during / 3).Seconds())
	group.Wait()
	t.Logf("%d clients of %d at once: limit %d to %d, %d/s", clients, s.capacity.Load(), least, most, rate)
	return least, most, rate
}

// simulate runs f with a server that takes 5 to 15 ms for a statement, and a pool of 200 connections whose limit is at least 2.
func simulate(t *testing.T, capacity int, f func(s *sim)) {
	synctest.Test(t, func(t *testing.T) {
		s := &sim{took: func() time.Duration { return 5*time.Millisecond + rand.N(10*time.Millisecond) }}
		s.l.adaptive = newAdaptive(2, 200)
		s.capacity.Store(int64(capacity))
		s.p = pool.Open(pool.Config[simConn, struct{}]{Max: 200, Limit: s.l.adaptive.limit, Dial: func(time.Time) (simConn, error) { return simConn{new(int)}, nil }})
		defer s.p.Close()
		f(s)
	})
}

// The limit comes near to what the server serves at once, also where the proxy begins under load, and follows it.
func TestLimiterFollows(t *testing.T) {
	simulate(t, 16, func(s *sim) {
		for _, capacity := range []int{16, 8, 4, 16, 48} {
			s.capacity.Store(int64(capacity))
			least, most, rate := s.load(t, 100, 75*time.Second)
			if least < capacity/8 || most > 5*capacity || rate < capacity*100*85/100 {
				t.Errorf("of %d at once: limit %d to %d, %d/s", capacity, least, most, rate)
			}
		}
	})
}

// A limit that was learned under load, as by a proxy that was restarted then, is not kept.
func TestLimiterFindsLoad(t *testing.T) {
	simulate(t, 4, func(s *sim) {
		s.l.adaptive.limiter = limiter{least: 2, most: 200, limit: 150, alone: 400 * time.Millisecond, crowded: true}
		if least, most, _ := s.load(t, 300, 120*time.Second); least < 1 || most > 20 {
			t.Errorf("limit %d to %d", least, most)
		}
	})
}

// It does not fall where statements are slow, but not by each other.
func TestLimiterSpares(t *testing.T) {
	for name, c := range map[string]struct {
		capacity, clients int
		change            func(s *sim)
		least             int // the limit in the end
	}{
		"few clients":                {8, 3, func(s *sim) {}, limitStart},
		"few clients, a slow server": {8, 3, func(s *sim) { s.took = func() time.Duration { return 40 * time.Millisecond } }, limitStart},
		"statements that take long": {1000, 100, func(s *sim) {
			s.took = func() time.Duration { return time.Duration(5+995*rand.IntN(2)) * time.Millisecond }
		}, 64},
		"statements that all take long": {1000, 100, func(s *sim) { s.took = func() time.Duration { return 500 * time.Millisecond } }, 100},
		"clients that think":            {8, 100, func(s *sim) { s.think = 200 * time.Millisecond }, 100},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, c.capacity, func(s *sim) {
				s.load(t, c.clients, 20*time.Second)
				c.change(s)
				if least, _, _ := s.load(t, c.clients, 30*time.Second); least < c.least {
					t.Errorf("limit %d, want %d at least", least, c.least)
				}
			})
		})
	}
}

// BenchmarkTook is what a limit that is found costs each statement.
func BenchmarkTook(b *testing.B) {
	for name, l := range map[string]*Latency{"off": new(Latency), "on": {adaptive: newAdaptive(2, 200)}} {
		b.Run(name, func(b *testing.B) {
			for n := range b.N {
				l.Took(1, time.Duration(n)<<10)
			}
		})
	}
}
