package config

import (
	"reflect"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	old := mustParse(t, `addr: 127.0.0.1:9696
web_addr: 9797
user_list:
- {user: app, password: one, verifiers: }
- {user: web, verifiers: {client_ed25519: one}}
nodes:
- {name: node1, user: ks, password: one, master: "10.0.0.1:3306"}
- {name: node2, user: ks, password: one, master: "10.0.0.2:3306"}
schema_list:
- {user: app, nodes: [node1, node2], default: node1, shard: [{db: d, table: t, key: id, nodes: [node1, node2], type: hash, locations: [4, 4]}]}
- {user: web, nodes: [node1], default: node1}
`)
	new := mustParse(t, `addr: 127.0.0.1:9797
tls: {min_version: 1.3}
max_allowed_packet: 32M
idle_timeout: 1h
user_list:
- {user: web, verifiers: {client_ed25519: two}, hints: false}
- {user: app, password: two}
nodes:
- {name: node3, user: ks, password: one, master: "10.0.0.3:3306"}
- {name: node1, user: ks, password: two, master: "10.0.0.9:3306"}
schema_list:
- {user: web, nodes: [node1], default: node1}
- {user: app, nodes: [node1, node3], default: node1, shard: [{db: d, table: t, key: id, nodes: [node1, node3], type: hash, locations: [4, 8]},
  {db: d, table: u, key: id, nodes: [node1], type: hash, locations: [4]}]}
`)
	want := []Change{
		{"addr", "127.0.0.1:9696", "127.0.0.1:9797", false},
		{"web_addr", "127.0.0.1:9797", "", false},
		{"user_list[app].password", "***", "***", true},
		{"user_list[web].verifiers", "***", "***", true},
		{"user_list[web].hints", "true", "false", true},
		{"nodes[node1].password", "***", "***", true},
		{"nodes[node1].master", "10.0.0.1:3306", "10.0.0.9:3306", true},
		{"nodes[node2]", "present", "absent", true},
		{"nodes[node3]", "absent", "present", true},
		{"schema_list[app].nodes", "node1, node2", "node1, node3", true},
		{"schema_list[app].shard[d.t].nodes", "node1, node2", "node1, node3", true},
		{"schema_list[app].shard[d.t].locations", "4, 4", "4, 8", true},
		{"schema_list[app].shard[d.u]", "absent", "present", true},
		{"tls.min_version", "1.2", "1.3", true},
		{"max_allowed_packet", "64M", "32M", true},
		{"idle_timeout", "8h", "1h", true},
	}
	got := Diff(old, new)
	if !reflect.DeepEqual(got, want) {
		for _, c := range got {
			t.Logf("%+v", c)
		}
		t.Errorf("not what was wanted")
	}
	if same := Diff(old, old); len(same) != 0 {
		t.Errorf("a configuration differs from itself: %v", same)
	}
}

func TestDiffIgnoresOrder(t *testing.T) {
	users := "- {user: a, password: x}\n- {user: b, password: x}\n"
	file := func(users string) string {
		return "addr: 127.0.0.1:1\nuser_list:\n" + users + "nodes:\n- {name: n, user: k, master: 'h:1'}\nschema_list:\n" +
			"- {user: a, nodes: [n], default: n}\n- {user: b, nodes: [n], default: n, shard: []}\n"
	}
	lines := strings.SplitAfter(users, "\n")
	if d := Diff(mustParse(t, file(users)), mustParse(t, file(lines[1]+lines[0]))); len(d) != 0 {
		t.Errorf("%v", d)
	}
}
