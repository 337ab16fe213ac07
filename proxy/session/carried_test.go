package session

import (
	"bytes"
	"log/slog"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/proxy/account"
	"kingshard/proxy/process"
	"kingshard/proxy/session/state"
)

// Every field of prepared statements that executions depend on is carried to another process: a new one must be added to the description, or
// here, with its reason.
func TestStatementsAreCarried(t *testing.T) {
	elsewhere := map[string]string{
		"stmts.client": "a part", "stmts.routing": "a part", "stmts.exchanges": "a part", "stmts.rights": "a part", "stmts.texts": "counted again",
		"stmts.longData": "such a session stays", "stmt.long": "such a session stays", "stmt.longErr": "such a session stays", "stmt.cursor": "such a session stays",
		"stmt.info": "derived from source", "stmt.within": "derived from text", "stmt.own": "derived from text", "stmt.information": "derived from text", "stmt.normal": "derived from text", "stmt.plan": "found again", "stmt.plans": "found again", "stmt.forgotten": "found again",
		"stmt.quota": "of a cursor: such a session stays", "stmt.ids": "made again", "stmt.mixed": "such a session stays", "stmt.verdict": "asked again", "stmt.verdictOf": "asked again",
		"stmt.point": "asked again", "stmt.pointOf": "asked again", "stmt.pointIn": "asked again",
	}
	carriedFields := map[string]string{"stmts.byID": "stmts", "stmts.nextID": "nextStmtID", "stmts.lastID": "lastStmtID", "stmt.setting": "settingVars"}
	for _, one := range []struct {
		name     string
		of, into reflect.Type
	}{
		{"stmts", reflect.TypeFor[stmts](), reflect.TypeFor[state.Description]()},
		{"stmt", reflect.TypeFor[stmt](), reflect.TypeFor[state.StmtDescription]()},
	} {
		for k := range one.of.NumField() {
			field := one.of.Field(k).Name
			path := one.name + "." + field
			as := field
			if other, ok := carriedFields[path]; ok {
				as = other
			}
			if _, ok := one.into.FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, as) }); !ok && elsewhere[path] == "" {
				t.Errorf("%s does not move to another process", path)
			}
		}
	}
}

// FuzzCarried: whatever comes from another process is refused, or a session can go on with it.
func FuzzCarried(f *testing.F) {
	f.Add(new(state.Description).Append(nil))
	c := &state.Description{
		ID: 10001, User: "root", Client: "192.0.2.1:3306", Salt: []byte("12345678901234567890"), Capabilities: mysql.ClientProtocol41,
		Autocommit: true, Vars: []backend.Var{{Name: "autocommit", Value: "1"}}, Warnings: []state.Warning{{Level: "Note", Code: 1, Message: "m"}},
		NextTransaction: []string{"SET TRANSACTION READ ONLY"}, NextStmtID: 2,
		Stmts: []state.StmtDescription{{ID: 1, Text: "SELECT ?", Params: 1, Types: []byte{8, 0}, Kinds: []byte{8}}, {ID: 2, Text: "SELECT a FROM t", Sharded: true, Current: true}},
	}
	f.Add(c.Append(nil))
	shared := emptyShared(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		var c state.Description
		if c.Decode(b) != nil {
			return
		}
		again := c.Append(nil)
		if !bytes.Equal(again, b) {
			var other state.Description
			if err := other.Decode(again); err != nil || !bytes.Equal(other.Append(nil), again) {
				t.Errorf("not a fixed point: %v", err)
			}
		}
		near, far := net.Pipe()
		defer far.Close()
		s, err := Adopt(near, b, shared)
		if err != nil {
			return
		}
		if got := s.description(); got.ID != c.ID || len(got.Stmts) != len(c.Stmts) || got.User != c.User {
			t.Errorf("%+v became %+v", c, got)
		}
		_ = s.client.entry.Row()
		s.end(&endError{reason: process.EndQuit})
	})
}

// emptyShared is what sessions share where there is no server.
func emptyShared(t testing.TB) *Shared {
	t.Helper()
	cfg := config.Default()
	cfg.UserList = []config.User{{User: "root", Password: "root", MaxConns: 1}}
	accounts, err := account.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	shared := &Shared{Log: slog.New(slog.DiscardHandler)}
	shared.Snapshot.Store(&Snapshot{Config: cfg, Accounts: accounts, Schemas: map[string]*Schema{"root": {}}})
	return shared
}

// A session that comes has its id, above all limits, and one with the id of another is declined. A user who is gone hears of it
// at the next command.
func TestAdopt(t *testing.T) {
	shared := emptyShared(t)
	shared.Sessions.GoOnFrom(20000)
	adopt := func(c state.Description) (*Session, net.Conn, error) {
		near, far := net.Pipe()
		t.Cleanup(func() { far.Close() })
		s, err := Adopt(near, c.Append(nil), shared)
		return s, far, err
	}
	var all []*Session
	for id := range uint32(3) {
		s, _, err := adopt(state.Description{ID: 10001 + id, User: "root", Client: "192.0.2.1:99"})
		if err != nil {
			t.Fatal(err)
		}
		if p := s.client.entry.Row(); p.ID != 10001+id || p.Host != "192.0.2.1" || p.User != "root" || p.Command != "Sleep" {
			t.Errorf("%+v", p)
		}
		all = append(all, s)
	}
	if _, far, err := adopt(state.Description{ID: 10001, User: "root"}); err == nil || !strings.Contains(err.Error(), "10001") {
		t.Errorf("an id twice: %v", err)
	} else if _, err := far.Read(make([]byte, 1)); err == nil {
		t.Error("the connection that was declined is open")
	}
	if _, _, err := adopt(state.Description{ID: 1, User: "root", Client: "somewhere"}); err == nil {
		t.Error("a client without an address is taken")
	}
	if got := shared.Sessions.NextID(); got != 20000 {
		t.Errorf("the next id is %d", got)
	}
	for _, s := range all {
		s.end(&endError{reason: process.EndQuit})
	}
	s, far, err := adopt(state.Description{ID: 5, User: "gone", Capabilities: mysql.ClientProtocol41})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Resume()
	}()
	if _, err := far.Write([]byte{1, 0, 0, 0, byte(mysql.ComPing)}); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 200)
	n, _ := far.Read(b)
	if n < 5 || b[4] != mysql.ErrHeader {
		t.Errorf("the user who is gone hears %q", b[:n])
	}
	<-ended
}

// A session that is called away while nothing has come says so; with a command that has come it runs that.
func TestCalledAway(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	s, err := Adopt(near, (&state.Description{ID: 9, User: "root"}).Append(nil), emptyShared(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { s.end(&endError{reason: process.EndQuit}) }()
	type outcome struct {
		called bool
		err    error
	}
	got := make(chan outcome)
	wait := func() {
		called, err := s.await()
		got <- outcome{called, err}
	}
	go wait()
	var o outcome
	for waiting := true; waiting; {
		s.client.entry.CallToMove()
		select {
		case o = <-got:
			waiting = false
		case <-time.After(time.Millisecond):
		}
	}
	if !o.called || o.err != nil {
		t.Errorf("idle: %+v", o)
	}
	s.client.entry.LoggedIn(true) // it stays
	go wait()
	s.client.entry.CallToMove()
	if _, err := far.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if o := <-got; o.called || o.err != nil || s.client.conn.Buffered() != 1 {
		t.Errorf("something has come: %+v", o)
	}
}
