package clients

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// TestSysbenchSharded runs the OLTP workloads on tables over two nodes with four sub-tables each. A transaction may change
// rows of one node only, so every statement that changes rows is one of its own.
func TestSysbenchSharded(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			nodes := []*mysqltest.RealServer{mysqltest.Shared(t, kind)}
			second, err := mysqltest.StartServer(t.Context(), mysqltest.ServerConfig{Kind: kind})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := second.Stop(); err != nil {
					t.Error(err)
				}
			})
			nodes = append(nodes, second)
			var rules, list []string
			for n := 1; n <= 4; n++ {
				rules = append(rules, fmt.Sprintf("      - {db: kingshard_sb, table: sbtest%d, key: id, type: hash, nodes: [n1, n2], locations: [4, 4]}", n))
			}
			for k, node := range nodes {
				freshDB(t, node, "kingshard_sb")
				list = append(list, fmt.Sprintf("  - {name: n%d, max_conns_limit: %d, user: root, password: root, master: \"%s\"}", k+1, ceiling, node.Addr))
			}
			s := newSysbench(t, serveProxy(t, fmt.Sprintf(`
addr: 127.0.0.1:0
user_list:
  - {user: root, password: root}
nodes:
%s
schema_list:
  - user: root
    nodes: [n1, n2]
    default: n1
    shard:
%s
`, strings.Join(list, "\n"), strings.Join(rules, "\n"))))
			// Without transactions two clients may insert the row that both have deleted: a duplicate on one server as well.
			s.options = []string{"--auto_inc=off", "--skip_trx=on", "--mysql-ignore-errors=1213,1020,1062"}
			one := s
			one.threads = 4
			one.run(t, "oltp_read_write", "prepare")
			for _, mode := range []string{"auto", "disable"} {
				for _, script := range sysbenchScripts {
					t.Run(script+" "+mode, func(t *testing.T) {
						s := s
						s.psMode = mode
						if script == "oltp_read_only" {
							s.options = []string{"--auto_inc=off"} // a transaction may read on every node
						}
						s.check(t, s.run(t, script, "run"))
					})
				}
			}
		})
	}
}
