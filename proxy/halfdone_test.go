package proxy_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// The error of a change whose connections break tells which nodes have it; before the first commit that none has.
func TestBrokenChangeNamesItsNodes(t *testing.T) {
	for _, c := range []struct {
		node, at string
		code     uint16
		want     string
	}{
		{"n1", "UPDATE", 9018, "node n1 broke before the change was kept anywhere"},
		{"n2", "UPDATE", 9018, "node n2 broke before the change was kept anywhere"},
		{"n1", "COMMIT", 9003, "It is unknown for node n1. It is rolled back by nodes n2, n3."},
		{"n2", "COMMIT", 9003, "It is kept by nodes n1, n3. It is unknown for node n2."},
		{"n3", "COMMIT", 9003, "It is kept by nodes n1, n2. It is unknown for node n3."},
	} {
		t.Run(c.node+" "+c.at, func(t *testing.T) {
			var nodes []string
			for _, name := range []string{"n1", "n2", "n3"} {
				good := answers(name)
				server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(sc *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
					if name == c.node && strings.Contains(string(payload), c.at) {
						sc.Cut()
						return
					}
					good(sc, cmd, payload)
				}})
				nodes = append(nodes, fmt.Sprintf("{name: %s, user: root, password: root, master: \"%s\"}", name, server.Addr))
			}
			p := startProxy(t, fmt.Sprintf(`
addr: 127.0.0.1:0
user_list: [{user: root, password: root}]
nodes: [%s]
schema_list:
  - {user: root, nodes: [n1, n2, n3], default: n1, shard: [{db: d, table: t, key: id, nodes: [n1, n2, n3], type: hash, locations: [1, 1, 1]}]}
`, strings.Join(nodes, ", ")))
			client := p.client("")
			if e := fails(t, client, "UPDATE d.t SET n = 1", c.code); !strings.Contains(e.Message, c.want) {
				t.Errorf("%v, want %q", e, c.want)
			}
			if got := value(t, client, "/*n3*/ SELECT name"); got != "n3" {
				t.Errorf("afterwards %s", got)
			}
			p.quiet(1) // every connection came back or was closed
		})
	}
}

// A change that broke between two commits is on record, without its values, until somebody drops the record; a restart keeps it.
func TestHalfDoneChangesOutliveTheProxy(t *testing.T) {
	var nodes []string
	var cuts atomic.Bool
	cuts.Store(true)
	for _, name := range []string{"n1", "n2", "n3"} {
		good := answers(name)
		server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(sc *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
			if name == "n2" && strings.Contains(string(payload), "COMMIT") && cuts.Load() || name == "n3" && strings.Contains(string(payload), "lost") {
				sc.Cut()
				return
			}
			if cmd == mysql.ComStmtExecute {
				sc.OK()
				return
			}
			good(sc, cmd, payload)
		}})
		nodes = append(nodes, fmt.Sprintf("{name: %s, user: root, password: root, master: \"%s\"}", name, server.Addr))
	}
	dir := filepath.Join(t.TempDir(), "state")
	text := fmt.Sprintf(`
addr: 127.0.0.1:0
prometheus_addr: 127.0.0.1:0
web_addr: 127.0.0.1:0
web_user: ops
web_password: ops
state_path: %s
user_list: [{user: root, password: root}, {user: look, password: look, rights: read}]
nodes: [%s]
schema_list:
  - {user: root, nodes: [n1, n2, n3], default: n1, shard: [{db: d, table: t, key: id, nodes: [n1, n2, n3], type: hash, locations: [1, 1, 1]}]}
  - {user: look, nodes: [n1], default: n1}
`, dir, strings.Join(nodes, ", "))
	shown := func(c *mysqltest.RawClient) string {
		t.Helper()
		var rows []string
		for _, row := range must(t, c, "SHOW KS HALF_DONE ORDER BY id").Rows {
			rows = append(rows, fmt.Sprint(row[0], " ", row[2], " ", row[5:10], " ", row[12]))
		}
		return strings.Join(rows, "\n")
	}
	p := startProxy(t, text)
	client := p.client("")
	fails(t, client, "UPDATE d.t SET n = 4711 WHERE s = 'sesame'", 9003)
	st, err := client.Prepare("UPDATE d.t SET n = n + ? WHERE s = 'sesame'")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := st.Execute(4711); err != nil || r.Err == nil || r.Err.Code != 9003 {
		t.Errorf("%+v, %v", r, err)
	}
	fails(t, client, "UPDATE d.t SET lost = 1", 9018)
	cuts.Store(false)
	must(t, client, "UPDATE d.t SET n = 1")
	const first = "1 root [<nil> UPDATE d.t SET n = ? WHERE s = ? n1, n3 n2 <nil>] YES"
	const second = "2 root [<nil> UPDATE d.t SET n = n + ? WHERE s = ? n1, n3 n2 <nil>] YES"
	if got := shown(client); got != first+"\n"+second {
		t.Errorf("%s", got)
	}
	if got := fmt.Sprint(must(t, client, "SHOW KS EVENTS LIKE 'change half done'").Rows); strings.Count(got, "kept: n1, n3; unknown: n2") != 2 {
		t.Errorf("events %s", got)
	}
	if _, body := get(t, p.httpAddr("prometheus_addr")+"/metrics", ""); !strings.Contains(body, "kingshard_half_done_changes 2\n") || !strings.Contains(body, "kingshard_half_done_unwritten 0\n") {
		t.Error("the metrics do not have it")
	}
	data, err := os.ReadFile(filepath.Join(dir, "half-done.journal"))
	if err != nil || strings.Contains(string(data), "4711") || strings.Contains(string(data), "sesame") {
		t.Errorf("the file has values: %s, %v", data, err)
	}
	if err := p.stop(10 * time.Second); err != nil {
		t.Error(err)
	}

	p = startProxy(t, text)
	client = p.client("")
	if got := shown(client); got != first+"\n"+second {
		t.Errorf("after a restart: %s", got)
	}
	fails(t, dial(t, p.addr, mysqltest.ClientConfig{User: "look", Password: "look"}), "KS FORGET HALF_DONE 1", 9030)
	for text, code := range map[string]uint16{"KS FORGET HALF_DONE 3": 9032, "KS FORGET HALF_DONE": 9031, "KS FORGET 1": 9031, "KS FORGET HALF_DONE 1 2": 9031} {
		fails(t, client, text, code)
	}
	must(t, client, "KS FORGET HALF_DONE 1")
	web := "http://" + p.WebAddr().String() + "/api/v2/half_done"
	if status, body := get(t, web+"?statement=x&id=2", "ops:ops"); status != http.StatusOK || strings.Contains(body, "UPDATE") {
		t.Errorf("%d %s", status, body)
	}
	if status, body := get(t, web, "ops:ops"); status != http.StatusOK || !strings.Contains(body, `"unknown_for":"n2"`) {
		t.Errorf("%d %s", status, body)
	}
	for _, c := range []struct {
		path string
		want int
	}{{"/1/forget", http.StatusConflict}, {"/x/forget", http.StatusBadRequest}, {"/2/forget", http.StatusOK}, {"/all/forget", http.StatusOK}} {
		r, err := http.NewRequest(http.MethodPost, web+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("ops", "ops")
		status, body := answered(t, &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}, r)
		if status != c.want {
			t.Errorf("%s: %d %s", c.path, status, body)
		}
	}
	if err := p.stop(10 * time.Second); err != nil {
		t.Error(err)
	}
	if got := shown(startProxy(t, text).client("")); got != "" {
		t.Errorf("what was forgotten is there: %s", got)
	}
}

// A proxy that is killed in the middle of a change of several nodes leaves a record of it: between two commits, and between two servers'
// definitions of a table. A change of one node leaves none.
func TestKilledInTheMiddleOfAChange(t *testing.T) {
	binary := buildBinary(t)
	for _, c := range []struct{ at, text, want string }{
		{"COMMIT", "UPDATE d.t SET n = 4711", "UPDATE d.t SET n = ?"},
		{"COMMIT", "INSERT INTO d.t (id, n) VALUES (0, 4711), (1, 4711), (2, 4711)", "INSERT INTO d.t (id, n) VALUES (?)"},
		{"ALTER", "ALTER TABLE d.t ADD COLUMN a VARCHAR(20) DEFAULT '4711'", "ALTER TABLE d.t ADD COLUMN a VARCHAR(?) DEFAULT ?"},
		{"n2", "/*n2*/ UPDATE d.t_0001 SET n = 4711", ""},
		{"COMMIT", "UPDATE d.t SET n = 4711 WHERE id = 1", ""},
	} {
		t.Run(c.text, func(t *testing.T) {
			var pid atomic.Int64
			var nodes []string
			for _, name := range []string{"n1", "n2", "n3"} {
				good := answers(name)
				server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(sc *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
					if text := string(payload); name == "n2" && pid.Load() != 0 && (strings.Contains(text, c.at) || strings.HasPrefix(text, "UPDATE") && c.want == "") {
						_ = syscall.Kill(int(pid.Load()), syscall.SIGKILL)
						return
					}
					good(sc, cmd, payload)
				}})
				nodes = append(nodes, fmt.Sprintf("{name: %s, user: root, password: root, master: \"%s\"}", name, server.Addr))
			}
			dir := filepath.Join(t.TempDir(), "state")
			text := fmt.Sprintf(`
addr: 127.0.0.1:0
state_path: %s
user_list: [{user: root, password: root}]
nodes: [%s]
schema_list:
  - {user: root, nodes: [n1, n2, n3], default: n1, shard: [{db: d, table: t, key: id, nodes: [n1, n2, n3], type: hash, locations: [1, 1, 1]}]}
`, dir, strings.Join(nodes, ", "))
			d := startDaemon(t, binary, text)
			client := dial(t, d.addr, rootClient())
			must(t, client, "UPDATE d.t SET n = 1")
			pid.Store(int64(d.pids[0]))
			if r, err := client.Query(c.text); err == nil {
				t.Fatalf("it lives: %+v", r)
			}
			pid.Store(0)
			mysqltest.WaitFor(t, "the end of the process", func() bool { return !alive(d.pids[0]) })
			_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
				if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), "4711") {
					t.Errorf("%s has values: %q", path, data)
				}
				return nil
			})
			d = startDaemon(t, binary, text)
			client = dial(t, d.addr, rootClient())
			got := ""
			for _, row := range must(t, client, "SHOW KS HALF_DONE").Rows {
				got += fmt.Sprint(row[2], " ", row[6:10], " ", row[11], " ", row[12])
			}
			want := ""
			if c.want != "" {
				want = "root [" + c.want + " <nil> n1, n2, n3 <nil>] the proxy ended before it knew YES"
			}
			if got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
			records := 0
			if c.want != "" {
				records = 1
				if events := fmt.Sprint(must(t, client, "SHOW KS EVENTS LIKE 'change half done'").Rows); !strings.Contains(events, "unknown: n1, n2, n3") {
					t.Errorf("events %s", events)
				}
			}
			if n := d.metric("kingshard_half_done_changes"); n != records {
				t.Errorf("%v changes by the metrics", n)
			}
			must(t, client, "UPDATE d.t SET n = 1")
			if again := len(must(t, client, "SHOW KS HALF_DONE").Rows); again != records {
				t.Errorf("%d records after a change that is whole", again)
			}
		})
	}
}

// Of a definition over several tables those that never arrived at their server are told from those of which nobody knows.
func TestDefinitionThatNeverArrived(t *testing.T) {
	var nodes []string
	for _, name := range []string{"n1", "n2"} {
		good := answers(name)
		server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(sc *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
			good(sc, cmd, payload)
			if name == "n2" && strings.Contains(string(payload), "ALTER TABLE") {
				sc.Cut() // ahead of the second one
			}
		}})
		nodes = append(nodes, fmt.Sprintf("{name: %s, user: root, password: root, master: \"%s\"}", name, server.Addr))
	}
	p := startProxy(t, fmt.Sprintf(`
addr: 127.0.0.1:0
user_list: [{user: root, password: root}]
nodes: [%s]
schema_list:
  - {user: root, nodes: [n1, n2], default: n1, shard: [{db: d, table: t, key: id, nodes: [n1, n2], type: hash, locations: [1, 2]}]}
`, strings.Join(nodes, ", ")))
	never := 0
	for range 50 {
		e := fails(t, p.client(""), "ALTER TABLE d.t ADD COLUMN a INT", 9015)
		switch {
		case strings.Contains(e.Message, "done: n1/d.t_0000 n2/d.t_0001; not tried: n2/d.t_0002"):
			never++
		case strings.Contains(e.Message, "unknown: n2/d.t_0002") && strings.Contains(e.Message, "reset"): // it had come when the server closed
		default:
			t.Error(e)
		}
	}
	if never == 0 {
		t.Error("nothing is known never to have arrived")
	}
}
