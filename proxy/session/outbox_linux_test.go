package session

import (
	"log/slog"
	"net"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/backend/stored"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/account"
	"kingshard/proxy/fastlane"
	"kingshard/proxy/process"
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

// loopServer is a server of sessions in one loop, over a scripted server as two nodes, with a table d.sharded on both. Its client root may log in.
type loopServer struct {
	lanes    *Lanes
	shared   *Shared
	addr     string
	sessions chan *Session
	came     atomic.Int64 // DELETE and SELECT COUNT
}

func startLoopServer(t *testing.T) *loopServer {
	t.Helper()
	ls := &loopServer{sessions: make(chan *Session, 1)}
	count := mysqltest.Strings("COUNT(*)")
	count[0].Type, count[0].Charset, count[0].Length = mysql.TypeLongLong, 63, 21
	answer := mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		switch text := string(payload); {
		case strings.HasPrefix(text, "SELECT * FROM"): // what columns there are
			c.Columns(mysqltest.Strings("id")...)
			c.End()
		case strings.Contains(text, "information_schema.COLUMNS"): // which of them are invisible
			c.Rows([]string{"COLUMN_NAME"})
		case strings.HasPrefix(text, "SELECT COUNT"):
			ls.came.Add(1)
			c.Columns(count...)
			c.Row(1)
			c.End()
		case strings.HasPrefix(text, "DELETE"):
			ls.came.Add(1)
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
		t.Cleanup(n.Close)
		p, err := n.Primary.Get(backend.Intern("", 0, nil), time.Now().Add(5*time.Second), nil)
		if err != nil {
			t.Fatal(err)
		}
		n.Primary.SetInfo(p.Conn.Info)
		n.Primary.SetStored(new(stored.Objects), nil)
		p.Put()
	}
	plans, err := NewPlans(config.Schema{User: "root", Nodes: []string{"n", "m"}, Default: "n", Shard: []config.Shard{
		{DB: "d", Table: "sharded", Key: config.Columns{"id"}, Nodes: []string{"n", "m"}, Type: "hash", Locations: []int{1, 1}},
	}}, nodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := account.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	ls.lanes, err = OpenLanes(1)
	if err != nil {
		t.Fatal(err)
	}
	ls.shared = &Shared{Log: slog.New(slog.DiscardHandler), Lanes: ls.lanes}
	ls.shared.Snapshot.Store(&Snapshot{Config: cfg, Accounts: accounts, Nodes: nodes, Schemas: map[string]*Schema{"root": {Default: nodes["n"], Nodes: nodes, Plans: plans}}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ls.addr = l.Addr().String()
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			s := New(nc, ls.shared, false)
			ls.sessions <- s
			go s.Serve()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		for _, s := range ls.shared.Sessions.All() {
			s.CloseIfIdle(process.EndDrained)
		}
		ls.lanes.Drain()
		ls.lanes.Close()
	})
	return ls
}

// client logs in and runs a statement until the loop has its connections.
func (ls *loopServer) client(t *testing.T, text string) (*mysqltest.RawClient, *Session) {
	t.Helper()
	c, err := mysqltest.DialRaw(ls.addr, mysqltest.ClientConfig{User: "root", Password: "root"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Conn.Close() })
	s := <-ls.sessions
	for range 3 {
		if r, err := c.Query(text); err != nil || r.Err != nil {
			t.Fatal(r, err)
		}
	}
	return c, s
}

// A KILL that comes after a loop has queued a statement and before it is sent keeps it from the server: there it would find nothing to stop.
func TestKillOfAQueuedStatement(t *testing.T) {
	ls := startLoopServer(t)
	for _, tt := range []struct {
		name, text         string
		connection, labels bool
	}{
		{"the statement", "DELETE FROM t WHERE id = 1", false, false}, {"the session", "DELETE FROM t WHERE id = 1", true, false},
		{"the statement, of two shards", "SELECT COUNT(*) FROM d.sharded", false, false}, {"the session, of two shards", "SELECT COUNT(*) FROM d.sharded", true, false},
		{"the statement, with labels", "DELETE FROM t WHERE id = 1", false, true}, {"of two shards, with labels", "SELECT COUNT(*) FROM d.sharded", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, victim := ls.client(t, tt.text)
			ls.shared.Labels.Switch(tt.labels)
			defer ls.shared.Labels.Switch(false)
			// While the loop stands still, the statement comes, and then what makes it kill: both are of the next round.
			stands, goOn, killed := make(chan struct{}), make(chan struct{}), make(chan bool, 1)
			stop := parkOnLoop(t, ls.lanes.group, func() { stands <- struct{}{}; <-goOn })
			kill := parkOnLoop(t, ls.lanes.group, func() {
				// The loop stands here: nobody else has the session.
				busy, running := victim.client.entry.Command() != mysql.ComSleep, victim.client.entry.Running().Pooled != nil || victim.client.entry.Published()
				if !busy || running {
					t.Errorf("busy %v, running %v", busy, running)
				}
				killed <- victim.client.entry.Interrupt(tt.connection)
			})
			before := ls.came.Load()
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
			mysqltest.WaitFor(t, "the loop to carry no labels", func() bool {
				var profile strings.Builder
				_ = pprof.Lookup("goroutine").WriteTo(&profile, 1)
				return !strings.Contains(profile.String(), `"digest":`)
			})
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
			if n := ls.came.Load() - before; n != 0 {
				t.Errorf("%d statements came to the server", n)
			}
		})
	}
}

// What the sessions of a round have to send leaves together, but for statements that have labels in a profile.
func TestARoundLeavesTogether(t *testing.T) {
	ls := startLoopServer(t)
	const text = "DELETE FROM t WHERE id = 1"
	var clients [3]*mysqltest.RawClient
	for k := range clients {
		clients[k], _ = ls.client(t, text)
	}
	stands, goOn := make(chan struct{}), make(chan struct{})
	stop := parkOnLoop(t, ls.lanes.group, func() { stands <- struct{}{}; <-goOn })
	stand := func() {
		_, _ = stop.Write([]byte("x"))
		<-stands
	}
	// round has the clients' statements come while the loop stands still, and is over when the loop has counted the answers, too.
	round := func() {
		stand()
		for _, c := range clients {
			if err := c.Send(mysql.ComQuery, text); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Millisecond)
		goOn <- struct{}{}
		for _, c := range clients {
			if p, err := c.Read(); err != nil || len(p) == 0 || p[0] != mysql.OKHeader {
				t.Fatalf("%q, %v", p, err)
			}
		}
		stand()
		goOn <- struct{}{}
	}
	before := ls.lanes.Gathered()
	for n := 0; n < 100 && ls.lanes.Gathered()-before < uint64(len(clients)); n++ { // at first there are too few connections
		round()
	}
	if n := ls.lanes.Gathered() - before; n < uint64(len(clients)) && ls.lanes.Alone() == nil || n > 0 && ls.lanes.Alone() != nil {
		t.Errorf("%d writes were made together; %v", n, ls.lanes.Alone())
	}
	ls.shared.Labels.Switch(true)
	before = ls.lanes.Gathered()
	for range 3 {
		round()
	}
	if n := ls.lanes.Gathered() - before; n != 0 {
		t.Errorf("%d writes of labelled statements were made together with others", n)
	}
}
