package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Saving changes the values of some keys where they stand, and nothing else of the file.
func TestSave(t *testing.T) {
	for _, c := range []struct {
		name, text string
		change     func(c *Config)
		want       [][2]string // pieces of the text and what stands there afterwards
		fails      bool
	}{
		{"nothing", saveBase, func(*Config) {}, nil, false},
		{"values in place", saveBase, func(c *Config) {
			c.AllowIPs, c.LogSQL, c.SlowLogTime = "10.0.0.0/8, ::1", "off", 50
			c.Nodes[0].Master, c.Nodes[0].Slave = "10.0.0.9:3306", "10.0.0.2:3306@2, 10.0.0.3:3306"
		}, [][2]string{
			{"allow_ips: '' # nobody", `allow_ips: "10.0.0.0/8, ::1" # nobody`},
			{"log_sql : on", `log_sql : "off"`},
			{"slow_log_time: 100", "slow_log_time: 50"},
			{`master: "10.0.0.1:3306"`, `master: "10.0.0.9:3306"`},
			{"slave :\n", "slave : \"10.0.0.2:3306@2, 10.0.0.3:3306\"\n"},
		}, false},
		{"another name of the key, in a mapping of one line", saveBase, func(c *Config) { c.Nodes[1].Master = "10.0.0.8:3306" },
			[][2]string{{`primary: "10.0.0.2:3306"`, `primary: "10.0.0.8:3306"`}}, false},
		{"a key that is not there", saveBase, func(c *Config) { c.Nodes[1].Slave = "/run/a$b.sock@1" },
			[][2]string{{"{name: node2", `{slave: "/run/a$$b.sock@1", name: node2`}}, false},
		{"a top key that is not there", strings.Replace(saveBase, "slow_log_time: 100\n", "", 1), func(c *Config) { c.SlowLogTime = 7 },
			[][2]string{{"# top\naddr:", "# top\nslow_log_time: 7\naddr:"}}, false},
		{"an element that is not there", strings.Replace(saveBase, "  slave :\n", "", 1), func(c *Config) { c.Nodes[0].Slave = "10.0.0.2:3306" },
			[][2]string{{"- name: node1", "- slave: \"10.0.0.2:3306\"\n  name: node1"}}, false},
		{"what can be set", saveBase, func(c *Config) {
			for _, s := range [][2]string{{"log_level", "warn"}, {"log_literals", "on"}, {"nodes[node1].max_conns_limit", "16"}, {"nodes[node1].adaptive_conns_limit", "2"}, {"user_list[app].max_conns", "5"}, {"idle_timeout", "90"}} {
				if err := c.Set(s[0], s[1]); err != nil {
					panic(err)
				}
			}
		}, [][2]string{
			{"# top\naddr:", "# top\nidle_timeout: 90s\nlog_literals: true\nlog_level: warn\naddr:"}, {"max_conns_limit: 8", "max_conns_limit: 16"}, {"- name: node1", "- adaptive_conns_limit: 2\n  name: node1"},
			{"{user: app, password", "{max_conns: 5, user: app, password"},
		}, false},
		{"over several lines", strings.Replace(saveBase, "allow_ips: '' # nobody", "allow_ips: >-\n  10.0.0.1,\n  10.0.0.2", 1), func(c *Config) { c.AllowIPs = "" }, nil, true},
		{"an alias", strings.Replace(strings.Replace(saveBase, "100", "&n 100", 1), "max_conns_limit: 8", "max_conns_limit: *n", 1), func(c *Config) { c.SlowLogTime = 9 }, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := File{Path: filepath.Join(t.TempDir(), "ks.yaml")}
			if err := os.WriteFile(f.Path, []byte(c.text), 0o640); err != nil {
				t.Fatal(err)
			}
			cfg, faults := f.Load()
			if cfg == nil {
				t.Fatal(faults)
			}
			running := cfg.Clone()
			c.change(running)
			saved, err := f.Save(running, false)
			if (err != nil) != c.fails {
				t.Fatalf("error %v", err)
			}
			want := c.text
			for _, w := range c.want {
				if strings.Count(want, w[0]) != 1 {
					t.Fatalf("%q is not once in the text", w[0])
				}
				want = strings.Replace(want, w[0], w[1], 1)
			}
			data, err := os.ReadFile(f.Path)
			if err != nil || string(data) != want {
				t.Errorf("error %v, the file is\n%s\nwant\n%s", err, data, want)
			}
			if info, err := os.Stat(f.Path); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v, error %v", info.Mode(), err)
			}
			if entries, err := os.ReadDir(filepath.Dir(f.Path)); err != nil || len(entries) != 1 {
				t.Errorf("left behind: %v, %v", entries, err)
			}
			if told := len(Diff(cfg, running)); !c.fails && len(saved) != told {
				t.Errorf("%d changes told, want %d: %v", len(saved), told, saved)
			}
			if after, faults := f.Load(); after == nil || !c.fails && len(Diff(after, running)) > 0 {
				t.Errorf("%v, differs by %v", faults, Diff(after, running))
			}
		})
	}
}

const saveBase = `# top
addr: 127.0.0.1:9696
# who
allow_ips: '' # nobody

log_sql : on
slow_log_time: 100
user_list:
- {user: app, password: "${NAME:-sesame}"}
nodes:
# the first
- name: node1
  user: ks
  password: sesame
  master: "10.0.0.1:3306"
  slave :
  max_conns_limit: 8
- {name: node2, user: ks, password: sesame, primary: "10.0.0.2:3306"}
schema_list:
- {user: app, nodes: [node1, node2], default: node1}
`

// Every key is listed once, and no secret.
func TestSettings(t *testing.T) {
	c := mustParse(t, saveBase)
	seen := map[string]string{}
	for _, s := range c.Settings() {
		if _, twice := seen[s.Path]; twice {
			t.Errorf("%s is there twice", s.Path)
		}
		seen[s.Path] = s.Value
		if strings.Contains(s.Value, "sesame") {
			t.Errorf("%s shows a secret", s.Path)
		}
		if s.Reloadable != (s.Path != "addr" && s.Path != "socket" && s.Path != "prometheus_addr" && s.Path != "web_addr" && s.Path != "web_tls_cert" && s.Path != "web_tls_key" &&
			s.Path != "admin_addr" && s.Path != "fast_lane" && s.Path != "xa_on_unsafe_server" && s.Path != "log_path" && s.Path != "state_path" && s.Path != "log_format" && s.Path != "proxy_protocol") {
			t.Errorf("%s: reloadable %v", s.Path, s.Reloadable)
		}
	}
	for path, want := range map[string]string{
		"slow_log_time": "100", "user_list[app].password": "***", "nodes[node1].master": "10.0.0.1:3306", "tls.min_version": "1.2",
		"schema_list[app].nodes": "node1, node2", "idle_timeout": "8h0m0s",
	} {
		if got, ok := seen[path]; !ok || got != want && path != "idle_timeout" {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// A file that somebody else has changed is left alone, unless the caller insists; then it keeps what the other one wrote.
func TestSaveChangedFile(t *testing.T) {
	f := File{Path: filepath.Join(t.TempDir(), "ks.yaml")}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(f.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	has := func(want string) {
		t.Helper()
		if data, err := os.ReadFile(f.Path); err != nil || string(data) != want {
			t.Errorf("error %v, the file is\n%s\nwant\n%s", err, data, want)
		}
	}
	write(saveBase)
	cfg, faults := f.Load()
	if cfg == nil {
		t.Fatal(faults)
	}
	running := cfg.Clone()
	running.SlowLogTime = 50
	copied := f // as a proxy holds it
	for _, text := range []string{saveBase + "# more\n", strings.Replace(saveBase, "log_sql : on", "log_sql : off", 1), "addr: ["} {
		write(text)
		if saved, err := copied.Save(running, false); err != ErrFileChanged || saved != nil {
			t.Errorf("saved %v, error %v", saved, err)
		}
		has(text)
	}
	if _, err := copied.Save(running, true); err == nil {
		t.Error("a file that is no configuration was written into")
	}
	has("addr: [")
	other := strings.Replace(saveBase, "# the first", "# the other's", 1)
	write(other)
	if saved, err := copied.Save(running, true); err != nil || len(saved) != 1 {
		t.Errorf("saved %v, error %v", saved, err)
	}
	has(strings.Replace(other, "slow_log_time: 100", "slow_log_time: 50", 1))
	running.SlowLogTime = 60
	if _, err := copied.Save(running, false); err != nil {
		t.Errorf("after a save of its own: %v", err)
	}
	has(strings.Replace(other, "slow_log_time: 100", "slow_log_time: 60", 1))
}
