package proxy_test

import (
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A replica that falls behind its source, or whose replication stops, gets no reads beyond max_replica_lag; when it has caught
// up it is read from again.
func TestReplicaLag(t *testing.T) {
	t.Parallel()
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			if testing.Short() {
				t.Skip("two servers of its own")
			}
			primary := startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: 1})
			replica := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 2})
			source, direct := dial(t, primary.Addr, rootClient()), dial(t, replica.Addr, rootClient())
			must(t, source, "CREATE TABLE test.t (id INT PRIMARY KEY)")
			if err := replica.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			text := strings.Replace(configText([]node{{name: "n", master: primary.Addr, slave: replica.Addr, conns: 4}}), "down_after_noalive: 1", "max_replica_lag: 1s", 1)
			p := startProxy(t, text)
			c := p.client("")
			servedBy := func(id string) func() bool {
				return func() bool { return value(t, c, "SELECT @@server_id") == id }
			}
			mysqltest.WaitFor(t, "reads on the replica", servedBy("2"))
			// It may have been asked just before it had caught up, within the bound.
			mysqltest.WaitFor(t, "no lag to be shown", func() bool { return lagShown(t, c) == "0,NO" })
			// The replica's applier waits for the lock while the change grows old.
			must(t, direct, "FLUSH TABLES WITH READ LOCK")
			must(t, source, "INSERT INTO test.t VALUES (1)")
			mysqltest.WaitFor(t, "the replica to be passed over", servedBy("1"))
			if got := lagShown(t, c); !strings.HasSuffix(got, ",YES") || got == "NULL,YES" || got == "0,YES" {
				t.Errorf("a replica that is behind: %s", got)
			}
			must(t, direct, "UNLOCK TABLES")
			mysqltest.WaitFor(t, "reads on the replica again", servedBy("2"))
			stop := "STOP SLAVE"
			if kind != mysqltest.MariaDB {
				stop = "STOP REPLICA"
			}
			must(t, direct, stop)
			mysqltest.WaitFor(t, "a stopped replica to be passed over", servedBy("1"))
			// MariaDB says first that it does not know; what heartbeats tell then may be within the bound for a moment.
			mysqltest.WaitFor(t, "the lag of a stopped replica", func() bool {
				got := lagShown(t, c)
				return strings.HasSuffix(got, ",YES") && got != "NULL,YES" && got != "0,YES"
			})
			p.reload(replaceLine(text, "idle_timeout: 7h"))
			if !servedBy("1")() {
				t.Error("a reload forgot that the replica is stopped")
			}
			p.reload(strings.Replace(text, "max_replica_lag: 1s", "max_replica_lag: 0", 1))
			if !servedBy("2")() {
				t.Error("without a bound the replica is not read from")
			}
			if rows := must(t, c, "SHOW KS EVENTS WHERE what = 'replica behind'").Rows; len(rows) != 2 && (len(rows) != 3 || kind != mysqltest.MariaDB) {
				t.Errorf("events: %v", rows)
			}
			// A configuration without the key, such as the predecessor's, has a bound, too.
			p.reload(strings.Replace(text, "max_replica_lag: 1s, ", "", 1))
			must(t, direct, strings.Replace(stop, "STOP", "START", 1))
			mysqltest.WaitFor(t, "reads on the replica once more", servedBy("2"))
			must(t, direct, stop)
			must(t, direct, strings.Replace(stop, "STOP", "RESET", 1)+" ALL")
			mysqltest.WaitFor(t, "a server that is no replica to be passed over", func() bool { return servedBy("1")() && lagShown(t, c) == "NULL,YES" })
		})
	}
}

// lagShown returns the lag and passed_over of the only replica in SHOW KS NODES, by the names of the columns: others may follow them.
func lagShown(t testing.TB, c *mysqltest.RawClient) string {
	t.Helper()
	r := must(t, c, "SHOW KS NODES WHERE role = replica")
	if len(r.Rows) != 1 {
		t.Fatalf("%d replicas", len(r.Rows))
	}
	shown := map[string]string{"lag": "no such column", "passed_over": "no such column"}
	for k, column := range r.Columns {
		shown[column.Name] = "NULL"
		if v, ok := r.Rows[0][k].(string); ok {
			shown[column.Name] = v
		}
	}
	return shown["lag"] + "," + shown["passed_over"]
}

// A replica that only lost its source with the primary goes on to serve, by default.
func TestReplicaWithoutItsSource(t *testing.T) {
	t.Parallel()
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			primary := startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: 1})
			replica := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 2})
			p := startProxy(t, configText([]node{{name: "n", master: primary.Addr, slave: replica.Addr, conns: 4}}))
			c := p.client("")
			mysqltest.WaitFor(t, "reads on the replica", func() bool { return value(t, c, "SELECT @@server_id") == "2" })
			if err := primary.Stop(); err != nil {
				t.Fatal(err)
			}
			seen := false
			mysqltest.WaitFor(t, "the primary to be down", func() bool {
				if got := value(t, c, "SELECT @@server_id"); got != "2" {
					t.Fatalf("served by %s", got)
				}
				row := value(t, c, "SHOW KS NODES WHERE role = replica")
				seen = seen || strings.Contains(row, ",up,")
				return p.primary("n").Health().String() == "down"
			})
			if got := value(t, c, "SELECT @@server_id"); got != "2" || !seen {
				t.Errorf("served by %s, the replica seen up %v", got, seen)
			}
		})
	}
}

// A server that does not tell its lag is passed over where there is a bound, and only there; the primary's own server is never
// behind, and before the first probe nobody knows.
func TestReplicaLagNotKnown(t *testing.T) {
	t.Parallel()
	answer := answers("replica")
	replica := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		if text := string(payload); strings.Contains(text, "REPLICA") || strings.Contains(text, "SLAVE") {
			c.Error(1227, "Access denied; you need (at least one of) the REPLICATION CLIENT privilege(s) for this operation")
			return
		}
		answer(c, cmd, payload)
	}})
	primary := startScript(t, "primary")
	bound := func(lag string) string {
		return strings.Replace(configText([]node{{name: "n", master: primary.Addr, slave: replica.Addr, conns: 2}}), "down_after_noalive: 1", "roles: fixed, max_replica_lag: "+lag, 1)
	}
	p := startProxy(t, bound("auto"))
	c := p.client("")
	asked := func() bool { _, asked := p.Nodes()["n"].Replicas[0].Lag(); return asked }
	mysqltest.WaitFor(t, "a probe", asked)
	if got := value(t, c, "SELECT name"); got != "replica" {
		t.Errorf("by default: served by %s", got)
	}
	p.reload(bound("0"))
	if got := value(t, c, "SELECT name"); got != "replica" {
		t.Errorf("without a bound: served by %s", got)
	}
	p.reload(bound("10s"))
	for range 2 { // before and after a probe has asked
		if got := value(t, c, "SELECT name"); got != "primary" {
			t.Errorf("with a bound: served by %s", got)
		}
		mysqltest.WaitFor(t, "a probe", asked)
	}
	if n := strings.Count(p.log.String(), "does the account have REPLICATION CLIENT"); n != 1 {
		t.Errorf("the log says %d times that the server does not tell", n)
	}
	p.reload(strings.Replace(bound("10s"), `slave: "`+replica.Addr, `slave: "`+primary.Addr, 1))
	if got := p.Nodes()["n"].Reader(0); got.Role.String() != "replica" {
		t.Errorf("the primary as its own replica: reads go to the %s", got.Role)
	}
}
