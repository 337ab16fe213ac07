package twophase

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// TestMain stops the servers.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := mysqltest.StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// scripts are what the simulator relies on. A line is a connection and what it does. "a! x" does not wait for the answer, which "a?" takes; "close a"
// and "crash" are of connections and of the server. Numbers are transactions, accounts and amounts; the rows' keys are of transactions,
// too, of anchors or, with a b, of branches.
var scripts = map[string]string{
	"prepared, same connection": "a xastart 1; a add 0 5; a xaend 1; a xaprepare 1; a select1; a begin; a xarollback 1; b xarollback 1; b read 0",
	"prepared, end again":       "a xastart 1; a add 0 5; a xaend 1; a xaprepare 1; a xaend 1; a xarollback 1; b read 0; b recover",
	"prepared, own commit":      "a xastart 1; a add 0 5; a xaend 1; a xaprepare 1; a xacommit 1; b read 0; b recover",
	"prepared, other commits":   "a xastart 1; a add 0 5; a xaend 1; a xaprepare 1; b xacommit 1; close a; b xacommit 1; b read 0; b recover",
	"prepared, other rolls back": "a xastart 1; a add 0 5; a xaend 1; a xaprepare 1; b xaend 1; b xarollback 1; close a; b xaend 1; b xarollback 1; " +
		"b read 0; b recover",
	"prepared, killed":           "a xastart 1; a add 0 5; a xaend 1; a xaprepare 1; b kill a; b xacommit 1; b read 0; b recover",
	"prepared, crash":            "a xastart 1; a add 0 5; a xaend 1; a xaprepare 1; c xastart 2; c add 1 5; c xaend 2; d begin; d add 2 5; crash; e recover; e read 0; e! add 0 1; e?; e xacommit 1; e read 0; e read 1; e read 2",
	"active, closed":             "a xastart 1; a add 0 5; close a; b lockread 0; b recover",
	"idle, closed":               "a xastart 1; a add 0 5; a xaend 1; close a; b lockread 0; b recover",
	"without changes":            "a xastart 1; a read 0; a xaend 1; a xaprepare 1; b recover; close a; b xacommit 1; b recover",
	"without changes, one phase": "a xastart 1; a read 0; a xaend 1; a xacommitone 1; b recover",
	"one phase":                  "a xastart 1; a add 0 5; a xacommitone 1; a xaend 1; a xacommitone 1; b read 0; b recover",
	"active refuses":             "a xastart 1; a add 0 5; a begin; a commit; a xastart 2; a xaprepare 1; a xacommit 1; a xarollback 1; a xaend 1; a add 0 5; a xarollback 1; b read 0",
	"no xid twice":               "a xastart 1; b xastart 1; a add 0 5; a xaend 1; a xaprepare 1; b xastart 1; close a; b xastart 1; b xarollback 1",
	"not inside of another":      "a begin; a add 0 5; a xastart 1; a commit; b read 0",
	"unknown":                    "a xacommit 1; a xarollback 1; a xaend 1; a xaprepare 1; a begin; a add 0 1; a xacommit 1; a xarollback 1; a rollback",
	"deadlock in XA":             "a xastart 1; a add 0 1; a add 2 1; a add 2 1; b xastart 2; b add 1 1; a! add 1 1; b add 0 1; a?; b add 1 1; b xaend 2; b xaprepare 2; b xarollback 2; b select1; a xaend 1; a xarollback 1",
	"deadlock, one phase":        "a xastart 1; a add 0 1; a add 2 1; a add 2 1; b xastart 2; b add 1 1; a! add 1 1; b add 0 1; a?; b xaend 2; b xacommitone 2; b xarollback 2; b begin; a xaend 1; a xarollback 1",
	"deadlock, branch's row":     "a xastart 1; a add 0 1; a add 2 1; a add 2 1; b xastart 2; b add 1 1; a! add 1 1; b add 0 1; a?; b branch 2; b xaend 2; b xarollback 2; a xaend 1; a xarollback 1",
	"deadlock, plain":            "a begin; a add 0 1; a add 2 1; a add 2 1; b begin; b add 1 1; a! add 1 1; b add 0 1; a?; b rollback; a rollback; c read 0; c read 1",
	"lock wait":                  "a begin; a add 0 1; b xastart 1; b add 1 5; b! add 0 1; b?; b add 2 5; b xaend 1; b xaprepare 1; b xacommit 1; close b; c xacommit 1; c read 1; c read 2; c read 0",
	"row twice":                  "a begin; a insert 1 C; a commit; b begin; b add 0 5; b insert 1 A; b add 1 5; b commit; b read 0; b read 1; b row 1",
	"row twice shares its lock":  "a insert 1 A; b begin; b insert 1 C; c insert 1 C; d share 1; c! delete 1 A; c?; b rollback; c delete 1 A; c row 1",
	"fence waits, committed":     "a begin; a add 0 5; a insert 1 C; b! insert 1 A; a commit; b?; b row 1",
	"fence waits, rolled back":   "a begin; a add 0 5; a insert 1 C; b! insert 1 A; a rollback; b?; b row 1; b read 0",
	"fence waits, closed":        "a begin; a add 0 5; a insert 1 C; b! insert 1 A; close a; b?; b row 1; b read 0",
	"branch's row":               "a xastart 1; a branch 1; a xaend 1; a xaprepare 1; b row b1; b peek b1; b! share b1; b?; close a; b! share b1; b?; b xacommit 1; b share b1; b row b1",
	"branch's row, rolled back":  "a xastart 1; a branch 1; a xaend 1; a xaprepare 1; close a; b peek b1; b xarollback 1; b share b1; b peek b1",
	"branch's row twice":         "a xastart 1; a branch 1; a xaend 1; a xacommitone 1; b xastart 1; b add 0 5; b branch 1; b xaend 1; b xaprepare 1; b xarollback 1; c row b1",
	"branch's row too late":      "a xastart 1; a xaend 1; a branch 1; a xarollback 1; c row b1",
	"all of prepare":             "a xastart 1; a add 0 5; a prepare 1; b recover; b peek b1; a xacommit 1; b row b1; b read 0",
	"all of prepare, row twice":  "a xastart 1; a branch 1; a xaend 1; a xacommitone 1; b xastart 1; b add 0 5; b prepare 1; c recover; b add 1 5; b xaend 1; b xarollback 1; c read 0; c read 1",
	"all of prepare, deadlock":   "a xastart 1; a add 0 1; a add 2 1; a add 2 1; b xastart 2; b add 1 1; a! add 1 1; b add 0 1; a?; b prepare 2; c recover; b xaend 2; b xarollback 2; a xaend 1; a xarollback 1",
	"all of prepare, ended":      "a xastart 1; a add 0 5; a xaend 1; a prepare 1; b recover; a xarollback 1; b row b1; b read 0",
	"decide":                     "a begin; a add 0 5; a decide 1; b read 0; b row 1; a rollback; b read 0",
	"decide, fenced":             "a begin; a add 0 5; b insert 1 A; a decide 1; b read 0; b! add 0 1; b?; a rollback; b read 0; b row 1",
	"decide, late":               "a begin; a add 0 5; a late 1; b read 0; b row 1; a add 1 5; a rollback; b read 0; b read 1",
	"decide in XA":               "a xastart 1; a add 0 5; a decide 1; a xaend 1; a xarollback 1; b row 1",
	"decide, fence waits":        "a begin; a insert 1 C; b begin; b add 0 5; b! decide 1; a rollback; b?; c row 1; c read 0",
	"steps of the audit":         "a insert 1 C; b delete 1 A; b row 1; b mark 1; b row 1; b finish 1; b delete 1 D; b row 1; b mark 1",
	"find":                       "a select1; b find a; close a; b find a; b kill a",
}

// world is a server, or the model of one.
type world interface {
	// start begins a command on a connection, which is made at its first use.
	start(conn string, c command)
	// answer is what the command was answered, "waits" if it is not in a moment or, with wait, in a few seconds.
	answer(conn string, wait bool) string
	close(conn string)
	crash()
}

// play runs a script and returns what was answered.
func play(t *testing.T, w world, script string, base uint64) []string {
	var told []string
	for _, line := range strings.Split(script, "; ") {
		words := strings.Fields(line)
		what := ""
		switch conn, async := strings.CutSuffix(words[0], "!"); {
		case line == "crash":
			w.crash()
			continue
		case words[0] == "close":
			w.close(words[1])
			continue
		case strings.HasSuffix(words[0], "?"):
			what = w.answer(strings.TrimSuffix(words[0], "?"), true)
		case async:
			w.start(conn, parseCommand(t, words[1:], base))
			what = w.answer(conn, false)
		default:
			w.start(conn, parseCommand(t, words[1:], base))
			what = w.answer(conn, true)
		}
		told = append(told, line+": "+what)
	}
	return told
}

// parseCommand reads what a connection does.
func parseCommand(t *testing.T, words []string, base uint64) command {
	ops := map[string]op{"select1": opSelect1, "begin": opBegin, "commit": opCommit, "rollback": opRollback, "xastart": opXAStart, "xaend": opXAEnd, "xaprepare": opXAPrepare,
		"xacommit": opXACommit, "xacommitone": opXACommitOne, "xarollback": opXARollback, "recover": opXARecover, "add": opAdd, "read": opRead, "lockread": opLockRead,
		"branch": opBranch, "decide": opDecide, "late": opDecide, "insert": opInsert, "row": opRowRead, "share": opRowShare, "peek": opRowPeek, "mark": opMark,
		"delete": opDelete, "finish": opFinish, "kill": opKill, "find": opFind, "prepare": opPrepare}
	o, ok := ops[words[0]]
	if !ok {
		t.Fatalf("%v is no command", words)
	}
	c := command{op: o, deadline: time.Hour}
	number := func(k int) int {
		if len(words) <= k {
			return 0
		}
		n, _ := strconv.Atoi(strings.TrimPrefix(words[k], "b"))
		return n
	}
	g := GTRID{Anchor: 1, Proxy: 2, Start: 3, Sequence: base + uint64(number(1))}
	c.xid, c.account, c.delta = XID{g, 9}, number(1), number(2)
	c.row = Row{Key: g.String(), State: Committed}
	switch {
	case words[0] == "late":
		c.deadline = -time.Hour
	case o == opBranch || o == opPrepare || len(words) > 1 && words[1][0] == 'b':
		c.row = Row{Key: g.BranchKey(9), State: BranchRow}
	case o == opInsert || o == opDelete:
		c.row.State = State(words[2][0])
	case o == opKill || o == opFind:
		c.server = words[1]
	}
	return c
}

// modelWorld is the model's.
type modelWorld struct {
	l       *loop
	m       *model
	conns   map[string]*modelConn
	replies map[string]*reply
	ops     map[string]op
}

func newModelWorld(f family) *modelWorld {
	l := newLoop(1)
	return &modelWorld{l, newModel(l, f, "s"), map[string]*modelConn{}, map[string]*reply{}, map[string]op{}}
}

func (w *modelWorld) start(conn string, c command) {
	k := w.conns[conn]
	if k == nil {
		k = w.m.connect()
		w.conns[conn] = k
	}
	if c.server != "" {
		c.id = w.conns[c.server].id
	}
	w.replies[conn], w.ops[conn] = nil, c.op
	list := []command{c}
	if c.op == opPrepare {
		list = (*proxy)(nil).commands(Action{Do: DoPrepare, Row: c.row, XID: c.xid})
	}
	k.sendCompound(list, func(r reply) { w.replies[conn] = &r })
}

func (w *modelWorld) answer(conn string, wait bool) string {
	if wait {
		w.l.run(w.l.now + 4*time.Second)
	}
	if r := w.replies[conn]; r != nil {
		return describe(w.ops[conn], *r)
	}
	return "waits"
}

func (w *modelWorld) close(conn string) { w.conns[conn].close() }

func (w *modelWorld) crash() {
	w.m.crash()
	w.m.up = true
}

// describe is an answer that can be compared.
func describe(o op, r reply) string {
	if r.code != 0 {
		return fmt.Sprint("error ", r.code)
	}
	switch o {
	case opRead, opLockRead:
		return fmt.Sprint(r.value)
	case opRowRead, opRowShare, opRowPeek:
		if r.row == nil {
			return "no row"
		}
		return string(rune(r.row.State))
	case opXARecover:
		return fmt.Sprint(len(r.xids), " prepared")
	case opFind:
		return fmt.Sprint(r.found)
	}
	return "OK"
}

// realWorld is a server's.
type realWorld struct {
	t      *testing.T
	server *mysqltest.RealServer
	detach bool
	mysql  bool
	conns  map[string]*mysqltest.RawClient
	ids    map[string]uint32
	ops    map[string]op
	out    map[string]chan reply
}

func (w *realWorld) dial(conn string) *mysqltest.RawClient {
	k := w.conns[conn]
	if k != nil {
		return k
	}
	k, err := mysqltest.DialRaw(w.server.Addr, mysqltest.ClientConfig{User: mysqltest.User, Password: mysqltest.Password})
	if err != nil {
		w.t.Fatal(err)
	}
	w.conns[conn], w.ids[conn] = k, k.Greeting.ConnectionID
	w.must(k, "SET SESSION innodb_lock_wait_timeout = 1")
	if w.mysql && !w.detach {
		w.must(k, "SET SESSION xa_detach_on_prepare = 0")
	}
	return k
}

func (w *realWorld) must(k *mysqltest.RawClient, sql string) *mysqltest.RawResult {
	w.t.Helper()
	r, err := k.Query(sql)
	if err == nil && r.Err != nil {
		err = r.Err
	}
	if err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	return r
}

// sql is what the command is for a server; where the protocol has it, it is the protocol's.
func (w *realWorld) sql(c command) []string {
	x := c.xid.String()
	a := Action{Row: c.row, XID: c.xid}
	id := fmt.Sprintf("WHERE id = %d", c.account)
	switch c.op {
	case opSelect1:
		return []string{"SELECT 1"}
	case opBegin:
		return []string{(&Transaction{GTRID: c.xid.GTRID}).BeginsWith(c.xid.Anchor)}
	case opXAStart:
		return []string{(&Transaction{GTRID: c.xid.GTRID}).BeginsWith(c.xid.Node)}
	case opCommit:
		a.Do = DoCommit
	case opRollback:
		a.Do = DoRollback
	case opXAEnd:
		return []string{"XA END " + x}
	case opXAPrepare:
		return []string{"XA PREPARE " + x}
	case opXACommit:
		a.Do = DoCommitBranch
	case opXACommitOne:
		return []string{"XA COMMIT " + x + " ONE PHASE"}
	case opXARollback:
		return []string{"XA ROLLBACK " + x}
	case opXARecover:
		return []string{Recover}
	case opAdd:
		return []string{fmt.Sprintf("UPDATE twophase.t SET v = v + %d %s", c.delta, id)}
	case opRead:
		return []string{"SELECT v FROM twophase.t " + id}
	case opLockRead:
		return []string{"SELECT v FROM twophase.t " + id + " FOR UPDATE"}
	case opBranch:
		a.Do = DoPrepare
		return a.Statements()[:1]
	case opPrepare:
		a.Do, a.Compound = DoPrepare, !w.mysql
	case opDecide:
		a.Do, a.Deadline = DoDecide, "2100-01-01"
		if c.deadline < 0 {
			a.Deadline = "2000-01-01"
		}
	case opKill, opFind:
		a.Holder = Holder(fmt.Sprint("s:", w.ids[c.server]))
		a.Do = map[op]Do{opKill: DoKill, opFind: DoFind}[c.op]
	default:
		a.Do = map[op]Do{opInsert: DoFence, opRowRead: DoRead, opRowShare: DoReadLocked, opRowPeek: DoPeek, opMark: DoMark, opDelete: DoDelete, opFinish: DoFinish}[c.op]
	}
	return a.Statements()
}

func (w *realWorld) start(conn string, c command) {
	k := w.dial(conn)
	list := w.sql(c)
	out := make(chan reply, 1)
	w.out[conn], w.ops[conn] = out, c.op
	go func() {
		var r reply
		for _, sql := range list {
			result, err := k.Query(sql)
			if err != nil {
				out <- reply{code: 2013}
				return
			}
			if r = read(c.op, result); r.code != 0 && c.op == opPrepare {
				break
			}
		}
		out <- r
	}()
	if c.op == opKill {
		w.answered(conn, time.Second)
		time.Sleep(200 * time.Millisecond) // the connection that is killed takes a moment
	}
}

// read is what a result says.
func read(o op, result *mysqltest.RawResult) reply {
	var r reply
	if result.Err != nil {
		r.code = result.Err.Code
		return r
	}
	r.xids = make([]XID, len(result.Rows))
	if len(result.Rows) == 0 || o == opXARecover {
		return r
	}
	first, _ := result.Rows[0][0].(string)
	r.value, _ = strconv.Atoi(first)
	r.found = r.value > 0
	if len(result.Rows[0]) == 5 {
		state, _ := result.Rows[0][1].(string)
		r.row = &Row{Key: first, State: State(state[0])}
	}
	return r
}

// answered takes the answer, and leaves it there.
func (w *realWorld) answered(conn string, d time.Duration) (reply, bool) {
	select {
	case r := <-w.out[conn]:
		w.out[conn] <- r
		return r, true
	case <-time.After(d):
		return reply{}, false
	}
}

func (w *realWorld) answer(conn string, wait bool) string {
	d := 200 * time.Millisecond
	if wait {
		d = 5 * time.Second
	}
	if r, ok := w.answered(conn, d); ok {
		return describe(w.ops[conn], r)
	}
	return "waits"
}

func (w *realWorld) close(conn string) {
	_ = w.conns[conn].Close()
	time.Sleep(200 * time.Millisecond)
}

func (w *realWorld) crash() {
	w.server.Kill()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := w.server.Restart(ctx); err != nil {
		w.t.Fatal(err)
	}
}

// definitions are what the statements expect, as short as they can be.
var definitions = []string{
	"CREATE DATABASE twophase", "CREATE TABLE twophase.t (id INT PRIMARY KEY, v INT NOT NULL) ENGINE=InnoDB", "CREATE DATABASE ks_meta",
	"CREATE TABLE ks_meta.dtx (gtrid CHAR(40) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, state CHAR(1) NOT NULL, parts VARCHAR(512) NOT NULL, conns VARCHAR(512) NOT NULL, " +
		"mac CHAR(64) NOT NULL, ts TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), done_ts TIMESTAMP(6) NULL, KEY (state, done_ts)) ENGINE=InnoDB",
	"CREATE PROCEDURE ks_meta.ks_branch(g VARCHAR(40), p VARCHAR(512), c VARCHAR(512), m VARCHAR(64)) INSERT INTO ks_meta.dtx (gtrid, state, parts, conns, mac) VALUES (g, 'B', p, c, m)",
	"CREATE PROCEDURE ks_meta.ks_decide(g VARCHAR(40), p VARCHAR(512), c VARCHAR(512), d DATETIME(6), m VARCHAR(64)) BEGIN " +
		"INSERT INTO ks_meta.dtx (gtrid, state, parts, conns, mac) VALUES (g, IF(UTC_TIMESTAMP(6) < d, 'C', NULL), p, c, m); COMMIT AND NO CHAIN NO RELEASE; END",
}

// TestModelIsReal plays each script on a server and on its model: what the simulator says of the protocol holds for these servers.
func TestModelIsReal(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			server, err := mysqltest.StartServer(context.Background(), mysqltest.ServerConfig{Kind: kind, Binlog: true})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := server.Stop(); err != nil {
					t.Error(err)
				}
			}()
			db, err := server.DB("")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for _, sql := range definitions {
				if _, err := db.Exec(sql); err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
			}
			families := map[family]string{mariadb: "holding"}
			if kind == mysqltest.MySQL9 {
				families = map[family]string{mysqlDetach: "detach", mysqlHolding: "holding"}
			}
			base := uint64(0)
			for f, name := range families {
				t.Run(name, func(t *testing.T) {
					for _, title := range sortedKeys(scripts) {
						base += 10
						compare(t, server, f, title, base)
					}
				})
			}
		})
	}
}

// compare plays a script on both.
func compare(t *testing.T, server *mysqltest.RealServer, f family, title string, base uint64) {
	t.Helper()
	w := &realWorld{t: t, server: server, mysql: f != mariadb, detach: f == mysqlDetach, conns: map[string]*mysqltest.RawClient{}, ids: map[string]uint32{}, ops: map[string]op{},
		out: map[string]chan reply{}}
	for _, sql := range []string{"DELETE FROM ks_meta.dtx", "REPLACE INTO twophase.t VALUES (0, 0), (1, 0), (2, 0)"} {
		w.must(w.dial("setup"), sql)
	}
	want := play(t, newModelWorld(f), scripts[title], base)
	got := play(t, w, scripts[title], base)
	for k := range want {
		if want[k] != got[k] {
			t.Errorf("%s: the server says %q, the model %q", title, got[k], want[k])
		}
	}
	var errs []error
	for _, k := range w.conns {
		errs = append(errs, k.Close())
	}
	_ = errors.Join(errs...) // some were closed by the script
	time.Sleep(50 * time.Millisecond)
	clean := &realWorld{t: t, server: server, conns: map[string]*mysqltest.RawClient{}, ids: map[string]uint32{}}
	k := clean.dial("clean")
	defer k.Close()
	for _, row := range clean.must(k, Recover).Rows {
		data, _ := row[3].(string)
		x, err := ParseXID(1, gtridLen, nodeLen, data)
		if err != nil {
			t.Fatal(err)
		}
		clean.must(k, "XA ROLLBACK "+x.String())
	}
}
