package process

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// phone is a client's connection of which a test says what it does.
type phone struct {
	closes        atomic.Int32
	gone, writing bool
	moved         uint32
	calls         []bool
}

func (p *phone) Close() error             { p.closes.Add(1); return nil }
func (p *phone) PeerGone() bool           { return p.gone }
func (p *phone) Progress() (uint32, bool) { return p.moved, p.writing }
func (p *phone) CallAway(reads bool)      { p.calls = append(p.calls, reads) }

// connected makes the entry of a client that has just connected.
func connected(l *List) (*Entry, *phone) {
	e, c := new(Entry), new(phone)
	e.Connect(c, Who{Host: "192.0.2.1"}, slog.New(slog.DiscardHandler))
	l.Add(e)
	return e, c
}

// idle makes the entry of a client that has logged in.
func idle(l *List) (*Entry, *phone) {
	e, c := connected(l)
	e.SetUser("app")
	e.LoggedIn(false)
	e.Finish(Kept{DB: "d"})
	return e, c
}

// running is idle with a statement under way.
func running(t *testing.T) (*Entry, *phone) {
	t.Helper()
	e, c := idle(new(List))
	if !e.Begin(mysql.ComQuery, "SELECT 1", time.Now()) {
		t.Fatal("nothing can begin")
	}
	return e, c
}

// server is one of which the proxy has connections.
type server struct {
	*mysqltest.ScriptServer
	node *backend.Node
}

// startServer opens a server that answers OK to all.
func startServer(t *testing.T) *server {
	t.Helper()
	script := mysqltest.StartScript(t, mysqltest.ScriptConfig{})
	second := config.Duration(5 * time.Second)
	nodes, err := backend.Open(&config.Config{
		Nodes: []config.Node{{Name: "n", MaxConnsLimit: 4, User: "root", Master: script.Addr}}, ConnectTimeout: second, PoolWaitTimeout: second,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nodes["n"].Close)
	return &server{script, nodes["n"]}
}

// borrow gives a connection to the server.
func (s *server) borrow(t *testing.T) backend.Pooled {
	t.Helper()
	p, err := s.node.Primary.Get(backend.Intern("", 0, nil), time.Now().Add(5*time.Second), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Taint)
	return p
}

// kills are the statements that the server was told to end, by their connections.
func (s *server) kills() (list []string) {
	for _, q := range s.Queries() {
		if strings.HasPrefix(q, "KILL") {
			list = append(list, q)
		}
	}
	return list
}

func killOf(p backend.Pooled) string { return fmt.Sprintf("KILL QUERY %d", p.Conn.ThreadID) }

// What others see of a session from its login to its end.
func TestRow(t *testing.T) {
	s := startServer(t)
	var l List
	e, _ := connected(&l)
	if r := e.Row(); r.ID != firstID || r.User != "unauthenticated user" || r.Command != "Connect" || r.State != "login" || r.Host != "192.0.2.1" || e.UnderWay() {
		t.Errorf("login: %+v", r)
	}
	e.SetUser("app")
	e.LoggedIn(false)
	e.Finish(Kept{DB: "d"})
	if r := e.Row(); r.User != "app" || e.User() != "app" || r.DB != "d" || r.Command != "Sleep" || r.State+r.Info+r.Instance != "" || e.UnderWay() {
		t.Errorf("idle: %+v", r)
	}
	text := []byte("SELECT 1")
	e.Begin(mysql.ComQuery, string(text), time.Now().Add(-3*time.Second))
	p := s.borrow(t)
	if !e.SetRunning(p) || e.Running() != p {
		t.Error("nothing runs")
	}
	if r := e.Row(); r.Command != "Query" || r.Info != "SELECT 1" || r.State != "executing on "+s.Addr || r.Seconds != 3 || !e.UnderWay() {
		t.Errorf("running: %+v", r)
	}
	e.TakeRunning()
	e.HoldUp(true)
	if r := e.Row(); r.State != "waiting for KS RESUME" || e.UnderWay() {
		t.Errorf("held up: %+v", r)
	}
	e.HoldUp(false)
	e.ShowText("SELECT 2")
	if e.Text() != "SELECT 2" || e.Row().Info != "SELECT 2" || e.Command() != mysql.ComQuery {
		t.Errorf("shows %+v", e.Row())
	}
	e.Upload(true)
	if r := e.Row(); r.Info != "LOAD DATA LOCAL" {
		t.Errorf("a file: %+v", r)
	}
	e.Upload(false)
	if took := e.Finish(Kept{DB: "other", Instance: s.node.Primary, Pins: 5, InTransaction: true}); took < 3*time.Second || took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	if r := e.Row(); r.DB != "other" || r.Instance != s.Addr || r.Pins != 5 || !r.InTransaction || r.Info != "" || !e.UnderWay() {
		t.Errorf("in a transaction: %+v", r)
	}
	e.Finish(Kept{Instance: s.node.Primary, Pins: 1, Engaged: true})
	if !e.UnderWay() {
		t.Error("who keeps a lock is not under way")
	}
	e.Finish(Kept{Instance: s.node.Primary, Pins: 1})
	if e.UnderWay() {
		t.Error("a pin is under way")
	}
	e.Begin(mysql.ComQuery, "SELECT 3", time.Now())
	if got := e.End(EndPanic); got != EndPanic || e.Row().Info != "" {
		t.Errorf("ended by %v, shows %q", got, e.Row().Info)
	}
	if e.Begin(mysql.ComQuery, "", time.Now()) || e.SetRunning(p) {
		t.Error("goes on after its end")
	}
	l.Remove(e)
	if l.Len() != 0 || l.Get(firstID) != nil {
		t.Error("still listed")
	}
}

// A plain statement costs its entry no memory.
func TestAllocations(t *testing.T) {
	s := startServer(t)
	e, _ := idle(new(List))
	p, now := s.borrow(t), time.Now()
	n := testing.AllocsPerRun(100, func() {
		e.Begin(mysql.ComQuery, "SELECT 1", now)
		e.SetRunning(p)
		e.TryTake()
		e.TakeRunning()
		e.Finish(Kept{DB: "d"})
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
	loans := []backend.Pooled{p, p}
	e.Publish(loans)
	if n := testing.AllocsPerRun(100, func() { e.Unpublish(); e.Publish(loans) }); n != 0 {
		t.Errorf("%v allocations for several connections", n)
	}
}

// Ids run on, are not given twice, and come along from another process.
func TestList(t *testing.T) {
	var l List
	l.GoOnFrom(1<<32 - 1)
	a, _ := connected(&l)
	b, _ := connected(&l)
	came, same := new(Entry), new(Entry)
	came.Adopt(new(phone), Who{User: "app", Admin: true}, nil, "d", 7, time.Now())
	if a.ID() != 1<<32-1 || b.ID() != 1 || !l.Place(came, 2) || l.Place(same, 2) {
		t.Fatalf("ids %d and %d", a.ID(), b.ID())
	}
	if r := came.Row(); r.ID != 2 || r.User != "app" || r.Command != "Sleep" || r.DB != "d" || !r.Admin || came.Started() != 7 || !r.Started.Equal(time.Unix(0, 7)) {
		t.Errorf("%+v", r)
	}
	c, _ := connected(&l)
	if c.ID() != 3 || l.NextID() != firstID || l.Get(3) != c || !slices.Equal(l.All(), []*Entry{b, came, c, a}) {
		t.Errorf("id %d, next %d, %d entries", c.ID(), l.NextID(), len(l.All()))
	}
}

// What sessions hold and wait for, by the transaction kept, the statement under way, and what the detector of deadlocks knows.
func TestHoldings(t *testing.T) {
	s, other := startServer(t), startServer(t)
	var l List
	e, _ := idle(&l)
	idle(&l)
	if got := l.Holdings(nil); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	p, q := s.borrow(t), other.borrow(t)
	i, o := p.Instance, q.Instance
	e.Finish(Kept{Instance: i, InTransaction: true, Others: map[string]backend.Pooled{"o": q}})
	e.Begin(mysql.ComQuery, "", time.Now())
	e.Publish([]backend.Pooled{p, q})
	if got := l.Holdings(nil); len(got) != 1 || !slices.Equal(got[0].Keeps, []*backend.Instance{i, o}) || got[0].Uses != nil || !got[0].InTransaction {
		t.Errorf("%+v", got)
	}
	e.Unpublish()
	e.Finish(Kept{Instance: i})
	e.Begin(mysql.ComQuery, "", time.Now())
	e.Publish([]backend.Pooled{p, q})
	if got := l.Holdings(nil); len(got) != 1 || !slices.Equal(got[0].Keeps, []*backend.Instance{i}) || !slices.Equal(got[0].Uses, []*backend.Instance{o}) {
		t.Errorf("%+v", got)
	}
	e.Unpublish()
	e.Wants(o)
	if got := l.Holdings(map[uint32][]*backend.Instance{e.ID(): {i, o}}); len(got) != 1 || got[0].Wants != o || !slices.Equal(got[0].Uses, []*backend.Instance{o}) {
		t.Errorf("%+v", got)
	}
	e.Wants(nil)
	e.Finish(Kept{})
	e.HoldUp(true)
	if got := l.Holdings(nil); len(got) != 1 || !got[0].HeldUp || got[0].Keeps != nil {
		t.Errorf("%+v", got)
	}
}

// Others look while the session works: for the race detector.
func TestBeside(t *testing.T) {
	s := startServer(t)
	var l List
	e, _ := idle(&l)
	p := s.borrow(t)
	var looking sync.WaitGroup
	over := make(chan struct{})
	for range 2 {
		looking.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					e.Row()
					l.Holdings(nil)
					e.Tick(Limits{Idle: time.Hour, Stall: time.Hour}, spawn)
					e.CallToMove()
				}
			}
		})
	}
	for range 500 {
		e.Begin(mysql.ComQuery, "SELECT 1", time.Now())
		e.SetRunning(p)
		e.TakeRunning()
		e.Publish([]backend.Pooled{p, p})
		e.Unpublish()
		e.Finish(Kept{DB: "d"})
		e.BeginAwait()
		e.EndAwait()
	}
	close(over)
	looking.Wait()
}
