package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/mysql/mysqltest"
)

// Supervisors ask whether the process lives, and load balancers whether it takes clients, without a login.
func TestHealthEndpoints(t *testing.T) {
	up := startScript(t, "up")
	p := startProxy(t, configText([]node{{name: "n1", master: up.Addr, conns: 1}, {name: "n2", master: closedAddr(t), conns: 1}}),
		"web_addr: 127.0.0.1:0", "web_user: web", "web_password: secret", "prometheus_addr: 127.0.0.1:0")
	mysqltest.WaitFor(t, "the first node", func() bool { return p.primary("n1").State() == backend.Up })
	lost := startProxy(t, oneNode(closedAddr(t), 1), "prometheus_addr: 127.0.0.1:0")
	ask := func(of *testProxy, listener, page string, status int, text string) {
		t.Helper()
		got, body := get(t, of.httpAddr(listener)+page, "")
		if got != status || !strings.Contains(body, text) {
			t.Errorf("%s%s: %d %q, want %d %q", listener, page, got, body, status, text)
		}
	}
	for _, listener := range []string{"web_addr", "prometheus_addr"} {
		ask(p, listener, "/livez", http.StatusOK, "ok")
		ask(p, listener, "/readyz", http.StatusOK, "ok")
	}
	ask(lost, "prometheus_addr", "/livez", http.StatusOK, "ok")
	ask(lost, "prometheus_addr", "/readyz", http.StatusServiceUnavailable, "no primary is up: n")
	c := p.client("")
	must(t, c, "BEGIN") // which keeps the drain waiting
	done := make(chan error, 1)
	go func() { done <- p.stop(20 * time.Second) }()
	mysqltest.WaitFor(t, "the proxy to say that it drains", func() bool {
		status, body := get(t, p.httpAddr("prometheus_addr")+"/readyz", "")
		return status == http.StatusServiceUnavailable && strings.HasPrefix(body, "draining")
	})
	ask(p, "prometheus_addr", "/livez", http.StatusOK, "ok")
	_ = c.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
