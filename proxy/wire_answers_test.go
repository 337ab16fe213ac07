package proxy_test

import (
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A server that answers what the proxy asks it behind a SET with too little, or not at all, costs that client its session,
// as nobody knows the state any more; every command has one answer until then, and the next client is served.
func TestServerAnswersTheProxyWrongly(t *testing.T) {
	good := answers("script")
	for name, answer := range map[string]func(c *mysqltest.ScriptConn){
		"too few columns":  func(c *mysqltest.ScriptConn) { c.Rows([]string{"a"}, []any{"x"}) },
		"too many columns": func(c *mysqltest.ScriptConn) { c.Rows(strings.Split("a,b,c,d,e,f,g", ","), []any{1, 2, 3, 4, 5, 6, 7}) },
		"OK":               func(c *mysqltest.ScriptConn) { c.OK() },
		"an error":         func(c *mysqltest.ScriptConn) { c.Error(1193, "Unknown system variable") },
		"its end":          func(c *mysqltest.ScriptConn) { c.Cut() },
	} {
		t.Run(name, func(t *testing.T) {
			server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
				if strings.HasPrefix(string(payload), "SELECT @@session.") {
					answer(c)
					return
				}
				good(c, cmd, payload)
			}})
			p := startProxy(t, oneNode(server.Addr, 1))
			c := p.client("")
			must(t, c, "SELECT name")
			must(t, c, "SET NAMES latin1")
			r, err := c.Query("SELECT name")
			if name == "an error" {
				// The connection is in step; it is kept, as what cannot be read cannot be brought to another one.
				if err != nil || r.Err != nil || p.primary("n").Stats().InUse != 1 {
					t.Errorf("the next statement: %+v, %v", r, err)
				}
			} else if err == nil {
				t.Errorf("the session goes on: %+v", r)
			}
			c.Close()
			p.quiet(0)
			must(t, p.client(""), "SELECT name")
		})
	}
}

// The same of what a probe asks: such a server counts as dead, and nothing else happens.
func TestServerAnswersTheProbeWrongly(t *testing.T) {
	odd := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, _ mysql.Command, _ []byte) {
		c.Rows([]string{"a"}, []any{"1"})
	}})
	good := startScript(t, "good")
	p := startProxy(t, configText([]node{{name: "n1", master: good.Addr, conns: 2}, {name: "n2", master: odd.Addr, conns: 2}}))
	mysqltest.WaitFor(t, "the odd server's probe to fail", func() bool { return strings.Contains(p.log.String(), odd.Addr) })
	c := p.client("")
	fails(t, c, "/*n2*/ SELECT name", 9002)
	if got := value(t, c, "SELECT name"); got != "good" {
		t.Errorf("served by %s", got)
	}
}
