package admin_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A node changes while sessions go on: transactions end where they began, new statements go to the instances of now.
func TestNodeChanges(t *testing.T) {
	p := start(t, nil)
	transactional := func(name string) *mysqltest.ScriptServer {
		answer := answers(name)
		return mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
			switch text := string(payload); {
			case strings.HasPrefix(text, "BEGIN"):
				c.Status |= mysql.ServerStatusInTrans
			case strings.HasPrefix(text, "COMMIT"):
				c.Status &^= mysql.ServerStatusInTrans
			}
			answer(c, cmd, payload)
		}})
	}
	first, second, extra := transactional("first"), transactional("second"), transactional("extra")
	root, app := p.client("root"), p.client("app") // whose node is n2
	served := func(c *mysqltest.RawClient, text string) string { return rows(t, c, text)[0][0] }
	if got := rows(t, root, "KS NODE n2 SET PRIMARY '"+first.Addr+"'"); len(got) != 1 || got[0][1] != first.Addr || got[0][2] != "primary" {
		t.Errorf("%q", got)
	}
	must(t, app, "BEGIN")
	if got := served(app, "SELECT name FROM t FOR UPDATE"); got != "first" {
		t.Errorf("served by %s", got)
	}
	if got := rows(t, root, "KS NODE n2 ADD REPLICA '"+extra.Addr+"' WEIGHT 3"); len(got) != 2 || fmt.Sprint(got[1][1:4]) != fmt.Sprint([]string{extra.Addr, "replica", "3"}) {
		t.Errorf("%q", got)
	}
	other := p.client("app")
	if got := served(other, "SELECT name"); got != "extra" {
		t.Errorf("a read is served by %s", got)
	}
	must(t, root, "KS NODE `n2` ADD REPLICA '"+second.Addr+"'")
	if got := rows(t, root, "KS NODE n2 SET PRIMARY "+second.Addr); len(got) != 2 || got[0][1] != second.Addr || got[1][1] != extra.Addr {
		t.Errorf("a replica that became the primary: %q", got)
	}
	if got := served(other, "SELECT name FROM t FOR UPDATE"); got != "second" {
		t.Errorf("after the switch: served by %s", got)
	}
	if got := served(app, "SELECT name FROM t FOR UPDATE"); got != "first" {
		t.Errorf("the transaction went on at %s", got)
	}
	must(t, app, "COMMIT")
	if got := served(app, "SELECT name FROM t FOR UPDATE"); got != "second" {
		t.Errorf("after the transaction: served by %s", got)
	}
	if got := rows(t, root, "KS NODE n2 REMOVE REPLICA "+extra.Addr); len(got) != 1 {
		t.Errorf("%q", got)
	}
	if got := served(other, "SELECT name"); got != "second" {
		t.Errorf("without replicas: served by %s", got)
	}
	mysqltest.WaitFor(t, "the connections to what is no part any more to be closed", func() bool { return first.Open() == 0 && extra.Open() == 0 })
	before := p.Config()
	for _, c := range [][2]string{
		{"KS NODE nx ADD REPLICA 'h:1'", "no node"}, {"KS NODE nx SET PRIMARY 'h:1'", "no node"}, {"KS NODE nx REMOVE REPLICA 'h:1'", "no node"},
		{"KS NODE n1 ADD REPLICA 'nowhere'", "nowhere"}, {"KS NODE n1 ADD REPLICA 'h:1,h:2'", "one instance"}, {"KS NODE n1 ADD REPLICA 'h:1' WEIGHT 0", "1 to 1000"},
		{"KS NODE n1 ADD REPLICA '" + p.r1.Addr + "'", "already"}, {"KS NODE n1 REMOVE REPLICA 'h:1'", "no replica"},
		{"KS NODE n2 SET PRIMARY '127.0.0.1:1'", "stays " + second.Addr}, {"KS NODE n2 SET PRIMARY '" + second.Addr + "'", "already"},
	} {
		fails(t, root, c[0], 9032, c[1])
	}
	if p.Config() != before {
		t.Error("what was refused changed the configuration")
	}
	fails(t, p.client("ops"), "KS NODE n2 ADD REPLICA 'h:1'", 9030, "needs the rights admin")
	if got := rows(t, root, "SHOW KS EVENTS WHERE what = 'set primary' AND outcome = 'ok' ORDER BY id"); len(got) != 2 || got[1][5] != "n2 "+second.Addr {
		t.Errorf("events: %q", got)
	}
	if got := rows(t, root, "SHOW KS EVENTS WHERE what = 'primary followed'"); len(got) != 0 {
		t.Errorf("what an operator chose was followed, too: %q", got)
	}
	for _, c := range []struct {
		login, path, body string
		status            int
		words             string
	}{
		{"web", "/nodes/n2/replicas/add", `{"instance":"` + extra.Addr + `","weight":2}`, 200, `"role":"replica","weight":2`},
		{"web", "/nodes/n2/replicas/add", `{"instance":"` + extra.Addr + `"}`, 409, "already"},
		{"web", "/nodes/n2/replicas/remove", `{"instance":"` + extra.Addr + `"}`, 200, `"role":"primary"`},
		{"web", "/nodes/n2/primary", `{"instance":"` + first.Addr + `"}`, 200, first.Addr},
		{"web", "/nodes/nx/primary", `{"instance":"` + first.Addr + `"}`, 409, "no node"},
		{"web", "/nodes/n2/primary", ``, 400, "9031"},
		{"web", "/nodes/n2/primary", `{"instance":"` + second.Addr + `","force":true}`, 400, "9031"},
		{"web", "/nodes/n2/primary", `{"instance":"` + second.Addr + `","force":"meant"}`, 200, second.Addr},
		{"operator", "/nodes/n2/pause", `{"seconds":601}`, 409, "seconds must be 1 to 600"},
		{"operator", "/nodes/n2/pause", ``, 200, `"node":"n2","state":"paused","held_ms":`},
		{"operator", "/nodes/n2/pause", `{"seconds":1,"force":"meant"}`, 409, "paused already"},
		{"operator", "/nodes/n2/resume", ``, 200, `"node":"n2","state":"online","held_ms":`},
		{"operator", "/nodes/n2/primary", `{"instance":"` + first.Addr + `"}`, 403, "9030"},
	} {
		if status, answer := p.call(c.login, "POST", "/api/v2"+c.path, c.body); status != c.status || !strings.Contains(answer, c.words) {
			t.Errorf("%s %s: %d %s", c.path, c.body, status, answer)
		}
	}
}
