package proxy_test

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/auth"
	"kingshard/mysql/mysqltest"
)

// guess tries a password and gives the code of the answer; 0: there was none.
func guess(t *testing.T, addr, user string) uint16 {
	t.Helper()
	err := answerLogin(t, addr, mysql.HandshakeResponse41{User: user, AuthPlugin: auth.NativePassword, AuthResponse: make([]byte, 20)})
	var e *mysql.SQLError
	if err == nil {
		t.Error("a guess lets in")
	} else if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// Threat 10: one who tries passwords one by one hears ever later that they are wrong; good logins are let in at once all the while.
func TestLoginsAreDelayed(t *testing.T) {
	p := startProxy(t, oneNode(startScript(t, "script").Addr, 4), "max_login_delay: 50ms", "prometheus_addr: 127.0.0.1:0")
	for range 6 {
		if code := guess(t, p.addr, "root"); code != mysql.ERAccessDenied {
			t.Fatalf("code %d", code)
		}
	}
	if c := p.Failures().Counts(); c.Failed != 6 || c.Delayed != 4 || c.Sources != 1 || c.Held != 0 {
		t.Errorf("%+v", c)
	}
	if _, text := get(t, p.httpAddr("prometheus_addr")+"/metrics", ""); !strings.Contains(text, "kingshard_login_failures_total 6\n") || !strings.Contains(text, "kingshard_login_delays_total 4\n") {
		t.Error("the metrics do not show it")
	}
	c := p.client("")
	if c := p.Failures().Counts(); c.Sources != 0 || c.Delayed != 4 {
		t.Errorf("after a good login: %+v", c)
	}
	// COM_CHANGE_USER is a login too.
	for k := range 4 {
		if k > 0 {
			c = p.client("")
		}
		if err := c.ChangeUser("stranger", "guess", ""); !isCode(err, mysql.ERAccessDenied) {
			t.Errorf("attempt %d: %v", k, err)
		}
	}
	if c := p.Failures().Counts(); c.Failed != 10 {
		t.Errorf("by COM_CHANGE_USER: %+v", c)
	}
}

// However many clients fail at a time, who has the password gets in: one who logged in from there before at once, others behind those
// whose turn it is; from elsewhere nobody waits at all. Of those who try passwords by the hundred, most are refused.
func TestGoodLoginsAmongGuesses(t *testing.T) {
	t.Parallel()
	p := startProxy(t, oneNode(startScript(t, "script").Addr, 4), "max_login_delay: 1s", "addr: 0.0.0.0:0")
	here := netip.MustParseAddr("127.0.0.1")
	p.addr = netip.AddrPortFrom(here, p.Addr().(*net.TCPAddr).AddrPort().Port()).String()
	over := make(chan struct{})
	var crowd sync.WaitGroup
	for range 30 {
		crowd.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					guess(t, p.addr, "root")
				}
			}
		})
	}
	mysqltest.WaitFor(t, "guesses to be taken in turn", func() bool { return p.Failures().Counts().Queued > 0 })
	for k := range 28 {
		c, err := mysqltest.DialRaw(p.addr, rootClient())
		if err != nil {
			t.Errorf("good login %d: %v", k, err)
			continue
		}
		must(t, c, "SELECT name")
		_ = c.Close()
	}
	queued := p.Failures().Counts().Queued
	close(over)
	crowd.Wait()
	var refused atomic.Int32
	for range 300 {
		crowd.Go(func() {
			if guess(t, p.addr, "stranger") == mysql.ERHostIsBlocked {
				refused.Add(1)
			}
		})
	}
	crowd.Wait()
	if c := p.Failures().Counts(); refused.Load() == 0 || c.Refused != uint64(refused.Load()) || c.Queued <= queued {
		t.Errorf("%d of 300 guesses refused: %+v", refused.Load(), c)
	}
	elsewhere := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	nc, err := elsewhere.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	c, err := mysqltest.LoginRaw(nc, rootClient())
	if err != nil {
		t.Fatalf("from elsewhere: %v", err)
	}
	must(t, c, "SELECT name")
	_ = c.Close()
	mysqltest.WaitFor(t, "nobody to wait", func() bool { return p.Failures().Counts().Held == 0 })
}

// A delayed answer keeps neither a client that leaves nor the end of the proxy waiting.
func TestDelayedLoginsEnd(t *testing.T) {
	p := startProxy(t, oneNode(startScript(t, "script").Addr, 4), "max_login_delay: 1m")
	for range 12 {
		p.Failures().Failed(netip.MustParseAddr("127.0.0.1"), "root", time.Minute)
	}
	login := func() net.Conn {
		t.Helper()
		nc, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		c := mysql.NewConn(nc, mysql.BackendSide, 1<<20)
		if _, err := c.ReadPacket(); err != nil {
			t.Fatal(err)
		}
		r := mysql.HandshakeResponse41{User: "root", AuthPlugin: auth.NativePassword, AuthResponse: make([]byte, 20), Capabilities: mysqltest.ScriptCapabilities &^ (mysql.ClientConnectWithDB | mysql.ClientConnectAttrs), Collation: 45}
		c.EndPacket(r.AppendTo(c.StartPacket()))
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		return nc
	}
	held := func(n int) func() bool { return func() bool { return p.Failures().Counts().Held == n } }
	leaves := login()
	mysqltest.WaitFor(t, "the answer to be held", held(1))
	_ = leaves.Close()
	mysqltest.WaitFor(t, "the answer to be dropped", held(0))
	defer login().Close()
	mysqltest.WaitFor(t, "another answer to be held", held(1))
	p.stop(0) // which fails the test if a session goes on
	if !held(0)() {
		t.Error("held beyond the end")
	}
}

// Connections that were let in before, up to where a password is asked for, have theirs looked at in turn.
func TestGuessesInStore(t *testing.T) {
	p := startProxy(t, oneNode(startScript(t, "script").Addr, 4), "max_login_delay: 200ms")
	const conns = 60
	stored := make([]*mysql.Conn, conns)
	for k := range stored {
		nc, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		c := mysql.NewConn(nc, mysql.BackendSide, 1<<20)
		if _, err := c.ReadPacket(); err != nil {
			t.Fatal(err)
		}
		// The plugin is another one than the user's, so that the proxy asks again.
		r := mysql.HandshakeResponse41{User: "root", AuthPlugin: auth.Clear, Capabilities: mysqltest.ScriptCapabilities &^ (mysql.ClientConnectWithDB | mysql.ClientConnectAttrs), Collation: 45}
		c.EndPacket(r.AppendTo(c.StartPacket()))
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		if asked, err := c.ReadPacket(); err != nil || asked[0] != mysql.AuthSwitchHeader {
			t.Fatalf("%q, %v", asked, err)
		}
		stored[k] = c
	}
	for _, c := range stored {
		c.WritePacket(make([]byte, 20))
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for k, c := range stored {
		var e mysql.SQLError
		if answer, err := c.ReadPacket(); err != nil || e.Decode(answer) != nil || e.Code != mysql.ERAccessDenied {
			t.Errorf("connection %d: %v, %v", k, err, &e)
		}
	}
	if counts := p.Failures().Counts(); counts.Failed != conns || counts.Queued < conns/2 {
		t.Errorf("%+v", counts)
	}
}
