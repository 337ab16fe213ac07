package tracing

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"kingshard/config"
)

// Tracer chooses which statements are traced, by one configuration. It is not changed. A nil Tracer is one that traces nothing.
type Tracer struct {
	exporter *Exporter
	// below is the ratio's part of ratioWhole.
	below uint64
	// interval is that between two statements that are traced because of their parents, in the long run; 0: none is.
	interval time.Duration
	literals bool
}

const ratioWhole = 1 << 53

func newTracer(e *Exporter, cfg *config.Tracing) *Tracer {
	t := &Tracer{exporter: e, below: uint64(float64(cfg.SampleRatio) * ratioWhole), literals: cfg.Literals}
	if cfg.MaxParents > 0 {
		t.interval = time.Second / time.Duration(cfg.MaxParents)
	}
	return t
}

// Follows tells whether parents count, so that they are to be looked for.
func (t *Tracer) Follows() bool { return t.interval > 0 }

// Choice is whether a statement is traced. Zero: it has not been chosen yet.
type Choice struct {
	made, traced bool
	parent       Parent
}

// Made tells whether it is one.
func (c *Choice) Made() bool { return c.made }

// Traced tells whether the statement is traced.
func (c *Choice) Traced() bool { return c.traced }

// Choose decides for a statement with a parent, or without one if that is not Known: a parent decides, within the limit; without one
// the ratio does.
func (t *Tracer) Choose(p Parent) Choice {
	c := Choice{made: true}
	switch {
	case !t.Follows() || !p.Known():
		c.traced = rand.Uint64()>>(64-53) < t.below
	case p.Sampled && t.exporter.limit.take(t.interval):
		c.traced, c.parent = true, p
	}
	return c
}

// limiter bounds statements per second, as clients say which they are.
type limiter struct {
	// due is when the next one would come if all so far had come at even intervals, in nanoseconds since epoch.
	due     atomic.Int64
	refused atomic.Uint64
}

// epoch is what due counts from: differences to it do not follow changes of the clock.
var epoch = time.Now()

// burst is how far statements may run ahead of their even intervals.
const burst = time.Second

// take takes a place in the even intervals, if there is one less than burst ahead.
func (l *limiter) take(interval time.Duration) bool {
	now := time.Since(epoch)
	for {
		due := l.due.Load()
		next := max(due, int64(now)) + int64(interval)
		if next-int64(now) > int64(burst) {
			l.refused.Add(1)
			return false
		}
		if l.due.CompareAndSwap(due, next) {
			return true
		}
	}
}
