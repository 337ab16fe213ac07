package rig

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kingshard/config"
	"kingshard/mysql/mysqltest"
)

// TestConfig: every kind of contender's ks.yaml is one that the proxy takes.
func TestConfig(t *testing.T) {
	for name, spec := range map[string]Spec{
		"plain": {}, "one shard": {Shards: 1}, "eight shards": {Shards: 8}, "limit": {MaxConns: 16},
		"sql log": {Config: "log_sql: on\nlog_level: debug"},
	} {
		text := configFile{spec: spec, addr: "127.0.0.1:1", metrics: "127.0.0.1:2", server: "127.0.0.1:3"}.text()
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
		if want := map[int]int{0: 0, 1: 2, 8: 1}[spec.Shards]; len(c.SchemaList[0].Shard) != want {
			t.Errorf("%s: %d rules, want %d", name, len(c.SchemaList[0].Shard), want)
		}
		if spec.MaxConns > 0 && c.Nodes[0].MaxConnsLimit != spec.MaxConns {
			t.Errorf("%s: %d connections", name, c.Nodes[0].MaxConnsLimit)
		}
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
