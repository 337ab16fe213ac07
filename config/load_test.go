package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// minimal is a file without faults; tests append to it.
const minimal = `addr: 127.0.0.1:9696
user_list:
- {user: app, password: sesame}
nodes:
- {name: node1, user: ks, password: sesame, master: "10.0.0.1:3306"}
schema_list:
- {user: app, nodes: [node1], default: node1}
`

func mustParse(t *testing.T, text string) *Config {
	t.Helper()
	c, faults := Parse([]byte(text), t.TempDir(), Options{})
	if len(faults) > 0 {
		t.Fatalf("faults %v in\n%s", faults, text)
	}
	return c
}

// mustLoad loads a sample; that everybody can read it is no fault of it.
func mustLoad(t *testing.T, file string) (*Config, []Fault) {
	t.Helper()
	c, faults := Load(file, Options{})
	if c == nil {
		t.Fatalf("%s: %v", file, faults)
	}
	return c, slices.DeleteFunc(faults, func(f Fault) bool { return strings.Contains(f.Text, "every user of this host can read") })
}

func TestSamplesLoad(t *testing.T) {
	files, _ := filepath.Glob("../etc/*.yaml")
	if len(files) < 2 {
		t.Fatalf("only %v", files)
	}
	for _, file := range files {
		if _, faults := mustLoad(t, file); len(faults) > 0 {
			t.Errorf("%s: %v", file, faults)
		}
	}
}

func TestSmallSampleIsSafe(t *testing.T) {
	c, _ := mustLoad(t, "../etc/ks.yaml")
	if !loopback(c.Addr) || !loopback(c.WebAddr) || c.PrometheusAddr != "" || c.LogSQL != "off" {
		t.Errorf("addr %s, web_addr %s, prometheus_addr %q, log_sql %s", c.Addr, c.WebAddr, c.PrometheusAddr, c.LogSQL)
	}
}

var position = regexp.MustCompile(`\[\d+\]`)

// TestFullSample checks that etc/full.yaml names every key, and shows defaults in its upper part.
func TestFullSample(t *testing.T) {
	data, err := os.ReadFile("../etc/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	root, err := parseYAML(data)
	if err != nil {
		t.Fatal(err)
	}
	d := newDecoder(Options{})
	c := Default()
	d.document(root, c)
	named := map[string]bool{}
	for path := range d.lines {
		named[position.ReplaceAllString(path, "[]")] = true
	}
	for _, s := range sections {
		for k := range s.typ.NumField() {
			if path := join(s.path, s.typ.Field(k).Tag.Get("yaml")); !named[path] {
				t.Errorf("%s is not in etc/full.yaml", path)
			}
		}
	}
	c.Addr, c.WebTokens, c.UserList, c.QueryRules, c.Nodes, c.SchemaList = "", nil, nil, nil, nil, nil
	if want := Default(); !reflect.DeepEqual(c, want) {
		t.Errorf("not the defaults: %+v", Diff(want, c))
	}
}

// A bearer token may stand in a file; a short one may not.
func TestTokenFile(t *testing.T) {
	dir := t.TempDir()
	for name, token := range map[string]string{"good": "sesamesesamesesame\n", "short": "sesame\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, faults := Parse([]byte(minimal+"web_tokens: [{name: a, token_file: good, rights: operate}]\n"), dir, Options{})
	if c == nil || c.WebTokens[0].Token.Reveal() != "sesamesesamesesame" {
		t.Errorf("token %v, %v", c, faults)
	}
	_, faults = Parse([]byte(minimal+"web_tokens: [{name: a, token_file: short}]\n"), dir, Options{})
	if len(faults) != 1 || faults[0].Path != "web_tokens[0].token_file" || faults[0].Warning {
		t.Errorf("a short one: %v", faults)
	}
}

func TestOldShardedFile(t *testing.T) {
	c, faults := mustLoad(t, "testdata/old/ks.yaml")
	if len(faults) != 1 || faults[0].Path != "web_password" || !faults[0].Warning {
		t.Errorf("faults %v", faults)
	}
	if c.Addr != "0.0.0.0:9696" || c.PrometheusAddr != "0.0.0.0:7080" || c.WebAddr != "0.0.0.0:9797" || c.LogLevel != "debug" {
		t.Errorf("%+v", c)
	}
	want := []Shard{
		{DB: "kingshard", Table: "test_shard_hash", Key: Columns{"id"}, Nodes: []string{"node1", "node2"}, Type: "hash", Locations: []int{4, 4}},
		{
			DB: "kingshard", Table: "test_shard_range", Key: Columns{"id"}, Nodes: []string{"node1", "node2"}, Type: "range",
			Locations: []int{4, 4}, TableRowLimit: 10000,
		},
		{
			DB: "kingshard", Table: "test_shard_year", Key: Columns{"ctime"}, Nodes: []string{"node1", "node2"}, Type: "date_year",
			DateRange: []string{"2012-2016", "2017"},
		},
		{
			DB: "kingshard", Table: "test_shard_month", Key: Columns{"dtime"}, Nodes: []string{"node1", "node2"}, Type: "date_month",
			DateRange: []string{"201512-201601", "201603"},
		},
		{
			DB: "kingshard", Table: "test_shard_day", Key: Columns{"mtime"}, Nodes: []string{"node1", "node2"}, Type: "date_day",
			DateRange: []string{"20151201-20160122", "20160202-20160308"},
		},
	}
	if got := c.SchemaList[0].Shard; !reflect.DeepEqual(got, want) {
		t.Errorf("rules %+v", got)
	}
	if n := c.Nodes[1]; n.Master != "192.168.59.103:3307" || n.Slave != "" || n.MaxConnsLimit != 32 || n.DownAfterNoAlive != 32 {
		t.Errorf("node2 %+v", n)
	}
}

func TestOldUnshardedFile(t *testing.T) {
	c, faults := mustLoad(t, "testdata/old/unshard.yaml")
	if len(faults) > 0 {
		t.Errorf("faults %v", faults)
	}
	app, root := c.UserList[0], c.UserList[1]
	if app.Password.Reveal() != "12345" || root.Password.Reveal() != "0x1F" {
		t.Errorf("passwords that look like numbers: %q, %q", app.Password.Reveal(), root.Password.Reveal())
	}
	if app.Process || !root.Process || !app.Hints || !app.MultiStatements || app.LocalInfile {
		t.Errorf("rights of %+v and %+v", app, root)
	}
	for _, s := range c.SchemaList {
		if len(s.Shard) != 0 {
			t.Errorf("an empty rule was kept: %+v", s.Shard)
		}
	}
	if c.LogSQL != "off" || c.SlowLogTime != 50 || c.LogPath != "/var/log/kingshard" || c.Nodes[0].MaxConnsLimit != 1024 {
		t.Errorf("%+v", c)
	}
}

func TestDefaultsHold(t *testing.T) {
	c := mustParse(t, minimal+"compression:\nidle_timeout: ~\n")
	want := Default()
	want.Addr, want.UserList, want.Nodes, want.SchemaList = c.Addr, c.UserList, c.Nodes, c.SchemaList
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v", Diff(want, c))
	}
	if n := c.Nodes[0]; n.MaxConnsLimit != 1024 || n.AllowPublicKeyRetrieval {
		t.Errorf("node %+v", n)
	}
}

func TestFalseAndZeroHold(t *testing.T) {
	c := mustParse(t, strings.Replace(strings.Replace(minimal, "password: sesame}", "password: sesame, hints: no}", 1),
		"name: node1,", "name: node1, allow_public_key_retrieval: true,", 1)+
		"compression: off\nmax_client_conns: 0\nidle_timeout: 0\n")
	if c.Compression || c.MaxClientConns != 0 || c.IdleTimeout != 0 || c.UserList[0].Hints || !c.Nodes[0].AllowPublicKeyRetrieval {
		t.Errorf("%+v", c)
	}
}

func TestSpellings(t *testing.T) {
	c := mustParse(t, minimal+"web_addr: 9797\nlog_level: WARN\nlog_sql: OFF\nproxy_charset: UTF8\nmax_allowed_packet: 16m\n"+
		"connect_timeout: 3\ndrain_timeout: 1m30s\n")
	if c.WebAddr != "127.0.0.1:9797" || c.LogLevel != "warn" || c.LogSQL != "off" || c.ProxyCharset != "utf8" ||
		c.MaxAllowedPacket != 16<<20 || c.ConnectTimeout.Duration() != 3*time.Second || c.DrainTimeout.Duration() != 90*time.Second {
		t.Errorf("%+v", c)
	}
	if c = mustParse(t, minimal+"web_addr: :9797\n"); c.WebAddr != "127.0.0.1:9797" {
		t.Errorf("web_addr %s", c.WebAddr)
	}
	if c = mustParse(t, strings.Replace(minimal, "master:", "replica: '10.0.0.2:3306', primary:", 1)); c.Nodes[0].Master != "10.0.0.1:3306" ||
		c.Nodes[0].Slave != "10.0.0.2:3306" {
		t.Errorf("%+v", c.Nodes[0])
	}
}

func TestMergeKeys(t *testing.T) {
	c := mustParse(t, strings.Replace(minimal, "- {name: node1", "- &base {name: node1", 1)+`
`)
	if len(c.Nodes) != 1 {
		t.Fatal(c.Nodes)
	}
	c = mustParse(t, strings.Replace(strings.Replace(minimal, "- {name: node1", "- &base {name: node1", 1), "schema_list:",
		"- {<<: *base, name: node2, master: \"10.0.0.2:3306\"}\n- {<<: [*base], name: node3}\nschema_list:", 1))
	n := c.Nodes
	if len(n) != 3 || n[1].Password.Reveal() != "sesame" || n[1].Master != "10.0.0.2:3306" || n[2].Master != "10.0.0.1:3306" || n[2].Name != "node3" {
		t.Errorf("%d nodes: %+v", len(n), n)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("KS_TEST_PASSWORD", "a: [b] # ${c}")
	t.Setenv("KS_TEST_LIMIT", "77")
	t.Setenv("KS_TEST_EMPTY", "")
	c := mustParse(t, `addr: ${KS_TEST_HOST:-127.0.0.1}:${KS_TEST_PORT:-9696}
max_client_conns: ${KS_TEST_LIMIT}
log_path: "${KS_TEST_EMPTY}"
log_format: ${KS_TEST_EMPTY:-json}
user_list:
- user: ${KS_TEST_USER:-root}
  password: x${KS_TEST_PASSWORD}$$y$z$
nodes:
- {name: node1, user: ks, master: "10.0.0.1:3306"}
schema_list:
- {user: root, nodes: [node1], default: node1}
`)
	if c.Addr != "127.0.0.1:9696" || c.MaxClientConns != 77 || c.LogPath != "" || c.LogFormat != "json" {
		t.Errorf("%+v", c)
	}
	if u := c.UserList[0]; u.Password.Reveal() != "xa: [b] # ${c}$y$z$" || !u.Process {
		t.Errorf("user %+v with password %q", u, u.Password.Reveal())
	}
	if _, faults := Parse([]byte(minimal+"${KS_TEST_LIMIT}: 1\n"), "", Options{}); len(faults) != 1 || !strings.Contains(faults[0].String(), "unknown key") {
		t.Errorf("a key was expanded: %v", faults)
	}
}

func TestPasswordFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"app": "open sesame \r\n", "node": "two\n\n", "wide": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "wide"), 0o604); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(minimal, "password: sesame", "password_file: app", 1)
	c := func() *Config {
		c, faults := Parse([]byte(strings.Replace(text, "password: sesame", "password_file: node", 1)), dir, Options{})
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		return c
	}()
	if got := c.UserList[0].Password.Reveal(); got != "open sesame " {
		t.Errorf("user's password %q", got)
	}
	if got := c.Nodes[0].Password.Reveal(); got != "two\n" {
		t.Errorf("node's password %q: only one newline is cut", got)
	}
	if faults := c.Validate(); len(faults) > 0 {
		t.Errorf("a loaded configuration is not valid: %v", faults)
	}
	_, faults := Parse([]byte(strings.Replace(minimal, "password: sesame", "password_file: wide", 1)), dir, Options{})
	if len(faults) != 1 || !faults[0].Warning || faults[0].Path != "user_list[0].password_file" {
		t.Errorf("a file that all can read: %v", faults)
	}
}

func TestSecretsStayHidden(t *testing.T) {
	c := mustParse(t, strings.Replace(minimal, "{user: app, password: sesame}",
		"{user: app, verifiers: {client_ed25519: sesame}}", 1)+"web_user: u\nweb_password: sesame\n")
	j, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(j); strings.Contains(s, "sesame") || !strings.Contains(s, `"8h"`) {
		t.Errorf("JSON: %s", s)
	}
}
