package proxy

import (
	"runtime/debug"
	"runtime/metrics"
	"time"

	"kingshard/proxy/processors"
)

const (
	memoryEvery = 2 * time.Second // between looks
	memoryQuiet = 2               // looks in a row that found little going on
	// quietBytes are allocated between two looks at most where little goes on, and quietTime of processors is used.
	quietBytes = 4 << 20
	quietTime  = 100 * time.Millisecond
	// returnBytes, and an eighth of what is in use, are worth a collection of garbage, at most once in returnEvery.
	returnBytes = 4 << 20
	returnEvery = time.Minute
)

// returnMemory gives memory back to the system when little goes on, until the server stops. The Go runtime keeps as much as the heap may
// grow to before the next collection of garbage: behind a crowd of clients that logged in, twice what they need from then on. Statements may
// stand still while memory is given back, for a fraction of a millisecond a MiB: so not under load.
func (s *Server) returnMemory() {
	ticker := time.NewTicker(memoryEvery)
	defer ticker.Stop()
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"},
		{Name: "/gc/heap/allocs:bytes"},
	}
	var m spareMemory
	for {
		select {
		case <-s.stop:
			return
		case now := <-ticker.C:
			metrics.Read(samples)
			free, objects, live := samples[0].Value.Uint64(), samples[1].Value.Uint64(), samples[2].Value.Uint64()
			if m.due(free+max(objects, live)-live, live, samples[3].Value.Uint64(), processors.Time(), now) {
				debug.FreeOSMemory()
			}
		}
	}
}

// spareMemory tells when memory that the process does not need is to be given back.
type spareMemory struct {
	allocated uint64        // since the start, at the last look
	used      time.Duration // of processors, likewise
	quiet     int           // looks in a row
	returned  time.Time
}

// due takes a look: how many bytes could be given back, how many are in use, and how many have been allocated and how much processor time
// used since the start.
func (m *spareMemory) due(spare, live, allocated uint64, used time.Duration, now time.Time) bool {
	m.quiet++
	if allocated-m.allocated > quietBytes || used-m.used > quietTime {
		m.quiet = 0
	}
	m.allocated, m.used = allocated, used
	if m.quiet < memoryQuiet || spare < max(returnBytes, live/8) || now.Sub(m.returned) < returnEvery {
		return false
	}
	m.returned = now
	return true
}
