package observe

import (
	"sync/atomic"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// shares is how many copies of each counter there are: sessions spread over them so that cores do not fight for
// one cache line.
const shares = 16

// Stats counts what sessions do. Zero is ready.
type Stats struct {
	shares [shares]Counters
	// Adopted are sessions that came from another process.
	Adopted atomic.Uint64
	// Collected is what statements under way have collected to be finished.
	Collected mysql.Memory
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

// classOf returns the place of a class in ClassNames.
func classOf(c sqltext.Class) int {
	switch c {
	case sqltext.Select, sqltext.With, sqltext.Table, sqltext.Values:
		return 0
	case sqltext.Insert, sqltext.Replace, sqltext.Update, sqltext.Delete, sqltext.LoadData, sqltext.LoadDataLocal:
		return 1
	}
	return 2
}

// Counters are the share of a Stats that a group of sessions adds to, padded to whole cache lines. What every statement counts is of few
// cache lines: its class's classSums, and a bucket of each of three histograms. Totals says what each of the exported ones counts.
type Counters struct {
	classes [classes]classSums
	// latency are the times of statements by their command: textual and prepared. How many there were is in their buckets only.
	latency [statementCommands]times
	parts   [classes][timeParts]times

	commands [mysql.CommandsMax]atomic.Uint64 // but those of latency
	errors   [origins]atomic.Uint64

	Scattered, Deadlocks, RowDeadlocks, LockRetries, RowsMoved, BestEffort, Late, Handed atomic.Uint64
	// Fresh are reads that had to find what was changed, by what they found; see FreshNames.
	Fresh [freshOutcomes]atomic.Uint64
	// CrossWarned and CrossDenied are statements that cross_shard warned of and refused.
	CrossWarned, CrossDenied atomic.Uint64
	// FinishRows and FinishBytes are what was collected on one server from others to finish statements there: rows, and bytes of INSERTs.
	FinishRows, FinishBytes atomic.Uint64
	// Replays are transactions that were replayed, by what came of it; see ReplayNames.
	Replays [replayOutcomes]atomic.Uint64

	_ [64]byte
}

// classSums are what the statements of a class sum up: 64 bytes.
type classSums struct {
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

// statementCommand returns the place of a command among those that run statements; ok is false for others.
func statementCommand(cmd mysql.Command) (k int, ok bool) {
	switch cmd {
	case mysql.ComQuery:
		return commandQuery, true
	case mysql.ComStmtExecute:
		return commandExecute, true
	}
	return 0, false
}

// observe counts a statement's time, which is the sum of its parts. A wait too short to be told from none is in no bucket: Totals
// finds how many there were.
func (c *Counters) observe(command int, class sqltext.Class, p Parts) {
	k := classOf(class)
	sums, parts := &c.classes[k], &c.parts[k]
	c.latency[command].observe(p.Proxy + p.Wait + p.Backend)
	parts[partProxy].observe(p.Proxy)
	sums.nanos[partProxy].Add(uint64(p.Proxy))
	parts[partBackend].observe(p.Backend)
	sums.nanos[partBackend].Add(uint64(p.Backend))
	if p.Wait > 0 {
		if b := bucketOf(p.Wait); b > 0 {
			parts[partWait][b].Add(1)
		}
		sums.nanos[partWait].Add(uint64(p.Wait))
	}
}

// Totals is a sum over all sessions since the start.
type Totals struct {
	Commands                map[string]uint64 // by the manual's name, those that occurred
	Errors                  map[string]uint64 // by origin
	Rows, Bytes             uint64            // forwarded to clients
	ReplicaReads            uint64
	FinishRows, FinishBytes uint64                 // collected on one server from others, to finish statements there
	CrossWarned             uint64                 // statements that bring rows of several shards together, of which clients were warned
	CrossDenied             uint64                 // such that were refused
	Replays                 [replayOutcomes]uint64 // transactions that were replayed, as ReplayNames name what came of it
	Fresh                   [freshOutcomes]uint64  // reads that had to find what was changed, as FreshNames name them
	Scattered               uint64                 // statements on several shards
	Looped                  uint64                 // statements sent by the fast lane
	Shared                  uint64                 // of these, on a connection with others'
	Late                    uint64                 // of these, those that were not as short or as plain as they were taken for
	Handed                  uint64                 // times that the fast lane handed a session to a goroutine
	Deadlocks               uint64                 // transactions rolled back as sessions waited for each other's connections
	RowDeadlocks            uint64                 // statements rolled back as they waited for each other's row locks across nodes
	BestEffort              uint64                 // transactions of several nodes that committed one node behind the other
	LockRetries             uint64                 // times that a change of several nodes began anew, as it came too late for a lock
	RowsMoved               uint64                 // rows that an UPDATE gave a sharding key of another shard, and that moved there
	Adopted                 uint64                 // sessions that came from the process of another binary
	Latency                 Times
	Parts                   [classes][timeParts]Times // as ClassNames and PartNames name them
}

// Totals adds up the counters.
func (s *Stats) Totals() Totals {
	t := Totals{Commands: map[string]uint64{}, Errors: map[string]uint64{}}
	for k := range s.shares {
		c := &s.shares[k]
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
		t.Scattered += c.Scattered.Load()
		t.Late += c.Late.Load()
		t.Handed += c.Handed.Load()
		t.Deadlocks += c.Deadlocks.Load()
		t.RowDeadlocks += c.RowDeadlocks.Load()
		t.LockRetries += c.LockRetries.Load()
		t.RowsMoved += c.RowsMoved.Load()
		t.BestEffort += c.BestEffort.Load()
		t.CrossWarned += c.CrossWarned.Load()
		t.CrossDenied += c.CrossDenied.Load()
		t.FinishRows += c.FinishRows.Load()
		t.FinishBytes += c.FinishBytes.Load()
		for k := range c.Replays {
			t.Replays[k] += c.Replays[k].Load()
		}
		for k := range c.Fresh {
			t.Fresh[k] += c.Fresh[k].Load()
		}
	}
	t.Adopted = s.Adopted.Load()
	return t
}

// Looped is the number of statements that loops sent so far.
func (s *Stats) Looped() (n uint64) {
	for k := range s.shares {
		for class := range s.shares[k].classes {
			n += s.shares[k].classes[class].looped.Load()
		}
	}
	return n
}

// addClass adds what the statements of a class counted.
func (c *Counters) addClass(t *Totals, class int) {
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
func (c *Counters) addLatency(t *Totals) {
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
