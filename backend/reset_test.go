package backend_test

import (
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A connection that was reset for another setting, of which nothing else has to be set, has no deadline from then on.
func TestConnectionThatWasReset(t *testing.T) {
	resets := 0
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, _ []byte) {
		if cmd == mysql.ComResetConnection {
			resets++
		}
		c.OK()
	}})
	nodes, err := backend.Open(&config.Config{
		Nodes:      []config.Node{{Name: "n", MaxConnsLimit: 1, User: "root", Master: server.Addr}},
		AuthPlugin: "mysql_native_password", ConnectTimeout: config.Duration(100 * time.Millisecond), MaxAllowedPacket: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer nodes["n"].Close()
	borrow := func(variables ...backend.Var) backend.Pooled {
		p, err := nodes["n"].Primary.Get(backend.Intern("d", 0, variables), time.Now().Add(5*time.Second), nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	borrow(backend.Var{Name: "@v", Value: "1"}).Put()
	p := borrow()
	time.Sleep(150 * time.Millisecond)
	if err := p.Conn.Ping(); err != nil || resets != 1 {
		t.Errorf("%v after %d resets", err, resets)
	}
	p.Put()
}
