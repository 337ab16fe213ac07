package proxy_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"kingshard/mysql/mysqltest"
	"kingshard/proxy/querylog"
)

// startPair starts a primary and a replica that acknowledges each transaction before its client hears of it.
func startPair(t testing.TB, kind mysqltest.Kind) (primary, replica *mysqltest.RealServer) {
	t.Helper()
	primary = startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: 1})
	replica = startAcknowledging(t, primary, 2)
	acknowledge(t, primary, replica)
	return primary, replica
}

// startAcknowledging starts a replica that can acknowledge what it receives.
func startAcknowledging(t testing.TB, source *mysqltest.RealServer, id int) *mysqltest.RealServer {
	t.Helper()
	settings := map[string]string{"rpl_semi_sync_slave_enabled": "1"}
	if source.Kind != mysqltest.MariaDB {
		settings = map[string]string{"plugin_load_add": "semisync_replica.so", "loose_rpl_semi_sync_replica_enabled": "1"}
	}
	return startOwn(t, mysqltest.ServerConfig{Kind: source.Kind, ReplicaOf: source, ServerID: id, Settings: settings})
}

// acknowledge has a server wait for its replica to have each transaction.
func acknowledge(t testing.TB, primary, replica *mysqltest.RealServer) {
	t.Helper()
	source := dial(t, primary.Addr, rootClient())
	defer source.Close()
	if primary.Kind == mysqltest.MariaDB {
		must(t, source, "SET GLOBAL rpl_semi_sync_master_wait_point = 'AFTER_SYNC'")
		must(t, source, "SET GLOBAL rpl_semi_sync_master_timeout = 600000")
		must(t, source, "SET GLOBAL rpl_semi_sync_master_enabled = 1")
	} else {
		must(t, source, "INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'")
		must(t, source, "SET GLOBAL rpl_semi_sync_source_timeout = 600000")
		must(t, source, "SET GLOBAL rpl_semi_sync_source_enabled = 1")
	}
	direct := dial(t, replica.Addr, rootClient())
	defer direct.Close()
	for _, verb := range []string{"STOP", "START"} { // so that it says that it acknowledges
		must(t, direct, verb+" "+replicaWord(primary.Kind))
	}
	mysqltest.WaitFor(t, "the replica to acknowledge", func() bool {
		return value(t, source, "SELECT GROUP_CONCAT(VARIABLE_VALUE ORDER BY VARIABLE_NAME) FROM "+statusTable(primary.Kind)+
			" WHERE VARIABLE_NAME REGEXP '^rpl_semi_sync_(source|master)_(clients|status)$'") == "1,ON"
	})
}

func replicaWord(kind mysqltest.Kind) string {
	if kind == mysqltest.MariaDB {
		return "SLAVE"
	}
	return "REPLICA"
}

func statusTable(kind mysqltest.Kind) string {
	if kind == mysqltest.MariaDB {
		return "information_schema.GLOBAL_STATUS"
	}
	return "performance_schema.global_status"
}

// promote makes a replica a primary, as failover tools do.
func promote(t testing.TB, s *mysqltest.RealServer) {
	t.Helper()
	detach(t, s)
	c := dial(t, s.Addr, rootClient())
	defer c.Close()
	must(t, c, "SET GLOBAL read_only = 0")
}

// detach ends the replication of a server that has carried out all that it has received.
func detach(t testing.TB, s *mysqltest.RealServer) {
	t.Helper()
	c := dial(t, s.Addr, rootClient())
	defer c.Close()
	must(t, c, "STOP "+replicaWord(s.Kind)+" IO_THREAD")
	column, wait := "Retrieved_Gtid_Set", "SELECT WAIT_FOR_EXECUTED_GTID_SET('%s', 30)"
	if s.Kind == mysqltest.MariaDB {
		column, wait = "Gtid_IO_Pos", "SELECT MASTER_GTID_WAIT('%s', 30)"
	}
	r := must(t, c, "SHOW "+replicaWord(s.Kind)+" STATUS")
	for k, one := range r.Columns {
		if one.Name == column { // it has not carried out all that it has
			if got := value(t, c, fmt.Sprintf(wait, strings.ReplaceAll(r.Rows[0][k].(string), "\n", ""))); got != "0" {
				t.Fatalf("it does not come to the end of its relay log: %s", got)
			}
		}
	}
	must(t, c, "STOP "+replicaWord(s.Kind))
	must(t, c, "RESET "+replicaWord(s.Kind)+" ALL")
}

// writers insert rows of their own, one after the other, until they are told to stop.
type writers struct {
	stop   chan struct{}
	done   sync.WaitGroup
	acked  sync.Map // ids
	count  atomic.Int64
	errors atomic.Int64
	next   atomic.Int64
	lost   atomic.Int64 // connections
}

func (w *writers) start(t *testing.T, p *testProxy, clients int) {
	w.stop = make(chan struct{})
	for k := range clients {
		c := p.client("")
		w.done.Go(func() {
			for {
				select {
				case <-w.stop:
					return
				default:
				}
				id := w.next.Add(1)
				texts := []string{fmt.Sprintf("INSERT INTO test.t VALUES (%d)", id)}
				if k%2 == 0 {
					texts = []string{"BEGIN", texts[0], fmt.Sprintf("SELECT 1 FROM test.t WHERE id = %d", id), "COMMIT"}
				}
				if !w.write(t, c, texts) {
					return
				}
			}
		})
	}
}

// write sends a change's statements; false if its client cannot go on.
func (w *writers) write(t *testing.T, c *mysqltest.RawClient, texts []string) bool {
	for _, text := range texts {
		r, err := c.Query(text)
		switch {
		case err != nil:
			w.lost.Add(1)
			t.Errorf("%s: %v", text, err)
			return false
		case r.Err == nil:
			continue
		case r.Err.Code == 9003 && (len(texts) == 1 || text == "COMMIT"): // under way when its server died
		case r.Err.Code == 1213 && len(texts) > 1 && text != "BEGIN": // rolled back when its server died
		default:
			t.Errorf("%s: %v", text, r.Err)
			return false
		}
		w.errors.Add(1)
		return true
	}
	var id int64
	fmt.Sscanf(texts[min(len(texts)-1, 1)], "INSERT INTO test.t VALUES (%d)", &id)
	w.acked.Store(id, true)
	w.count.Add(1)
	return true
}

// more waits for so many rows more.
func (w *writers) more(t *testing.T, n int64) {
	t.Helper()
	want := w.count.Load() + n
	mysqltest.WaitFor(t, "rows to be written", func() bool { return w.count.Load() >= want || w.lost.Load() > 0 })
}

// check looks whether all rows that were acknowledged are there.
func (w *writers) check(t *testing.T, there map[string]bool) {
	t.Helper()
	w.acked.Range(func(id, _ any) bool {
		if !there[fmt.Sprint(id)] {
			t.Errorf("row %v was acknowledged and is not there", id)
		}
		return true
	})
}

// ids are those of all rows on a server.
func ids(t testing.TB, c *mysqltest.RawClient) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, row := range must(t, c, "SELECT id FROM test.t").Rows {
		all[row[0].(string)] = true
	}
	return all
}

// A primary dies, and somebody promotes its replica without a word to the proxy: who has a statement under way hears so, all others wait. The old
// one comes back as it was, and gets nothing.
func TestPrimaryFollowed(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			primary, replica := startPair(t, kind)
			source := dial(t, primary.Addr, rootClient())
			must(t, source, "CREATE TABLE test.t (id INT PRIMARY KEY)")
			text := configText([]node{{name: "n", master: primary.Addr, slave: replica.Addr, conns: 8}}, "fast_lane: true")
			p := startProxy(t, text, "primary_wait_timeout: 60s")
			var w writers
			const clients = 16
			w.start(t, p, clients)
			w.more(t, 200)
			primary.Kill()
			mysqltest.WaitFor(t, "statements to be held", func() bool { return p.Nodes()["n"].HoldStats().Waiting > 0 })
			promote(t, replica)
			w.more(t, 200)
			if n := w.errors.Load(); n > clients {
				t.Errorf("%d errors of %d clients", n, clients)
			}
			if got := p.primary("n").Addr; got != replica.Addr {
				t.Errorf("the primary is %s", got)
			}
			promoted := dial(t, replica.Addr, rootClient())
			mysqltest.WaitFor(t, "the epoch", func() bool {
				r, err := promoted.Query("SELECT epoch, server <> '' FROM ks_meta.epoch")
				return err == nil && r.Err == nil && len(r.Rows) == 1 && fmt.Sprint(r.Rows[0]) == "[1 1]"
			})
			if err := primary.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			old := dial(t, primary.Addr, rootClient())
			before, oldBeats := value(t, old, "SELECT COUNT(*) FROM test.t"), beats(t, old)
			mysqltest.WaitFor(t, "the old primary to be seen", func() bool { return p.Nodes()["n"].Replicas[0].Duty.Retired() })
			w.more(t, 200)
			reader := p.client("")
			for range 50 {
				if got := value(t, reader, "SELECT @@server_id"); got != "2" {
					t.Fatalf("read from server %s", got)
				}
			}
			moreBeats(t, promoted, 4)
			if got := beats(t, old); got != oldBeats {
				t.Errorf("%d heartbeats on the old primary", got-oldBeats)
			}
			// The file still has the old one as the primary; what counts is the servers.
			if err := p.Reload(querylog.By{User: "test"}, parse(t, replaceLine(replaceLine(text, "primary_wait_timeout: 60s"), "idle_timeout: 7h")), false); err != nil {
				t.Fatal(err)
			}
			w.more(t, 200)
			close(w.stop)
			w.done.Wait()
			if got := value(t, old, "SELECT COUNT(*) FROM test.t"); got != before {
				t.Errorf("the old primary has %s rows, it had %s", got, before)
			}
			w.check(t, ids(t, promoted))
			if events := fmt.Sprint(must(t, reader, "SHOW KS EVENTS WHERE what = 'primary followed'").Rows); !strings.Contains(events, "it does not answer") {
				t.Errorf("events: %s", events)
			}
			// A proxy that has seen nothing of that, and whose file names the old one, goes by the epoch.
			for k := range 5 { // it is found while the server starts
				late := startProxy(t, text, "primary_wait_timeout: 60s")
				must(t, late.client(""), fmt.Sprintf("INSERT INTO test.t VALUES (%d)", 1000000+k))
				if got := late.primary("n").Addr; got != replica.Addr {
					t.Errorf("another proxy has the primary %s", got)
				}
			}
		})
	}
}

// A primary that is set read-only has lost its role: what changes rows waits for the next one, and no client hears of it; what reads goes on.
func TestReadOnlyPrimary(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			primary := startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: 1})
			replica := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 2})
			source := dial(t, primary.Addr, rootClient())
			must(t, source, "CREATE TABLE test.t (id INT PRIMARY KEY)")
			must(t, source, "CREATE USER plain IDENTIFIED BY 'plain'")
			must(t, source, "GRANT ALL ON test.* TO plain")
			text := configText([]node{{name: "n", master: primary.Addr, slave: replica.Addr, conns: 4}}, "fast_lane: true")
			text = strings.Replace(text, "user: root, password: root, master", "user: plain, password: plain, admin_user: root, admin_password: root, master", 1)
			p := startProxy(t, text, "primary_wait_timeout: 60s")
			waits := func() bool { return p.Nodes()["n"].HoldStats().Waiting == 2 }
			write := func(id int) (heard chan string) {
				heard = make(chan string, 2)
				a, b := p.client("test"), p.client("test")
				go func() { heard <- told(a.Query(fmt.Sprintf("INSERT INTO t VALUES (%d)", id))) }()
				go func() { heard <- told(b.Query(fmt.Sprintf("/*master*/ REPLACE INTO t VALUES (%d)", id+1))) }()
				return heard
			}
			must(t, p.client("test"), "INSERT INTO t VALUES (1)")
			must(t, source, "SET GLOBAL read_only = 1")
			heard := write(2)
			mysqltest.WaitFor(t, "the changes to wait", waits)
			if got := value(t, p.client("test"), "/*master*/ SELECT @@server_id"); got != "1" {
				t.Errorf("a read meanwhile is served by %s", got)
			}
			must(t, source, "SET GLOBAL read_only = 0") // it was not meant
			for range 2 {
				if got := <-heard; got != "OK" {
					t.Errorf("hears %s", got)
				}
			}
			must(t, source, "SET GLOBAL read_only = 1")
			heard = write(4)
			mysqltest.WaitFor(t, "the changes to wait", waits)
			if err := replica.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			promote(t, replica)
			for range 2 {
				if got := <-heard; got != "OK" {
					t.Errorf("hears %s", got)
				}
			}
			promoted := dial(t, replica.Addr, rootClient())
			if got := value(t, promoted, "SELECT GROUP_CONCAT(id ORDER BY id) FROM test.t"); got != "1,2,3,4,5" {
				t.Errorf("the new primary has %s", got)
			}
			if got := value(t, source, "SELECT GROUP_CONCAT(id ORDER BY id) FROM test.t"); got != "1,2,3" {
				t.Errorf("the old one has %s", got)
			}
			// Without another one they hear what the server says, in the end.
			must(t, promoted, "SET GLOBAL read_only = 1")
			if err := p.Reload(querylog.By{User: "test"}, parse(t, replaceLine(text, "primary_wait_timeout: 300ms")), false); err != nil {
				t.Fatal(err)
			}
			fails(t, p.client("test"), "INSERT INTO t VALUES (9)", 1290)
		})
	}
}

// told is what a client heard, in a word.
func told(r *mysqltest.RawResult, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case r.Err != nil:
		return r.Err.Error()
	}
	return "OK"
}
