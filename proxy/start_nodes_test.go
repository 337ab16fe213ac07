package proxy_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"kingshard/backend"
	"kingshard/mysql/mysqltest"
)

// Item 2: a node that is down takes nothing from the others. Its statements fail with a plain error, theirs succeed
// with their whole pool.
func TestOneNodeDown(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p := startProxy(t, configText([]node{{name: "n1", master: server.Addr, conns: 4}, {name: "n2", master: closedAddr(t), conns: 4}}))
		var clients sync.WaitGroup
		for k := range 8 {
			c := p.client(database)
			clients.Go(func() {
				for n := range 20 {
					text, dead := fmt.Sprintf("SELECT %d", k*100+n), k%2 == 1 && n%2 == 1
					if dead {
						text = "/*n2*/" + text
					}
					r, err := c.Query(text)
					switch {
					case err != nil:
						t.Errorf("%s: %v", text, err)
						return
					case dead && (r.Err == nil || r.Err.Code != 9002):
						t.Errorf("%s: %v, want error 9002", text, r.Err)
					case !dead && (r.Err != nil || r.Rows[0][0] != fmt.Sprint(k*100+n)):
						t.Errorf("%s: %v %v", text, r.Err, r.Rows)
					}
				}
			})
		}
		clients.Wait()
		mysqltest.WaitFor(t, "the node to be down", func() bool { return p.primary("n2").State() == backend.Down })
		// All four connections of the healthy node can be held at one time.
		for range 4 {
			c := p.client(database)
			must(t, c, "BEGIN")
			must(t, c, "SELECT 1")
		}
		if st := p.primary("n1").Stats(); st.InUse != 4 || st.Open != 4 {
			t.Errorf("pool of the healthy node: %+v", st)
		}
	})
}

// Item 16: a replica that cannot be reached keeps nobody from starting, and the primary serves its reads. When it comes
// it is used.
func TestUnreachableReplicaAtStart(t *testing.T) {
	primary := startScript(t, "primary")
	missing := closedAddr(t)
	nodes := []node{{name: "n", master: primary.Addr, slave: missing, conns: 2}}
	p := startProxy(t, configText(nodes), "primary_wait_timeout: 5s") // until it is known which of the two is the primary
	c := dial(t, p.addr, rootClient())
	for range 5 {
		if got := value(t, c, "SELECT name"); got != "primary" {
			t.Errorf("served by %s", got)
		}
	}
	mysqltest.WaitFor(t, "the replica to be found dead", func() bool { return p.Nodes()["n"].Replicas[0].State() == backend.Down })
	must(t, c, "SELECT name")
	if !strings.Contains(p.log.String(), missing) {
		t.Error("the log does not name the replica that cannot be reached")
	}
	replica := startScript(t, "replica")
	nodes[0].slave = replica.Addr
	p.reload(configText(nodes))
	mysqltest.WaitFor(t, "the replica to be found alive", func() bool { return p.Nodes()["n"].Replicas[0].State() == backend.Up })
	if got := value(t, c, "SELECT name"); got != "replica" {
		t.Errorf("served by %s once the replica is there", got)
	}
}

// An unreachable primary is no reason not to start either: statements fail until it comes.
func TestUnreachablePrimaryAtStart(t *testing.T) {
	t.Parallel()
	addr := closedAddr(t)
	p := startProxy(t, oneNode(addr, 2))
	c := dial(t, p.addr, rootClient())
	fails(t, c, "SELECT 1", 9002)
	fails(t, c, "INSERT INTO t VALUES (1)", 9002)
	must(t, c, "COMMIT")
}

// Item 23, and the hints of section 6: comments in front of a query change nothing in where it goes, hints in them do.
func TestLeadingComments(t *testing.T) {
	first, replica, second := startScript(t, "first"), startScript(t, "replica"), startScript(t, "second")
	p := startProxy(t, configText([]node{{name: "n1", master: first.Addr, slave: replica.Addr, conns: 2}, {name: "n2", master: second.Addr, conns: 2}}))
	mysqltest.WaitFor(t, "all servers", func() bool {
		return p.primary("n1").State() == backend.Up && p.primary("n2").State() == backend.Up && p.Nodes()["n1"].Replicas[0].State() == backend.Up
	})
	c := dial(t, p.addr, rootClient())
	for text, want := range map[string]string{
		"SELECT name":                                      "replica",
		"/* a comment */ SELECT name":                      "replica",
		"-- a comment\nSELECT name":                        "replica",
		"# a comment\n \t SELECT name":                     "replica",
		"/* one */ /* two */\n-- three\n(SELECT name)":     "replica",
		"/*! SELECT */ name":                               "replica",
		"/*n2*/ SELECT name":                               "second",
		"/*n1*/ SELECT name":                               "replica",
		"/*nowhere*/ SELECT name":                          "replica",
		"/*master*/ SELECT name":                           "first",
		"SELECT /*master*/ name":                           "first",
		"SELECT '/*n2*/', name":                            "replica",
		"/* comment */ SELECT name FOR UPDATE":             "first",
		"/* comment */ SELECT GET_LOCK('x', 0), name":      "first",
		"WITH x AS (SELECT 1) SELECT name":                 "replica",
		"SELECT name INTO @x":                              "first",
		"/*n2*/ SELECT name FROM t WHERE a = '/*master*/'": "second",
	} {
		if got := value(t, c, text); got != want {
			t.Errorf("%s: served by %s, want %s", text, got, want)
		}
		if _, err := c.Command(0x1f, ""); err != nil { // COM_RESET_CONNECTION: the next text starts afresh
			t.Fatal(err)
		}
	}
}
