package proxy_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy"
	"kingshard/proxy/querylog"
)

// parallelTests is how many tests run at once of those that say t.Parallel, unless -parallel tells another number: they wait most of their
// time, so it is more than there are processors.
const parallelTests = "6"

// TestMain stops the shared servers and fails the package if goroutines are left.
func TestMain(m *testing.M) {
	if ranAsRelay() || diedAsSuccessor() {
		return
	}
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(parallelTests)
	}
	code := m.Run()
	if err := mysqltest.StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if builtDir != "" {
		if err := os.RemoveAll(builtDir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// bothKinds are the servers that tests of meaning run on.
var bothKinds = []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9}

// database is where the tests of this package keep their tables.
const database = "ks_proxy"

// onBoth runs a test on MariaDB and on MySQL 9, with an empty database.
func onBoth(t *testing.T, f func(t *testing.T, server *mysqltest.RealServer)) {
	onKinds(t, func(*testing.T) {}, f)
}

// onBothAtOnce is onBoth for a test that waits most of its time: it runs on both servers at once.
func onBothAtOnce(t *testing.T, f func(t *testing.T, server *mysqltest.RealServer)) {
	t.Run("at once", func(t *testing.T) { onKinds(t, (*testing.T).Parallel, f) }) // which ends with both
}

func onKinds(t *testing.T, begin func(t *testing.T), f func(t *testing.T, server *mysqltest.RealServer)) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			begin(t)
			server := mysqltest.Shared(t, kind)
			direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
			must(t, direct, "DROP DATABASE IF EXISTS "+database)
			must(t, direct, "CREATE DATABASE "+database+" CHARACTER SET utf8mb4")
			f(t, server)
		})
	}
}

// node is an entry of nodes in a test's configuration.
type node struct {
	name, master, slave string
	conns               int
}

// configText writes a configuration: users root and ks with all nodes, the first one their default. more is added as
// it is.
func configText(nodes []node, more ...string) string {
	var list, names []string
	for _, n := range nodes {
		list = append(list, fmt.Sprintf(`  - {name: %s, max_conns_limit: %d, user: root, password: root, master: "%s", slave: "%s", down_after_noalive: 1, allow_public_key_retrieval: true}`, n.name, n.conns, n.master, n.slave))
		names = append(names, n.name)
	}
	all := strings.Join(names, ", ")
	return fmt.Sprintf(`
addr: 127.0.0.1:0
pool_wait_timeout: 5s
primary_wait_timeout: 0s
connect_timeout: 2s
health_interval: 100ms
user_list:
  - {user: root, password: root}
  - {user: ks, password: ks}
nodes:
%s
schema_list:
  - {user: root, nodes: [%s], default: %s}
  - {user: ks, nodes: [%s], default: %s}
`, strings.Join(list, "\n"), all, names[0], all, names[0]) + strings.Join(more, "\n") + "\n"
}

// oneNode is configText for a node named n on one server.
func oneNode(addr string, conns int, more ...string) string {
	return configText([]node{{name: "n", master: addr, conns: conns}}, more...)
}

// testProxy is a proxy that runs until its test ends.
type testProxy struct {
	*proxy.Server
	addr string
	log  *mysqltest.LogBuffer
	t    testing.TB
	// secrets are those of its configurations that are unlike any other word.
	secrets []string
	served  chan error
	once    sync.Once
}

// startProxy runs a proxy. The test fails if it does not shut down in order, if a session of it panicked, or if a secret of its
// configuration is in its log.
//
// replace are lines of the configuration that stand for those of the same key.
func startProxy(t testing.TB, text string, replace ...string) *testProxy {
	t.Helper()
	for _, line := range replace {
		text = replaceLine(text, line)
	}
	p := &testProxy{log: new(mysqltest.LogBuffer), t: t, served: make(chan error, 1)}
	cfg := parse(t, text)
	p.secrets = secretsOf(cfg)
	var err error
	if p.Server, err = proxy.New(cfg, slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug}))); err != nil {
		t.Fatal(err)
	}
	p.addr = p.Addr().String()
	go func() { p.served <- p.Serve() }()
	t.Cleanup(func() {
		p.stop(10 * time.Second)
		if strings.Contains(p.log.String(), "panic") {
			t.Errorf("a session panicked:\n%s", p.log.String())
		}
		for _, secret := range p.secrets {
			if strings.Contains(p.log.String(), secret) {
				t.Errorf("a secret of the configuration is in the log:\n%s", p.log.String())
			}
		}
	})
	return p
}

// secretsOf gives the secrets that can be looked for: most tests have passwords such as root, which is a user's name, too.
func secretsOf(cfg *config.Config) (secrets []string) {
	add := func(text string) {
		if len(text) >= 8 {
			secrets = append(secrets, text)
		}
	}
	add(cfg.WebPassword.Reveal())
	for _, t := range cfg.WebTokens {
		add(t.Token.Reveal())
	}
	for _, header := range cfg.Tracing.Headers {
		add(header)
	}
	for _, u := range cfg.UserList {
		add(u.Password.Reveal())
		for _, v := range u.Verifiers {
			add(v)
		}
	}
	for _, n := range cfg.Nodes {
		add(n.Password.Reveal())
		add(n.AdminPassword.Reveal())
	}
	return secrets
}

// replaceLine puts "key: value" in the place of the line with that key, or at the end.
func replaceLine(text, line string) string {
	key, _, _ := strings.Cut(line, ":")
	lines := strings.Split(text, "\n")
	for k, old := range lines {
		if strings.HasPrefix(old, key+":") {
			lines[k] = line
			return strings.Join(lines, "\n")
		}
	}
	return text + line + "\n"
}

func parse(t testing.TB, text string) *config.Config {
	t.Helper()
	cfg, faults := config.Parse([]byte(text), t.TempDir(), config.Options{})
	if cfg == nil {
		t.Fatal(faults)
	}
	if !strings.Contains(text, "max_login_delay:") {
		cfg.MaxLoginDelay = 0 // tests fail to log in by the hundred
	}
	if on := os.Getenv("KS_FAST_LANE"); on != "" && !strings.Contains(text, "fast_lane:") {
		cfg.FastLane = on != "off" // so that the tests can be run each way
		cfg.PipelinedSharing = on == "pipelined"
	}
	return cfg
}

// shutdownMax is how long behind the drain a shutdown cannot take on any machine: it hangs.
const shutdownMax = 2 * time.Minute

// stop shuts the proxy down; what a test leaves open must not keep it longer than the time given.
func (p *testProxy) stop(drain time.Duration) (err error) {
	p.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), drain)
		defer cancel()
		hangs := time.AfterFunc(drain+shutdownMax, func() {
			var stacks strings.Builder
			_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
			panic("a shutdown hangs in " + p.t.Name() + ":\n" + stacks.String())
		})
		defer hangs.Stop()
		err = p.Shutdown(ctx)
		if err := <-p.served; err != nil {
			p.t.Errorf("serve: %v", err)
		}
	})
	return err
}

// reload brings another configuration into force.
func (p *testProxy) reload(text string) {
	p.t.Helper()
	cfg := parse(p.t, text)
	p.secrets = append(p.secrets, secretsOf(cfg)...)
	if err := p.Reload(querylog.By{User: "test"}, cfg, true); err != nil {
		p.t.Fatal(err)
	}
}

// primary is the first server of a node.
func (p *testProxy) primary(name string) *backend.Instance { return p.Nodes()[name].Primary }

// quiet waits until no session holds a backend connection and no client is left but those given.
func (p *testProxy) quiet(clients int) {
	p.t.Helper()
	mysqltest.WaitFor(p.t, "sessions to end and connections to come back", func() bool {
		for _, n := range p.Nodes() {
			for _, i := range n.Instances() {
				if st := i.Stats(); st.InUse != 0 || st.Waiting != 0 || st.Dialling != 0 {
					return false
				}
			}
		}
		return p.Clients() <= clients
	})
}

// client logs in as root, with the database of these tests where there is a real server behind.
func (p *testProxy) client(db string) *mysqltest.RawClient {
	p.t.Helper()
	return dial(p.t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: db})
}

// db opens a driver's pool; options are the driver's, as "a=b&c=d".
func (p *testProxy) db(options string) *sql.DB { return openDB(p.t, p.addr, options) }

func openDB(t testing.TB, addr, options string) *sql.DB {
	t.Helper()
	c, err := driver.ParseDSN("root:root@tcp(" + addr + ")/" + database + "?" + options)
	if err != nil {
		t.Fatal(err)
	}
	c.Logger = &driver.NopLogger{}
	connector, err := driver.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

func dial(t testing.TB, addr string, c mysqltest.ClientConfig) *mysqltest.RawClient {
	t.Helper()
	r, err := mysqltest.DialRaw(addr, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// rootClient is a client without a database.
func rootClient() mysqltest.ClientConfig {
	return mysqltest.ClientConfig{User: "root", Password: "root"}
}

// must runs a statement that must succeed.
func must(t testing.TB, c *mysqltest.RawClient, text string) *mysqltest.RawResult {
	t.Helper()
	r, err := c.Query(text)
	if err != nil {
		t.Fatalf("%.80s: %v", text, err)
	}
	if r.Err != nil {
		t.Fatalf("%.80s: %v", text, r.Err)
	}
	return r
}

// value runs a statement that gives one row and shows its columns, joined by commas.
func value(t testing.TB, c *mysqltest.RawClient, text string) string {
	t.Helper()
	r := must(t, c, text)
	if len(r.Rows) != 1 {
		t.Fatalf("%.80s: %d rows", text, len(r.Rows))
	}
	columns := make([]string, len(r.Rows[0]))
	for k, v := range r.Rows[0] {
		columns[k] = "NULL"
		if v != nil {
			columns[k] = v.(string)
		}
	}
	return strings.Join(columns, ",")
}

// number is value for a number.
func number(t testing.TB, c *mysqltest.RawClient, text string) int {
	t.Helper()
	n, err := strconv.Atoi(value(t, c, text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// fails runs a statement that must fail with the code given.
func fails(t testing.TB, c *mysqltest.RawClient, text string, code uint16) *mysql.SQLError {
	t.Helper()
	r, err := c.Query(text)
	if err != nil {
		t.Fatalf("%.80s: %v", text, err)
	}
	if r.Err == nil || r.Err.Code != code {
		t.Fatalf("%.80s: %v, want error %d", text, r.Err, code)
	}
	return r.Err
}

// isCode tells whether err is a server's error with the code given.
func isCode(err error, code uint16) bool {
	var e *mysql.SQLError
	return errors.As(err, &e) && e.Code == code
}

// closedAddr is an address that refuses connections.
func closedAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// answers is what a scripted server says to what the proxy asks of every server; SELECT answers a row with the server's
// name, all the rest OK.
func answers(name string) mysqltest.Handler {
	return func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		text := string(payload)
		switch {
		case strings.Contains(text, "information_schema.collations"):
			c.Rows([]string{"id", "collation_name", "character_set_name"}, []any{45, "utf8mb4_general_ci", "utf8mb4"})
		case strings.Contains(text, "lower_case_table_names"):
			c.Rows([]string{"l", "m"}, []any{0, ""})
		case strings.Contains(text, "@@global.sql_mode"): // or sessions would begin with another one after the second probe
			c.Rows([]string{"m"}, []any{""})
		case strings.Contains(text, "@@global.read_only"):
			c.Rows([]string{"r", "i"}, []any{0, "OFF"})
		case strings.Contains(text, "SLAVE"), strings.Contains(text, "REPLICA"):
			c.Rows([]string{"Seconds_Behind_Master"}, []any{"0"})
		case cmd == mysql.ComQuery && strings.Contains(text, "SELECT"):
			c.Rows([]string{"server"}, []any{name})
		case cmd == mysql.ComStmtPrepare:
			c.Prepared(7, strings.Count(text, "?"), "server")
		case cmd == mysql.ComStmtExecute:
			c.BinaryRows([]string{"server"}, []any{name})
		case cmd == mysql.ComStmtClose, cmd == mysql.ComStmtSendLongData:
		default:
			c.OK()
		}
	}
}

// startScript starts a scripted server with the answers of that name.
func startScript(t testing.TB, name string) *mysqltest.ScriptServer {
	return mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: answers(name)})
}
