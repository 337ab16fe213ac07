package session_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// TestTextsAheadOfTheFirstServer sends texts that a session reads otherwise before it knows the servers: it must not judge them until then.
func TestTextsAheadOfTheFirstServer(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			server, err := mysqltest.StartServer(context.Background(), mysqltest.ServerConfig{Kind: kind, Settings: map[string]string{"max_connections": "151"}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = server.Stop() })
			const gbk = 28
			for name, prepared := range map[string]bool{"text": false, "prepared": true} {
				t.Run(name, func(t *testing.T) {
					gate := newGate(t, server.Addr)
					addr := startProxyText(t, fmt.Sprintf(`
addr: 127.0.0.1:0
connect_timeout: 20s
user_list: [{user: u, password: u}]
nodes: [{name: n, max_conns_limit: 8, user: root, password: root, master: "%s", allow_public_key_retrieval: true}]
schema_list: [{user: u, nodes: [n], default: n}]
`, gate.addr))
					c := dial(t, addr, mysqltest.ClientConfig{User: "u", Password: "u", Collation: gbk})
					text := "SET @a = '\xbf\\', GLOBAL max_connections = 77, @b = ' -- '"
					answered := make(chan error, 1)
					go func() {
						if prepared {
							if _, err := c.Prepare(text); err == nil {
								answered <- errors.New("it is prepared")
							}
							close(answered)
							return
						}
						r, err := c.Query(text)
						if err == nil && r.Err == nil {
							err = errors.New("it is let through")
						}
						answered <- err
					}()
					time.Sleep(100 * time.Millisecond)
					gate.open()
					if err := <-answered; err != nil {
						t.Error(err)
					}
				})
			}
			direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
			if v := cell(t, direct, "SELECT @@global.max_connections"); v != "151" {
				t.Errorf("max_connections is %s", v)
			}
		})
	}
}

// gate is an address at which a server answers only once it is open.
type gate struct {
	addr   string
	opened chan struct{}
}

func (g *gate) open() { close(g.opened) }

func newGate(t *testing.T, server string) *gate {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	g := &gate{addr: l.Addr().String(), opened: make(chan struct{})}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go g.relay(client, server)
		}
	}()
	return g
}

func (g *gate) relay(client net.Conn, server string) {
	defer client.Close()
	<-g.opened
	there, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer there.Close()
	go func() {
		_, _ = io.Copy(there, client)
		there.Close()
	}()
	_, _ = io.Copy(client, there)
}

// otherModes starts two servers whose sql_mode differs.
func otherModes(t *testing.T, kind mysqltest.Kind) (servers [2]*mysqltest.RealServer) {
	t.Helper()
	for k, mode := range []string{"STRICT_TRANS_TABLES", "NO_BACKSLASH_ESCAPES,ANSI_QUOTES"} {
		server, err := mysqltest.StartServer(context.Background(), mysqltest.ServerConfig{Kind: kind, Settings: map[string]string{"sql_mode": mode, "max_connections": "151"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Stop() })
		servers[k] = server
	}
	return servers
}

// TestNodesOfOtherModes has servers whose sql_mode differs: the client's texts are read by that of the default node everywhere, also after
// an operator changed it.
func TestNodesOfOtherModes(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			servers := otherModes(t, kind)
			addr := startProxyText(t, fmt.Sprintf(`
addr: 127.0.0.1:0
health_interval: 100ms
user_list: [{user: u, password: u}]
nodes:
  - {name: a, max_conns_limit: 8, user: root, password: root, master: "%s", allow_public_key_retrieval: true}
  - {name: b, max_conns_limit: 8, user: root, password: root, master: "%s", allow_public_key_retrieval: true}
schema_list: [{user: u, nodes: [a, b], default: a}]
`, servers[0].Addr, servers[1].Addr))
			client := func() *mysqltest.RawClient { return dial(t, addr, mysqltest.ClientConfig{User: "u", Password: "u"}) }
			before := client()
			mysqltest.WaitFor(t, "the default node", func() bool { return cell(t, before, "SELECT @@sql_mode") == "STRICT_TRANS_TABLES" })
			for _, hint := range []string{"", "/*b*/ "} {
				c := client()
				if v := cell(t, c, hint+"SELECT @@sql_mode"); v != "STRICT_TRANS_TABLES" {
					t.Errorf("%ssql_mode is %s", hint, v)
				}
				// To a server without escapes it is an assignment to a global variable.
				must(t, c, hint+`SET @a = '\', GLOBAL max_connections = 77, @b = ' -- '`)
			}
			for _, server := range servers {
				direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
				if v := cell(t, direct, "SELECT @@global.max_connections"); v != "151" {
					t.Errorf("max_connections is %s", v)
				}
			}
			direct := dial(t, servers[0].Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
			must(t, direct, "SET GLOBAL sql_mode = 'ANSI_QUOTES'")
			mysqltest.WaitFor(t, "the new sql_mode", func() bool {
				later := client()
				defer later.Close()
				return cell(t, later, "SELECT @@sql_mode") == "ANSI_QUOTES" && cell(t, later, "/*b*/ SELECT @@sql_mode") == "ANSI_QUOTES"
			})
			if v := cell(t, before, "SELECT @@sql_mode"); v != "STRICT_TRANS_TABLES" {
				t.Errorf("sql_mode of a session that was there before is %s", v)
			}
		})
	}
}

// TestModeWhileTheDefaultNodeIsAway has a client begin while the default node cannot be reached: another one's sql_mode stands in for its own,
// but not for longer, and not for what the client sets.
func TestModeWhileTheDefaultNodeIsAway(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			servers := otherModes(t, kind)
			gate := newGate(t, servers[0].Addr)
			addr := startProxyText(t, fmt.Sprintf(`
addr: 127.0.0.1:0
health_interval: 100ms
connect_timeout: 20s
user_list: [{user: u, password: u}]
nodes:
  - {name: a, max_conns_limit: 8, user: root, password: root, master: "%s", allow_public_key_retrieval: true}
  - {name: b, max_conns_limit: 8, user: root, password: root, master: "%s", allow_public_key_retrieval: true}
schema_list: [{user: u, nodes: [a, b], default: a}]
`, gate.addr, servers[1].Addr))
			var clients [2]*mysqltest.RawClient
			for k := range clients {
				clients[k] = dial(t, addr, mysqltest.ClientConfig{User: "u", Password: "u"})
				if r := must(t, clients[k], "/*b*/ SELECT 1"); fmt.Sprint(r.Rows) != "[[1]]" {
					t.Errorf("%v", r.Rows)
				}
			}
			must(t, clients[1], "SET sql_mode = 'ANSI_QUOTES'") // b answers it, too
			gate.open()
			for k, want := range []string{"STRICT_TRANS_TABLES", "ANSI_QUOTES"} {
				mysqltest.WaitFor(t, "sql_mode "+want, func() bool { return cell(t, clients[k], "SELECT @@sql_mode") == want })
				if v := cell(t, clients[k], "/*b*/ SELECT @@sql_mode"); v != want {
					t.Errorf("client %d: sql_mode is %s on the other node, want %s", k, v, want)
				}
			}
		})
	}
}

// cell gives the one value of a query's answer.
func cell(t *testing.T, c *mysqltest.RawClient, text string) string {
	t.Helper()
	return must(t, c, text).Rows[0][0].(string)
}
