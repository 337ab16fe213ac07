package session

import (
	"strings"
	"testing"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
)

// routingApart is a client in front of two nodes, the second with a replica, none of which anybody asks.
func routingApart(t *testing.T, user string) *apart {
	t.Helper()
	nowhere := &mysqltest.ScriptServer{Addr: "127.0.0.1:1"}
	cfg := partsConfig(nowhere, nowhere)
	cfg.Nodes[0].Slave, cfg.Nodes[1].Slave = "127.0.0.1:2", "127.0.0.1:3"
	a := apartOf(t, user, newShared(t, cfg))
	a.state.SetDB("d")
	return a
}

// What becomes of a statement is decided without a question to anybody: what is not known yet takes a procedure.
func TestRoutingDecides(t *testing.T) {
	for _, tt := range []struct {
		text string
		want action
		on   string // nodes
		sent string // the text of the first; "" as it came
	}{
		{"SELECT * FROM other WHERE a = 1", actionExchange, "n1", ""},
		{"UPDATE other SET a = 1", actionExchange, "n1", ""},
		{"SELECT * FROM t WHERE id = 2", actionExchange, "n1", "SELECT * FROM t_0000 WHERE id = 2"},
		{"SELECT * FROM t WHERE id = 3", actionExchange, "n2", "SELECT * FROM t_0001 WHERE id = 3"},
		{"UPDATE t SET a = 1 WHERE id = 3", actionExchange, "n2", "UPDATE t_0001 SET a = 1 WHERE id = 3"},
		{"INSERT INTO t (id, a) VALUES (3, 1)", actionExchange, "n2", "INSERT INTO t_0001 (id, a) VALUES (3, 1)"},
		{"SELECT * FROM t", actionShards, "n1 n2", "SELECT * FROM t_0000"},
		{"SELECT * FROM t WHERE id IN (2, 3)", actionShards, "n1 n2", ""},
		{"DELETE FROM t WHERE a = 1", actionShards, "n1 n2", "DELETE FROM t_0000 WHERE a = 1"},
		{"INSERT INTO t (a) VALUES (1)", actionProcedure, "", ""}, // refused there
		{"/*n2*/ SELECT * FROM t WHERE id = 2", actionExchange, "n2", ""},
		{"/*n2*/ SELECT * FROM other", actionExchange, "n2", ""},
		{"SELECT LAST_INSERT_ID()", actionProcedure, "", ""},
		{"SELECT FOUND_ROWS()", actionProcedure, "", ""},
		{"SELECT @a := 1", actionProcedure, "", ""},
		{"SELECT * FROM information_schema.tables", actionProcedure, "", ""},
		{"SET @a = 1", actionProcedure, "", ""},
		{"BEGIN", actionProcedure, "", ""},
		{"CREATE TABLE x (a INT)", actionProcedure, "", ""},
	} {
		t.Run(tt.text, func(t *testing.T) {
			a := routingApart(t, "root")
			ro := &routing{client: a.client, effects: a.withEffects()}
			q := a.says(tt.text)
			ro.learnPlan(t, tt.text)
			got, err := ro.decide(q)
			if got != tt.want || err != nil {
				t.Fatalf("%v, %v, want %v", got, err, tt.want)
			}
			var on []string
			sent := q.text
			switch got {
			case actionExchange:
				on = append(on, ro.route(q).Node.Name)
			case actionShards:
				sent = q.route.Queries[0].Text
				for _, n := range ro.nodesOf(q.route.Queries) {
					on = append(on, n.Name)
				}
			}
			if strings.Join(on, " ") != tt.on {
				t.Errorf("on %v, want %s", on, tt.on)
			}
			if tt.sent != "" && strings.TrimSpace(strings.NewReplacer(" AS `t`", "", "`", "", "d.t_", "t_").Replace(sent)) != tt.sent {
				t.Errorf("sends %s, want %s", sent, tt.sent)
			}
		})
	}
}

// learnPlan has the plan of a text be known.
func (ro *routing) learnPlan(t *testing.T, text string) {
	t.Helper()
	l := new(lookup)
	q := query{text: text, info: ro.client.classify(text)}
	_, _, _ = ro.client.schema.Plans.find(l, &q, nil, ro.client.state.DB(), ro.client.mode())
}

// A plan that is not there yet, or a session that does not know how servers read texts, makes any statement a procedure.
func TestRoutingKnowsNothing(t *testing.T) {
	a := routingApart(t, "app")
	ro := &routing{client: a.client, effects: a.withEffects()}
	if n, err := ro.decide(a.says("SELECT * FROM t WHERE id = 2")); n != actionProcedure || err != nil {
		t.Errorf("without a plan: %v, %v", n, err)
	}
	a.state = state.New(utf8mb4General, a.conn.Capabilities)
	if n, err := ro.decide(a.says("SELECT * FROM other")); n != actionProcedure || err != nil {
		t.Errorf("without a server's word: %v, %v", n, err)
	}
	a = routingApart(t, "app")
	a.schema = &Schema{Default: a.nodes["n1"], Nodes: a.nodes}
	ro = &routing{client: a.client, effects: a.withEffects()}
	if n, err := ro.decide(a.says("SELECT * FROM t WHERE id = 2")); n != actionExchange || err != nil {
		t.Errorf("without sharded tables: %v, %v", n, err)
	}
}

// Reads that leave nothing behind go to replicas, outside of transactions; hints choose only where the user may use them.
func TestRoutingTargets(t *testing.T) {
	for _, tt := range []struct {
		text    string
		user    string
		set     func(a *apart)
		node    string
		replica bool
		reads   bool
		without bool // state
	}{
		{"SELECT a FROM other", "app", nil, "n1", true, true, true},
		{"SELECT a FROM other FOR UPDATE", "app", nil, "n1", false, false, true},
		{"SELECT GET_LOCK('a', 1)", "app", nil, "n1", false, false, false},
		{"SHOW TABLES", "app", nil, "n1", false, true, true},
		{"UPDATE other SET a = 1", "app", nil, "n1", false, false, true},
		{"CALL p()", "app", nil, "n1", false, false, false},
		{"/*master*/ SELECT a FROM other", "root", nil, "n1", false, true, true},
		{"/*master*/ SELECT a FROM other", "app", nil, "n1", true, true, true},
		{"/*n2*/ SELECT a FROM other", "root", nil, "n2", true, true, true},
		{"/*n2*/ SELECT a FROM other", "app", nil, "n1", true, true, true},
		{"/*n9*/ SELECT a FROM other", "root", nil, "n1", true, true, true},
		{"SELECT a FROM other", "app", func(a *apart) { a.txn.Begin = "BEGIN" }, "n1", false, true, true},
		{"SELECT a FROM other", "app", func(a *apart) { a.state.Autocommit = false }, "n1", false, true, true},
		{"SELECT a FROM other", "app", func(a *apart) { a.sink = newSink(1) }, "n1", false, true, true},
		{"SELECT a FROM other", "app", func(a *apart) { a.task().query.node = a.nodes["n2"] }, "n2", true, true, true},
		{"SELECT a FROM other", "app", func(a *apart) { a.task().query.verdict.Primary = true }, "n1", false, true, true},
		{"/*master*/ SELECT a FROM other", "root", func(a *apart) { a.task().query.verdict.Replica = true }, "n1", true, true, true},
	} {
		t.Run(tt.user+" "+tt.text, func(t *testing.T) {
			a := routingApart(t, tt.user)
			ro := &routing{client: a.client, effects: a.withEffects()}
			q := a.says(tt.text)
			if tt.set != nil {
				tt.set(a)
			}
			got := ro.route(q)
			if got.Node.Name != tt.node || got.Replica != tt.replica || got.Reads != tt.reads || got.Stateless != tt.without {
				t.Errorf("node %s, replica %v, reads %v, stateless %v", got.Node.Name, got.Replica, got.Reads, got.Stateless)
			}
			if on := got.Instance(0); (on == got.Node.Primary) == tt.replica {
				t.Errorf("on %v", on.Addr)
			}
		})
	}
}

// What is about the state of the connection that the session holds goes there.
func TestRoutingToTheHeldConnection(t *testing.T) {
	first, second := mysqltest.StartScript(t, mysqltest.ScriptConfig{}), mysqltest.StartScript(t, mysqltest.ScriptConfig{})
	a := newApart(t, "app", first, second)
	ro := &routing{client: a.client, effects: a.withEffects()}
	p := a.lend(t, "n2")
	a.txn.Pin(txn.PinUserLock)
	a.txn.Release(p, a.txn.Keep(p), true, a.run)
	for text, want := range map[string]string{
		"SELECT RELEASE_LOCK('a')": "n2", "COMMIT": "n2", "SHOW WARNINGS": "n2", "SELECT a FROM other": "n1", "UPDATE other SET a = 1": "n1", "TRUNCATE other": "n1",
	} {
		if got := ro.route(a.says(text)); got.Node.Name != want || got.Replica {
			t.Errorf("%s goes to %s, a replica's: %v", text, got.Node.Name, got.Replica)
		}
	}
}

// An execution of a prepared statement is one exchange unless it has to be put together here.
func TestRoutingOfExecutions(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(st *stmt, ex *execution)
		want   action
	}{
		"plain":                     {func(*stmt, *execution) {}, actionExchange},
		"with a cursor":             {func(_ *stmt, ex *execution) { ex.flags = 1 }, actionProcedure},
		"with long data":            {func(st *stmt, _ *execution) { st.long = map[uint16][]byte{0: nil} }, actionProcedure},
		"about the catalog":         {func(st *stmt, _ *execution) { st.information = true }, actionProcedure},
		"on a table without a plan": {func(st *stmt, _ *execution) { st.sharded = true }, actionProcedure},
	} {
		t.Run(name, func(t *testing.T) {
			a := routingApart(t, "app")
			ro := &routing{client: a.client, effects: a.withEffects()}
			const text = "SELECT a FROM other WHERE a = ?"
			q := a.says(text)
			st := &stmt{text: text, source: text, info: q.info, params: 1, setting: a.state.Setting()}
			ex := &execution{bitmap: []byte{0}, types: []byte{byte(mysql.TypeLong), 0}, values: []byte{1, 0, 0, 0}}
			tt.change(st, ex)
			q.execute(st, ex)
			if n, err := ro.decide(q); n != tt.want || err != nil {
				t.Errorf("%v, %v", n, err)
			}
		})
	}
}

// An execution on a sharded table goes where its value does.
func TestRoutingOfShardedExecutions(t *testing.T) {
	for id, node := range map[byte]string{2: "n1", 3: "n2"} {
		a := routingApart(t, "app")
		ro := &routing{client: a.client, effects: a.withEffects()}
		const text = "SELECT a FROM t WHERE id = ?"
		q := a.says(text)
		st := &stmt{text: text, source: text, info: q.info, params: 1, setting: a.state.Setting(), sharded: true, db: "d", mode: a.mode()}
		if _, err := ro.planOfStmt(st); err != nil {
			t.Fatal(err)
		}
		q.execute(st, &execution{bitmap: []byte{0}, types: []byte{byte(mysql.TypeLong), 0}, values: []byte{id, 0, 0, 0}})
		if n, err := ro.decide(q); n != actionExchange || err != nil || q.node != a.nodes[node] {
			t.Errorf("%d: %v, %v, node %v", id, n, err, q.node)
		}
	}
}

// A query rule sends a statement to a node; one about rows elsewhere is refused.
func TestRoutingByRules(t *testing.T) {
	nowhere := &mysqltest.ScriptServer{Addr: "127.0.0.1:1"}
	cfg := partsConfig(nowhere, nowhere)
	cfg.QueryRules = []config.QueryRule{{Name: "to-n2", Pattern: "a = 7", Node: "n2"}}
	a := apartOf(t, "app", newShared(t, cfg))
	a.state.SetDB("d")
	xs := a.withExchanges()
	ri := &rights{client: a.client, leases: xs.leases, routing: xs.routing, exchanges: xs}
	for _, tt := range []struct {
		text string
		node string
		code uint16
	}{
		{"SELECT a FROM other WHERE a = 7", "n2", 0}, {"SELECT a FROM other WHERE a = 8", "n1", 0},
		{"SELECT a FROM t WHERE id = 3 AND a = 7", "n2", 0}, {"SELECT a FROM t WHERE id = 2 AND a = 7", "", KSQueryRule},
	} {
		xs.routing.learnPlan(t, tt.text)
		q := a.says(tt.text)
		if err := ri.obey(q); err != nil {
			t.Fatal(err)
		}
		n, err := xs.routing.decide(q)
		if sqlCode(err) != tt.code {
			t.Errorf("%s: %v, %v", tt.text, n, err)
		} else if tt.code == 0 && xs.routing.route(q).Node.Name != tt.node {
			t.Errorf("%s goes to %s", tt.text, xs.routing.route(q).Node.Name)
		}
	}
}
