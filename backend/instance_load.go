package backend

import (
	"sync/atomic"
	"time"
)

// loadCells is how many copies of an instance's counters there are, so that sessions on several cores do not fight for one cache line.
const loadCells = 16

// loadCell has the counters of the sessions that share a cell, and fills a cache line.
type loadCell struct {
	statements, errors, nanos, bytes atomic.Uint64
	_                                [32]byte
}

// Load is what clients' statements have asked of an instance since it was opened.
type Load struct {
	Statements uint64
	Errors     uint64        // of them, those that it answered with an error, or not at all
	Busy       time.Duration // from the sending of each to the end of its answer, added up
	Bytes      uint64        // of the answers
}

// Count counts a statement that an instance has answered. Callers with different cells do not disturb each other.
func (i *Instance) Count(cell uint32, took time.Duration, bytes uint64, failed bool) {
	c := &i.load[cell%loadCells]
	c.statements.Add(1)
	c.nanos.Add(uint64(max(took, 0)))
	if bytes > 0 {
		c.bytes.Add(bytes)
	}
	if failed {
		c.errors.Add(1)
	}
}

// Load adds up what was counted.
func (i *Instance) Load() (l Load) {
	for k := range i.load {
		c := &i.load[k]
		l.Statements += c.statements.Load()
		l.Errors += c.errors.Load()
		l.Busy += time.Duration(c.nanos.Load())
		l.Bytes += c.bytes.Load()
	}
	return l
}
