package backend

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Latency is what an instance took of late for what it was asked. Its watcher works it out from the counts that statements leave behind, so that they pay nothing
// for it.
type Latency struct {
	mean atomic.Int64 // nanoseconds; 0: not known
	// wanted says that nobody knows what a read would take there now: the next one goes there.
	wanted atomic.Bool
	mu     sync.Mutex // guards what follows: around a reload two watchers look
	// seen is the load at the last look, and idle says that it had not grown by then.
	seen Load
	idle bool
	// adaptive bounds what is lent by what statements take; nil: max_conns_limit alone does.
	adaptive *adaptive
}

// Note takes a look at the load, as the instance's watcher does with each probe. Half of the mean is what was since the last look, or all of it, if there was nothing to be seen then.
func (l *Latency) Note(load func() Load) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := load()
	statements, failed, busy := now.Statements-l.seen.Statements, now.Errors-l.seen.Errors, now.Busy-l.seen.Busy
	l.seen = now
	if statements == 0 || failed > statements/2 { // a server that refuses what it is asked is not fast for it
		l.idle = true
		l.wanted.Store(true)
		return
	}
	took := max(int64(busy)/int64(statements), 1)
	if before := l.mean.Load(); before > 0 && !l.idle {
		took = (before + took) / 2
	}
	l.mean.Store(took)
	l.idle = false
	l.wanted.Store(false)
}

// Mean is what a statement took of late, with its way there and back; 0: not known.
func (l *Latency) Mean() time.Duration { return time.Duration(l.mean.Load()) }

// underWay is how many statements an instance has, and how many wait for it, counted by connections.
func underWay(i *Instance) int { return i.pool.Lent() + i.pool.Waiters() }

// quicker reports whether a read is better served by a than by b, in proportion to their weights. What is not known to take long has the lesser load only.
func quicker(a, b *Instance) bool {
	x, y := float64(a.Latency.Mean()), float64(b.Latency.Mean())
	if x == 0 || y == 0 {
		x, y = 1, 1
	}
	return x*float64(underWay(a)+1)*float64(b.Weight) < y*float64(underWay(b)+1)*float64(a.Weight)
}

// quick returns the quicker one of two replicas at random that are fit (the power of two choices); nil if none is. One that nobody knows of how long it
// would take now comes first: so one that was slow, and got nothing since, gets a read with each probe, and is found to be fast again.
func (c *circle) quick() *Instance {
	var two [2]*Instance
	found := 0
	from := rand.IntN(max(len(c.replicas), 1))
	for k := range c.replicas {
		r := c.replicas[(from+k)%len(c.replicas)]
		if !fit(r) {
			continue
		}
		if r.Latency.wanted.Load() && r.Latency.wanted.CompareAndSwap(true, false) {
			return r
		}
		if found++; found <= 2 {
			two[found-1] = r
		} else if at := rand.IntN(found); at < 2 {
			two[at] = r
		}
	}
	if two[1] != nil && quicker(two[1], two[0]) {
		return two[1]
	}
	return two[0]
}
