package proxy

import (
	"runtime"
	"sync"

	"kingshard/proxy/processors"
)

// processorsMax is how many threads may run Go code at once, as asked for from outside.
var processorsMax = runtime.GOMAXPROCS(0)

// places are those of the Go scheduler, which is the process's as a whole: as many as processors are used, and as many again while the
// fast lane is in use, for each of its loops keeps one even while it waits for a moment.
type places struct {
	mu         sync.Mutex
	processors int
	set        int
}

// adaptProcessors has the process run on as few processors as its load needs, until the server stops.
func (s *Server) adaptProcessors() {
	s.useProcessors(processorsMax)
	if s.lanes != nil {
		s.lanes.WhenUsed(s.fitPlaces)
	}
	processors.Govern(processorsMax, s.stop, s.lanesUsed, s.useProcessors)
}

// lanesUsed tells whether loops of the fast lane have something to do, of which one more costs little.
func (s *Server) lanesUsed() bool { return s.lanes != nil && s.lanes.Used() }

// useProcessors sets how many processors the proxy runs on.
func (s *Server) useProcessors(n int) {
	s.places.mu.Lock()
	s.places.processors = n
	s.places.mu.Unlock()
	s.shared.Processors.Store(int32(n))
	if s.lanes != nil {
		s.lanes.Use(n)
	}
	s.fitPlaces()
}

// fitPlaces has the scheduler have as many places as are needed now. A change stops all goroutines for a moment.
func (s *Server) fitPlaces() {
	p := &s.places
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.processors
	if s.lanesUsed() {
		n *= 2
	}
	if n != p.set {
		p.set = n
		runtime.GOMAXPROCS(n)
	}
}
