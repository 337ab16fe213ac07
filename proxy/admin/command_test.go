package admin_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// Each statement asks for its rights, and says which; who has none gets an error, and what is not ours goes to the server.
func TestRights(t *testing.T) {
	p := start(t, nil)
	clients := map[string]*mysqltest.RawClient{}
	for _, user := range []string{"root", "ops", "look", "app", "open"} {
		clients[user] = p.client(user)
	}
	victim := func() string { return fmt.Sprint(p.client("app").Greeting.ConnectionID) }
	const read, operate, admin = 1, 2, 3
	rights := map[string]int{"root": admin, "ops": operate, "look": read, "app": 0, "open": 0} // open has no password
	for _, c := range []struct {
		text func() string
		need int
	}{
		{func() string { return "SHOW KS STATUS" }, read},
		{func() string { return "KS HELP" }, read},
		{func() string { return "ADMIN HELP" }, read},
		{func() string { return "KS EXPLAIN SELECT 1" }, read},
		{func() string { return "KS RELOAD CHECK" }, read},
		{func() string { return "admin server values('show','proxy','status')" }, read},
		{func() string { return "KS RELOAD" }, operate},
		{func() string { return "KS KILL " + victim() }, operate},
		{func() string { return "KS NODE n2 UP" }, operate},
		{func() string { return "KS NODE n2 RESUME" }, operate},
		{func() string { return "KS FORGET INCIDENT ALL" }, operate},
		{func() string { return "SHOW KS TRANSACTIONS LIKE 'ks1%' WHERE state <> 'prepared'" }, read},
		{func() string { return "SHOW KS INCIDENTS WHERE kind = 'lost' AND node IS NOT NULL" }, read},
		{func() string { return "KS PAUSE" }, operate},
		{func() string { return "KS RESUME" }, operate},
		{func() string { return "admin server values('change','proxy','online')" }, operate},
		{func() string { return "admin node values('down','n1','slave','" + p.r1.Addr + "')" }, operate},
		{func() string { return "admin node values('up','n1','slave','" + p.r1.Addr + "')" }, operate},
		{func() string { return "KS SET slow_log_time = 5" }, admin},
		{func() string { return "KS SAVE CONFIG" }, admin},
		{func() string { return "admin server values('change','slow_log_time','5')" }, admin},
		{func() string { return "admin server values('add','black_sql','select never')" }, admin},
		{func() string { return "admin server values('del','black_sql','select never')" }, admin},
		{func() string { return "admin server values('save','proxy','config')" }, admin},
		{func() string { return "admin node values('add','n2','slave','127.0.0.1:1')" }, admin},
		{func() string { return "admin node values('del','n2','slave','127.0.0.1:1')" }, admin},
	} {
		for _, user := range []string{"open", "app", "look", "ops", "root"} {
			text := c.text()
			if rights[user] >= c.need {
				must(t, clients[user], text)
			} else {
				fails(t, clients[user], text, 9030, "needs the rights", user)
			}
		}
	}
	for _, user := range []string{"root", "app"} {
		for _, text := range []string{"ADMIN CHECK TABLE t", "SHOW KSX", "SHOW `KS` STATUS", "ADMIN"} {
			fails(t, clients[user], text, mysql.ERParse, "the server's own: "+text)
		}
		fails(t, clients[user], "KS", map[string]uint16{"root": 9031, "app": 9030}[user])
	}
	// Rights that a reload takes away are gone for sessions that are there.
	p.write(strings.Replace(p.text, "rights: operate}\n- {user: look", "rights: none}\n- {user: look", 1))
	must(t, clients["ops"], "KS RELOAD")
	fails(t, clients["ops"], "KS RELOAD", 9030)
}

// Every change, and every attempt, is in the log and in the list of events: by whom, from where.
func TestAudit(t *testing.T) {
	p := start(t, nil)
	root, look := p.client("root"), p.client("look")
	must(t, root, "KS NODE n1 DOWN '"+p.r1.Addr+"'")
	fails(t, look, "KS KILL 1", 9030)
	fails(t, root, "KS KILL 1", 9032, "no session 1")
	must(t, root, "KS RELOAD")
	got := rows(t, root, "SHOW KS EVENTS WHERE who <> 'kingshard' ORDER BY id")
	want := []string{"node down|root|127.0.0.1|n1 " + p.r1.Addr + "|ok", "kill|root|127.0.0.1|1|there is no session 1: SHOW KS SESSIONS lists them", "reload|root|127.0.0.1|NULL|ok"}
	for k, w := range want {
		if k >= len(got) || strings.Join(got[k][2:], "|") != w {
			t.Errorf("event %d of %q, want %s", k, got, w)
		}
	}
	for _, line := range []string{`level=INFO msg=administration audit=true what="node down" user=root from=127.0.0.1 detail="n1 `, `level=WARN msg="administration refused" audit=true what=kill user=root`} {
		if !strings.Contains(p.log.String(), line) {
			t.Errorf("not in the log: %s", line)
		}
	}
	if got := rows(t, root, "SHOW KS EVENTS WHERE what = 'instance up'"); len(got) != 3 {
		t.Errorf("instances that went up: %q", got)
	}
}

// An instance taken down by hand stays down, whatever the probes say, over reloads too.
func TestNodeDown(t *testing.T) {
	p := start(t, nil)
	root, app := p.client("root"), p.client("root")
	if got := rows(t, root, "KS NODE n1 DOWN"); len(got) != 2 || got[0][4] != "down" || got[1][4] != "down" {
		t.Errorf("%q", got)
	}
	p.write(strings.Replace(p.text, "slow_log_time: 0", "slow_log_time: 9", 1))
	must(t, root, "KS RELOAD")
	health := func() [][]string { return rows(t, root, "SHOW KS NODES WHERE node = 'n1' AND answered IS NOT NULL") }
	before := fmt.Sprint(health())
	mysqltest.WaitFor(t, "more probes", func() bool { return fmt.Sprint(health()) != before })
	for _, row := range health() {
		if row[4] != "down" || row[5] != "YES" || row[6] != "up" {
			t.Errorf("after a reload and good probes: %q", row)
		}
	}
	fails(t, app, "SELECT name", 9002, "an operator took it down")
	must(t, root, "KS NODE n1 UP "+p.n1.Addr)
	if got := rows(t, app, "SELECT name"); got[0][0] != "n1" {
		t.Errorf("served by %s", got)
	}
	must(t, root, "KS NODE `n1` UP")
	mysqltest.WaitFor(t, "the replica to serve", func() bool { return rows(t, app, "SELECT name")[0][0] == "r1" })
	for _, c := range []struct {
		text string
		code uint16
	}{
		{"KS NODE", 9031}, {"KS NODE n1", 9031}, {"KS NODE n1 SIDEWAYS", 9031}, {"KS NODE n1 ADD", 9031}, {"KS NODE n1 ADD REPLICA 5", 9031}, {"KS NODE n1 ADD REPLICA 'h:1' WEIGHT x", 9031},
		{"KS NODE n1 ADD REPLICA 'h:1' 'h:2'", 9031}, {"KS NODE n1 REMOVE 'h:1'", 9031}, {"KS NODE n1 REMOVE REPLICA", 9031}, {"KS NODE n1 SET 'h:1'", 9031},
		{"KS NODE n1 SET PRIMARY a b", 9031}, {"KS NODE n1 SET PRIMARY 'a:1' FORCE", 9031}, {"KS NODE n1 SET PRIMARY 'a:1' FORCE now or", 9031}, {"KS NODE n1 ADD REPLICA 'a:1' FORCE ''", 9031}, {"KS NODE n1 SET PRIMARY force", 9032}, {"KS NODE n1 UP 'a' 'b'", 9031}, {"KS NODE nx UP", 9032},
		{"KS NODE n1 DOWN '10.0.0.1:1'", 9032}, {"KS NODE n1 DOWN 'x", 9031},
	} {
		fails(t, root, c.text, c.code)
	}
}

// KS KILL ends sessions and statements of others.
func TestKill(t *testing.T) {
	p := start(t, nil)
	root, victim := p.client("root"), p.client("app")
	id := victim.Greeting.ConnectionID
	must(t, root, fmt.Sprintf("KS KILL QUERY %d", id))
	must(t, victim, "SELECT 1")
	must(t, root, fmt.Sprintf("KS KILL %d", id))
	if _, err := victim.Query("SELECT 1"); err == nil {
		t.Error("the session goes on")
	}
	fails(t, root, fmt.Sprintf("KS KILL %d", root.Greeting.ConnectionID), 9032, "the one that asks")
	for _, text := range []string{"KS KILL", "KS KILL x", "KS KILL -1", "KS KILL 1 2", "KS KILL QUERY"} {
		fails(t, root, text, 9031)
	}
	fails(t, root, "KS KILL 99999999999", 9032)
}

// KS EXPLAIN shows how a statement would run for oneself or another user.
func TestExplain(t *testing.T) {
	p := start(t, nil)
	root, look := p.client("root"), p.client("look")
	must(t, root, "USE shop")
	got := rows(t, root, "KS EXPLAIN INSERT INTO orders (id) VALUES (3)")
	if len(got) != 1 || got[0][1] != "forward" || !strings.HasPrefix(got[0][4], "shop.orders_000") || !strings.Contains(got[0][5], got[0][4][5:]) {
		t.Errorf("%q", got)
	}
	if got := rows(t, root, "KS EXPLAIN DELETE FROM t"); len(got) != 1 || got[0][1] != "forward" || got[0][3] != "n1" {
		t.Errorf("%q", got)
	}
	if got := rows(t, look, "KS EXPLAIN FOR root SELECT * FROM shop.orders WHERE id IN (0, 2);"); len(got) != 2 {
		t.Errorf("%q", got)
	}
	fails(t, root, "KS EXPLAIN", 9031)
	fails(t, root, "KS EXPLAIN FOR nobody SELECT 1", 9031, "a user")
	fails(t, root, "KS EXPLAIN UPDATE orders SET id = RAND()", 9012)
	if p.n1.Accepted() > 20 {
		t.Error("explaining opens connections")
	}
}

// The differences of a reload are shown field by field; one with a fault changes nothing and names the field.
func TestReload(t *testing.T) {
	p := start(t, nil)
	root := p.client("root")
	p.write(strings.NewReplacer("slow_log_time: 0", "slow_log_time: 9", "user: app, password: app", "user: app, password: other").Replace(p.text))
	want := "[[user_list[app].password *** *** YES NULL] [slow_log_time 0 9 YES NULL]]"
	generation := func() string { return rows(t, root, "SHOW KS STATUS LIKE 'config_generation'")[0][1] }
	before := generation()
	for _, text := range []string{"KS RELOAD CHECK", "KS RELOAD CHECK", "KS RELOAD"} {
		if got := fmt.Sprint(rows(t, root, text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if text == "KS RELOAD CHECK" && generation() != before {
			t.Error("a check changed something")
		}
	}
	if generation() == before {
		t.Error("nothing was brought into force")
	}
	if got := rows(t, root, "KS RELOAD"); len(got) != 0 {
		t.Errorf("again: %q", got)
	}
	p.write(strings.Replace(p.text, "slow_log_time: 0", "slow_log_time: -5\nno_such_key: 1", 1))
	for _, text := range []string{"KS RELOAD", "KS RELOAD CHECK"} {
		fails(t, root, text, 9032, "slow_log_time", "no_such_key", "the running configuration stays")
	}
	p.write(strings.Replace(p.text, "web_addr: 127.0.0.1:0", "web_addr: 127.0.0.1:1", 1))
	if got := rows(t, root, "KS RELOAD CHECK"); len(got) == 0 || got[0][0] != "web_addr" || got[0][3] != "NO" {
		t.Errorf("%q", got)
	}
	fails(t, root, "KS RELOAD", 9032, "web_addr cannot change")
	fails(t, root, "KS RELOAD NOW", 9031)
	if got := rows(t, root, "SHOW KS CONFIG WHERE `key` = 'slow_log_time'")[0][1]; got != "9" {
		t.Errorf("after refused reloads it is %s", got)
	}
}

// Reloads and changes from several sides at once cost no client an error, and all end in one state.
func TestConcurrentChanges(t *testing.T) {
	p := start(t, nil)
	stop := make(chan struct{})
	var load, changes sync.WaitGroup
	for k := range 6 {
		c := p.client("root")
		load.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				text := []string{"SELECT name", "INSERT INTO t VALUES (1)", "SHOW KS NODES", "SHOW KS PLANS"}[(n+k)%4]
				if r, err := c.Query(text); err != nil || r.Err != nil {
					t.Errorf("client %d, %s: %v, %+v", k, text, err, r)
					return
				}
			}
		})
	}
	for k := range 3 {
		c := p.client("root")
		changes.Go(func() {
			for n := range 15 {
				text := []string{
					"KS RELOAD", fmt.Sprintf("admin server values('change','slow_log_time','%d')", n+100*k),
					fmt.Sprintf("admin server values('add','black_sql','select never%d from t%d')", n, k),
				}[k]
				if r, err := c.Query(text); err != nil || r.Err != nil {
					t.Errorf("%s: %v, %+v", text, err, r)
				}
				if r, err := c.Query("KS NODE n1 " + []string{"DOWN", "UP"}[n%2] + " '" + p.r1.Addr + "'"); err != nil || r.Err != nil {
					t.Errorf("node: %v, %+v", err, r)
				}
			}
		})
	}
	changes.Wait()
	close(stop)
	load.Wait()
	root := p.client("root")
	must(t, root, "KS NODE n1 UP")
	for _, row := range rows(t, root, "SHOW KS NODES") {
		if row[4] != "up" {
			t.Errorf("in the end: %q", row)
		}
	}
	mysqltest.WaitFor(t, "the old connections to be closed", func() bool { return p.n1.Open() <= 4+1 })
}

// The admin port speaks the proxy's own statements and no others, to users with rights, with or without a schema.
func TestAdminPort(t *testing.T) {
	p := start(t, func(text string) string { return text + "max_client_conns: 4\n" })
	if _, err := mysqltest.DialRaw(p.admin, mysqltest.ClientConfig{User: "app", Password: "app"}); err == nil || !strings.Contains(err.Error(), "rights") {
		t.Errorf("without rights: %v", err)
	}
	if _, err := mysqltest.DialRaw(p.admin, mysqltest.ClientConfig{User: "look", Password: "wrong"}); err == nil || !strings.Contains(err.Error(), "Access denied") {
		t.Errorf("with a wrong password: %v", err)
	}
	if _, err := mysqltest.DialRaw(p.admin, mysqltest.ClientConfig{User: "open"}); err == nil {
		t.Error("a user without a password is let in")
	}
	if _, err := mysqltest.DialRaw(p.addr, mysqltest.ClientConfig{User: "only", Password: "only"}); err == nil {
		t.Error("a user without a schema is let in on the service port")
	}
	root := dial(t, p.admin, "root")
	mysqltest.WaitFor(t, "those denied to be gone", func() bool { return len(rows(t, root, "SHOW KS SESSIONS")) == 2 })
	for range 2 {
		p.client("app")
	}
	if _, err := mysqltest.DialRaw(p.addr, mysqltest.ClientConfig{User: "app", Password: "app"}); err == nil || !strings.Contains(err.Error(), "Too many") {
		t.Errorf("one client too many: %v", err)
	}
	c := dial(t, p.admin, "only") // however many clients there are
	if got := rows(t, c, "SHOW KS SESSIONS LIKE 'only'"); len(got) != 1 || got[0][10] != "admin" {
		t.Errorf("%q", got)
	}
	for text, want := range map[string]string{
		"select @@version_comment limit 1": "kingshard admin", "SELECT 1": "1", "select USER()": "only@127.0.0.1", "select connection_id()": fmt.Sprint(c.Greeting.ConnectionID),
		"SELECT @@session.auto_increment_increment AS a, 'x', @@max_allowed_packet m": "1", "select database()": "NULL",
	} {
		if got := rows(t, c, text); len(got) != 1 || got[0][0] != want {
			t.Errorf("%s: %q, want %s", text, got, want)
		}
	}
	for _, text := range []string{"SET NAMES utf8mb4", "SHOW WARNINGS", "SHOW PROCESSLIST", "SHOW VARIABLES LIKE 'x'", "KS HELP", "ADMIN HELP", "KS EXPLAIN FOR root SELECT * FROM shop.orders"} {
		must(t, c, text)
	}
	fails(t, c, "KS EXPLAIN SELECT 1", 9032, "FOR user")
	for _, text := range []string{"SELECT * FROM t", "DELETE FROM t", "SELECT @@no_such", "SELECT 1 FROM t", "", ";", "SELECT", "admin ddl list", "select f(1)"} {
		fails(t, c, text, 9031)
	}
	fails(t, c, "KILL 1", 9030)
	if _, err := c.Prepare("SELECT 1"); err == nil || !strings.Contains(err.Error(), "as text only") {
		t.Errorf("prepared: %v", err)
	}
	if err := c.Conn.Flush(); err != nil {
		t.Fatal(err)
	}
	// A reload that takes the rights away ends the session.
	p.write(strings.Replace(p.text, "user: only, password: only, rights: read", "user: only, password: only, rights: none", 1))
	fails(t, dial(t, p.admin, "root"), "KS RELOAD", 9032, "must have an entry in schema_list")
	p.write(strings.Replace(p.text, "- {user: only, password: only, rights: read}\n", "", 1))
	must(t, dial(t, p.admin, "root"), "KS RELOAD")
	fails(t, c, "SHOW KS STATUS", 9030, "no rights any more")
}

// Statistics of statements are shown by their text without values, can be filtered, and are forgotten on request.
func TestDigests(t *testing.T) {
	p := start(t, nil)
	root := p.client("root")
	for k := range 3 {
		must(t, root, fmt.Sprintf("SELECT * FROM orders WHERE id = %d", k))
	}
	const one = "SHOW KS DIGESTS WHERE statement LIKE 'SELECT % orders WHERE id = ?' AND count = 3"
	mysqltest.WaitFor(t, "the last statement to be counted", func() bool { return len(rows(t, root, one)) == 1 })
	fails(t, p.client("look"), "KS RESET DIGESTS", 9030)
	fails(t, root, "KS RESET", 9031, "DIGESTS")
	must(t, root, "KS RESET DIGESTS")
	if got := rows(t, root, "SHOW KS DIGESTS WHERE statement LIKE 'SELECT %'"); len(got) != 0 {
		t.Errorf("after the reset: %q", got)
	}
	if status, text := p.call("operator", "POST", "/api/v2/digests/reset", ""); status != 200 {
		t.Errorf("%d %s", status, text)
	}
}

// KS PAUSE and KS RESUME say what is wrong with them, may be repeated, and are in the list of events.
func TestPauseStatements(t *testing.T) {
	p := start(t, nil)
	root, ops := p.client("root"), p.client("ops")
	for _, c := range []struct {
		text string
		code uint16
	}{
		{"KS PAUSE FOR 5", 9031}, {"KS PAUSE SECONDS", 9031}, {"KS PAUSE SECONDS x", 9031}, {"KS PAUSE SECONDS 5 6", 9031}, {"KS RESUME NOW", 9031},
		{"KS PAUSE SECONDS 0", 9032}, {"KS PAUSE SECONDS 3601", 9032},
	} {
		fails(t, root, c.text, c.code)
	}
	for _, text := range []string{"KS PAUSE", "KS PAUSE SECONDS 7;"} {
		if got := rows(t, ops, text); len(got) != 1 || got[0][0] != "paused" || got[0][2] != "0" {
			t.Errorf("%s: %q", text, got)
		}
	}
	for range 2 {
		if got := rows(t, ops, "KS RESUME"); len(got) != 1 || got[0][0] != "online" {
			t.Errorf("KS RESUME: %q", got)
		}
	}
	if got := rows(t, root, "SHOW KS EVENTS WHERE who = 'ops' AND what = 'pause' ORDER BY id"); len(got) != 2 || got[1][5] != "7 s" {
		t.Errorf("events: %q", got)
	}
}
