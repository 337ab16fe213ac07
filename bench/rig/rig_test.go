package rig

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"kingshard/config"
	"kingshard/mysql/mysqltest"
)

// TestConfig: every kind of contender's ks.yaml is one that the proxy takes.
func TestConfig(t *testing.T) {
	for name, spec := range map[string]Spec{
		"plain": {}, "one shard": {Shards: 1}, "eight shards": {Shards: 8}, "limit": {MaxConns: 16},
		"sql log": {Config: "log_sql: on\nlog_level: debug"},
	} {
		text := configFile{spec: spec, addr: "127.0.0.1:1", metrics: "127.0.0.1:2", servers: []string{"127.0.0.1:3"}}.text()
		path := filepath.Join(t.TempDir(), "ks.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, faults := config.Load(path, config.Options{})
		if c == nil {
			t.Fatalf("%s: %v\n%s", name, faults, text)
		}
		if want := max(1, spec.Shards); len(c.Nodes) != want {
			t.Errorf("%s: %d nodes, want %d", name, len(c.Nodes), want)
		}
		if want := map[int]int{0: 0, 1: 2, 8: 2}[spec.Shards]; len(c.SchemaList[0].Shard) != want {
			t.Errorf("%s: %d rules, want %d", name, len(c.SchemaList[0].Shard), want)
		}
		if spec.MaxConns > 0 && c.Nodes[0].MaxConnsLimit != spec.MaxConns {
			t.Errorf("%s: %d connections", name, c.Nodes[0].MaxConnsLimit)
		}
	}
}

// TestClusterConfig: the ks.yaml of a cluster, with rules, with more lines and without either, is one that the proxy takes, with a node for each server.
func TestClusterConfig(t *testing.T) {
	server := func(addr string) *mysqltest.RealServer { return &mysqltest.RealServer{Addr: addr} }
	rule := func(nodes []string) []string {
		return []string{"{db: d, table: t, key: id, nodes: [" + strings.Join(nodes, ", ") + "], type: mod}"}
	}
	for name, c := range map[string]struct {
		servers []*mysqltest.RealServer
		options ClusterOptions
		replica *mysqltest.RealServer
		rules   int
	}{
		"one node":    {[]*mysqltest.RealServer{server("127.0.0.1:3")}, ClusterOptions{Config: "log_sql: on\nlog_level: debug"}, nil, 0},
		"three nodes": {[]*mysqltest.RealServer{server("127.0.0.1:3"), server("127.0.0.1:4"), server("127.0.0.1:5")}, ClusterOptions{Shard: rule}, nil, 1},
		"a replica":   {[]*mysqltest.RealServer{server("127.0.0.1:3")}, ClusterOptions{Account: "user: app, password: secret"}, server("127.0.0.1:4"), 0},
	} {
		cluster := Cluster{options: c.options, dir: t.TempDir(), servers: c.servers, replica: c.replica}
		for _, s := range append(c.servers, c.replica) {
			if s != nil {
				cluster.addrs = append(cluster.addrs, s.Addr)
			}
		}
		cluster.login.Addr = "127.0.0.1:1"
		got, faults := config.Parse([]byte(cluster.config()), cluster.dir, config.Options{})
		if got == nil {
			t.Fatalf("%s: %v\n%s", name, faults, cluster.config())
		}
		if len(got.Nodes) != len(c.servers) || len(got.SchemaList[0].Shard) != c.rules {
			t.Errorf("%s: %d nodes, %d rules", name, len(got.Nodes), len(got.SchemaList[0].Shard))
		}
		first := got.Nodes[0]
		if has := first.Slave != ""; has != (c.replica != nil) || (c.options.Account != "") != (first.User == "app") {
			t.Errorf("%s: replica %q, user %s", name, first.Slave, first.User)
		}
	}
}

// TestKillProxyThatEnded: a proxy that is gone already is an error with what it said, as it was not the kill that ended it.
func TestKillProxyThatEnded(t *testing.T) {
	p, err := startProcess(exec.Command("sh", "-c", "echo gone"), filepath.Join(t.TempDir(), "log"), false)
	if err != nil {
		t.Fatal(err)
	}
	<-p.ended
	c := Cluster{proxy: p}
	if err := c.KillProxy(t.Context()); err == nil || !strings.Contains(err.Error(), "by itself") || !strings.Contains(err.Error(), "gone") {
		t.Errorf("%v", err)
	}
}

func TestSample(t *testing.T) {
	text := "# HELP a_total x\na_total{x=\"1\"} 5\na_total_other 1\na_total 1.5e+06\n"
	if n, err := sample(strings.NewReader(text), "a_total"); err != nil || n != 1.5e6 {
		t.Errorf("%g, %v", n, err)
	}
	if _, err := sample(strings.NewReader(text), "b_total"); err == nil {
		t.Error("a metric that is not there")
	}
}

// TestProcessFails: a program that ends at once, and one that is not there, are errors with what they said.
func TestProcessFails(t *testing.T) {
	r := &Rig{dir: t.TempDir(), options: Options{Proxy: "/bin/false"}}
	c := &Contender{Spec: Spec{Name: "x", Kind: Kingshard}, Server: new(mysqltest.RealServer)}
	if err := r.openKingshard(context.Background(), c); err == nil || !strings.Contains(err.Error(), "ended at once") {
		t.Errorf("%v", err)
	}
	r.options.Proxy = "/nowhere"
	if err := r.openKingshard(context.Background(), &Contender{Server: new(mysqltest.RealServer)}); err == nil {
		t.Error("a program that is not there starts")
	}
}

// TestApart: a program is in a session of its own exactly if it shall be, and in a process group of its own either way.
func TestApart(t *testing.T) {
	ours, err := unix.Getsid(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, apart := range []bool{false, true} {
		p, err := startProcess(exec.Command("sleep", "60"), filepath.Join(t.TempDir(), "log"), apart)
		if err != nil {
			t.Fatal(err)
		}
		session, err := unix.Getsid(p.pid())
		if err != nil || (session == p.pid()) != apart || (session == ours) == apart {
			t.Errorf("apart %v: session %d, %v; ours is %d, the process %d", apart, session, err, ours, p.pid())
		}
		if group, err := unix.Getpgid(p.pid()); err != nil || group != p.pid() {
			t.Errorf("apart %v: group %d, %v", apart, group, err)
		}
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	}
}
