package remote

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/proxy"
)

// proxyConfig is a configuration whose server does not exist; administration needs none.
const proxyConfig = `addr: 127.0.0.1:0
admin_addr: 127.0.0.1:0
user_list:
- {user: root, password: canary-root}
- {user: watcher, password: canary-watcher, rights: read}
nodes:
- {name: node1, user: ks, password: canary-node, master: "127.0.0.1:1", slave: "127.0.0.1:2@3", roles: fixed}
schema_list:
- {user: root, nodes: [node1], default: node1}
- {user: watcher, nodes: [node1], default: node1}
`

// startProxy runs a proxy until the test ends and gives the address of its admin port.
func startProxy(t *testing.T) string {
	t.Helper()
	cfg, faults := config.Parse([]byte(proxyConfig), t.TempDir(), config.Options{})
	if cfg == nil {
		t.Fatal(faults)
	}
	server, err := proxy.New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return server.AdminAddr().String()
}

func TestAdmin(t *testing.T) {
	addr := startProxy(t)
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("canary-watcher\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(passwordVariable, "canary-root")
	root := login{addr: addr, user: "root"}
	root.tls.Mode = "preferred"
	watcher := login{addr: addr, user: "watcher", passwordFile: file}
	watcher.tls.Mode = "disabled"
	wrong := root
	wrong.user = "watcher"
	for _, c := range []struct {
		name         string
		login        login
		text, input  string
		format       string
		output, says string
	}{
		{"a table", root, "SHOW KS NODES WHERE role = 'replica'", "", "tsv", "node\tinstance\trole\tweight\tstate\theld_down\thealth\tanswered\tversion\tconnections\tin_use\tmax\tlag\tpassed_over\twithheld\tstatements\terrors\tbusy_ms\tbytes\tzone\tlatency_ms\n" +
			"node1\t127.0.0.1:2\treplica\t3\tunknown\tNO\tunknown\t\\N\t\\N\t0\t0\t1024\t\\N\tYES\t\t0\t0\t0\t0\t\\N\t\\N\n", ""},
		{"several", root, "show ks config like 'addr'; ; show ks config like 'admin_addr';", "", "tsv", "key\tvalue\treloadable\tsettable\naddr\t127.0.0.1:0\tNO\tNO\nkey\tvalue\treloadable\tsettable\nadmin_addr\t127.0.0.1:0\tNO\tNO\n", ""},
		{"several commands", root, "KS SET slow_log_time = 7; KS EXPLAIN SELECT 1; SELECT 2", "", "tsv", "field\told\tnew\treloadable\nslow_log_time\t0\t7\tYES\n", "ERROR 9"},
		{"standard input", root, "", "show ks config like 'addr';\n", "table", `+------+-------------+------------+----------+
| key  | value       | reloadable | settable |
+------+-------------+------------+----------+
| addr | 127.0.0.1:0 | NO         | NO       |
+------+-------------+------------+----------+
`, ""},
		{"no rows", root, "SHOW KS NODES LIKE 'x'", "", "table", "Empty set\n", ""},
		{"JSON", watcher, "SHOW KS POOLS WHERE role = 'primary' LIMIT 1", "", "json", "", ""},
		{"yes and no as JSON", root, "SHOW KS NODES WHERE role = 'replica'; SHOW KS CONFIG LIKE 'slow_log_time'", "", "json", "[\n  {\"node\": \"node1\", \"instance\": \"127.0.0.1:2\", \"role\": \"replica\", \"weight\": 3, " +
			"\"state\": \"unknown\", \"held_down\": false, \"health\": \"unknown\", \"answered\": null, \"version\": null, \"connections\": 0, \"in_use\": 0, \"max\": 1024, \"lag\": null, \"passed_over\": true, \"withheld\": \"\", \"statements\": 0, \"errors\": 0, \"busy_ms\": 0, \"bytes\": 0, \"zone\": null, \"latency_ms\": null}\n]\n" +
			"[\n  {\"key\": \"slow_log_time\", \"value\": \"7\", \"reloadable\": true, \"settable\": true}\n]\n", ""},
		{"no rows as JSON", watcher, "SHOW KS NODES LIKE 'x'", "", "json", "[]\n", ""},
		{"the file's user may not", watcher, "SHOW KS NODES LIKE 'x'; KS RELOAD", "", "tsv", "node\tinstance\trole\tweight\tstate\theld_down\thealth\tanswered\tversion\tconnections\tin_use\tmax\tlag\tpassed_over\twithheld\tstatements\terrors\tbusy_ms\tbytes\tzone\tlatency_ms\n", "ERROR 9030 (42000)"},
		{"written wrongly", root, "SHOW KS NOTHING", "", "tsv", "", "ERROR 9031 (42000)"},
		{"the password of another", wrong, "SHOW KS NODES", "", "tsv", "", "Access denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			err := admin(context.Background(), &c.login, c.text, strings.NewReader(c.input), &out, formats[c.format])
			var says string
			if err != nil {
				says = errorText(err)
			}
			if (c.says == "") != (err == nil) || !strings.Contains(says, c.says) || strings.Contains(says, "canary") {
				t.Errorf("error %q, want %q", says, c.says)
			}
			if c.name == "JSON" {
				var rows []struct {
					Node string
					Max  int
				}
				if err := json.Unmarshal(out.Bytes(), &rows); err != nil || len(rows) != 1 || rows[0].Node != "node1" || rows[0].Max != 1024 {
					t.Errorf("%v, %v of %s", rows, err, out.String())
				}
			} else if out.String() != c.output {
				t.Errorf("got\n%swant\n%s", out.String(), c.output)
			}
		})
	}
}

// What flags leave out comes from the configuration, as the proxy's own host sees it.
func TestLoginFromTheConfiguration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ks.yaml")
	for _, c := range []struct{ addresses, given, want, says string }{
		{"addr: 0.0.0.0:9696", "", "root@127.0.0.1:9696", ""},
		{"addr: \"[::]:9696\"", "", "root@[::1]:9696", ""},
		{"addr: 10.0.0.5:9696\nadmin_addr: 9697", "", "root@127.0.0.1:9697", ""},
		{"addr: :9696\nsocket: /run/kingshard/kingshard.sock", "", "root@/run/kingshard/kingshard.sock", ""},
		{"addr: 10.0.0.5:9696", "10.0.0.9:1", "root@10.0.0.9:1", ""},
		{"addr: 127.0.0.1:0", "", "", "no port to connect to"},
		{"addr: nothing", "", "", "read as -addr or -user is left out"},
	} {
		text := c.addresses + proxyConfig[strings.Index(proxyConfig, "\nuser_list"):]
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l := login{config: file, addr: c.given}
		err := l.complete()
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want %q", c.addresses, err, c.says)
			}
			continue
		}
		if got := l.user + "@" + l.addr; err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.addresses, got, err, c.want)
		}
	}
}

// Results have statements and names of clients in them: nothing of these may steer the terminal, or look like another row.
func TestResultsAreSafeToPrint(t *testing.T) {
	r := &result{columns: []string{"statement", "n"}, numeric: []bool{false, true}, yesNo: make([]bool, 2), rows: [][]sql.NullString{
		{{String: "a\x1b[2J\n\tb\\", Valid: true}, {String: "12", Valid: true}},
		{{String: "\u202eé\xff", Valid: true}, {}},
	}}
	for format, want := range map[string]string{
		"table": `+----------------+------+
| statement      | n    |
+----------------+------+
| a\x1b[2J\n\tb\ |   12 |
| \u202eé` + "\ufffd" + `       | NULL |
+----------------+------+
`,
		"tsv":  "statement\tn\na\x1b[2J\\n\\tb\\\\\t12\n\u202eé\xff\t\\N\n",
		"json": "[\n  {\"statement\": \"a\\u001b[2J\\n\\tb\\\\\", \"n\": 12},\n  {\"statement\": \"\u202eé\\ufffd\", \"n\": null}\n]\n",
	} {
		var out bytes.Buffer
		if err := formats[format](&out, r); err != nil {
			t.Fatal(err)
		}
		if format == "json" && !json.Valid(out.Bytes()) {
			t.Errorf("not JSON: %s", out.String())
		}
		if got := out.String(); got != want {
			t.Errorf("%s: got\n%q\nwant\n%q", format, got, want)
		}
	}
	if got := errorText(fmt.Errorf("x\x1b[31m\ny")); got != `kingshard: x\x1b[31m\ny` {
		t.Errorf("%q", got)
	}
}
