package proxy_test

import (
	"fmt"
	"net"
	"os"
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

// startCluster starts three servers of MariaDB in a cluster of Galera by its library. MariaDB Knowledge Base: "Galera Cluster".
func startCluster(t *testing.T, library string) (servers [3]*mysqltest.RealServer, restart func()) {
	t.Helper()
	var ports [9]int // of each server: for its group, for transactions and for all rows
	var listeners [9]net.Listener
	for k := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports[k], listeners[k] = l.Addr().(*net.TCPAddr).Port, l
	}
	for _, l := range listeners { // not before, so that all differ
		l.Close()
	}
	config := func(k, peer int) mysqltest.ServerConfig {
		address := "gcomm://"
		if peer >= 0 {
			address += fmt.Sprintf("127.0.0.1:%d", ports[peer])
		}
		return mysqltest.ServerConfig{Kind: mysqltest.MariaDB, Binlog: true, ServerID: k + 1, Settings: map[string]string{
			"wsrep_on": "ON", "wsrep_provider": library, "wsrep_cluster_address": address, "wsrep_node_address": "127.0.0.1", "wsrep_sst_method": "rsync", "wsrep_sst_receive_address": fmt.Sprintf("127.0.0.1:%d", ports[k+6]), "innodb_autoinc_lock_mode": "2",
			"wsrep_provider_options": fmt.Sprintf("gmcast.listen_addr=tcp://127.0.0.1:%d;ist.recv_addr=127.0.0.1:%d;gcache.size=16M", ports[k], ports[k+3]),
		}}
	}
	first := config(0, -1)
	first.Dir = filepath.Join(t.TempDir(), "first")
	if err := os.Chmod(filepath.Dir(filepath.Dir(first.Dir)), 0o711); err != nil {
		t.Fatal(err)
	}
	for k := range servers {
		c := first
		if k > 0 {
			c = config(k, 0)
		}
		servers[k] = startOwn(t, c)
		if k == 0 {
			must(t, dial(t, servers[0].Addr, rootClient()), "CREATE TABLE test.t (id INT PRIMARY KEY)")
		}
	}
	return servers, func() {
		again := config(0, 1)
		again.Dir, again.Port = first.Dir, servers[0].Port
		servers[0] = startOwn(t, again)
	}
}

// A server of a cluster dies to which the changes go, and the proxy goes on with another one. The one that died joins again, and is read from. It needs the library
// of Galera (KS_GALERA=/usr/lib/galera/libgalera_smm.so), and a machine on which it runs.
func TestClusterPrimaryFollowed(t *testing.T) {
	library := os.Getenv("KS_GALERA")
	if library == "" {
		t.Skip("KS_GALERA is not set")
	}
	servers, restart := startCluster(t, library)
	text := configText([]node{{name: "n", master: servers[0].Addr, slave: servers[1].Addr + "," + servers[2].Addr, conns: 8}}, "fast_lane: true")
	p := startProxy(t, text, "primary_wait_timeout: 60s", "pool_wait_timeout: 60s")
	first := p.client("")
	mysqltest.WaitFor(t, "reads from the others", func() bool { return value(t, first, "SELECT @@server_id") != "1" })
	var w writers
	const clients = 16
	w.start(t, p, clients)
	w.more(t, 200)
	servers[0].Kill()
	mysqltest.WaitFor(t, "another primary", func() bool { return p.primary("n").Addr != servers[0].Addr })
	w.more(t, 200)
	if n := w.errors.Load(); n > clients {
		t.Errorf("%d errors of %d clients", n, clients)
	}
	restart()
	reader := p.client("")
	mysqltest.WaitFor(t, "the server that died to be read from", func() bool { return value(t, reader, "SELECT @@server_id") == "1" })
	w.more(t, 200)
	close(w.stop)
	w.done.Wait()
	for _, s := range servers {
		c := dial(t, s.Addr, rootClient())
		mysqltest.WaitFor(t, "all rows on "+s.Addr, func() bool { return number(t, c, "SELECT COUNT(*) FROM test.t") >= int(w.count.Load()) })
		w.check(t, ids(t, c))
	}
}

// The primary of a group dies, and the proxy goes on with the one that the group elects. The one that died comes back outside of its group, and gets neither reads
// nor writes.
func TestGroupPrimaryFollowed(t *testing.T) {
	servers := startGroup(t)
	text := configText([]node{{name: "n", master: servers[0].Addr, slave: servers[1].Addr + "," + servers[2].Addr, conns: 8}}, "fast_lane: true")
	p := startProxy(t, text, "primary_wait_timeout: 60s", "pool_wait_timeout: 60s")
	first := p.client("")
	mysqltest.WaitFor(t, "reads from the others", func() bool { return value(t, first, "SELECT @@server_id") != "1" })
	var w writers
	const clients = 16
	w.start(t, p, clients)
	w.more(t, 200)
	servers[0].Kill()
	mysqltest.WaitFor(t, "another primary", func() bool { return p.primary("n").Addr != servers[0].Addr })
	w.more(t, 200)
	if n := w.errors.Load(); n > clients {
		t.Errorf("%d errors of %d clients", n, clients)
	}
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
