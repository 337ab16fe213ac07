package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/backend"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/querylog"
)

// discovering is a configuration whose node knows its primary only.
func discovering(primary string, more ...string) string {
	return configText([]node{{name: "n", master: primary, slave: "discover", conns: 8}}, more...)
}

// replicaAt returns the node's replica at an address; nil if there is none.
func (p *testProxy) replicaAt(addr string) *backend.Instance {
	for _, r := range p.Nodes()["n"].Replicas {
		if r.Addr == addr {
			return r
		}
	}
	return nil
}

// A replica that comes while the proxy runs gets reads, one that goes is dropped, and one that is promoted when the primary dies is followed though no
// file names it; a reload of the file leaves it so.
func TestReplicasDiscovered(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			primary := startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: 1})
			text := discovering(primary.Addr, "idle_timeout: 8h")
			p := startProxy(t, text, "primary_wait_timeout: 60s")
			c := p.client("")
			must(t, c, "CREATE TABLE test.t (id INT PRIMARY KEY)")
			must(t, c, "INSERT INTO test.t VALUES (1)")
			gets := func(s *mysqltest.RealServer) {
				t.Helper()
				mysqltest.WaitFor(t, "reads from "+s.Addr, func() bool {
					must(t, c, "SELECT id FROM test.t")
					r := p.replicaAt(s.Addr)
					return r != nil && r.Load().Statements > 0
				})
			}
			nowhere := ""
			if kind == mysqltest.MariaDB { // which takes the address of the connection for none
				nowhere = "none.invalid"
			}
			hidden := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 4, Settings: map[string]string{"report_host": nowhere}})
			first := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 2})
			gets(first)
			second := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 3})
			gets(second)
			if p.replicaAt(hidden.Addr) != nil {
				t.Error("a replica is there that does not tell where it is")
			}
			second.Kill()
			mysqltest.WaitFor(t, "the replica that was stopped to go", func() bool { return p.replicaAt(second.Addr) == nil })
			must(t, c, "INSERT INTO test.t VALUES (2)")
			if err := first.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			primary.Kill()
			promote(t, first)
			must(t, c, "INSERT INTO test.t VALUES (3)")
			if got := p.primary("n").Addr; got != first.Addr {
				t.Errorf("the primary is %s", got)
			}
			if err := p.Reload(querylog.By{User: "test"}, parse(t, replaceLine(text, "idle_timeout: 7h")), false); err != nil {
				t.Fatal(err)
			}
			if got := p.primary("n").Addr; got != first.Addr || p.replicaAt(primary.Addr) == nil {
				t.Errorf("after a reload of the file the primary is %s", got)
			}
			if got := value(t, dial(t, first.Addr, rootClient()), "SELECT COUNT(*) FROM test.t"); got != "3" {
				t.Errorf("the new primary has %s rows", got)
			}
			events := fmt.Sprint(must(t, c, "SHOW KS EVENTS WHERE what = 'replicas discovered'").Rows)
			for _, want := range []string{first.Addr + " comes", second.Addr + " comes", second.Addr + " goes"} {
				if !strings.Contains(events, want) {
					t.Errorf("events lack %q: %s", want, events)
				}
			}
		})
	}
}

// A server that its report_host does not lead to is no replica, nor is one that the node has at another address, or that is another node's, and none of them keeps
// others away; the log tells why.
func TestReplicasDiscoveredAreChecked(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			primary := startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: 1})
			other := mysqltest.Shared(t, kind)
			startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 2, Settings: map[string]string{
				"report_port": fmt.Sprint(other.Port),
			}})
			listed := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 3, Settings: map[string]string{"report_host": "localhost"}})
			elsewhere := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 4})
			good := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 5})
			p := startProxy(t, configText([]node{
				{name: "n", master: primary.Addr, slave: "discover, " + listed.Addr, conns: 8}, {name: "m", master: elsewhere.Addr, conns: 8},
			}))
			mysqltest.WaitFor(t, "the replica that is fit", func() bool { return p.replicaAt(good.Addr) != nil })
			for _, why := range []string{"another server is there", "the node has it as " + listed.Addr, "could not come to its node"} {
				mysqltest.WaitFor(t, "the log to say "+why, func() bool { return strings.Contains(p.log.String(), why) })
			}
			if n := len(p.Nodes()["n"].Replicas); n != 2 {
				t.Errorf("%d replicas", n)
			}
		})
	}
}
