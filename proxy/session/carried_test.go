package session

import (
	"bytes"
	"log/slog"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
	"kingshard/proxy/process"
)

// drawVars gives variables of a session.
func drawVars(t *rapid.T) []backend.Var {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) backend.Var {
		return backend.Var{Name: rapid.StringN(1, 20, 80).Draw(t, "name"), Value: rapid.String().Draw(t, "value")}
	}), 0, 5).Draw(t, "vars")
}

func drawMode(t *rapid.T) sqltext.Mode {
	return sqltext.Mode{
		ANSIQuotes: rapid.Bool().Draw(t, "a"), NoBackslashEscapes: rapid.Bool().Draw(t, "b"), PipesAsConcat: rapid.Bool().Draw(t, "c"),
		HighNotPrecedence: rapid.Bool().Draw(t, "d"), IgnoreSpace: rapid.Bool().Draw(t, "e"), MariaDB: rapid.Bool().Draw(t, "f"),
		ServerVersion: int(rapid.Uint32().Draw(t, "version")), Charset: sqltext.Charset(rapid.IntRange(0, int(sqltext.GB18030)).Draw(t, "charset")),
	}
}

// drawCarried gives a session's description; bytes in it need be no valid text of any character set.
func drawCarried(t *rapid.T) *carried {
	raw := func(name string) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, name)) }
	c := &carried{
		id: rapid.Uint32Range(1, 1<<32-1).Draw(t, "id"), adminOnly: rapid.Bool().Draw(t, "admin"), user: raw("user"), client: raw("client"),
		started: rapid.Int64().Draw(t, "started"), since: rapid.Int64().Draw(t, "since"), salt: []byte(raw("salt")),
		capabilities: mysql.Capability(rapid.Uint32().Draw(t, "caps")), db: raw("db"), autocommit: rapid.Bool().Draw(t, "autocommit"),
		resolved: rapid.Bool().Draw(t, "resolved"), strict: rapid.Bool().Draw(t, "strict"), flags: mysql.Capability(rapid.Uint32().Draw(t, "flags")),
		collation: rapid.Uint16().Draw(t, "collation"), mode: drawMode(t), vars: drawVars(t),
		nextTransaction: rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "next"), rowCount: rapid.Int64().Draw(t, "rows"),
		foundRows: rapid.Uint64().Draw(t, "found"), lastInsertID: rapid.Uint64().Draw(t, "last"), warningCount: rapid.Uint32().Draw(t, "warnings"),
		errorCount: rapid.Uint32().Draw(t, "errors"), nextStmtID: rapid.Uint32().Draw(t, "next stmt"), lastStmtID: rapid.Uint32().Draw(t, "last stmt"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "kept warnings") {
		c.warnings = append(c.warnings, warning{Level: raw("level"), Code: rapid.Uint16().Draw(t, "code"), Message: raw("message"), row: int(rapid.Uint32().Draw(t, "row"))})
	}
	for k := range rapid.IntRange(0, 4).Draw(t, "stmts") {
		st := carriedStmt{
			id: uint32(k) + 1, text: raw("text"), source: raw("source"), given: raw("given"), params: rapid.Uint16Range(0, 300).Draw(t, "params"),
			sharded: rapid.Bool().Draw(t, "sharded"), db: raw("stmt db"), mode: drawMode(t), current: rapid.Bool().Draw(t, "current"),
		}
		st.types = bytes.Repeat([]byte{3, 0}, rapid.IntRange(0, 300).Draw(t, "types"))
		if rapid.Bool().Draw(t, "ran") {
			st.kinds = bytes.Repeat([]byte{1}, int(st.params))
		}
		if !st.current {
			st.settingDB, st.settingFlags, st.settingVars = raw("setting db"), mysql.Capability(rapid.Uint32().Draw(t, "setting flags")), drawVars(t)
		}
		c.stmts = append(c.stmts, st)
	}
	return c
}

// A description says all of a session, and a part of one is none.
func TestCarriedRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCarried(t)
		b := c.appendTo(nil)
		var got carried
		if err := got.decode(b); err != nil {
			t.Fatal(err)
		}
		if again := got.appendTo(nil); !bytes.Equal(again, b) {
			t.Fatalf("%+v became %+v", c, got)
		}
		if got.user != c.user || got.lastInsertID != c.lastInsertID || len(got.stmts) != len(c.stmts) || len(got.vars) != len(c.vars) || got.mode != c.mode {
			t.Fatalf("%+v became %+v", c, got)
		}
		cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		if err := new(carried).decode(b[:cut]); err == nil {
			t.Fatalf("%d of %d bytes are taken", cut, len(b))
		}
		if err := new(carried).decode(append(b, 0)); err == nil {
			t.Fatal("a byte too many is taken")
		}
	})
}

// Every field of a session's state that its statements depend on is carried: a new one must be added to carried, or here, with
// its reason.
func TestStateIsCarried(t *testing.T) {
	elsewhere := map[string]string{
		"state.setting": "made of the others", "state.pendingBegin": "such a session stays", "state.began": "such a session stays", "state.heldVariable": "such a session stays",
		"stmts.longData": "such a session stays", "stmt.long": "such a session stays", "stmt.longErr": "such a session stays", "stmt.cursor": "such a session stays",
		"stmt.info": "derived from source", "stmt.within": "derived from text", "stmt.own": "derived from text", "stmt.information": "derived from text", "stmt.normal": "derived from text", "stmt.plan": "found again", "stmt.plans": "found again", "stmt.forgotten": "found again",
		"stmt.quota": "of a cursor: such a session stays", "stmt.mixed": "such a session stays", "stmt.verdict": "asked again", "stmt.verdictOf": "asked again",
		"stmt.point": "asked again", "stmt.pointOf": "asked again", "stmt.pointIn": "asked again",
	}
	carriedFields := map[string]string{"state.insertIDs": "lastInsertID", "state.next": "nextTransaction", "state.result": "rowCount", "state.found": "foundRows", "stmts.byID": "stmts", "stmts.nextID": "nextStmtID", "stmts.lastID": "lastStmtID", "stmt.setting": "settingVars"}
	for _, one := range []struct {
		name     string
		of, into reflect.Type
	}{
		{"state", reflect.TypeFor[state](), reflect.TypeFor[carried]()}, {"stmts", reflect.TypeFor[stmts](), reflect.TypeFor[carried]()},
		{"stmt", reflect.TypeFor[stmt](), reflect.TypeFor[carriedStmt]()},
	} {
		for k := range one.of.NumField() {
			field := one.of.Field(k).Name
			path := one.name + "." + field
			as := field
			if other, ok := carriedFields[path]; ok {
				as = other
			}
			if _, ok := one.into.FieldByName(as); !ok && elsewhere[path] == "" {
				t.Errorf("%s does not move to another process", path)
			}
		}
	}
}

// FuzzCarried: whatever comes from another process is refused, or a session can go on with it.
func FuzzCarried(f *testing.F) {
	f.Add(new(carried).appendTo(nil))
	c := &carried{
		id: 10001, user: "root", client: "192.0.2.1:3306", salt: []byte("12345678901234567890"), capabilities: mysql.ClientProtocol41,
		autocommit: true, vars: []backend.Var{{Name: "autocommit", Value: "1"}}, warnings: []warning{{Level: "Note", Code: 1, Message: "m"}},
		nextTransaction: []string{"SET TRANSACTION READ ONLY"}, nextStmtID: 2,
		stmts: []carriedStmt{{id: 1, text: "SELECT ?", params: 1, types: []byte{8, 0}, kinds: []byte{8}}, {id: 2, text: "SELECT a FROM t", sharded: true, current: true}},
	}
	f.Add(c.appendTo(nil))
	shared := emptyShared(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		var c carried
		if c.decode(b) != nil {
			return
		}
		again := c.appendTo(nil)
		if !bytes.Equal(again, b) {
			var other carried
			if err := other.decode(again); err != nil || !bytes.Equal(other.appendTo(nil), again) {
				t.Errorf("not a fixed point: %v", err)
			}
		}
		near, far := net.Pipe()
		defer far.Close()
		s, err := Adopt(near, b, shared)
		if err != nil {
			return
		}
		if got := s.carried(); got.id != c.id || len(got.stmts) != len(c.stmts) || got.user != c.user {
			t.Errorf("%+v became %+v", c, got)
		}
		_ = s.entry.Row()
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
	adopt := func(c carried) (*Session, net.Conn, error) {
		near, far := net.Pipe()
		t.Cleanup(func() { far.Close() })
		s, err := Adopt(near, c.appendTo(nil), shared)
		return s, far, err
	}
	var all []*Session
	for id := range uint32(3) {
		s, _, err := adopt(carried{id: 10001 + id, user: "root", client: "192.0.2.1:99"})
		if err != nil {
			t.Fatal(err)
		}
		if p := s.entry.Row(); p.ID != 10001+id || p.Host != "192.0.2.1" || p.User != "root" || p.Command != "Sleep" {
			t.Errorf("%+v", p)
		}
		all = append(all, s)
	}
	if _, far, err := adopt(carried{id: 10001, user: "root"}); err == nil || !strings.Contains(err.Error(), "10001") {
		t.Errorf("an id twice: %v", err)
	} else if _, err := far.Read(make([]byte, 1)); err == nil {
		t.Error("the connection that was declined is open")
	}
	if _, _, err := adopt(carried{id: 1, user: "root", client: "somewhere"}); err == nil {
		t.Error("a client without an address is taken")
	}
	if got := shared.Sessions.NextID(); got != 20000 {
		t.Errorf("the next id is %d", got)
	}
	for _, s := range all {
		s.end(&endError{reason: process.EndQuit})
	}
	s, far, err := adopt(carried{id: 5, user: "gone", capabilities: mysql.ClientProtocol41})
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
	s, err := Adopt(near, (&carried{id: 9, user: "root"}).appendTo(nil), emptyShared(t))
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
		s.entry.CallToMove()
		select {
		case o = <-got:
			waiting = false
		case <-time.After(time.Millisecond):
		}
	}
	if !o.called || o.err != nil {
		t.Errorf("idle: %+v", o)
	}
	s.entry.LoggedIn(true) // it stays
	go wait()
	s.entry.CallToMove()
	if _, err := far.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if o := <-got; o.called || o.err != nil || s.conn.Buffered() != 1 {
		t.Errorf("something has come: %+v", o)
	}
}
