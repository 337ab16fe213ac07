package session

import (
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/account"
	"kingshard/proxy/process"
)

// A panic in a session ends that session and nothing else: the proxy goes on, and the connection that the statement ran
// on, on which anything may still come, serves nobody again.
func TestPanicEndsOneSession(t *testing.T) {
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{})
	cfg := &config.Config{
		Nodes:      []config.Node{{Name: "n", MaxConnsLimit: 1, User: "root", Master: server.Addr}},
		UserList:   []config.User{{User: "root", Password: "root"}},
		AuthPlugin: "mysql_native_password", HandshakeTimeout: config.Duration(5 * time.Second), ConnectTimeout: config.Duration(5 * time.Second),
	}
	nodes, err := backend.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	primary := nodes["n"].Primary
	defer nodes["n"].Close()
	accounts, err := account.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	log := new(strings.Builder)
	shared := &Shared{Log: slog.New(slog.NewTextHandler(log, nil))}
	shared.Snapshot.Store(&Snapshot{Config: cfg, Accounts: accounts, Nodes: nodes, Schemas: map[string]*Schema{"root": {Default: nodes["n"], Nodes: nodes}}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		nc, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		s := New(nc, shared, false)
		s.LoggedIn = func() {
			s.LoggedIn = nil
			p, err := primary.Get(backend.Intern("", 0, nil), time.Now().Add(5*time.Second), nil)
			if err != nil || !s.client.setRunning(p) {
				t.Errorf("no connection: %v", err)
			}
			panic("a fault of the proxy")
		}
		s.Serve()
	}()
	c, err := mysqltest.DialRaw(l.Addr().String(), mysqltest.ClientConfig{User: "root", Password: "root"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Conn.Close()
	if _, err := c.Query("SELECT 1"); err == nil {
		t.Error("the session goes on")
	}
	<-ended
	if st := primary.Stats(); st.InUse != 0 {
		t.Errorf("the pool afterwards: %+v", st)
	}
	p, err := primary.Get(backend.Intern("", 0, nil), time.Now().Add(5*time.Second), nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Put()
	if n := server.Accepted(); n != 2 {
		t.Errorf("%d connections to the server, want another one after the panic", n)
	}
	if shared.Sessions.Len() != 0 || shared.Ends.Totals()["panic"] != 1 {
		t.Errorf("%d sessions are left, ends: %v", shared.Sessions.Len(), shared.Ends.Totals())
	}
	if text := log.String(); !strings.Contains(text, "a fault of the proxy") || !strings.Contains(text, "panic_test.go") {
		t.Errorf("the log does not show the stack:\n%s", text)
	}
}

// A session that a panic ended shows no text any more: it was in a buffer that other clients' statements come into.
func TestEndForgetsTheText(t *testing.T) {
	client, nc := net.Pipe()
	defer client.Close()
	s := New(nc, &Shared{Log: slog.New(slog.DiscardHandler)}, false)
	s.client.entry.LoggedIn(true)
	if !s.client.begin(mysql.ComQuery, "SELECT 1") || s.client.entry.Row().Info != "SELECT 1" {
		t.Fatal("no statement is shown")
	}
	s.end(&endError{reason: process.EndPanic})
	if got := s.client.entry.Row().Info; got != "" {
		t.Errorf("shows %q", got)
	}
}
