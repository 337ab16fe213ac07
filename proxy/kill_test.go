package proxy_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A KILL QUERY that reaches the server before the statement does nothing there: the proxy says it again while the
// statement goes on.
func TestKillThatCameTooEarly(t *testing.T) {
	var kills atomic.Int32
	ended := make(chan struct{})
	base := answers("n")
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		text := string(payload)
		switch {
		case strings.HasPrefix(text, "KILL QUERY"):
			if kills.Add(1) == 2 {
				close(ended)
			}
			c.OK()
		case text == "SELECT long":
			<-ended
			c.Error(mysql.ERQueryInterrupted, "Query execution was interrupted")
		default:
			base(c, cmd, payload)
		}
	}})
	p := startProxy(t, oneNode(server.Addr, 4))
	victim, killer := p.client(""), p.client("")
	answered := make(chan *mysqltest.RawResult, 1)
	go func() {
		r, _ := victim.Query("SELECT long")
		answered <- r
	}()
	mysqltest.WaitFor(t, "the statement to be on its server", func() bool {
		return strings.Contains(fmt.Sprint(must(t, killer, "SHOW PROCESSLIST").Rows), "executing on")
	})
	must(t, killer, fmt.Sprintf("KILL QUERY %d", victim.Greeting.ConnectionID))
	if r := <-answered; r == nil || r.Err == nil || r.Err.Code != mysql.ERQueryInterrupted {
		t.Errorf("the statement: %+v", r)
	}
	must(t, victim, "SELECT 1")
}
