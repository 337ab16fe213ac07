package session

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// shardedApart is a client in front of two servers with the sub-tables of d.t. Each notes in got what it gets, as "n1 text", and answers as
// answer does where that says that it has, and else as a server with transactions.
func shardedApart(t *testing.T, answer func(node, text string, c *mysqltest.ScriptConn) bool) (a *apart, got *turns) {
	t.Helper()
	got = new(turns)
	var servers []*mysqltest.ScriptServer
	for _, node := range []string{"n1", "n2"} {
		servers = append(servers, mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
			text := string(payload)
			if cmd == mysql.ComQuery && !strings.HasPrefix(text, "SET autocommit=") {
				got.note(node + " " + strings.NewReplacer(" AS `t`", "", "`", "", "d.t_", "t_").Replace(text))
			}
			if cmd != mysql.ComQuery || answer == nil || !answer(node, text, c) {
				transactions(c, cmd, payload)
			}
		}}))
	}
	a = newApart(t, "app", servers...)
	a.state.SetDB("d")
	return a, got
}

// planned is the plan of a statement on sharded tables, and where that goes.
func (a *apart) planned(t *testing.T, q *query) (*plan.Plan, *plan.Route) {
	t.Helper()
	p, err := a.schema.Plans.get(q.text, a.state.DB(), a.mode())
	if err != nil || p == nil {
		t.Fatalf("%s: %v, %v", q.text, p, err)
	}
	a.lookup().execution.Bind(p, nil)
	r, err := a.lookup().execution.Route()
	if err != nil || r.One != nil {
		t.Fatalf("%s: %+v, %v", q.text, r.One, err)
	}
	return p, &r
}

// numbers answers a query with a column of numbers, and with the one to sort by behind it where rows come in an order.
func numbers(c *mysqltest.ScriptConn, text string, list ...any) {
	column := mysqltest.Strings("id")
	column[0].Type, column[0].Charset, column[0].Length = mysql.TypeLongLong, binaryCollation, 21
	row := 1
	if strings.Contains(text, "ORDER BY") {
		column, row = append(column, column[0]), 2
	}
	c.Columns(column...)
	for _, n := range list {
		c.Row([]any{n, n}[:row]...)
	}
	c.End()
}

func queriesOn(a *apart) *queries {
	sh := a.withShards()
	return &queries{client: a.client, effects: sh.effects, leases: sh.leases, routing: a.withRouting(), exchanges: sh.exchanges, shards: sh}
}

// The rows of two servers become one result, in the order and within the limit that the client asked for.
func TestQueriesMerge(t *testing.T) {
	for _, tt := range []struct {
		text   string
		limit  string // sql_select_limit
		first  []any
		second []any
		told   string
	}{
		{"SELECT id FROM t ORDER BY id", "", []any{1, 3, 10}, []any{2, 9}, "1; 2; 3; 9; 10"},
		{"SELECT id FROM t ORDER BY id DESC", "", []any{10, 3}, []any{9, 2}, "10; 9; 3; 2"},
		{"SELECT id FROM t ORDER BY id LIMIT 2", "", []any{1, 3}, []any{2, 4}, "1; 2"},
		{"SELECT id FROM t ORDER BY id LIMIT 1, 2", "", []any{1, 3, 5}, []any{2, 4, 6}, "2; 3"},
		{"SELECT id FROM t ORDER BY id", "3", []any{1, 3, 5}, []any{2, 4, 6}, "1; 2; 3"},
		{"SELECT COUNT(*) FROM t", "", []any{3}, []any{4}, "7"},
		{"SELECT MAX(id) FROM t", "", []any{3}, []any{4}, "4"},
		{"SELECT id FROM t ORDER BY id", "", nil, nil, ""},
	} {
		t.Run(tt.text+tt.limit, func(t *testing.T) {
			a, got := shardedApart(t, func(node, text string, c *mysqltest.ScriptConn) bool {
				if !strings.HasPrefix(text, "SELECT") {
					return false
				}
				numbers(c, text, map[string][]any{"n1": tt.first, "n2": tt.second}[node]...)
				return true
			})
			if tt.limit != "" {
				a.state.Set("sql_select_limit", tt.limit)
			}
			qs := queriesOn(a)
			q := a.says(tt.text)
			p, r := a.planned(t, q)
			failed, err := qs.scatter(q, p, r, nil)
			if told := a.hears(t, err); told != tt.told || failed {
				t.Errorf("hears %q, failed %v: %v", told, failed, err)
			}
			if n := len(got.taken()); n < 2 || a.inUse("n1")+a.inUse("n2") != 0 || a.entry.Published() {
				t.Errorf("%d statements, %d and %d in use", n, a.inUse("n1"), a.inUse("n2"))
			}
			if found := len(strings.Split(tt.told, "; ")); tt.told != "" && a.state.Diagnostics.RowCount != -1 {
				t.Errorf("ROW_COUNT() is %d of %d rows", a.state.Diagnostics.RowCount, found)
			}
		})
	}
}

// An error of one server is the client's; a connection that breaks costs the query a second try, where nothing has come, or the session.
func TestQueriesFail(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fails func(c *mysqltest.ScriptConn, time int32) bool // of the second node
		begin string
		told  string
		times int32
	}{
		{"an error", func(c *mysqltest.ScriptConn, _ int32) bool { c.Error(erNoSuchTable, "no d.t_0001"); return true }, "", "error 1146", 1},
		{"gone once", func(c *mysqltest.ScriptConn, time int32) bool {
			if time == 1 {
				c.Conn.Close()
			}
			return time == 1
		}, "", "1; 2", 2},
		{"gone twice", func(c *mysqltest.ScriptConn, _ int32) bool { c.Conn.Close(); return true }, "", "error 9003", 2},
		{"gone in a transaction", func(c *mysqltest.ScriptConn, _ int32) bool { c.Conn.Close(); return true }, "BEGIN", "error 9003 end backend_lost", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var time atomic.Int32
			a, _ := shardedApart(t, func(node, text string, c *mysqltest.ScriptConn) bool {
				if !strings.HasPrefix(text, "SELECT") {
					return false
				}
				if node == "n2" && tt.fails(c, time.Add(1)) {
					return true
				}
				numbers(c, text, map[string]any{"n1": 1, "n2": 2}[node])
				return true
			})
			qs := queriesOn(a)
			a.txn.Begin = tt.begin
			q := a.says("SELECT id FROM t ORDER BY id")
			p, r := a.planned(t, q)
			_, err := qs.shards.onShards(q, p.ReadOnly, func() (bool, error) { return qs.scatter(q, p, r, nil) })
			if told := a.hears(t, err); told != tt.told || time.Load() != tt.times {
				t.Errorf("hears %q, asked %d times", told, time.Load())
			}
			if a.inUse("n1")+a.inUse("n2") != 0 || a.entry.Published() || a.txn.Holding() {
				t.Errorf("%d and %d in use", a.inUse("n1"), a.inUse("n2"))
			}
		})
	}
}

// A query that was killed before it was sent is sent to nobody.
func TestQueriesKilled(t *testing.T) {
	a, got := shardedApart(t, nil)
	qs := queriesOn(a)
	q := a.says("SELECT id FROM t ORDER BY id")
	p, r := a.planned(t, q)
	a.entry.Interrupt(false)
	_, err := qs.scatter(q, p, r, nil)
	if told := a.hears(t, err); told != "error 1317" || len(got.taken()) != 0 || a.inUse("n1")+a.inUse("n2") != 0 {
		t.Errorf("hears %q, %d and %d in use", told, a.inUse("n1"), a.inUse("n2"))
	}
}

// Connections are borrowed in the order of the nodes, and all of them are closed when one is lost: a session whose transaction was on one ends.
func TestShardsBorrowAndLose(t *testing.T) {
	for _, begin := range []string{"", "BEGIN"} {
		a, got := shardedApart(t, nil)
		sh := a.withShards()
		a.txn.Begin = begin
		a.says("SELECT id FROM t")
		loans, err := sh.borrow(a.snap.InOrder(), true)
		if err != nil || len(loans) != 2 || loans[0].Node != "n1" || loans[1].Node != "n2" || loans[0].Kept != (begin != "") || loans[1].Kept != (begin != "") {
			t.Fatalf("behind %q: %+v, %v", begin, loans, err)
		}
		if begun := strings.Join(got.taken(), "; "); begin != "" && begun != "n1 BEGIN; n2 "+txn.SQLBegin || begin == "" && begun != "" {
			t.Errorf("behind %q the servers got %s", begin, begun)
		}
		if !sh.publish(loans) || !a.entry.Published() {
			t.Error("others do not see it")
		}
		err = sh.loseAll(loans, &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: io.EOF})
		want := "error 9003"
		if begin != "" {
			want += " end backend_lost"
		}
		if told := a.hears(t, err); told != want || a.inUse("n1")+a.inUse("n2") != 0 || a.entry.Published() || a.txn.Holding() || a.txn.HasOthers() {
			t.Errorf("behind %q: hears %s, %d and %d in use", begin, told, a.inUse("n1"), a.inUse("n2"))
		}
	}
}

// Other connections take the place of those that broke, if none of them was kept.
func TestShardsReplaceAll(t *testing.T) {
	broken := &mysql.ConnError{Side: mysql.BackendSide, Op: "write", Err: io.ErrClosedPipe}
	for _, tt := range []struct {
		name    string
		begin   string
		attempt int
		err     error
		want    bool
	}{
		{"the first time", "", 0, broken, true}, {"the second time", "", 1, broken, true}, {"when all that there may be were tried", "", apartConns, broken, false}, {"in a transaction", "BEGIN", 0, broken, false},
		{"no fault of a connection", "", 0, errors.New("other"), false}, {"the client's", "", 0, &mysql.ConnError{Side: mysql.ClientSide, Op: "write", Err: io.EOF}, false},
	} {
		a, _ := shardedApart(t, nil)
		sh := a.withShards()
		a.txn.Begin = tt.begin
		a.says("SELECT id FROM t")
		loans, err := sh.borrow(a.snap.InOrder(), true)
		if err != nil {
			t.Fatal(err)
		}
		if got := sh.replacesAll(loans, tt.attempt, tt.err); got != tt.want || (a.inUse("n1")+a.inUse("n2") == 0) != tt.want {
			t.Errorf("%s: %v, %d in use", tt.name, got, a.inUse("n1")+a.inUse("n2"))
		}
		if !tt.want {
			_ = sh.loseAll(loans, nil)
		}
	}
}
