package admin

import (
	"math"
	"slices"
	"sync"
	"time"

	"kingshard/proxy/observe"
)

// historyMax is how many samples are kept, one for each second; the oldest go.
const historyMax = 600

// sample is what happened in one second, or since the last sample if that was longer ago.
type sample struct {
	id     uint64 // from 1
	at     time.Time
	length time.Duration
	// The counters grew by these.
	commands, rows, bytes uint64
	errors                [len(origins)]uint64
	statements            uint64               // queries and executions
	percentiles           [len(shares)]float64 // of their times, in milliseconds
	parts                 [3]uint64            // nanoseconds, as observe.PartNames names them
	// As they were at the end.
	sessions, inUse, waiting int
}

// origins are where errors come from, as observe.Totals names them.
var origins = [...]string{"client", "proxy", "backend"}

// Close ends what Tick began.
func (a *Admin) Close() { a.profiles.Close() }

// shares are those of the percentiles.
var shares = [...]float64{0.5, 0.95, 0.99}

// history are the latest samples, the oldest first.
type history struct {
	mu     sync.Mutex
	latest []sample
	last   uint64
	// What the counters were at the last sample; before is zero until there was one.
	before time.Time
	totals observe.Totals
}

// Tick is called about every second, by one goroutine: it takes a sample, and goes on with the profile of what goes by.
func (a *Admin) Tick() {
	a.profiles.Tick(a.shared.Snapshot.Load().Config.ContinuousProfile.Duration())
	s := sample{at: time.Now(), sessions: a.shared.Sessions.Len()}
	for _, n := range a.shared.Snapshot.Load().Nodes {
		for _, i := range n.Instances() {
			stats := i.Stats()
			s.inUse += stats.InUse
			s.waiting += stats.Waiting
		}
	}
	a.history.add(s, a.shared.Stats.Totals())
}

// add completes a sample with what the counters grew by and keeps it; the first one gives only their state.
func (h *history) add(s sample, now observe.Totals) {
	h.mu.Lock()
	defer h.mu.Unlock()
	was, before := h.totals, h.before
	h.totals, h.before = now, s.at
	if before.IsZero() {
		return
	}
	s.length = s.at.Sub(before)
	s.commands = commands(now) - commands(was)
	s.rows, s.bytes = now.Rows-was.Rows, now.Bytes-was.Bytes
	for k, origin := range origins {
		s.errors[k] = now.Errors[origin] - was.Errors[origin]
	}
	var latency observe.Times
	for k := range latency.Buckets {
		latency.Buckets[k] = now.Latency.Buckets[k] - was.Latency.Buckets[k]
	}
	s.statements = latency.Count()
	for k, share := range shares {
		s.percentiles[k] = percentile(&latency, share)
	}
	for class := range now.Parts {
		for part := range s.parts {
			s.parts[part] += now.Parts[class][part].Nanos - was.Parts[class][part].Nanos
		}
	}
	h.last++
	s.id = h.last
	h.latest = append(h.latest[max(0, len(h.latest)+1-historyMax):], s)
}

// list gives the samples, the oldest first.
func (h *history) list() []sample {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.latest)
}

// commandsPerSecond is the rate of the last sample, rounded; 0 before there is one.
func (h *history) commandsPerSecond() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == 0 {
		return 0
	}
	s := &h.latest[len(h.latest)-1]
	return uint64(s.perSecond(s.commands) + 0.5)
}

func (s *sample) perSecond(n uint64) float64 {
	if s.length <= 0 {
		return 0
	}
	return float64(n) / s.length.Seconds()
}

func commands(t observe.Totals) (n uint64) {
	for _, c := range t.Commands {
		n += c
	}
	return n
}

// percentile gives the time in milliseconds that a share of all is not longer than, as if times were spread evenly within a
// bucket; 0 if there is none.
func percentile(t *observe.Times, share float64) float64 {
	rank, seen := share*float64(t.Count()), uint64(0)
	for k, n := range t.Buckets {
		if n > 0 && float64(seen+n) >= rank {
			low, high := 0.0, observe.TimeBound(k)
			if k > 0 {
				low = observe.TimeBound(k - 1)
			}
			if math.IsInf(high, 1) {
				high = low
			}
			return (low + (high-low)*(rank-float64(seen))/float64(n)) * 1000
		}
		seen += n
	}
	return 0
}
