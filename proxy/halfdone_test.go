package proxy_test

import (
	"fmt"
	"strings"
	"testing"

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
