package admin_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testProxy is a proxy before scripted servers: nodes n1, with the replica r1, and n2.
type testProxy struct {
	*proxy.Server
	t           testing.TB
	addr, admin string
	web         string // URL of the HTTP administration
	file        string
	log         *mysqltest.LogBuffer
	n1, n2, r1  *mysqltest.ScriptServer
	text        string // of the file at the start
}

// answers is what a server says to what the proxy asks of every server; SELECT answers its name, all the rest OK.
func answers(name string) mysqltest.Handler {
	return func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		text := string(payload)
		switch {
		case strings.Contains(text, "information_schema.collations"):
			c.Rows([]string{"id", "collation_name", "character_set_name"}, []any{45, "utf8mb4_general_ci", "utf8mb4"})
		case strings.Contains(text, "lower_case_table_names"):
			c.Rows([]string{"l", "m"}, []any{0, ""})
		case strings.Contains(text, "read_only"):
			c.Rows([]string{"r", "i"}, []any{0, "OFF"})
		case strings.HasPrefix(text, "ADMIN"), strings.HasPrefix(text, "SHOW"):
			c.Error(mysql.ERParse, "the server's own: "+text)
		case strings.HasSuffix(text, "LIMIT 0"): // what the columns are
			c.Rows([]string{"id", "at", "note"}, []any{1, "2024-01-01", "x"})
		case strings.HasPrefix(text, "UPDATE ks_meta.sequence"):
			c.OKPacket(mysql.OKPacket{AffectedRows: 1, LastInsertID: 5})
		case cmd == mysql.ComStmtPrepare:
			c.Prepared(1, 0)
		case cmd == mysql.ComQuery && strings.Contains(text, "SELECT"):
			c.Rows([]string{"server"}, []any{name})
		default:
			c.OK()
		}
	}
}

// fileText is the configuration of the tests.
func fileText(n1, r1, n2 string) string {
	return fmt.Sprintf(`# the file of the test
addr: 127.0.0.1:0
admin_addr: 127.0.0.1:0
web_addr: 127.0.0.1:0
web_user: web
web_password: websesame
web_tokens:
- {name: reader, token: readreadreadreadread, rights: read}
- {name: operator, token: operoperoperoperoper, rights: operate}
pool_wait_timeout: 5s
connect_timeout: 1s
health_interval: 100ms
log_sql: on # statements
slow_log_time: 0
user_list:
- {user: root, password: root}
- {user: ops, password: ops, rights: operate}
- {user: look, password: look, rights: read}
- {user: app, password: app}
- {user: open, password: "", rights: admin}
- {user: only, password: only, rights: read}
nodes:
- {name: n1, max_conns_limit: 4, user: root, password: root, max_replica_lag: 0, master: "%s", slave: "%s"}
- {name: n2, max_conns_limit: 4, user: root, password: root, max_replica_lag: 0, master: "%s"}
schema_list:
- {user: root, nodes: [n1, n2], default: n1, shard: [{db: shop, table: orders, key: id, nodes: [n1, n2], type: hash, locations: [2, 2]},
   {db: shop, table: visits, key: at, nodes: [n1, n2], type: date_year, date_range: ["2023", "2024-2025"]}]}
- {user: ops, nodes: [n1], default: n1}
- {user: look, nodes: [n1], default: n1}
- {user: app, nodes: [n1, n2], default: n2}
- {user: open, nodes: [n1], default: n1, scratch: n2}
`, n1, r1, n2)
}

// start runs a proxy from a file; edit, which may be nil, changes the file's text first.
func start(t testing.TB, edit func(text string) string) *testProxy {
	t.Helper()
	script := func(name string) *mysqltest.ScriptServer {
		return mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: answers(name)})
	}
	p := &testProxy{t: t, log: new(mysqltest.LogBuffer), n1: script("n1"), r1: script("r1"), n2: script("n2"), file: filepath.Join(t.TempDir(), "ks.yaml")}
	p.text = fileText(p.n1.Addr, p.r1.Addr, p.n2.Addr)
	if edit != nil {
		p.text = edit(p.text)
	}
	p.write(p.text)
	f := config.File{Path: p.file}
	cfg, faults := f.Load()
	if cfg == nil {
		t.Fatal(faults)
	}
	server, err := proxy.New(cfg, slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	server.SetFile(f)
	p.Server, p.addr, p.admin = server, server.Addr().String(), server.AdminAddr().String()
	p.web = "http://" + server.WebAddr().String()
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = server.Shutdown(ctx)
		if err := <-served; err != nil {
			t.Error(err)
		}
		if strings.Contains(p.log.String(), "panic") {
			t.Errorf("a panic:\n%s", p.log.String())
		}
		for _, secret := range []string{"websesame", "readreadread", "operoper"} {
			if strings.Contains(p.log.String(), secret) {
				t.Errorf("the log shows %s", secret)
			}
		}
	})
	root := p.client("root")
	mysqltest.WaitFor(t, "the probes", func() bool { return len(rows(t, root, "SHOW KS NODES WHERE state = up")) == 3 })
	return p
}

// write replaces the configuration's file.
func (p *testProxy) write(text string) {
	p.t.Helper()
	if err := os.WriteFile(p.file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// client logs a user in on the service port; its password is its name.
func (p *testProxy) client(user string) *mysqltest.RawClient { return dial(p.t, p.addr, user) }

func dial(t testing.TB, addr, user string) *mysqltest.RawClient {
	t.Helper()
	password := user
	if user == "open" {
		password = ""
	}
	c, err := mysqltest.DialRaw(addr, mysqltest.ClientConfig{User: user, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func must(t testing.TB, c *mysqltest.RawClient, text string) *mysqltest.RawResult {
	t.Helper()
	r, err := c.Query(text)
	if err != nil || r.Err != nil {
		t.Fatalf("%.120s: %v, %v", text, err, r)
	}
	return r
}

// rows runs a statement and gives its rows, NULL as "NULL".
func rows(t testing.TB, c *mysqltest.RawClient, text string) [][]string {
	t.Helper()
	var out [][]string
	for _, row := range must(t, c, text).Rows {
		cells := make([]string, len(row))
		for k, v := range row {
			cells[k] = "NULL"
			if v != nil {
				cells[k] = fmt.Sprint(v)
			}
		}
		out = append(out, cells)
	}
	return out
}

// fails runs a statement that must fail with the code and words given.
func fails(t testing.TB, c *mysqltest.RawClient, text string, code uint16, words ...string) {
	t.Helper()
	r, err := c.Query(text)
	if err != nil {
		t.Fatalf("%.120s: %v", text, err)
	}
	if r.Err == nil || r.Err.Code != code {
		t.Errorf("%.120s: %v, want error %d", text, r.Err, code)
		return
	}
	for _, w := range words {
		if !strings.Contains(r.Err.Message, w) {
			t.Errorf("%.120s: %q does not say %q", text, r.Err.Message, w)
		}
	}
}

func columns(r *mysqltest.RawResult) string {
	names := make([]string, len(r.Columns))
	for k, c := range r.Columns {
		names[k] = c.Name
	}
	return strings.Join(names, ", ")
}
