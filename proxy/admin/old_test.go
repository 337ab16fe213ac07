package admin_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// Every statement of the predecessor that shows something has its columns and rows.
func TestOldShows(t *testing.T) {
	p := start(t, func(text string) string { return text + "allow_ips: 127.0.0.1, 10.0.0.0/8\n" })
	root := p.client("root")
	must(t, root, "SELECT 1")
	node := `(up), \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} \S+, 4, [0-4], [0-4], \d+, \d+`
	for _, c := range []struct {
		text, columns string
		rows          []string // regular expressions of the cells, joined by ", "
	}{
		{"admin server(opt,k,v) values('show','proxy','config')", "Key, Value", []string{
			"Addr, 127.0.0.1:0", "User_List, root,ops,look,app,open,only", "LogPath, ", "LogLevel, info", "LogSql, on", "SlowLogTime, 0",
			"Nodes_Count, 2", "Nodes_List, n1,n2", `ClientConns, [1-9]`, `ClientQPS, \d+`, `ErrLogTotal, \d+`, `SlowLogTotal, \d+`,
		}},
		{"admin server(opt,k,v) values('show','proxy','status')", "status", []string{"online"}},
		{"admin server(opt,k,v) values('show','node','config')",
			"Node, Address, Type, State, LastPing, MaxConn, IdleConn, CacheConns, PushConnCount, PopConnCount", []string{
				"n1, " + p.n1.Addr + ", master, " + node, "n1, " + p.r1.Addr + ", slave, " + node, "n2, " + p.n2.Addr + ", master, " + node,
			}},
		{"admin server(opt,k,v) values('show','schema','config')", "User, DB, Table, Type, Key, Nodes_List, Locations, TableRowLimit", []string{
			"root, , , default, , n1, , 0", "root, shop, orders, hash, id, n1, n2, 2, 2, 0", "root, shop, visits, date_year, at, n1, n2, , 0",
			"ops, , , default, , n1, , 0", "look, , , default, , n1, , 0", "app, , , default, , n2, , 0", "open, , , default, , n1, , 0",
		}},
		{"admin server(opt,k,v) values('show','allow_ip','config')", "AllowIP", []string{"127.0.0.1", "10.0.0.0/8"}},
		{"admin server(opt,k,v) values('show','black_sql','config')", "BlackListSql", []string{""}},
		// Without the columns, in other cases, with numbers and words: as the predecessor took them.
		{"ADMIN server VALUES ('SHOW', 'proxy', 'status');", "status", []string{"online"}},
		{"/* lvs */ admin  server (opt , k,v) values(show,proxy,status)", "status", []string{"online"}},
	} {
		r := must(t, root, c.text)
		if got := columns(r); got != c.columns {
			t.Errorf("%s: columns %s, want %s", c.text, got, c.columns)
		}
		for _, def := range r.Columns {
			if def.Type != mysql.TypeVarString {
				t.Errorf("%s: column %s has type %v", c.text, def.Name, def.Type)
			}
		}
		got := rows(t, root, c.text)
		if len(got) != len(c.rows) {
			t.Errorf("%s: %d rows, want %d: %q", c.text, len(got), len(c.rows), got)
			continue
		}
		for k, row := range got {
			if line := strings.Join(row, ", "); !regexp.MustCompile("^" + c.rows[k] + "$").MatchString(line) {
				t.Errorf("%s: row %q, want %q", c.text, line, c.rows[k])
			}
		}
	}
	help := must(t, root, "admin help")
	if columns(help) != "command, description" || len(help.Rows) < 20 {
		t.Errorf("help: %s, %d rows", columns(help), len(help.Rows))
	}
}

func testClient(p *testProxy, user string) (*mysqltest.RawClient, error) {
	return mysqltest.DialRaw(p.addr, mysqltest.ClientConfig{User: user, Password: user})
}

// Every statement of the predecessor that changes something does so, at once, and answers OK or its words.
func TestOldChanges(t *testing.T) {
	var black string
	p := start(t, func(text string) string {
		black = t.TempDir() + "/black"
		if err := os.WriteFile(black, []byte("delete from t\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return text + "blacklist_sql_file: " + black + "\n"
	})
	root := p.client("root")
	server := func(opt, k, v string) string {
		return fmt.Sprintf("admin server(opt,k,v) values('%s','%s','%s')", opt, k, v)
	}
	shown := func(k string) string {
		var list []string
		for _, row := range rows(t, root, server("show", k, "config")) {
			list = append(list, row[0])
		}
		return strings.Join(list, "|")
	}
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	setting := func(key string) string { return rows(t, root, "SHOW KS CONFIG LIKE '"+key+"'")[0][1] }

	must(t, root, server("change", "proxy", "offline"))
	want("status", rows(t, root, server("show", "proxy", "status"))[0][0], "offline")
	must(t, root, server("change", "proxy", "online"))
	want("status", rows(t, root, server("show", "proxy", "status"))[0][0], "online")
	fails(t, root, server("change", "proxy", "away"), 1105, "command unsupport")

	must(t, root, server("change", "log_sql", "off"))
	want("log_sql", setting("log_sql"), "off")
	fails(t, root, server("change", "log_sql", "maybe"), 1105, "command unsupport")
	must(t, root, server("change", "slow_log_time", "50"))
	must(t, root, "admin server(opt,k,v) values('change','slow_log_time',60)")
	want("slow_log_time", setting("slow_log_time"), "60")
	fails(t, root, server("change", "slow_log_time", "soon"), 1105, "soon")
	fails(t, root, server("change", "slow_log_time", "-1"), 1105, "slow_log_time")

	must(t, root, server("add", "allow_ip", "127.0.0.1"))
	must(t, root, server("add", "allow_ip", "10.1.0.0/16"))
	must(t, root, server("add", "allow_ip", "10.1.0.0/16"))
	want("allow_ips", shown("allow_ip"), "127.0.0.1|10.1.0.0/16")
	must(t, root, server("del", "allow_ip", "127.0.0.1"))
	if _, err := testClient(p, "app"); err == nil {
		t.Error("a client whose address was taken away logged in")
	}
	fails(t, root, server("add", "allow_ip", "everybody"), 1105, "invalid ip address")
	fails(t, root, server("add", "allow_ip", "127.0.0.1,::1"), 1105, "invalid ip address")
	must(t, root, server("del", "allow_ip", "192.168.0.1"))
	must(t, root, server("del", "allow_ip", "10.1.0.0/16"))
	want("allow_ips", shown("allow_ip"), "")
	p.client("app")

	app := p.client("app")
	fails(t, app, "DELETE  FROM t;", 1105, "sql in blacklist.")
	must(t, root, server("add", "black_sql", "select secret from t where id = 7"))
	fails(t, app, "SELECT secret FROM t WHERE id = 9", 1105, "sql in blacklist.")
	if _, err := app.Prepare("SELECT secret FROM t WHERE id = ?"); err == nil || !strings.Contains(err.Error(), "sql in blacklist.") {
		t.Errorf("prepared: %v", err)
	}
	fails(t, root, server("add", "black_sql", "select secret from t where id=1"), 1105, "black sql has exist")
	fails(t, root, server("del", "black_sql", "select 1"), 1105, "black sql has not exist")
	want("black_sql", shown("black_sql"), "delete from t|select secret from t where id = 7")
	must(t, root, server("change", "log_sql", "on")) // another change keeps what was added
	must(t, root, server("save", "proxy", "config"))
	if data, _ := os.ReadFile(black); string(data) != "delete from t\nselect secret from t where id = 7\n" {
		t.Errorf("the black list's file: %q", data)
	}
	if data, _ := os.ReadFile(p.file); string(data) != strings.Replace(p.text, "slow_log_time: 0", "slow_log_time: 60", 1) {
		t.Errorf("the file:\n%s", data)
	}
	must(t, root, server("del", "black_sql", "select secret from t where id = 1"))
	must(t, app, "SELECT secret FROM t WHERE id = 9")
	if strings.Contains(p.log.String(), "id = 7") {
		t.Error("the log shows a literal")
	}
}

// The predecessor's statements about instances.
func TestOldNodes(t *testing.T) {
	p := start(t, nil)
	root, app := p.client("root"), p.client("root")
	node := func(opt, node, k, v string) string {
		return fmt.Sprintf("admin node(opt,node,k,v) values('%s','%s','%s','%s')", opt, node, k, v)
	}
	state := func(addr string) string {
		for _, row := range rows(t, root, "admin server(opt,k,v) values('show','node','config')") {
			if row[1] == addr {
				return row[2] + " " + row[3]
			}
		}
		return "none"
	}
	served := func() string { return rows(t, app, "SELECT name")[0][0] }
	extra := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: answers("extra")})

	must(t, root, node("down", "n1", "slave", p.r1.Addr))
	if got := state(p.r1.Addr); got != "slave down" {
		t.Errorf("taken down: %s", got)
	}
	if got := served(); got != "n1" {
		t.Errorf("served by %s", got)
	}
	must(t, root, node("add", "n1", "slave", extra.Addr+"@3"))
	fails(t, root, node("add", "n1", "slave", extra.Addr), 1105, "slave has exist")
	fails(t, root, node("add", "nx", "slave", extra.Addr), 1105, "invalid node nx")
	fails(t, root, node("add", "n1", "slave", "nowhere"), 1105, "nowhere")
	mysqltest.WaitFor(t, "the new replica to serve", func() bool { return served() == "extra" })
	if got := state(p.r1.Addr); got != "slave down" {
		t.Errorf("after a change of the node: %s", got)
	}
	must(t, root, node("del", "n1", "slave", extra.Addr))
	fails(t, root, node("del", "n1", "slave", extra.Addr), 1105, "slave has not exist")
	must(t, root, node("up", "n1", "slave", p.r1.Addr))
	if got := state(p.r1.Addr); got != "slave up" {
		t.Errorf("taken up: %s", got)
	}
	must(t, root, node("up", "n1", "slave", extra.Addr)) // one that is not there is added
	if got := state(extra.Addr); !strings.HasPrefix(got, "slave") {
		t.Errorf("added by up: %s", got)
	}
	fails(t, root, node("down", "n1", "master", extra.Addr), 1105, "no master database")
	must(t, root, node("down", "n1", "master", p.n1.Addr))
	fails(t, app, "INSERT INTO t VALUES (1)", 9002, "an operator took it down")
	must(t, root, node("up", "n1", "master", p.n1.Addr))
	must(t, app, "INSERT INTO t VALUES (1)")

	// An instance that does not answer cannot be taken up: the predecessor said OK, and died.
	must(t, root, node("down", "n1", "slave", p.r1.Addr))
	p.r1.Close()
	fails(t, root, node("up", "n1", "slave", p.r1.Addr), 1105, "cannot be reached")
	if got := state(p.r1.Addr); got != "slave down" {
		t.Errorf("after a refused up: %s", got)
	}
	// Another address becomes the primary.
	fails(t, root, node("up", "n2", "master", extra.Addr), 1105, extra.Addr+" is a server of node \"n1\"")
	must(t, root, node("del", "n1", "slave", extra.Addr))
	must(t, root, node("up", "n2", "master", extra.Addr))
	if got := state(extra.Addr); got == "none" {
		t.Error("the primary has not changed")
	}
	fails(t, root, node("up", "n2", "master", "nowhere"), 1105, "nodes[1].master: must be host:port")
	fails(t, root, node("up", "n2", "master", p.r1.Addr), 1105, "cannot be reached", extra.Addr) // r1 is closed
	for _, text := range []string{
		"admin node(opt,node,k,v) values('up','n1','slave')", "admin node values('break','n1','slave','x:1')", "admin server(opt,v,k) values('show','proxy','status')",
		"admin server(opt,k,v,w) values('show','proxy','status','x')", "admin server values('show','proxy','status'),('show','proxy','config')",
		"admin server", "admin server(", "admin server values", "admin node(opt,node,k,v) values('up','n1','slave','h:1') limit 1", "admin server values('show',?,'x')",
	} {
		fails(t, root, text, 1105, "command unsupport")
	}
}
