package proxy_test

import (
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// balancerV1 and balancerV2 are the headers of a load balancer that speaks for a client.
func balancerV1(client string) string {
	a := netip.MustParseAddrPort(client)
	family := "TCP6"
	if a.Addr().Is4() {
		family = "TCP4"
	}
	return "PROXY " + family + " " + a.Addr().String() + " 192.0.2.200 " + client[strings.LastIndex(client, ":")+1:] + " 9696\r\n"
}

func balancerV2(client string) string {
	a := netip.MustParseAddrPort(client)
	family, addr := byte(0x21), a.Addr().AsSlice()
	if a.Addr().Is4() {
		family = 0x11
	}
	body := append(append(addr, make([]byte, len(addr))...), 0, 0, 0x25, 0xe0)
	binary.BigEndian.PutUint16(body[2*len(addr):], a.Port())
	header := append([]byte("\r\n\r\n\x00\r\nQUIT\n"), 0x21, family, 0, byte(len(body)))
	return string(append(header, body...))
}

// dialFrom connects from a loopback address and sends the header given.
func dialFrom(t testing.TB, from, addr, header string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	nc, err := dialer.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	if _, err := io.WriteString(nc, header); err != nil {
		t.Fatal(err)
	}
	return nc
}

// Behind a load balancer the client's address is the one that the PROXY header names: in the process list, in USER(),
// in the log and for hosts. A header from elsewhere, and a balancer without one, are turned away.
func TestProxyProtocol(t *testing.T) {
	server := startScript(t, "script")
	p := startProxy(t, `
addr: 127.0.0.1:0
health_interval: 100ms
handshake_timeout: 1s
proxy_protocol: 127.0.0.9/32
user_list:
  - {user: root, password: root}
  - {user: far, password: far, hosts: 203.0.113.0/24}
nodes: [{name: n, user: root, password: root, master: "`+server.Addr+`"}]
schema_list: [{user: root, nodes: [n], default: n}, {user: far, nodes: [n], default: n}]
`)
	for _, header := range []string{
		balancerV1("203.0.113.7:4711"), balancerV2("203.0.113.7:4711"), balancerV1("[2001:db8::7]:4711"), balancerV2("[2001:db8::7]:4711"),
		"PROXY UNKNOWN\r\n",
	} {
		want := "127.0.0.9"
		switch {
		case strings.Contains(header, "2001"), len(header) > 50 && header[0] == '\r':
			want = "2001:db8::7"
		case !strings.Contains(header, "UNKNOWN"):
			want = "203.0.113.7"
		}
		c, err := mysqltest.LoginRaw(dialFrom(t, "127.0.0.9", p.addr, header), rootClient())
		if err != nil {
			t.Errorf("%q: %v", header, err)
			continue
		}
		r := must(t, c, "SHOW PROCESSLIST")
		if len(r.Rows) != 1 || r.Rows[0][2] != want {
			t.Errorf("%q: %v, want the address %s", header, r.Rows, want)
		}
		c.Close()
		p.quiet(0)
		mysqltest.WaitFor(t, "the log line with "+want, func() bool {
			return strings.Contains(p.log.String(), "host="+want) || strings.Contains(p.log.String(), `host="`+want)
		})
		far, err := mysqltest.LoginRaw(dialFrom(t, "127.0.0.9", p.addr, header), mysqltest.ClientConfig{User: "far", Password: "far"})
		if err == nil {
			far.Close()
		}
		p.quiet(0)
		if allowed := want == "203.0.113.7"; allowed != (err == nil) || !allowed && !isCode(err, 1045) {
			t.Errorf("%q: hosts are looked up as if it were another address: %v", header, err)
		}
	}
	for name, nc := range map[string]net.Conn{
		"a header from elsewhere":     dialFrom(t, "127.0.0.1", p.addr, balancerV1("203.0.113.7:4711")),
		"a header v2 from elsewhere":  dialFrom(t, "127.0.0.1", p.addr, balancerV2("203.0.113.7:4711")),
		"a balancer without a header": dialFrom(t, "127.0.0.9", p.addr, ""),
		"a wrong header":              dialFrom(t, "127.0.0.9", p.addr, "PROXY TCP4 nowhere 192.0.2.1 1 2\r\n"),
	} {
		if c, err := mysqltest.LoginRaw(nc, mysqltest.ClientConfig{User: "root", Password: "root", Timeout: 10 * time.Second}); err == nil {
			c.Close()
			t.Errorf("%s: let in", name)
		}
	}
	direct := p.client("")
	if r := must(t, direct, "SHOW PROCESSLIST"); len(r.Rows) != 1 || r.Rows[0][2] != "127.0.0.1" {
		t.Errorf("a client beside the balancer: %v", r.Rows)
	}
}

// A unix socket serves like the TCP port, as a secure transport; its file goes with the proxy, and one left by a crash
// does not keep the next from starting.
func TestUnixSocket(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		path := filepath.Join(t.TempDir(), "ks.sock")
		stale, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		stale.(*net.UnixListener).SetUnlinkOnClose(false)
		stale.Close()
		p := startProxy(t, oneNode(server.Addr, 2, "socket: "+path, "allow_ips: 192.0.2.1"))
		c := dial(t, path, mysqltest.ClientConfig{User: "root", Password: "root", DB: database, Plugin: "caching_sha2_password"})
		must(t, c, "CREATE TABLE by_socket (id INT)")
		must(t, c, "INSERT INTO by_socket VALUES (1), (2)")
		if got := value(t, c, "SELECT SUM(id), DATABASE() FROM by_socket"); got != "3,"+database {
			t.Errorf("over the socket: %s", got)
		}
		if r := must(t, c, "SHOW PROCESSLIST"); len(r.Rows) != 1 || r.Rows[0][2] != "localhost" {
			t.Errorf("process list: %v", r.Rows)
		}
		if _, err := mysqltest.DialRaw(p.addr, rootClient()); !isCode(err, 1130) {
			t.Errorf("allow_ips over TCP: %v", err)
		}
		c.Close()
		p.quiet(0)
		if err := p.stop(10 * time.Second); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("the socket's file is left")
		}
	})
}

// httpAddr finds the address of an HTTP listener in the log.
func (p *testProxy) httpAddr(field string) string {
	p.t.Helper()
	m := regexp.MustCompile(`msg=listening ` + field + `=(\S+)`).FindStringSubmatch(p.log.String())
	if m == nil {
		p.t.Fatalf("no %s in the log:\n%s", field, p.log.String())
	}
	return "http://" + m[1]
}

// get asks for a page; login is "user:password", or empty.
func get(t testing.TB, url, login string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if user, password, ok := strings.Cut(login, ":"); ok {
		r.SetBasicAuth(user, password)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
	return answered(t, &client, r)
}

// answered sends a request and gives its answer.
func answered(t testing.TB, c *http.Client, r *http.Request) (status int, body string) {
	t.Helper()
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// Metrics and profiles: open on loopback where no login is configured, else for who knows it; none by default. Neither
// they nor the log show a password.
func TestMetricsAndProfiles(t *testing.T) {
	server := startScript(t, "script")
	none := startProxy(t, oneNode(server.Addr, 2))
	if strings.Contains(none.log.String(), "web_addr") || strings.Contains(none.log.String(), "prometheus_addr") {
		t.Error("an HTTP listener that nobody configured")
	}
	for _, login := range []string{"", "admin:canary-web"} {
		more := []string{"web_addr: 127.0.0.1:0", "prometheus_addr: 127.0.0.1:0"}
		if user, password, ok := strings.Cut(login, ":"); ok {
			more = append(more, "web_user: "+user, "web_password: "+password)
		}
		p := startProxy(t, strings.ReplaceAll(oneNode(server.Addr, 2, more...), "password: ks}", "password: canary-user}"))
		must(t, p.client(""), "SELECT name")
		web, metrics := p.httpAddr("web_addr"), p.httpAddr("prometheus_addr")
		var shown strings.Builder
		for _, page := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/goroutine?debug=2", "/debug/pprof/cmdline", "/debug/pprof/heap?debug=1"} {
			status, body := get(t, web+page, login)
			if status != http.StatusOK || len(body) == 0 {
				t.Errorf("%s with %q: status %d", page, login, status)
			}
			shown.WriteString(body)
			if login == "" {
				continue
			}
			for _, wrong := range []string{"", "admin:", "admin:wrong", ":canary-web", "root:root"} {
				if status, _ := get(t, web+page, wrong); status != http.StatusUnauthorized {
					t.Errorf("%s with %q: status %d", page, wrong, status)
				}
			}
		}
		status, body := get(t, metrics+"/metrics", "")
		if status != http.StatusOK {
			t.Errorf("prometheus_addr: status %d", status)
		}
		for _, line := range []string{
			`kingshard_sessions 1`, `kingshard_commands_total{command="COM_QUERY"} 1`, `kingshard_config_generation 1`,
			`kingshard_pool_connections_max{backend="` + server.Addr + `",node="n",role="primary"} 2`,
		} {
			if !strings.Contains(body, line+"\n") {
				t.Errorf("no %s in the metrics", line)
			}
		}
		if status, _ := get(t, metrics+"/debug/pprof/", ""); status != http.StatusNotFound {
			t.Errorf("profiles at prometheus_addr: status %d", status)
		}
		if all := shown.String() + body + p.log.String(); strings.Contains(all, "canary-") {
			t.Error("a password is shown")
		}
	}
}

// Where there are tokens and no web_user, metrics and profiles are for those who have one with the rights.
func TestMetricsAndProfilesByToken(t *testing.T) {
	p := startProxy(t, oneNode(startScript(t, "script").Addr, 2, "web_addr: 127.0.0.1:0",
		"web_tokens: [{name: look, token: canary-look-0123456789, rights: read}, {name: boss, token: canary-boss-0123456789, rights: admin}]"))
	web := p.httpAddr("web_addr")
	for _, page := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/goroutine?debug=2", "/debug/pprof/cmdline", "/debug/pprof/heap", "/debug/pprof/symbol"} {
		for token, want := range map[string]int{"": 401, "wrong": 401, "canary-look-0123456789": 403, "canary-boss-0123456789": 200} {
			if page == "/metrics" && want == 403 {
				want = 200
			}
			r, err := http.NewRequest(http.MethodGet, web+page, nil)
			if err != nil {
				t.Fatal(err)
			}
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			if got, _ := answered(t, http.DefaultClient, r); got != want {
				t.Errorf("%s with token %q: status %d, want %d", page, token, got, want)
			}
		}
	}
}
