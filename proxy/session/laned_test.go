package session

import (
	"strings"
	"testing"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/txn"
)

// lanedApart is a client whose commands a loop looks at.
func lanedApart(t *testing.T, user string, change func(cfg *config.Config)) (*apart, *laned) {
	t.Helper()
	nowhere := &mysqltest.ScriptServer{Addr: "127.0.0.1:1"}
	cfg := partsConfig(nowhere, nowhere)
	if change != nil {
		change(cfg)
	}
	s := assemble()
	a := apartIn(t, user, newShared(t, cfg), &s.client)
	a.state.SetDB("d")
	a.schemaOf = a.snap
	return a, &s.lane
}

// What a loop runs is one exchange with a server, or a merge of a few; all else is a goroutine's.
func TestLanedRuns(t *testing.T) {
	rules := func(cfg *config.Config) {
		cfg.QueryRules = []config.QueryRule{{Name: "block", Pattern: "a = 7", Block: "no"}, {Name: "allow", Pattern: "a = 8", Allow: true}}
	}
	for _, tt := range []struct {
		text   string
		user   string
		change func(cfg *config.Config)
		runs   bool
		merges bool
	}{
		{"SELECT a FROM other WHERE a = 1", "app", nil, true, false},
		{"UPDATE other SET a = 1", "app", nil, true, false},
		{"SELECT a FROM t WHERE id = 2", "app", nil, true, false},
		{"SELECT id FROM t ORDER BY id", "app", nil, true, true},
		{"SELECT COUNT(*) FROM t", "app", nil, true, true},
		{"UPDATE t SET a = 1", "app", nil, false, false},
		{"SELECT a FROM unknown, t", "app", nil, false, false},
		{"BEGIN", "app", nil, false, false},
		{"SET @a = 1", "app", nil, false, false},
		{"SELECT @a := 1", "app", nil, false, false},
		{"SELECT LAST_INSERT_ID()", "app", nil, false, false},
		{"SELECT a FROM other; SELECT a FROM other", "app", nil, false, false},
		{"SELECT a FROM other; -- and no more", "app", nil, false, false},
		{"SELECT a FROM other WHERE a = '" + strings.Repeat("x", loopedText) + "'", "app", nil, false, false},
		{"SELECT a FROM other WHERE a = 7", "app", rules, false, false},
		{"SELECT a FROM other WHERE a = 8", "app", rules, true, false},
		{"UPDATE other SET a = 1", "app", func(cfg *config.Config) { cfg.UserList[1].ReadOnly = true }, false, false},
		{"SELECT a FROM other", "app", func(cfg *config.Config) { cfg.UserList[1].ReadOnly = true }, true, false},
	} {
		t.Run(tt.text[:min(len(tt.text), 50)], func(t *testing.T) {
			a, la := lanedApart(t, tt.user, tt.change)
			la.routing.learnPlan(t, tt.text)
			packet := append([]byte{byte(mysql.ComQuery)}, tt.text...)
			if got := la.runsLooped(packet); got != tt.runs {
				t.Fatalf("a loop runs it: %v", got)
			}
			if !tt.runs {
				return
			}
			if (a.task().merging != nil) != tt.merges || a.ahead().text != tt.text || a.ahead().command != mysql.ComQuery {
				t.Errorf("it merges: %v; %+v", a.task().merging != nil, a.ahead())
			}
			if tt.merges == (a.task().x.target.Node != nil) {
				t.Errorf("its target is %+v", a.task().x.target)
			}
		})
	}
}

// So are executions of statements that are prepared.
func TestLanedExecutions(t *testing.T) {
	value := []byte{0, 1, 0, 0, 0, 0, 1, byte(mysql.TypeLong), 0, 7, 0, 0, 0}
	for name, tt := range map[string]struct {
		change func(st *stmt)
		id     uint32
		runs   bool
	}{
		"plain": {func(*stmt) {}, 1, true}, "unknown": {func(*stmt) {}, 9, false}, "with long data": {func(st *stmt) { st.long = map[uint16][]byte{} }, 1, false},
		"with wrong long data": {func(st *stmt) { st.longErr = malformed() }, 1, false}, "sharded, not planned": {func(st *stmt) { st.sharded = true }, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, la := lanedApart(t, "app", nil)
			const text = "SELECT a FROM other WHERE a = ?"
			st := &stmt{text: text, source: text, info: a.classify(text), params: 1, setting: a.state.Setting(), mode: a.mode()}
			tt.change(st)
			la.stmts.add(st)
			packet := append([]byte{byte(mysql.ComStmtExecute)}, idOf(tt.id, value...)...)
			if got := la.runsLooped(packet); got != tt.runs {
				t.Errorf("a loop runs it: %v", got)
			}
			if la.runsLooped(packet[:len(packet)-1]) {
				t.Error("a loop runs one that is cut off")
			}
		})
	}
}

// A loop takes no statement of a session that something binds.
func TestLanedFree(t *testing.T) {
	for name, tt := range map[string]struct {
		set  func(a *apart)
		free bool
	}{
		"free": {func(*apart) {}, true}, "behind BEGIN": {func(a *apart) { a.txn.Begin = "BEGIN" }, false}, "autocommit is off": {func(a *apart) { a.state.Autocommit = false }, false},
		"pinned": {func(a *apart) { a.txn.Pin(txn.PinUserLock) }, false}, "an answer is caught": {func(a *apart) { a.sink = newSink(1) }, false},
		"the proxy ends": {func(a *apart) { a.shared.Draining.Store(true) }, false}, "the proxy is paused": {func(a *apart) { a.shared.Pause.Begin(1) }, false},
		"a reload": {func(a *apart) {
			next := *a.snap
			next.Schemas = map[string]*Schema{"app": {}}
			a.shared.Snapshot.Store(&next)
		}, false},
		"a reload of other users": {func(a *apart) {
			next := *a.snap
			next.Schemas = map[string]*Schema{"app": a.schema}
			a.shared.Snapshot.Store(&next)
		}, true},
	} {
		a, la := lanedApart(t, "app", nil)
		tt.set(a)
		if got := la.free(); got != tt.free {
			t.Errorf("%s: %v", name, got)
		}
		if la.park() {
			t.Errorf("%s: it waits in a loop, without one", name)
		}
	}
	a, la := lanedApart(t, "app", func(cfg *config.Config) { cfg.UserList[1].MaxQPS = 5 })
	if !a.account.Limited() || la.free() {
		t.Error("a loop runs statements of a user with limits")
	}
	if la.leaveLane(); la.conn != nil {
		t.Error("it is in a lane")
	}
	if la.enterLane(); la.conn != nil {
		t.Error("it entered a lane where there are none")
	}
}
