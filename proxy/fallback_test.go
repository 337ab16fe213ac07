package proxy_test

import (
	"strings"
	"sync"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/session"
)

// slowReports is a server whose reports go on until release is closed.
func slowReports(t *testing.T, name string) (server *mysqltest.ScriptServer, begun, release chan struct{}) {
	t.Helper()
	begun, release = make(chan struct{}, 100), make(chan struct{})
	answer := answers(name)
	server = mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		if strings.Contains(string(payload), "report") {
			begun <- struct{}{}
			<-release
		}
		answer(c, cmd, payload)
	}})
	return server, begun, release
}

// Reads that come to the primary because all replicas are gone have half of its connections; the others wait for their place, and what only
// the primary can do goes on.
func TestFallbackReadsAreBounded(t *testing.T) {
	for _, lane := range []string{"fast_lane: true", "fast_lane: false"} {
		t.Run(lane, func(t *testing.T) {
			primary, begun, release := slowReports(t, "primary")
			p := startProxy(t, configText([]node{{name: "n", master: primary.Addr, slave: closedAddr(t), conns: 2}}), lane, "pool_wait_timeout: 60s", "primary_wait_timeout: 60s")
			mysqltest.WaitFor(t, "the verdict", func() bool { return p.Nodes()["n"].Reader(0) == p.primary("n") && p.primary("n").Info() != nil })
			var reports sync.WaitGroup
			for range 3 {
				c := p.client("")
				reports.Go(func() {
					if r, err := c.Query("SELECT name /* report */"); err != nil || r.Err != nil {
						t.Errorf("%v, %+v", err, r)
					}
				})
			}
			<-begun
			mysqltest.WaitFor(t, "the others to wait", func() bool { return p.Nodes()["n"].Fallback.Stats().Waiting == 2 })
			must(t, p.client(""), "INSERT INTO t VALUES (1)")
			close(release)
			reports.Wait()
			mysqltest.WaitFor(t, "their places to be free", func() bool {
				st := p.Nodes()["n"].Fallback.Stats()
				return st.InUse == 0 && st.Waiting == 0
			})
		})
	}
}

// A read whose turn does not come hears why.
func TestFallbackReadsRefused(t *testing.T) {
	primary, begun, release := slowReports(t, "primary")
	p := startProxy(t, configText([]node{{name: "n", master: primary.Addr, slave: closedAddr(t), conns: 2}}), "pool_wait_timeout: 100ms", "primary_wait_timeout: 60s")
	mysqltest.WaitFor(t, "the verdict", func() bool { return p.Nodes()["n"].Reader(0) == p.primary("n") && p.primary("n").Info() != nil })
	first := p.client("")
	report := make(chan struct{})
	go func() {
		_, _ = first.Query("SELECT name /* report */")
		close(report)
	}()
	<-begun
	e := fails(t, p.client(""), "SELECT name", session.KSPoolTimeout)
	if want := "reads of node n that its primary serves, as no replica can"; !strings.Contains(e.Message, want) || !strings.Contains(e.Message, "1 of 1 in use") {
		t.Errorf("%q does not say %q", e.Message, want)
	}
	close(release)
	<-report
	must(t, p.client(""), "SELECT name")
}
