package console_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy"
)

func TestMain(m *testing.M) {
	// net/http waits half a second after a body that was too long.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// testProxy is a proxy before scripted servers: nodes n1, with a replica, and n2.
type testProxy struct {
	*proxy.Server
	t         testing.TB
	web       string // URL of the HTTP administration
	file      string
	text      string // of the file at the start
	log       *mysqltest.LogBuffer
	n1, r1    *mysqltest.ScriptServer
	transport *http.Transport
}

// answer is what a server says to what the proxy asks of every server, and to the statements of the tests.
func answer(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
	text := string(payload)
	switch {
	case strings.Contains(text, "information_schema.collations"):
		c.Rows([]string{"id", "collation_name", "character_set_name"}, []any{45, "utf8mb4_general_ci", "utf8mb4"})
	case strings.Contains(text, "lower_case_table_names"):
		c.Rows([]string{"l", "m"}, []any{0, ""})
	case strings.Contains(text, "information_schema.COLUMNS"): // which are invisible
		c.Rows([]string{"COLUMN_NAME"})
	case strings.HasPrefix(text, "UPDATE ks_meta.sequence"):
		c.OKPacket(mysql.OKPacket{AffectedRows: 1, LastInsertID: 5})
	case strings.Contains(text, "nowhere"):
		c.Error(1146, "Table 'shop.nowhere' doesn't exist")
	case strings.HasSuffix(text, "LIMIT 0"): // what the columns are
		c.Rows([]string{"id", "at", "note"}, []any{1, "2024-01-01", "x"})
	case cmd == mysql.ComQuery && strings.Contains(text, "SELECT"):
		time.Sleep(time.Millisecond)
		c.Rows([]string{"id", "total"}, []any{1, 10}, []any{2, 20})
	default:
		c.OK()
	}
}

const fileText = `# the file of the test
addr: 127.0.0.1:0
web_addr: 127.0.0.1:0
web_user: web
web_password: websesame
web_tokens:
- {name: reader, token: readreadreadreadread, rights: read}
- {name: operator, token: operoperoperoperoper, rights: operate}
connect_timeout: 1s
health_interval: 100ms
user_list:
- {user: root, password: root}
- {user: app, password: app}
nodes:
- {name: n1, max_conns_limit: 8, user: root, password: root, master: "%s", slave: "%s"}
- {name: n2, max_conns_limit: 8, user: root, password: root, master: "%s"}
schema_list:
- {user: root, nodes: [n1, n2], default: n1}
- {user: app, nodes: [n1, n2], default: n1, shard: [{db: shop, table: orders, key: id, nodes: [n1, n2], type: hash, locations: [4, 4]},
   {db: shop, table: visits, key: at, nodes: [n1, n2], type: date_year, date_range: ["2023", "2024-2025"]}]}
`

// start runs a proxy from a file; edit, which may be nil, changes the file's text first.
func start(t testing.TB, edit func(text string) string) *testProxy {
	t.Helper()
	script := func() *mysqltest.ScriptServer {
		return mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: answer})
	}
	p := &testProxy{t: t, log: new(mysqltest.LogBuffer), n1: script(), r1: script(), file: filepath.Join(t.TempDir(), "ks.yaml"), transport: &http.Transport{}}
	p.text = fmt.Sprintf(fileText, p.n1.Addr, p.r1.Addr, script().Addr)
	if edit != nil {
		p.text = edit(p.text)
	}
	p.write(p.text)
	f := config.File{Path: p.file}
	cfg, faults := f.Load()
	if cfg == nil {
		t.Fatal(faults)
	}
	server, err := proxy.New(cfg, slog.New(slog.NewTextHandler(p.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	server.SetFile(f)
	p.Server, p.web = server, "http://"+server.WebAddr().String()
	if cfg.WebTLSCert != "" {
		p.web = "https://" + server.WebAddr().String()
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		p.transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = server.Shutdown(ctx)
		if err := <-served; err != nil {
			t.Error(err)
		}
		for _, secret := range []string{"panic", "sesame", "readreadread", "operoper"} {
			if strings.Contains(p.log.String(), secret) {
				t.Errorf("the log shows %s:\n%s", secret, p.log)
			}
		}
	})
	return p
}

// write replaces the configuration's file.
func (p *testProxy) write(text string) {
	p.t.Helper()
	if err := os.WriteFile(p.file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// client logs a user in; its password is its name.
func (p *testProxy) client(user string) *mysqltest.RawClient {
	p.t.Helper()
	c, err := mysqltest.DialRaw(p.Addr().String(), mysqltest.ClientConfig{User: user, Password: user})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() })
	return c
}

// load runs statements from two clients until the test ends or stop is called.
func (p *testProxy) load() (stop func()) {
	quit := make(chan struct{})
	var workers sync.WaitGroup
	for k := range 2 {
		c := p.client("app")
		workers.Go(func() {
			texts := []string{
				"SELECT id, total FROM shop.orders WHERE id = %d", "SELECT id, total FROM shop.orders WHERE id IN (1, %d)",
				"UPDATE shop.orders SET total = 1 WHERE id = %d", "SELECT 'sesame' FROM shop.`<img src=x onerror=alert(1)>` WHERE id = %d", "SELECT * FROM shop.nowhere WHERE id = %d",
			}
			for n := 0; ; n++ {
				select {
				case <-quit:
					return
				case <-time.After(time.Duration(2+n%3+k) * time.Millisecond):
				}
				if _, err := c.Query(fmt.Sprintf(texts[n%len(texts)], n+1)); err != nil {
					return
				}
			}
		})
	}
	stop = sync.OnceFunc(func() { close(quit); workers.Wait() })
	p.t.Cleanup(stop)
	return stop
}

// call sends a request with headers given as name, value, ...
func (p *testProxy) call(method, path, body string, headers ...string) (*http.Response, string) {
	p.t.Helper()
	r, err := http.NewRequest(method, p.web+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for k := 0; k < len(headers); k += 2 {
		r.Header.Set(headers[k], headers[k+1])
	}
	answer, err := p.transport.RoundTrip(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer, string(data)
}
