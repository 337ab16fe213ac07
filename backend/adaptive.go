package backend

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"kingshard/backend/pool"
)

const (
	// A window ends with so many statements, or after so many intervals of the pool's; of fewer than tooksMin nothing is told.
	windowTooks = 32
	windowMax   = 8
	tooksMin    = 8
)

// adaptive has an instance's pool lend as many connections at a time as its server serves best.
type adaptive struct {
	cells [loadCells]tooks

	mu      sync.Mutex // guards what follows
	limiter limiter
	seen    [tooksBuckets]uint32 // at the window's begin
	window  window
	asked   int // times since then
	settles int // times to be asked until the next window may begin: statements are under way that began before the limit was lowered
}

func newAdaptive(least, most int) *adaptive { return &adaptive{limiter: newLimiter(least, most)} }

// limit is how many connections may be lent, as pool.Config.Limit.
func (a *adaptive) limit(used pool.Use) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.sum()
	if a.settles > 0 {
		a.settles--
		a.seen = now
		return a.limiter.limit
	}
	a.asked++
	a.window.lent, a.window.waited = max(a.window.lent, used.Lent), a.window.waited || used.Waited
	took, n := lowerQuartile(&now, &a.seen)
	if n < windowTooks && a.asked < windowMax {
		return a.limiter.limit
	}
	if n >= tooksMin {
		a.window.took = took
	}
	before := a.limiter.limit
	a.limiter.next(a.window)
	if a.limiter.limit < before {
		a.settles = int(min(1+2*took/pool.LimitInterval, windowMax))
	}
	a.window, a.seen, a.asked = window{}, now, 0
	return a.limiter.limit
}

// succeed takes over what was found of the same server.
func (a *adaptive) succeed(before *adaptive) {
	if a == nil || before == nil {
		return
	}
	before.mu.Lock()
	was := before.limiter
	before.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	was.least, was.most = a.limiter.least, a.limiter.most
	was.limit = min(max(was.limit, was.tried.limit, was.least), was.most)
	was.tried = window{}
	a.limiter = was
}

// tooksBuckets are 8 for each power of two of microseconds, up to 16 s.
const tooksBuckets = 8 * 22

// tooks counts statements by what they took.
type tooks [tooksBuckets]atomic.Uint32

// Took counts a statement that the server has answered without an error, and what it took of its own: no wait for others in the proxy. Callers with different
// cells do not disturb each other.
func (l *Latency) Took(cell uint32, took time.Duration) {
	if a := l.adaptive; a != nil {
		a.cells[cell%loadCells][tookBucket(took)].Add(1)
	}
}

// tookBucket is the bucket of a duration.
func tookBucket(took time.Duration) int {
	micros := uint64(max(took, 0)) >> 10
	if micros < 8 {
		return int(micros)
	}
	e := bits.Len64(micros) - 3 // ≥ 1; three more bits tell the bucket
	return min(8*e+int(micros>>(e-1)&7), tooksBuckets-1)
}

// tookOf is the lower bound of a bucket.
func tookOf(bucket int) time.Duration {
	if bucket < 8 {
		return time.Duration(max(bucket, 1)) << 10
	}
	return time.Duration(8+bucket%8) << (bucket/8 - 1 + 10)
}

// sum adds the cells up.
func (a *adaptive) sum() (all [tooksBuckets]uint32) {
	for c := range a.cells {
		for k := range all {
			all[k] += a.cells[c][k].Load()
		}
	}
	return all
}

// lowerQuartile is what the quickest quarter of the n statements between two counts took at the most: those that are slow by themselves, as reports are, or whose
// clients read slowly, do not show in it.
func lowerQuartile(now, before *[tooksBuckets]uint32) (took time.Duration, n uint32) {
	for k := range now {
		n += now[k] - before[k]
	}
	var upTo uint32
	for k := range now {
		if upTo += now[k] - before[k]; 4*upTo >= n && n > 0 {
			return tookOf(k), n
		}
	}
	return 0, n
}
