package session

import (
	"sync/atomic"
	"time"

	"kingshard/mysql"
)

// statsCells is how many copies of each counter there are: sessions spread over them so that cores do not fight for
// one cache line.
const statsCells = 16

// Stats counts what sessions do. Zero is ready.
type Stats struct {
	cells [statsCells]statsCell
	ends  [endReasons]atomic.Uint64
	pins  [pinReasons]atomic.Uint64
}

// latencyBuckets is the number of buckets of the latency histogram; bucket k counts commands shorter than 2^k
// microseconds, the last one all the rest.
const latencyBuckets = 26

// statsCell is one session group's share of the counters, padded to whole cache lines.
type statsCell struct {
	commands [mysql.CommandsMax]atomic.Uint64
	errors   [origins]atomic.Uint64
	rows     atomic.Uint64
	bytes    atomic.Uint64
	replicas atomic.Uint64
	scatters atomic.Uint64 // statements on several shards
	// deadlocks are transactions that gave way to others that waited for connections.
	deadlocks atomic.Uint64
	latency   [latencyBuckets]atomic.Uint64
	micros    atomic.Uint64
	_         [64]byte
}

// Origin is where an error that a client heard came from.
type Origin uint8

// The origins.
const (
	OriginClient  Origin = iota // the client asked for something wrong, or broke the protocol
	OriginProxy                 // the proxy refused or could not
	OriginBackend               // the server's own answer, passed on unchanged
	origins
)

// String gives the label used in metrics and logs.
func (o Origin) String() string { return [...]string{"client", "proxy", "backend"}[o] }

func (s *Stats) cell(id uint32) *statsCell { return &s.cells[id%statsCells] }

func (c *statsCell) observe(d time.Duration) {
	us := uint64(d.Microseconds())
	k := 0
	for v := us; v > 0 && k < latencyBuckets-1; v >>= 1 {
		k++
	}
	c.latency[k].Add(1)
	c.micros.Add(us)
}

// Totals is a sum over all sessions since the start.
type Totals struct {
	Commands      map[string]uint64 // by the manual's name, those that occurred
	Errors        map[string]uint64 // by origin
	Ends          map[string]uint64 // by reason
	Pins          map[string]uint64 // by reason
	Rows, Bytes   uint64            // forwarded to clients
	ReplicaReads  uint64
	Scattered     uint64                 // statements on several shards
	Deadlocks     uint64                 // transactions rolled back as sessions waited for each other's connections
	Latency       [latencyBuckets]uint64 // bucket k: shorter than 2^k microseconds
	LatencyMicros uint64
}

// Totals adds up the counters.
func (s *Stats) Totals() Totals {
	t := Totals{Commands: map[string]uint64{}, Errors: map[string]uint64{}, Ends: map[string]uint64{}, Pins: map[string]uint64{}}
	for k := range s.cells {
		c := &s.cells[k]
		for cmd := range c.commands {
			if n := c.commands[cmd].Load(); n > 0 {
				t.Commands[mysql.Command(cmd).String()] += n
			}
		}
		for o := range c.errors {
			t.Errors[Origin(o).String()] += c.errors[o].Load()
		}
		for b := range c.latency {
			t.Latency[b] += c.latency[b].Load()
		}
		t.Rows += c.rows.Load()
		t.Bytes += c.bytes.Load()
		t.ReplicaReads += c.replicas.Load()
		t.Scattered += c.scatters.Load()
		t.Deadlocks += c.deadlocks.Load()
		t.LatencyMicros += c.micros.Load()
	}
	for r := range s.ends {
		t.Ends[EndReason(r).String()] = s.ends[r].Load()
	}
	for r := range s.pins {
		t.Pins[pinNames[r]] = s.pins[r].Load()
	}
	return t
}
