package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// leaksMin are the cases that must be able to leak, by kind of server.
var leaksMin = map[mysqltest.Kind]int{mysqltest.MariaDB: 300, mysqltest.MySQL9: 150}

// Whatever a statement leaves behind on its connection, by itself or by way of triggers, functions, views, routines and statements within
// statements, no other client sees: neither one of the same user nor one of another; on goroutines, in the fast lane and with pipelined
// sharing. A case counts that does leave it behind on a connection without a proxy.
func TestNothingLeaksByStoredObjects(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		kind := server.Kind
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		for _, text := range []string{
			"CREATE TABLE host (id INT PRIMARY KEY, v INT)", "INSERT INTO host VALUES (1, 1), (2, 2)", "CREATE TABLE sink (a BIGINT)",
			"CREATE VIEW lid AS SELECT LAST_INSERT_ID() AS id",
		} {
			must(t, direct, text)
		}
		outcomeOf(t, direct, "CREATE ROLE IF NOT EXISTS ks_leak")
		outcomeOf(t, direct, "GRANT ks_leak TO root@localhost")
		if kind == mysqltest.MariaDB {
			must(t, direct, "CREATE SEQUENCE seq")
			must(t, direct, "GRANT ks_leak TO CURRENT_USER()")
		}
		var cases []leakCase
		for _, c := range leakCases(kind) {
			if c.leaksBare(t, server, direct) {
				cases = append(cases, c)
			}
		}
		t.Logf("%d cases leak on a bare connection", len(cases))
		if len(cases) < leaksMin[kind] {
			t.Errorf("%d cases can leak, want %d", len(cases), leaksMin[kind])
		}
		for _, mode := range []struct{ name, config string }{
			{"goroutines", "fast_lane: false\n"}, {"fast lane", laneOn + "\n"}, {"pipelined", laneOn + "\n" + pipelined + "\n"},
		} {
			p := startProxy(t, oneNode(server.Addr, 1)+mode.config)
			leaked := 0
			for _, user := range []string{"root", "ks"} {
				want := make(map[*dirt]string)
				for k := range cases {
					c := &cases[k]
					if _, ok := want[c.dirt]; !ok {
						want[c.dirt] = c.seen(t, p, user, direct)
					}
					first := p.client(database)
					c.do(first)
					first.Close()
					if got := c.seen(t, p, user, direct); got != want[c.dirt] {
						t.Errorf("%s, user %s: %s: the next client sees %s, want %s", mode.name, user, c.name, got, want[c.dirt])
						leaked++
						cure(p)
					}
				}
			}
			t.Logf("%s: %d of %d leak", mode.name, leaked, 2*len(cases))
		}
	})
}

// do has a client do what the case does. What is refused leaves nothing behind.
func (c *leakCase) do(client *mysqltest.RawClient) {
	for _, text := range c.run {
		if !c.binary {
			if _, err := client.Query(text); err != nil {
				return
			}
			continue
		}
		if st, err := client.Prepare(text); err == nil {
			if _, err := st.Execute(); err != nil {
				return
			}
		}
	}
}

// leaksBare makes what the case needs and tells whether it leaves something behind on a connection.
func (c *leakCase) leaksBare(t *testing.T, server *mysqltest.RealServer, direct *mysqltest.RawClient) bool {
	for _, text := range c.setup {
		if r, err := direct.Query(text); err != nil {
			t.Fatalf("%s: %s: %v", c.name, text, err)
		} else if r.Err != nil {
			return false
		}
	}
	bare := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
	defer bare.Close()
	ask := func() string {
		if c.dirt.asks != "" {
			return outcomeOf(t, direct, c.dirt.asks)
		}
		return outcomeOf(t, bare, c.dirt.sees)
	}
	before := ask()
	c.do(bare)
	leaks := ask() != before
	if _, err := bare.Command(mysql.ComResetConnection, ""); err != nil {
		t.Fatal(err)
	}
	return leaks
}

// seen is what another client sees by the proxy, or the server tells once that client has had the connection.
func (c *leakCase) seen(t *testing.T, p *testProxy, user string, direct *mysqltest.RawClient) string {
	t.Helper()
	other := dial(t, p.addr, mysqltest.ClientConfig{User: user, Password: user, DB: database})
	defer other.Close()
	if c.dirt.asks != "" {
		outcomeOf(t, other, "SELECT id FROM host WHERE id = 1")
		return outcomeOf(t, direct, c.dirt.asks)
	}
	return outcomeOf(t, other, c.dirt.sees)
}

// cure has the proxy's connection closed, so that what leaked once is not counted again.
func cure(p *testProxy) {
	p.quiet(0)
	p.primary("n").HoldDown(true)
	p.primary("n").HoldDown(false)
}

// outcomeOf is what a client gets for a statement.
func outcomeOf(t *testing.T, c *mysqltest.RawClient, text string) string {
	t.Helper()
	r, err := c.Query(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if r.Err != nil {
		if r.Err.Code > 9000 {
			return r.Err.Error()
		}
		return fmt.Sprint("error ", r.Err.Code)
	}
	return strings.TrimSpace(fmt.Sprint(r.Rows))
}
