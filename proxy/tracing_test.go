package proxy_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A traced statement has a span of its own below the client's, one of the wait for a connection and one of the exchange with the
// server; what it says has no values. The statement that went to the server is the client's, byte for byte.
func TestTracePlainStatement(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		c := startCollector(t)
		p := startProxy(t, oneNode(server.Addr, 4, c.config(", sample_ratio: 0")))
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, direct, "CREATE TABLE users (id INT PRIMARY KEY, mail VARCHAR(100))")
		client := p.client(database)
		ask := func(text string) (trace string, r *mysqltest.RawResult) {
			trace, parent := newParent(true)
			r, err := client.Query(commented(text, parent))
			if err != nil {
				t.Fatal(err)
			}
			return trace, r
		}
		good, _ := ask("INSERT INTO users VALUES (42, 'canary@value')")
		bad, r := ask("INSERT INTO users VALUES (42, 'canary@value')")
		if r.Err == nil {
			t.Fatal("the key is there twice")
		}
		must(t, client, "BEGIN")
		must(t, client, "SELECT 1")
		inside, _ := ask("SELECT id, mail FROM users WHERE id = 42")
		must(t, client, "ROLLBACK")
		must(t, client, "SELECT GET_LOCK('k', 0)")
		pinned, _ := ask("SELECT 1")
		odd, _ := ask("SELECT `\xff\xfe` FROM \xc3")

		root, children := c.trace(t, good)
		if root.Name != "INSERT users" || fmt.Sprintf("%x", root.ParentSpanId) != clientSpan || root.Status.Code != tracepb.Status_STATUS_CODE_UNSET {
			t.Errorf("%v", root)
		}
		wants(t, root, "db.system.name", "mysql", "db.namespace", database, "db.query.summary", "INSERT users",
			"db.query.text", "INSERT INTO users VALUES (?)", "kingshard.plan", "forward", "kingshard.shards", "1", "kingshard.command", "COM_QUERY",
			"kingshard.user", "root", "client.address", "127.0.0.1", "db.response.status_code", "", "error.type", "", "kingshard.pins", "")
		waits, exchanges := byName(children, "kingshard.pool_wait"), byName(children, "INSERT users")
		if len(waits) != 1 || len(exchanges) != 1 || exchanges[0].Kind != tracepb.Span_SPAN_KIND_CLIENT || waits[0].Kind != tracepb.Span_SPAN_KIND_INTERNAL {
			t.Fatal(names(children))
		}
		system := "mysql"
		if server.Kind == mysqltest.MariaDB {
			system = "mariadb"
		}
		host, port, _ := net.SplitHostPort(server.Addr)
		wants(t, exchanges[0], "db.system.name", system, "server.address", host, "server.port", port, "kingshard.node", "n", "kingshard.role", "primary",
			"db.query.text", "INSERT INTO users VALUES (?)", "db.namespace", database)

		// An error has its code, and not its message: that has the value in it.
		root, children = c.trace(t, bad)
		for _, s := range append(byName(children, "INSERT users"), root) {
			wants(t, s, "db.response.status_code", "1062", "error.type", "1062")
			if s.Status.Code != tracepb.Status_STATUS_CODE_ERROR || s.Status.Message != "" {
				t.Errorf("%s: status %v", s.Name, s.Status)
			}
		}

		// In a transaction the connection is there: nothing waits.
		root, children = c.trace(t, inside)
		wants(t, root, "kingshard.in_transaction", "true", "db.response.returned_rows", "1")
		if len(children) != 1 || children[0].Name != "SELECT users" {
			t.Error(names(children))
		}
		root, _ = c.trace(t, pinned)
		wants(t, root, "kingshard.pins", "get_lock")
		c.trace(t, odd) // what is not UTF-8 spoils nothing
		c.mu.Lock()
		defer c.mu.Unlock()
		if strings.Contains(c.raw.String(), "canary") {
			t.Error("a value, or the header, is in a span")
		}
		if c.header.Get("x-api-key") != "sesame-canary" || c.resource["service.name"] != "kingshard" || c.resource["host.name"] == "" {
			t.Errorf("header %v, resource %v", c.header, c.resource)
		}
	})
}

// The proxy's text to the server is the client's, comment and all, traced or not.
func TestTraceLeavesTheTextAlone(t *testing.T) {
	var mu sync.Mutex
	var heard []string
	plain := answers("one")
	script := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		if strings.Contains(string(payload), "'x'") { // the proxy's own questions come at any time
			mu.Lock()
			heard = append(heard, string(payload))
			mu.Unlock()
		}
		plain(c, cmd, payload)
	}})
	c := startCollector(t)
	p := startProxy(t, oneNode(script.Addr, 4, c.config(", sample_ratio: 0")))
	client := dial(t, p.addr, rootClient())
	for _, sampled := range []bool{true, false} {
		_, parent := newParent(sampled)
		text := commented("SELECT  'x' ,1", parent)
		must(t, client, text)
		mu.Lock()
		if got := heard[len(heard)-1]; !strings.HasSuffix(got, text) {
			t.Errorf("sampled %v: the server heard %q", sampled, got)
		}
		mu.Unlock()
	}
}

// withAttribute is the body of a COM_QUERY with a number and a traceparent as query attributes.
func withAttribute(parent, text string) string {
	b := []byte{2, 1, 0, 1}
	b = append(mysql.AppendUint16(b, uint16(mysql.TypeLong)), 1, 'n')
	b = mysql.AppendLenencString(mysql.AppendUint16(b, uint16(mysql.TypeVarString)), "traceparent")
	b = mysql.AppendLenencString(mysql.AppendUint32(b, 7), parent)
	return string(b) + text
}

// Prepared statements are traced at their preparation and at each execution; the parent is a query attribute, or in the text.
func TestTracePreparedStatement(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		c := startCollector(t)
		p := startProxy(t, oneNode(server.Addr, 4, c.config(", sample_ratio: 0")))
		client := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database,
			Capabilities: mysqltest.ScriptCapabilities&^mysql.ClientConnectWithDB | mysql.ClientQueryAttributes})
		must(t, client, "CREATE TABLE users (id INT PRIMARY KEY, mail VARCHAR(100))")
		if !client.Conn.Capabilities.Has(mysql.ClientQueryAttributes) {
			t.Fatal("the client has no query attributes")
		}
		run := func(cmd mysql.Command, body string) {
			t.Helper()
			packets, err := client.Command(cmd, body)
			if err != nil || packets[0][0] == mysql.ErrHeader {
				t.Fatalf("%v, %q", err, packets)
			}
		}
		trace, parent := newParent(true)
		run(mysql.ComQuery, withAttribute(parent, "SELECT id FROM users"))
		root, _ := c.trace(t, trace)
		wants(t, root, "kingshard.command", "COM_QUERY", "db.query.text", "SELECT id FROM users")

		st, err := client.Prepare("SELECT mail FROM users WHERE id = ? AND mail > ?")
		if err != nil {
			t.Fatal(err)
		}
		trace, parent = newParent(true)
		b := append(mysql.AppendUint32(nil, st.StatementID), 8, 1, 0, 0, 0, 3, 0, 1)
		b = append(b, byte(mysql.TypeLong), 0, 0, byte(mysql.TypeVarString), 0, 0, byte(mysql.TypeVarString), 0)
		b = mysql.AppendLenencString(b, "traceparent")
		b = mysql.AppendLenencString(mysql.AppendLenencString(mysql.AppendUint32(b, 42), "canary"), parent)
		run(mysql.ComStmtExecute, string(b))
		root, children := c.trace(t, trace)
		wants(t, root, "kingshard.command", "COM_STMT_EXECUTE", "db.query.text", "SELECT mail FROM users WHERE id = ? AND mail > ?")
		if len(byName(children, "SELECT users")) != 1 {
			t.Error(names(children))
		}

		trace, parent = newParent(true)
		st, err = client.Prepare(commented("SELECT mail FROM users WHERE id = ?", parent))
		if err != nil {
			t.Fatal(err)
		}
		root, children = c.trace(t, trace)
		wants(t, root, "kingshard.command", "COM_STMT_PREPARE")
		if len(byName(children, "PREPARE")) != 1 {
			t.Error(names(children))
		}
		if r, err := st.Execute(42); err != nil || r.Err != nil {
			t.Fatal(err, r.Err)
		}
		mysqltest.WaitFor(t, "the execution", func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			n := 0
			for _, s := range c.traces[trace] {
				if s.Kind == tracepb.Span_SPAN_KIND_SERVER {
					n++
				}
			}
			return n == 2
		})
		if _, err := client.Command(mysql.ComStmtPrepare, commented("SELECT nothing FROM nowhere", parent)); err != nil {
			t.Fatal(err)
		}
	})
}

// A statement on several shards has a span for each of them; a change has those of its transactions, too.
func TestTraceShards(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		for k := range 2 {
			must(t, direct, fmt.Sprintf("CREATE TABLE users_%04d (id INT PRIMARY KEY, mail VARCHAR(100))", k))
		}
		c := startCollector(t)
		// Both nodes are the same server: what is looked at is the proxy.
		text := configText([]node{{name: "n0", master: server.Addr, conns: 4}, {name: "n1", master: server.Addr, conns: 4}}, c.config(", sample_ratio: 0"))
		text = strings.Replace(text, "{user: root, nodes: [n0, n1], default: n0}", "{user: root, nodes: [n0, n1], default: n0, shard: [{db: "+database+
			", table: users, key: id, type: hash, nodes: [n0, n1], locations: [1, 1]}]}", 1)
		p := startProxy(t, text)
		client := p.client(database)
		ask := func(text string) (trace string) {
			trace, parent := newParent(true)
			must(t, client, commented(text, parent))
			return trace
		}
		write := ask("INSERT INTO users VALUES (1, 'canary'), (2, 'canary')")
		merge := ask("SELECT mail FROM users ORDER BY id LIMIT 10")
		one := ask("SELECT mail FROM users WHERE id = 1")
		finish := ask("SELECT a.mail FROM users a JOIN users b ON a.mail = b.mail")
		each := ask("ALTER TABLE users ADD COLUMN age INT")

		root, children := c.trace(t, write)
		wants(t, root, "kingshard.plan", "write", "kingshard.shards", "2", "db.query.text", "INSERT INTO users VALUES (?)")
		for name, n := range map[string]int{"INSERT users": 2, "START": 2, "COMMIT": 2, "kingshard.pool_wait": 2} {
			if got := len(byName(children, name)); got != n {
				t.Errorf("%d spans %s, want %d", got, name, n)
			}
		}
		root, children = c.trace(t, merge)
		wants(t, root, "kingshard.plan", "merge", "kingshard.shards", "2", "db.response.returned_rows", "2")
		seen := map[string]string{}
		for _, s := range byName(children, "SELECT users") {
			a := values(s.Attributes)
			seen[a["kingshard.node"]] += a["db.query.summary"]
		}
		if len(seen) != 2 || seen["n0"] != "SELECT users_0000" || seen["n1"] != "SELECT users_0001" {
			t.Errorf("%v", seen)
		}
		root, children = c.trace(t, one)
		wants(t, root, "kingshard.plan", "forward", "kingshard.shards", "1")
		if shards := byName(children, "SELECT users"); len(shards) != 1 {
			t.Error(names(children))
		} else {
			wants(t, shards[0], "kingshard.node", "n1", "db.query.summary", "SELECT users_0001")
		}
		root, children = c.trace(t, finish)
		wants(t, root, "kingshard.plan", "finish")
		if len(byName(children, "SELECT users users")) < 4 || len(byName(children, "CREATE")) < 2 {
			t.Error(names(children))
		}
		root, children = c.trace(t, each)
		wants(t, root, "kingshard.plan", "each")
		if len(byName(children, "ALTER TABLE users")) != 2 {
			t.Error(names(children))
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if strings.Contains(c.raw.String(), "canary") {
			t.Error("a value is in a span")
		}
	})
}

// The span of a wait for a connection is as long as the wait, and an error if it was in vain.
func TestTracePoolWait(t *testing.T) {
	script := startScript(t, "one")
	c := startCollector(t)
	p := startProxy(t, oneNode(script.Addr, 1, c.config(", sample_ratio: 0")), "pool_wait_timeout: 300ms")
	holder, other := dial(t, p.addr, rootClient()), dial(t, p.addr, rootClient())
	must(t, holder, "SELECT GET_LOCK('k', 0)") // pins
	trace, parent := newParent(true)
	if r, err := other.Query(commented("SELECT 1", parent)); err != nil || r.Err == nil {
		t.Fatalf("%v, %v", r, err)
	}
	root, children := c.trace(t, trace)
	waits := byName(children, "kingshard.pool_wait")
	if len(waits) != 1 || time.Duration(waits[0].EndTimeUnixNano-waits[0].StartTimeUnixNano) < 300*time.Millisecond {
		t.Fatal(names(children))
	}
	wants(t, waits[0], "error.type", "pool_timeout", "kingshard.node", "n")
	wants(t, root, "error.type", "9001", "db.response.status_code", "9001")
}

// Clients decide about their own traces, the ratio about the rest; what is not traced stays in the fast lane.
func TestTraceSampling(t *testing.T) {
	script := startScript(t, "one")
	c := startCollector(t)
	text := oneNode(script.Addr, 4)
	p := startLane(t, text, c.config(", sample_ratio: 0, max_parents: 1000000"))
	client := dial(t, p.addr, rootClient())
	untraced, unsampled := newParent(false)
	must(t, client, "SELECT 0")
	looped(t, p, 50, func() {
		for k := range 200 {
			must(t, client, "SELECT 0")
			must(t, client, commented("SELECT 0", unsampled))
			if k%20 == 0 {
				trace, parent := newParent(true)
				must(t, client, commented("SELECT 1", parent))
				defer c.trace(t, trace)
			}
		}
	})
	p.reload(replaceLine(text+laneOn+"\n", c.config(", sample_ratio: 1, max_parents: 0")))
	ignored, parent := newParent(true)
	must(t, client, commented("SELECT 2", parent))
	mysqltest.WaitFor(t, "traces without parents", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, spans := range c.traces {
			for _, s := range spans {
				if s.Kind == tracepb.Span_SPAN_KIND_SERVER && len(s.ParentSpanId) == 0 && values(s.Attributes)["db.query.text"] == "SELECT ?" {
					return true
				}
			}
		}
		return false
	})
	if c.known(untraced) || c.known(ignored) {
		t.Error("a trace that is not to be followed")
	}
}

// A client that asks for a trace of everything gets max_parents, and is counted.
func TestTraceParentsAreBounded(t *testing.T) {
	script := startScript(t, "one")
	c := startCollector(t)
	p := startProxy(t, oneNode(script.Addr, 4, c.config(", sample_ratio: 0, max_parents: 1"), "prometheus_addr: 127.0.0.1:0"))
	client := dial(t, p.addr, rootClient())
	begin := time.Now()
	const statements = 500
	_, parent := newParent(true)
	for range statements {
		must(t, client, commented("SELECT 1", parent))
	}
	_, body := get(t, p.httpAddr("prometheus_addr")+"/metrics", "")
	refused := 0
	for line := range strings.Lines(body) {
		fmt.Sscanf(line, "kingshard_trace_parents_refused_total %d", &refused)
	}
	if most := 2 + int(time.Since(begin)/time.Second); statements-refused > most || refused == statements {
		t.Errorf("%d of %d were refused", refused, statements)
	}
}

// Tracing goes on and off by a reload, and the collector's key is nowhere to be seen.
func TestTraceReload(t *testing.T) {
	script := startScript(t, "one")
	first, second := startCollector(t), startCollector(t)
	off := oneNode(script.Addr, 4, "web_addr: 127.0.0.1:0", "web_user: op", "web_password: operator")
	p := startProxy(t, off)
	client := dial(t, p.addr, rootClient())
	ask := func() (trace string) {
		trace, parent := newParent(true)
		must(t, client, commented("SELECT 1", parent))
		return trace
	}
	before := ask()
	p.reload(replaceLine(off, first.config("")))
	first.trace(t, ask())
	p.reload(replaceLine(off, second.config("")))
	moved := ask()
	second.trace(t, moved)
	must(t, client, "KS SET tracing.sample_ratio = 0.5")
	second.trace(t, ask())
	var shown bytes.Buffer
	fmt.Fprint(&shown, must(t, client, "SHOW KS CONFIG").Rows)
	_, rest := get(t, p.httpAddr("web_addr")+"/api/v2/config", "op:operator")
	if !strings.Contains(shown.String(), "tracing.headers") || !strings.Contains(shown.String(), "tracing.sample_ratio 0.5") || !strings.Contains(rest, "tracing.headers") {
		t.Errorf("%s\n%s", &shown, rest)
	}
	p.reload(off)
	after := ask()
	p.stop(5 * time.Second)
	for _, c := range []*collector{first, second} {
		if c.known(before) || c.known(after) {
			t.Error("a trace while nothing was to be traced")
		}
	}
	if first.known(moved) {
		t.Error("the first collector still gets spans")
	}
	for _, text := range []string{p.log.String(), shown.String(), rest} {
		if strings.Contains(text, "canary") {
			t.Errorf("the key is in %s", text)
		}
	}
	if !strings.Contains(p.log.String(), "field=tracing.headers") {
		t.Error("the log does not tell of the reload")
	}
}

// A collector that hangs, and one that is away, change nothing for statements; a shutdown does not wait for them for long.
func TestTraceWithoutCollector(t *testing.T) {
	hold := make(chan struct{})
	stalled := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-hold }))
	defer stalled.Close()
	defer close(hold)
	for name, endpoint := range map[string]string{"stalled": stalled.URL, "away": closedAddr(t)} {
		t.Run(name, func(t *testing.T) {
			script := startScript(t, "one")
			p := startProxy(t, oneNode(script.Addr, 8, fmt.Sprintf("tracing: {endpoint: %q, sample_ratio: 1}", endpoint), "prometheus_addr: 127.0.0.1:0"))
			var running sync.WaitGroup
			for range 4 {
				client := dial(t, p.addr, rootClient())
				running.Go(func() {
					for range 400 {
						if r, err := client.Query("SELECT 1"); err != nil || r.Err != nil {
							t.Errorf("%v, %v", err, r)
							return
						}
					}
				})
			}
			running.Wait()
			_, body := get(t, p.httpAddr("prometheus_addr")+"/metrics", "")
			if strings.Contains(body, `kingshard_trace_spans_dropped_total{reason="queue"} 0`+"\n") {
				t.Error("nothing was dropped")
			}
			if err := p.stop(10 * time.Second); err != nil {
				t.Error(err)
			}
			if n := strings.Count(p.log.String(), "did not take spans"); n != 1 {
				t.Errorf("%d lines about it", n)
			}
		})
	}
}

// What is queued at a shutdown is sent.
func TestTraceShutdownFlushes(t *testing.T) {
	script := startScript(t, "one")
	c := startCollector(t)
	p := startProxy(t, oneNode(script.Addr, 4, c.config(", sample_ratio: 0")))
	client := dial(t, p.addr, rootClient())
	trace, parent := newParent(true)
	must(t, client, commented("SELECT 1", parent))
	if err := p.stop(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	if !c.known(trace) {
		t.Error("the last trace was not sent")
	}
}
