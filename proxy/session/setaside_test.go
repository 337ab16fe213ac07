package session

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A KILL that a server hears of when a variable gets back its value ends the statement, not the session.
func TestSetAsideThroughKill(t *testing.T) {
	var kills atomic.Int32
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, _ []byte) {
		if cmd == mysql.ComQuery && kills.Add(-1) >= 0 {
			c.Error(mysql.ERQueryInterrupted, "Query execution was interrupted")
			return
		}
		c.OK()
	}})
	c, err := backend.Dial(context.Background(), &backend.DialConfig{Addr: server.Addr, User: "u", MaxAllowedPacket: 1 << 20}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var none *backend.Setting
	other := none.With("sql_mode", "'ANSI'")
	for n, ends := range []bool{false, false, false, true} {
		kills.Store(0)
		if err := c.Apply(none, other); err != nil {
			t.Fatal(err)
		}
		server.Forget()
		kills.Store(int32(n))
		killed, err := applyThroughKill(c, other, none.With("sql_mode", "'ORACLE'"))
		if (err != nil) != ends || (killed != nil) != (n > 0) {
			t.Errorf("%d KILLs: %v, %v", n, killed, err)
		}
		if got := server.Queries(); len(got) != min(n+1, killsMax) || !strings.Contains(got[0], "ORACLE") {
			t.Errorf("%d KILLs: %q was sent", n, got)
		}
	}
}
