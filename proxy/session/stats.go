package session

import (
	"math/bits"
	"sync/atomic"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// statsCells is how many copies of each counter there are: sessions spread over them so that cores do not fight for
// one cache line.
const statsCells = 16

// Stats counts what sessions do. Zero is ready.
type Stats struct {
	cells [statsCells]statsCell
	ends  [endReasons]atomic.Uint64
	pins  [pinReasons]atomic.Uint64
	// adopted are sessions that came from another process.
	adopted atomic.Uint64
}

// latencyBuckets is the number of buckets of the latency histogram; bucket k counts commands shorter than 2^k
// microseconds, the last one all the rest.
const latencyBuckets = 26

// times is a histogram of how long something took.
type times struct {
	buckets [latencyBuckets]atomic.Uint64
	micros  atomic.Uint64
}

func (t *times) observe(d time.Duration) {
	us := uint64(max(d, 0).Microseconds())
	t.buckets[min(bits.Len64(us), latencyBuckets-1)].Add(1)
	t.micros.Add(us)
}

// Times is a sum of histograms.
type Times struct {
	Buckets [latencyBuckets]uint64 // bucket k: shorter than 2^k microseconds
	Micros  uint64
}

func (t *times) addTo(sum *Times) {
	for k := range t.buckets {
		sum.Buckets[k] += t.buckets[k].Load()
	}
	sum.Micros += t.micros.Load()
}

// Classes of statements, and parts of the time that they take, as metrics name them.
var (
	ClassNames = [classes]string{"read", "write", "other"}
	PartNames  = [timeParts]string{"proxy", "pool_wait", "backend"}
)

const (
	classes   = 3
	timeParts = 3
)

// classOf gives the place of a class in ClassNames.
func classOf(c sqltext.Class) int {
	switch c {
	case sqltext.Select, sqltext.With, sqltext.Table, sqltext.Values:
		return 0
	case sqltext.Insert, sqltext.Replace, sqltext.Update, sqltext.Delete, sqltext.LoadData, sqltext.LoadDataLocal:
		return 1
	}
	return 2
}

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
	looped    atomic.Uint64 // statements that began in a loop
	shared    atomic.Uint64 // of them, those that went on a connection with others'
	late      atomic.Uint64 // of these, those that were not as short or as plain as they were taken for
	handed    atomic.Uint64 // times that a loop handed a session to a goroutine
	latency   times
	parts     [classes][timeParts]times
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

func (c *statsCell) observe(d time.Duration) { c.latency.observe(d) }

// observeParts counts the parts of a statement's time.
func (c *statsCell) observeParts(class sqltext.Class, proxy, wait, exec time.Duration) {
	p := &c.parts[classOf(class)]
	p[0].observe(proxy)
	p[1].observe(wait)
	p[2].observe(exec)
}

// Totals is a sum over all sessions since the start.
type Totals struct {
	Commands     map[string]uint64 // by the manual's name, those that occurred
	Errors       map[string]uint64 // by origin
	Ends         map[string]uint64 // by reason
	Pins         map[string]uint64 // by reason
	Rows, Bytes  uint64            // forwarded to clients
	ReplicaReads uint64
	Scattered    uint64 // statements on several shards
	Looped       uint64 // statements sent by the fast lane
	Shared       uint64 // of these, on a connection with others'
	Late         uint64 // of these, long or without plain success
	Handed       uint64 // times that the fast lane handed a session to a goroutine
	Deadlocks    uint64 // transactions rolled back as sessions waited for each other's connections
	Adopted      uint64 // sessions that came from the process of another binary
	Latency      Times
	Parts        [classes][timeParts]Times // as ClassNames and PartNames name them
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
		c.latency.addTo(&t.Latency)
		for class := range c.parts {
			for part := range c.parts[class] {
				c.parts[class][part].addTo(&t.Parts[class][part])
			}
		}
		t.Rows += c.rows.Load()
		t.Bytes += c.bytes.Load()
		t.ReplicaReads += c.replicas.Load()
		t.Scattered += c.scatters.Load()
		t.Looped += c.looped.Load()
		t.Shared += c.shared.Load()
		t.Late += c.late.Load()
		t.Handed += c.handed.Load()
		t.Deadlocks += c.deadlocks.Load()
	}
	t.Adopted = s.adopted.Load()
	for r := range s.ends {
		t.Ends[EndReason(r).String()] = s.ends[r].Load()
	}
	for r := range s.pins {
		t.Pins[pinNames[r]] = s.pins[r].Load()
	}
	return t
}
