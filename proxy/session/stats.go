package session

import (
	"sync/atomic"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/process"
)

// statsCells is how many copies of each counter there are: sessions spread over them so that cores do not fight for
// one cache line.
const statsCells = 16

// Stats counts what sessions do. Zero is ready.
type Stats struct {
	cells [statsCells]statsCell
	ends  [process.EndReasons]atomic.Uint64
	pins  [pinReasons]atomic.Uint64
	// adopted are sessions that came from another process.
	adopted atomic.Uint64
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

// statsCell is one session group's share of the counters, padded to whole cache lines. What every statement counts is of few
// cache lines: its class's classCell, and a bucket of each of three histograms.
type statsCell struct {
	classes [classes]classCell
	// latency are the times of statements by their command: textual and prepared. How many there were is in their buckets only.
	latency [statementCommands]times
	parts   [classes][timeParts]times

	commands [mysql.CommandsMax]atomic.Uint64 // but those of latency
	errors   [origins]atomic.Uint64
	scatters atomic.Uint64 // statements on several shards
	// deadlocks are transactions that gave way to others that waited for connections.
	deadlocks atomic.Uint64
	// rowDeadlocks are statements that gave way to others in a circle over several nodes, lockRetries how often one began anew.
	rowDeadlocks atomic.Uint64
	lockRetries  atomic.Uint64
	late         atomic.Uint64 // shared statements that were not as short or as plain as they were taken for
	handed       atomic.Uint64 // times that a loop handed a session to a goroutine
	_            [64]byte
}

// classCell is what the statements of a class sum up: 64 bytes.
type classCell struct {
	nanos    [timeParts]atomic.Uint64
	rows     atomic.Uint64
	bytes    atomic.Uint64
	looped   atomic.Uint64 // statements that began in a loop
	shared   atomic.Uint64 // of them, those that went on a connection with others'
	replicas atomic.Uint64
}

// The parts of a statement's time, as PartNames names them.
const (
	partProxy = iota
	partWait
	partBackend
)

// The commands that run statements.
const (
	commandQuery = iota
	commandExecute
	statementCommands
)

// statementCommand gives the place of a command among those that run statements; ok is false for others.
func statementCommand(cmd mysql.Command) (k int, ok bool) {
	switch cmd {
	case mysql.ComQuery:
		return commandQuery, true
	case mysql.ComStmtExecute:
		return commandExecute, true
	}
	return 0, false
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

// class gives the sums of a class of statements.
func (c *statsCell) class(class sqltext.Class) *classCell { return &c.classes[classOf(class)] }

// observe counts a statement's time, which is the sum of its parts. A wait too short to be told from none is in no bucket: Totals
// finds how many there were.
func (c *statsCell) observe(command int, class sqltext.Class, proxy, wait, exec time.Duration) {
	k := classOf(class)
	sums, parts := &c.classes[k], &c.parts[k]
	c.latency[command].observe(proxy + wait + exec)
	parts[partProxy].observe(proxy)
	sums.nanos[partProxy].Add(uint64(proxy))
	parts[partBackend].observe(exec)
	sums.nanos[partBackend].Add(uint64(exec))
	if wait > 0 {
		if b := bucketOf(wait); b > 0 {
			parts[partWait][b].Add(1)
		}
		sums.nanos[partWait].Add(uint64(wait))
	}
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
	RowDeadlocks uint64 // statements rolled back as they waited for each other's row locks across nodes
	LockRetries  uint64 // times that a change of several nodes began anew, as it came too late for a lock
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
		for class := range c.classes {
			c.addClass(&t, class)
		}
		c.addLatency(&t)
		t.Scattered += c.scatters.Load()
		t.Late += c.late.Load()
		t.Handed += c.handed.Load()
		t.Deadlocks += c.deadlocks.Load()
		t.RowDeadlocks += c.rowDeadlocks.Load()
		t.LockRetries += c.lockRetries.Load()
	}
	t.Adopted = s.adopted.Load()
	for r := range s.ends {
		t.Ends[process.EndReason(r).String()] = s.ends[r].Load()
	}
	for r := range s.pins {
		t.Pins[pinNames[r]] = s.pins[r].Load()
	}
	return t
}

// Looped is the number of statements that loops sent so far.
func (s *Stats) Looped() (n uint64) {
	for k := range s.cells {
		for class := range s.cells[k].classes {
			n += s.cells[k].classes[class].looped.Load()
		}
	}
	return n
}

// addClass adds what the statements of a class counted.
func (c *statsCell) addClass(t *Totals, class int) {
	sums, parts := &c.classes[class], &t.Parts[class]
	t.Rows += sums.rows.Load()
	t.Bytes += sums.bytes.Load()
	t.ReplicaReads += sums.replicas.Load()
	t.Looped += sums.looped.Load()
	t.Shared += sums.shared.Load()
	for part := range parts {
		nanos := sums.nanos[part].Load()
		parts[part].Nanos += nanos
		t.Latency.Nanos += nanos
	}
	// Waits first: a statement counts the proxy's part before its wait, so that there are no more waits than statements.
	var waits, own Times
	c.parts[class][partWait].addTo(&waits)
	c.parts[class][partProxy].addTo(&own)
	waits.Buckets[0] = own.Count() - waits.Count()
	for k := range waits.Buckets {
		parts[partWait].Buckets[k] += waits.Buckets[k]
		parts[partProxy].Buckets[k] += own.Buckets[k]
	}
	c.parts[class][partBackend].addTo(&parts[partBackend])
}

// addLatency adds the statements by their commands and times.
func (c *statsCell) addLatency(t *Totals) {
	for k, cmd := range [statementCommands]mysql.Command{mysql.ComQuery, mysql.ComStmtExecute} {
		var of Times
		c.latency[k].addTo(&of)
		if n := of.Count(); n > 0 {
			t.Commands[cmd.String()] += n
		}
		for b, n := range of.Buckets {
			t.Latency.Buckets[b] += n
		}
	}
}
