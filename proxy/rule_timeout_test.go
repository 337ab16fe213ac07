package proxy_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A rule's timeout ends a read on the replica where it runs, and nothing on the primary.
func TestRuleTimeoutOnAReplica(t *testing.T) {
	killed := make(chan struct{})
	kill := sync.OnceFunc(func() { close(killed) })
	answer := answers("replica")
	replica := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		switch text := string(payload); {
		case strings.Contains(text, "slow"):
			<-killed
			c.Error(mysql.ERQueryInterrupted, "Query execution was interrupted")
		case strings.HasPrefix(text, "KILL QUERY"):
			kill()
			c.OK()
		default:
			answer(c, cmd, payload)
		}
	}})
	defer kill()
	primary := startScript(t, "primary")
	p := startProxy(t, configText([]node{{name: "n", master: primary.Addr, slave: replica.Addr, conns: 2}}, "query_rules: [{name: short, pattern: slow, timeout: 100ms}]"))
	mysqltest.WaitFor(t, "the replica", func() bool { return p.Nodes()["n"].Reader(0) == p.Nodes()["n"].Replicas[0] })
	c := p.client("")
	fails(t, c, "SELECT name /* slow */ FROM slow", mysql.ERQueryTimeout)
	isKill := func(text string) bool { return strings.HasPrefix(text, "KILL") }
	if !slices.ContainsFunc(replica.Queries(), isKill) || slices.ContainsFunc(primary.Queries(), isKill) {
		t.Errorf("the replica got %q, the primary %q", replica.Queries(), primary.Queries())
	}
	if got := value(t, c, "SELECT name"); got != "replica" {
		t.Errorf("behind it %s answers", got)
	}
}
