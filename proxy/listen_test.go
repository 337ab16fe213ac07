package proxy

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// TestListeners opens listeners of each kind, and closes them for clients and for all.
func TestListeners(t *testing.T) {
	var ls listeners
	socket := filepath.Join(t.TempDir(), "s")
	for _, one := range []struct{ field, network, addr string }{{"addr", "tcp", "127.0.0.1:0"}, {"socket", "unix", socket}, {"admin_addr", "tcp", "127.0.0.1:0"}, {"admin_addr", "tcp", ""}} {
		if err := ls.openForClients(nil, one.field, one.network, one.addr); err != nil {
			t.Fatal(err)
		}
	}
	l, err := ls.open(nil, "web_addr", "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ls.http = append(ls.http, webServer{&http.Server{}, l})
	if _, err := ls.open(nil, "addr", "tcp", l.Addr().String()); err == nil || err.Error()[:6] != "addr: " {
		t.Errorf("a port that is taken: %v", err)
	}
	if ls.admin == nil || ls.admin == ls.clients[0] || len(ls.clients) != 3 || len(ls.all()) != 4 {
		t.Errorf("%d for clients, %d in all, %v for admin SQL", len(ls.clients), len(ls.all()), ls.admin)
	}
	offered, err := ls.offer()
	if err != nil || len(offered) != 4 || offered[3].Name.Field != "web_addr" {
		t.Errorf("offered are %v, %v", offered, err)
	}
	ls.gate.open(0)
	ls.ownSockets(false)
	if ls.gate.pause(ls.all()) {
		t.Error("a loop that is not there has paused")
	}
	ls.leave()
	for _, l := range ls.all() {
		if c, err := net.Dial(l.Addr().Network(), l.Addr().String()); err == nil {
			c.Close()
			t.Errorf("%s is still open", l.Addr())
		}
	}
	if _, err := os.Stat(socket); err != nil {
		t.Error("the socket of another process is gone:", err)
	}
}
