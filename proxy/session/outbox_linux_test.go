package session

import (
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/account"
	"kingshard/proxy/fastlane"
)

// onLoop is a handler of a connection that runs f on its loop when a byte comes.
type onLoop struct{ f func() }

func (h *onLoop) Ready(l *fastlane.Loop, c *fastlane.Conn) {
	var b [1]byte
	if _, err := c.TryRead(b[:]); err == nil {
		h.f()
	}
	l.Park(c, h)
}

// parkOnLoop gives the other end of a connection whose bytes run f on the loop.
func parkOnLoop(t *testing.T, g *fastlane.Group, f func()) net.Conn {
	t.Helper()
	near, far := mysqltest.TCPPair(t)
	c, err := g.Adopt(far)
	if err != nil || !c.Park(&onLoop{f}) {
		t.Fatal("not parked", err)
	}
	t.Cleanup(func() { c.Close() })
	return near
}

// A KILL that comes after a loop has queued a statement and before it is sent keeps it from the server: there it would find nothing to stop.
func TestKillOfAQueuedStatement(t *testing.T) {
	var came atomic.Int64
	count := mysqltest.Strings("COUNT(*)")
	count[0].Type, count[0].Charset, count[0].Length = mysql.TypeLongLong, 63, 21
	answer := mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		switch text := string(payload); {
		case strings.HasPrefix(text, "SELECT * FROM"): // what columns there are
			c.Columns(mysqltest.Strings("id")...)
			c.End()
		case strings.HasPrefix(text, "SELECT COUNT"):
			came.Add(1)
			c.Columns(count...)
			c.Row(1)
			c.End()
		case strings.HasPrefix(text, "DELETE"):
			came.Add(1)
			fallthrough
		default:
			c.OK()
		}
	}}
	server := mysqltest.StartScript(t, answer)
	cfg := &config.Config{
		Nodes:      []config.Node{{Name: "n", MaxConnsLimit: 4, User: "root", Master: server.Addr}, {Name: "m", MaxConnsLimit: 4, User: "root", Master: server.Addr}},
		UserList:   []config.User{{User: "root", Password: "root"}},
		AuthPlugin: "mysql_native_password", HandshakeTimeout: config.Duration(5 * time.Second), ConnectTimeout: config.Duration(5 * time.Second),
		PoolWaitTimeout: config.Duration(5 * time.Second), MaxAllowedPacket: 1 << 20,
	}
	nodes, err := backend.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		defer n.Close()
		p, err := n.Primary.Get(backend.Intern("", 0, nil), time.Now().Add(5*time.Second), nil)
		if err != nil {
			t.Fatal(err)
		}
		n.Primary.SetInfo(p.Conn.Info)
		p.Put()
	}
	plans, err := NewPlans(config.Schema{User: "root", Nodes: []string{"n", "m"}, Default: "n", Shard: []config.Shard{
		{DB: "d", Table: "sharded", Key: config.Columns{"id"}, Nodes: []string{"n", "m"}, Type: "hash", Locations: []int{1, 1}},
	}}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := account.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	lanes, err := OpenLanes(1)
	if err != nil {
		t.Fatal(err)
	}
	shared := &Shared{Log: slog.New(slog.DiscardHandler), Lanes: lanes}
	shared.Snapshot.Store(&Snapshot{Config: cfg, Accounts: accounts, Nodes: nodes, Schemas: map[string]*Schema{"root": {Default: nodes["n"], Nodes: nodes, Plans: plans}}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	sessions := make(chan *Session, 1)
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			s := New(nc, shared)
			sessions <- s
			go s.Serve()
		}
	}()
	for _, tt := range []struct {
		name, text string
		connection bool
	}{
		{"the statement", "DELETE FROM t WHERE id = 1", false}, {"the session", "DELETE FROM t WHERE id = 1", true},
		{"the statement, of two shards", "SELECT COUNT(*) FROM d.sharded", false}, {"the session, of two shards", "SELECT COUNT(*) FROM d.sharded", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := mysqltest.DialRaw(l.Addr().String(), mysqltest.ClientConfig{User: "root", Password: "root"})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Conn.Close()
			victim := <-sessions
			for range 3 { // the loop has a connection
				if r, err := c.Query(tt.text); err != nil || r.Err != nil {
					t.Fatal(r, err)
				}
			}
			// While the loop stands still, the statement comes, and then what makes it kill: both are of the next round.
			stands, goOn, killed := make(chan struct{}), make(chan struct{}), make(chan bool, 1)
			stop := parkOnLoop(t, lanes.group, func() { stands <- struct{}{}; <-goOn })
			kill := parkOnLoop(t, lanes.group, func() {
				if victim.mu.TryLock() {
					busy, running := victim.busy, victim.running.Pooled != nil || victim.parallel != nil
					victim.mu.Unlock()
					if !busy || running {
						t.Errorf("busy %v, running %v", busy, running)
					}
				}
				killed <- victim.Interrupt(tt.connection)
			})
			before := came.Load()
			_, _ = stop.Write([]byte("x"))
			<-stands
			if err := c.Send(mysql.ComQuery, tt.text); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
			_, _ = kill.Write([]byte("x"))
			time.Sleep(50 * time.Millisecond)
			close(goOn)
			if !<-killed {
				t.Error("the session is not there to kill")
			}
			p, err := c.Read()
			switch {
			case tt.connection && err == nil && len(p) > 0 && p[0] != mysql.ErrHeader:
				t.Errorf("an answer after KILL: %q", p)
			case !tt.connection && (err != nil || len(p) < 3 || p[0] != mysql.ErrHeader || int(p[1])|int(p[2])<<8 != mysql.ERQueryInterrupted):
				t.Errorf("the answer is %q, %v", p, err)
			}
			if !tt.connection {
				if r, err := c.Query("UPDATE t SET a = 1 WHERE id = 1"); err != nil || r.Err != nil {
					t.Errorf("the session does not go on: %v %v", r, err)
				}
			}
			if n := came.Load() - before; n != 0 {
				t.Errorf("%d statements came to the server", n)
			}
		})
	}
	for _, s := range shared.Sessions.All() {
		s.CloseIfIdle(EndDrained)
	}
	lanes.Drain()
	lanes.Close()
}
