package proxy_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// startGroup starts three servers of MySQL in a group that has one primary, the first. MySQL manual: "Group Replication".
func startGroup(t *testing.T) (servers [3]*mysqltest.RealServer) {
	t.Helper()
	settings := map[string]string{
		"plugin_load_add": "group_replication.so", "performance_schema": "ON", "loose_group_replication_group_name": "8a94f357-aab4-11df-86ab-c80aa9429563",
		"loose_group_replication_start_on_boot": "OFF", "loose_group_replication_communication_stack": "MYSQL", "loose_group_replication_member_expel_timeout": "0",
		"loose_group_replication_recovery_get_public_key": "ON", "report_host": "127.0.0.1",
	}
	var seeds []string
	for k := range servers {
		servers[k] = startOwn(t, mysqltest.ServerConfig{Kind: mysqltest.MySQL9, Binlog: true, ServerID: k + 1, Settings: settings})
		seeds = append(seeds, servers[k].Addr)
	}
	for k, s := range servers {
		c := dial(t, s.Addr, rootClient())
		for _, text := range []string{
			"RESET BINARY LOGS AND GTIDS", "SET GLOBAL group_replication_local_address = '" + s.Addr + "'", "SET GLOBAL group_replication_group_seeds = '" + strings.Join(seeds, ",") + "'",
			fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_USER = '%s', SOURCE_PASSWORD = '%s' FOR CHANNEL 'group_replication_recovery'", mysqltest.User, mysqltest.Password),
			fmt.Sprintf("SET GLOBAL group_replication_bootstrap_group = %t", k == 0), "START GROUP_REPLICATION", "SET GLOBAL group_replication_bootstrap_group = OFF",
		} {
			must(t, c, text)
		}
		if k == 0 {
			must(t, c, "CREATE TABLE test.t (id INT PRIMARY KEY)")
		}
	}
	c := dial(t, servers[0].Addr, rootClient())
	mysqltest.WaitFor(t, "the group", func() bool {
		return number(t, c, "SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE'") == 3
	})
	return servers
}

// loseFirst has clients write to a group of servers by a proxy, which reads from the second, and the third, which it finds, and kills the first, which has the role of
// the primary.
// They go on to write when it returns.
func loseFirst(t *testing.T, servers [3]*mysqltest.RealServer) (*writers, *testProxy) {
	t.Helper()
	text := configText([]node{{name: "n", master: servers[0].Addr, slave: servers[1].Addr + ", discover", conns: 8}}, "fast_lane: true")
	p := startProxy(t, text, "primary_wait_timeout: 60s", "pool_wait_timeout: 60s")
	first := p.client("")
	for _, s := range servers[1:] {
		mysqltest.WaitFor(t, "reads from "+s.Addr, func() bool {
			must(t, first, "SELECT @@server_id")
			r := p.replicaAt(s.Addr)
			return r != nil && r.Load().Statements > 0
		})
	}
	w := new(writers)
	const clients = 16
	w.start(t, p, clients)
	w.more(t, 200)
	servers[0].Kill()
	mysqltest.WaitFor(t, "another primary", func() bool { return p.primary("n").Addr != servers[0].Addr })
	w.more(t, 200)
	if n := w.errors.Load(); n > clients {
		t.Errorf("%d errors of %d clients", n, clients)
	}
	return w, p
}

// The primary of a group dies, and the proxy goes on with the one that the group elects. The one that died comes back outside of its group, and gets neither reads
// nor writes.
func TestGroupPrimaryFollowed(t *testing.T) {
	servers := startGroup(t)
	direct := dial(t, servers[0].Addr, rootClient())
	must(t, direct, "CREATE USER own IDENTIFIED BY 'own'")
	must(t, direct, "GRANT REPLICATION CLIENT, REPLICATION SLAVE, PROCESS ON *.* TO own")
	text := configText([]node{{name: "n", master: servers[0].Addr, slave: servers[1].Addr, conns: 8}})
	text = strings.ReplaceAll(text, "user: root, password: root, master", "user: root, password: root, admin_user: own, admin_password: own, master")
	blind := startProxy(t, text)
	mysqltest.WaitFor(t, "the log to say that the account may not know of the group", func() bool {
		return strings.Contains(blind.log.String(), "SELECT on performance_schema.replication_group_members")
	})
	file := filepath.Join(t.TempDir(), "ks.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command(buildBinary(t), "check", "-servers", file).CombinedOutput()
	if !strings.Contains(string(out), "warning: own lacks SELECT on performance_schema.replication_group_members") {
		t.Errorf("kingshard check says\n%s", out)
	}
	w, p := loseFirst(t, servers)
	if err := servers[0].Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	old := dial(t, servers[0].Addr, rootClient())
	mysqltest.WaitFor(t, "the old primary to be seen", func() bool {
		for _, r := range p.Nodes()["n"].Replicas {
			if r.Addr == servers[0].Addr {
				return r.Duty.Retired()
			}
		}
		return false
	})
	reader := p.client("")
	for range 50 {
		if got := value(t, reader, "SELECT @@server_id"); got == "1" {
			t.Fatal("read from the server that is outside of its group")
		}
	}
	before := value(t, old, "SELECT COUNT(*) FROM test.t")
	w.more(t, 200)
	close(w.stop)
	w.done.Wait()
	if got := value(t, old, "SELECT COUNT(*) FROM test.t"); got != before {
		t.Errorf("the server that is outside of its group has %s rows, it had %s", got, before)
	}
	w.check(t, ids(t, dial(t, p.primary("n").Addr, rootClient())))
}
