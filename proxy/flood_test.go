package proxy_test

import (
	"io"
	"net"
	"sync"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// floodgate passes connections on to a server. While it is shut, those that come wait, and it counts them.
type floodgate struct {
	listener net.Listener
	target   string
	running  sync.WaitGroup

	mu      sync.Mutex
	shut    bool
	waiting []net.Conn
	most    int // that have waited at once
	passed  []net.Conn
}

func startFloodgate(t *testing.T, target string) *floodgate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &floodgate{listener: l, target: target}
	g.running.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			g.mu.Lock()
			if g.shut {
				g.waiting = append(g.waiting, nc)
				g.most = max(g.most, len(g.waiting))
			} else {
				g.passLocked(nc)
			}
			g.mu.Unlock()
		}
	})
	t.Cleanup(func() {
		l.Close()
		g.release()
		g.breakAll()
		g.running.Wait()
	})
	return g
}

func (g *floodgate) passLocked(near net.Conn) {
	far, err := net.Dial("tcp", g.target)
	if err != nil {
		near.Close()
		return
	}
	g.passed = append(g.passed, near, far)
	g.running.Go(func() { _, _ = io.Copy(far, near); far.Close() })
	g.running.Go(func() { _, _ = io.Copy(near, far); near.Close() })
}

// breakAll ends the connections that were passed on, as the death of a server does, and shuts the gate.
func (g *floodgate) breakAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
	for _, nc := range g.passed {
		nc.Close()
	}
	g.passed = nil
}

// release passes those on that wait.
func (g *floodgate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, nc := range g.waiting {
		g.passLocked(nc)
	}
	g.waiting = nil
}

func (g *floodgate) count() (waiting, most int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting), g.most
}

// A server that dies under two thousand clients gets its connections back by no more than sixteen logins at once, whatever state they are to
// carry, and no client hears of it.
func TestNoFloodOfDials(t *testing.T) {
	server := startScript(t, "a")
	gate := startFloodgate(t, server.Addr)
	const clients, conns, dialsMax, probes = 2000, 64, 16, 2 // a probe, and what it asks besides
	p := startProxy(t, oneNode(gate.listener.Addr().String(), conns), "pool_wait_timeout: 60s", "connect_timeout: 60s", "health_interval: 1h")
	mysqltest.WaitFor(t, "the first probe", func() bool { return p.primary("n").Info() != nil })
	mysqltest.WaitFor(t, "what goes with it", func() bool { return p.primary("n").Stored() != nil })
	all := make([]*mysqltest.RawClient, clients)
	ask := func() *sync.WaitGroup {
		var asking sync.WaitGroup
		for k, c := range all {
			asking.Go(func() {
				if r, err := c.Query("SELECT name"); err != nil || r.Err != nil {
					t.Errorf("client %d: %v, %+v", k, err, r)
				}
			})
		}
		return &asking
	}
	for k := range all {
		config := rootClient()
		if k%2 == 0 {
			config.Without = mysql.ClientFoundRows // which takes a login of its own
		}
		all[k] = dial(t, p.addr, config)
	}
	ask().Wait()
	gate.breakAll()
	asking := ask()
	answered := make(chan struct{})
	go func() { asking.Wait(); close(answered) }()
	mysqltest.WaitFor(t, "the first dials", func() bool { n, _ := gate.count(); return n >= dialsMax })
	mysqltest.WaitFor(t, "all answers", func() bool {
		gate.release()
		select {
		case <-answered:
			return true
		default:
			return false
		}
	})
	if _, most := gate.count(); most > dialsMax+probes {
		t.Errorf("%d connections were opened at once", most)
	}
}
