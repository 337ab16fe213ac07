//go:build galera

package proxy_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"kingshard/mysql/mysqltest"
)

// startCluster starts three servers of MariaDB in a cluster of Galera. MariaDB Knowledge Base: "Galera Cluster".
func startCluster(t *testing.T) (servers [3]*mysqltest.RealServer, restart func()) {
	t.Helper()
	var ports [12]int // of each server: for its group, for transactions, for all rows and for clients
	var listeners [12]net.Listener
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
		return mysqltest.ServerConfig{Kind: mysqltest.MariaDB, Binlog: true, ServerID: k + 1, Port: ports[k+9], Settings: map[string]string{
			"wsrep_on": "ON", "wsrep_provider": "/usr/lib/galera/libgalera_smm.so", "wsrep_cluster_address": address, "wsrep_node_address": "127.0.0.1", "wsrep_node_incoming_address": fmt.Sprintf("127.0.0.1:%d", ports[k+9]), "wsrep_sst_method": "rsync", "wsrep_sst_receive_address": fmt.Sprintf("127.0.0.1:%d", ports[k+6]), "innodb_autoinc_lock_mode": "2",
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
		again.Dir = first.Dir
		servers[0] = startOwn(t, again)
	}
}

// A server of a cluster dies to which the changes go, and the proxy goes on with another one. The one that died joins again, and is read from. The library
// of Galera comes with Debian's mariadb-server, but needs a kernel that tells the priorities of threads.
func TestClusterPrimaryFollowed(t *testing.T) {
	servers, restart := startCluster(t)
	w, p := loseFirst(t, servers)
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
