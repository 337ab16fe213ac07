package proxy

import (
	"net"
	"sync"
	"time"
)

// gate holds accept loops up while it is decided which process accepts clients.
type gate struct {
	mu     sync.Mutex
	loops  int
	paused chan struct{} // closed when the loops may go on; nil while they do
	held   chan struct{} // takes one for each loop that waits
}

// open says how many accept loops there are.
func (g *gate) open(loops int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.loops, g.held = loops, make(chan struct{}, loops)
}

// wait is called by a loop whose accept failed. True says that it was held up and that it may go on; nothing holds it up after stop.
func (g *gate) wait(stop <-chan struct{}) bool {
	g.mu.Lock()
	paused, held := g.paused, g.held
	g.mu.Unlock()
	if paused == nil {
		return false
	}
	select {
	case <-stop:
		return false
	default:
	}
	held <- struct{}{}
	select {
	case <-paused:
		return true
	case <-stop:
		return false
	}
}

// pausePatience bounds the wait for accept loops, which do nothing that lasts.
const pausePatience = 5 * time.Second

// pause returns when no loop accepts any more, until resume. With false they go on.
func (g *gate) pause(listeners []net.Listener) bool {
	g.mu.Lock()
	loops := g.loops
	g.paused = make(chan struct{})
	g.mu.Unlock()
	setDeadline(listeners, time.Unix(1, 0))
	patience := time.NewTimer(pausePatience)
	defer patience.Stop()
	for range loops {
		select {
		case <-g.held:
		case <-patience.C:
			g.resume(listeners)
			return false
		}
	}
	return loops > 0
}

// resume lets the loops go on: to accept, or to find that their listeners are closed.
func (g *gate) resume(listeners []net.Listener) {
	setDeadline(listeners, time.Time{})
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.paused)
	g.paused, g.held = nil, make(chan struct{}, g.loops)
}

// setDeadline ends waits for clients at a time.
func setDeadline(listeners []net.Listener, t time.Time) {
	for _, l := range listeners {
		if d, ok := l.(interface{ SetDeadline(time.Time) error }); ok {
			_ = d.SetDeadline(t)
		}
	}
}

// gatedListener is a listener whose accepts the gate holds up, for loops that are not the server's own.
type gatedListener struct {
	net.Listener
	gate *gate
	stop <-chan struct{}
}

// Accept is that of net.Listener.
func (l gatedListener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err == nil || !l.gate.wait(l.stop) {
			return nc, err
		}
	}
}
