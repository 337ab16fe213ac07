package proxy_test

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// startBlackHole is a server that accepts connections and never says a word.
func startBlackHole(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			conns = append(conns, nc)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
		for _, nc := range conns {
			nc.Close()
		}
	})
	return l.Addr().String()
}

// A server that takes connections and never answers delays those who want it, and nobody else: not the statements and
// probes of other servers, nor a reload, nor a shutdown once no client waits any more.
func TestBlackHole(t *testing.T) {
	t.Parallel()
	good, spare := startScript(t, "good"), startScript(t, "spare")
	nodes := []node{{name: "n1", master: good.Addr, slave: spare.Addr, conns: 2}, {name: "n2", master: startBlackHole(t), conns: 2}}
	// An hour is longer than the test may take: whatever waits for the black hole is seen to hang.
	p := startProxy(t, configText(nodes, "idle_timeout: 8h"), "connect_timeout: 1h", "pool_wait_timeout: 3s")
	mysqltest.WaitFor(t, "the other servers", func() bool {
		return p.primary("n1").State() == backend.Up && p.Nodes()["n1"].Replicas[0].State() == backend.Up
	})
	var stuck sync.WaitGroup
	for range 6 {
		c := p.client("")
		must(t, c, "SELECT name")
		stuck.Go(func() {
			r, err := c.Query("/*n2*/ SELECT name")
			if err != nil || r.Err == nil || r.Err.Code != 9001 && r.Err.Code != 9002 {
				t.Errorf("a statement for the black hole: %+v, %v", r, err)
			}
		})
	}
	mysqltest.WaitFor(t, "statements to wait for the black hole", func() bool { st := p.primary("n2").Stats(); return st.Dialling+st.Waiting == 6 })
	c := p.client("")
	for n := range 100 {
		if got := value(t, c, fmt.Sprintf("SELECT %d FOR UPDATE", n)); got != "good" {
			t.Fatalf("served by %s", got)
		}
	}
	spare.Configure(refuseLogins)
	spare.CutAll()
	mysqltest.WaitFor(t, "the probe of another server to find it dead", func() bool { return p.Nodes()["n1"].Replicas[0].State() == backend.Down })
	p.reload(replaceLine(replaceLine(configText(nodes, "idle_timeout: 7h"), "connect_timeout: 1h"), "pool_wait_timeout: 3s"))
	must(t, c, "SELECT name")
	stuck.Wait()
	if err := p.stop(10 * time.Second); err != nil {
		t.Error(err)
	}
}

// The same with a replica: its node's reads go on at the primary as soon as the replica is known to be dead.
func TestBlackHoleReplica(t *testing.T) {
	t.Parallel()
	primary := startScript(t, "primary")
	p := startProxy(t, configText([]node{{name: "n", master: primary.Addr, slave: startBlackHole(t), conns: 2}}), "connect_timeout: 300ms", "primary_wait_timeout: 5s")
	c := p.client("")
	if got := value(t, c, "SELECT name"); got != "primary" {
		t.Errorf("served by %s", got)
	}
	mysqltest.WaitFor(t, "the replica to be found dead", func() bool { return p.Nodes()["n"].Replicas[0].State() == backend.Down })
	for range 100 {
		must(t, c, "SELECT name")
	}
}

// A server that stops answering in the middle of a statement: its clients wait, all others and their KILL do not, and a
// client that gives up leaves nothing once its server is gone.
func TestServerFallsSilent(t *testing.T) {
	t.Parallel()
	moody, good := startScript(t, "moody"), startScript(t, "good")
	p := startProxy(t, configText([]node{{name: "n1", master: good.Addr, conns: 2}, {name: "n2", master: moody.Addr, conns: 2}}), "connect_timeout: 500ms")
	victim, c := p.client(""), p.client("")
	must(t, victim, "/*n2*/ SELECT name")
	moody.SetHandler(func(c *mysqltest.ScriptConn, _ mysql.Command, _ []byte) { c.Delay(time.Hour) })
	failed := make(chan error, 1)
	go func() {
		r, err := victim.Query("/*n2*/ UPDATE t SET a = 1")
		if err == nil && r.Err != nil {
			err = r.Err
		}
		failed <- err
	}()
	mysqltest.WaitFor(t, "the statement to run", func() bool { return p.primary("n2").Stats().InUse == 1 })
	for range 100 {
		must(t, c, "SELECT name")
	}
	mysqltest.WaitFor(t, "the silent server to be found dead", func() bool { return p.primary("n2").State() == backend.Down })
	fails(t, c, "/*n2*/ SELECT name", 9002)
	// KILL cannot be told to a server that does not listen: the connection is closed, so the client is free.
	must(t, c, fmt.Sprintf("KILL %d", victim.Greeting.ConnectionID))
	if err := <-failed; err == nil {
		t.Error("the killed statement ended well")
	}
	victim.Conn.Close()
	p.quiet(1)
}
