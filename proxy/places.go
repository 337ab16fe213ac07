package proxy

import (
	"runtime"
	"sync"
	"time"

	"kingshard/proxy/processors"
)

// processorsMax is how many threads may run Go code at once, as asked for from outside.
var processorsMax = runtime.GOMAXPROCS(0)

const (
	// laneRate is the number of statements and woken goroutines a second from which on loops of the fast lane have places of the scheduler.
	laneRate = 10
	// laneLook is the least time that the rate counts over: fewer of them within it are a chance.
	laneLook = 500 * time.Millisecond
	// laneUsed is how long they keep them when there are fewer.
	laneUsed = 10 * time.Second
)

// places are those of the Go scheduler, which is the process's as a whole: as many as processors are used, and as many again for the loops
// of the fast lane, each of which keeps one even while it waits for a moment. Loops with little to do have none, and wait
// as goroutines do.
type places struct {
	mu      sync.Mutex
	set     int    // 0: not yet
	naps    int    // of them for loops
	done    uint64 // what the loops have done so far, seen at looked
	looked  time.Time
	lastUse time.Time // of the loops
}

// adaptProcessors has the process run on as few processors as its load needs, until the server stops: the rest of its time it has all.
func (s *Server) adaptProcessors() {
	s.useProcessors(processorsMax)
	processors.Govern(processorsMax, s.stop, s.useProcessors)
	s.useProcessors(processorsMax)
}

// useProcessors sets how many processors the proxy runs on. It may take as long as a collection of garbage that is under way, and stops
// all goroutines for a moment if there is a change.
func (s *Server) useProcessors(n int) {
	p := &s.places
	p.mu.Lock()
	defer p.mu.Unlock()
	naps := 0
	if s.lanes != nil {
		s.lanes.Use(n)
		if p.use(s.shared.Stats.Looped()+s.lanes.Wakes(), time.Now()) {
			naps = n
		}
		s.lanes.Nap(min(naps, p.naps)) // none naps on a place that is not there
	}
	if n+naps != p.set {
		runtime.GOMAXPROCS(n + naps)
	}
	p.set, p.naps = n+naps, naps
	if s.lanes != nil {
		s.lanes.Nap(naps)
	}
	s.shared.Processors.Store(int32(n))
}

// use tells whether loops have something to do, by how many statements they have sent and goroutines they have woken so far.
func (p *places) use(done uint64, now time.Time) bool {
	if float64(done-p.done) >= laneRate*max(now.Sub(p.looked), laneLook).Seconds() {
		p.lastUse = now
	}
	p.done, p.looked = done, now
	return !p.lastUse.IsZero() && now.Sub(p.lastUse) < laneUsed
}
