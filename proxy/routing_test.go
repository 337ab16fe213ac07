package proxy_test

import (
	"fmt"
	"testing"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// served counts which servers answer a number of reads, each on a session of its own state.
func served(t *testing.T, c *mysqltest.RawClient, reads int) map[string]int {
	t.Helper()
	by := make(map[string]int)
	for range reads {
		by[value(t, c, "SELECT name")]++
	}
	return by
}

// refuseLogins makes a scripted server turn everybody away.
func refuseLogins(c *mysqltest.ScriptConfig) {
	c.Refuse = mysql.NewSQLError(1053, "Server shutdown in progress")
}

// Reads go to replicas by weight; a replica that dies is passed over, without an error that a client hears; the last
// resort is the primary; and each is used again when it is back.
func TestReplicaFailover(t *testing.T) {
	primary, heavy, light := startScript(t, "primary"), startScript(t, "heavy"), startScript(t, "light")
	p := startProxy(t, configText([]node{{name: "n", master: primary.Addr, slave: heavy.Addr + "@3," + light.Addr + "@1", conns: 2}}))
	replicas := p.Nodes()["n"].Replicas
	mysqltest.WaitFor(t, "all servers", func() bool {
		return p.primary("n").State() == backend.Up && replicas[0].State() == backend.Up && replicas[1].State() == backend.Up
	})
	c := p.client("")
	if by := served(t, c, 400); by["heavy"] != 300 || by["light"] != 100 {
		t.Errorf("weights 3 and 1: %v", by)
	}
	welcome := func(c *mysqltest.ScriptConfig) { c.Refuse = nil }

	heavy.Configure(refuseLogins)
	heavy.CutAll()
	if by := served(t, c, 50); by["heavy"] != 0 || by["light"] == 0 { // not known to be down yet
		t.Errorf("just after the heavy one died: %v", by)
	}
	mysqltest.WaitFor(t, "the heavy one to be found dead", func() bool { return replicas[0].State() == backend.Down })
	if by := served(t, c, 50); by["light"] != 50 {
		t.Errorf("without the heavy one: %v", by)
	}

	light.Configure(refuseLogins)
	light.CutAll()
	if by := served(t, c, 50); by["primary"] == 0 || by["heavy"]+by["light"] != 0 {
		t.Errorf("just after the light one died: %v", by)
	}
	mysqltest.WaitFor(t, "the light one to be found dead", func() bool { return replicas[1].State() == backend.Down })
	if by := served(t, c, 50); by["primary"] != 50 {
		t.Errorf("without replicas: %v", by)
	}

	heavy.Configure(welcome)
	light.Configure(welcome)
	mysqltest.WaitFor(t, "the replicas to come back", func() bool { return replicas[0].State() == backend.Up && replicas[1].State() == backend.Up })
	if by := served(t, c, 40); by["heavy"] != 30 || by["light"] != 10 {
		t.Errorf("with both again: %v", by)
	}
}

// A replica whose connection breaks while it holds a read of a client is replaced under that read; one that breaks in
// the middle of the answer is not, as rows have gone out.
func TestReplicaDiesInAStatement(t *testing.T) {
	good := answers("replica")
	primary := startScript(t, "primary")
	replica := startScript(t, "replica")
	replica.SetHandler(func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		switch string(payload) {
		case "SELECT dies":
			replica.Configure(refuseLogins)
			c.Cut()
		case "SELECT dies_late":
			c.Columns(mysqltest.Strings("a")...)
			c.Row("x")
			c.Cut()
		default:
			good(c, cmd, payload)
		}
	})
	p := startProxy(t, configText([]node{{name: "n", master: primary.Addr, slave: replica.Addr, conns: 2}}), "primary_wait_timeout: 5s")
	mysqltest.WaitFor(t, "the replica", func() bool { return p.Nodes()["n"].Replicas[0].State() == backend.Up })
	c := p.client("")
	if got := value(t, c, "SELECT dies"); got != "primary" {
		t.Errorf("a read that its replica dropped: served by %q", got)
	}
	replica.Configure(func(c *mysqltest.ScriptConfig) { c.Refuse = nil })
	mysqltest.WaitFor(t, "the replica to serve again", func() bool { return value(t, c, "SELECT name") == "replica" })
	r, err := c.Query("SELECT dies_late")
	if err == nil && r.Err == nil {
		t.Errorf("half a result passed for a whole one: %v", r.Rows)
	}
	must(t, p.client(""), "SELECT name")
}

// Hints in comments are for the users who may use them; for others they are comments, in every place and form.
func TestHintsPerUser(t *testing.T) {
	first, replica, second := startScript(t, "first"), startScript(t, "replica"), startScript(t, "second")
	p := startProxy(t, fmt.Sprintf(`
addr: 127.0.0.1:0
health_interval: 100ms
replica_consistency: eventual
user_list:
  - {user: root, password: root}
  - {user: plain, password: plain, hints: false}
  - {user: small, password: small}
nodes:
  - {name: n1, user: root, password: root, master: "%s", slave: "%s"}
  - {name: n2, user: root, password: root, master: "%s"}
schema_list:
  - {user: root, nodes: [n1, n2], default: n1}
  - {user: plain, nodes: [n1, n2], default: n1}
  - {user: small, nodes: [n1], default: n1}
`, first.Addr, replica.Addr, second.Addr))
	mysqltest.WaitFor(t, "all servers", func() bool {
		return p.primary("n1").State() == backend.Up && p.primary("n2").State() == backend.Up && p.Nodes()["n1"].Replicas[0].State() == backend.Up
	})
	for user, want := range map[string][4]string{
		"root":  {"second", "first", "second", "second"},
		"plain": {"replica", "replica", "replica", "first"},
		"small": {"replica", "first", "replica", "first"}, // n2 is not among the nodes of this user
	} {
		c := dial(t, p.addr, mysqltest.ClientConfig{User: user, Password: user})
		for k, text := range []string{"/*n2*/ SELECT name", "SELECT /*master*/ name", "/*n2*/ SELECT 1, name", "/*n2*/ SELECT name FOR UPDATE"} {
			if got := value(t, c, text); got != want[k] {
				t.Errorf("%s, %s: served by %s, want %s", user, text, got, want[k])
			}
		}
		st, err := c.Prepare("/*n2*/ SELECT name")
		if err != nil {
			t.Fatal(err)
		}
		r, err := st.Execute()
		if err != nil || r.Err != nil || len(r.Rows) != 1 || r.Rows[0][0] != want[0] {
			t.Errorf("%s, prepared: %+v, %v, want %s", user, r, err, want[0])
		}
	}
}
