package proxy_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// replicated is a primary with a replica, server 2, and a table t of both.
type replicated struct {
	kind             mysqltest.Kind
	primary, replica *mysqltest.RealServer
	// onReplica is a connection of root's.
	onReplica *mysqltest.RawClient
}

// startReplicated starts a pair of servers.
func startReplicated(t *testing.T, kind mysqltest.Kind) *replicated {
	t.Helper()
	r := &replicated{kind: kind, primary: startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: 1})}
	r.replica = startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: r.primary, ServerID: 2})
	r.onReplica = dial(t, r.replica.Addr, rootClient())
	must(t, dial(t, r.primary.Addr, rootClient()), "CREATE TABLE test.t (id INT PRIMARY KEY, v INT NOT NULL DEFAULT 0)")
	if err := r.replica.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// config is the configuration of a proxy with the pair as its only node, at a level of replica_consistency.
func (r *replicated) config(level string) string {
	text := configText([]node{{name: "n", master: r.primary.Addr, slave: r.replica.Addr, conns: 8}}, "replica_consistency: "+level)
	text = replaceLine(text, "primary_wait_timeout: 10s") // the first statements come before it is known which server is the primary
	return strings.Replace(text, "down_after_noalive: 1", "max_replica_lag: 0", 1)
}

// replication sends statements of MySQL's on replication in the words of the replica.
func (r *replicated) replication(t *testing.T, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if r.kind == mysqltest.MariaDB {
			text = strings.NewReplacer("CHANGE REPLICATION SOURCE", "CHANGE MASTER", "REPLICA", "SLAVE", "SOURCE_", "MASTER_").Replace(text)
		}
		must(t, r.onReplica, text)
	}
}

// applies has the replica apply what it gets so many seconds late.
func (r *replicated) applies(t *testing.T, late int) {
	t.Helper()
	r.replication(t, "STOP REPLICA", fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_DELAY = %d", late), "START REPLICA")
}

// onReplicated runs a test with a pair of either kind.
func onReplicated(t *testing.T, f func(t *testing.T, r *replicated)) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			f(t, startReplicated(t, kind))
		})
	}
}

// outcomes are the counts of reads that had to find what was changed.
func (p *testProxy) outcomes() [3]uint64 { return p.Totals().Fresh }

// servers tells by which server a read is served that has to find the session's changes.
func servedBy(t testing.TB, c *mysqltest.RawClient) string {
	t.Helper()
	id, _, _ := strings.Cut(value(t, c, "SELECT @@server_id, COUNT(*) FROM test.t"), ",")
	return id
}

// change is a way to set v of a row of test.t to n, behind which a read has to find it.
type change struct {
	name  string
	holds bool // it leaves the session on the primary's connection
	run   func(t *testing.T, c *mysqltest.RawClient, n int)
}

// waysToCommit are the ways to commit something.
var waysToCommit = []change{
	{"autocommit", false, func(t *testing.T, c *mysqltest.RawClient, n int) {
		must(t, c, "UPDATE test.t SET v = "+strconv.Itoa(n)+" WHERE id = 1")
	}},
	{"transaction", false, func(t *testing.T, c *mysqltest.RawClient, n int) {
		must(t, c, "BEGIN")
		must(t, c, "UPDATE test.t SET v = "+strconv.Itoa(n)+" WHERE id = 1")
		must(t, c, "SELECT v FROM test.t WHERE id = 1")
		must(t, c, "COMMIT")
	}},
	{"autocommit off", false, func(t *testing.T, c *mysqltest.RawClient, n int) {
		must(t, c, "SET autocommit = 0")
		must(t, c, "UPDATE test.t SET v = "+strconv.Itoa(n)+" WHERE id = 1")
		must(t, c, "SET autocommit = 1")
	}},
	{"implicit commit", false, func(t *testing.T, c *mysqltest.RawClient, n int) {
		must(t, c, "BEGIN")
		must(t, c, "UPDATE test.t SET v = "+strconv.Itoa(n)+" WHERE id = 1")
		must(t, c, "CREATE TABLE IF NOT EXISTS test.u (id INT)")
	}},
	{"XA", false, func(t *testing.T, c *mysqltest.RawClient, n int) {
		must(t, c, "XA START 'x'")
		must(t, c, "UPDATE test.t SET v = "+strconv.Itoa(n)+" WHERE id = 1")
		must(t, c, "XA END 'x'")
		must(t, c, "XA PREPARE 'x'")
		must(t, c, "XA COMMIT 'x'")
	}},
	{"prepared", false, func(t *testing.T, c *mysqltest.RawClient, n int) {
		st, err := c.Prepare("UPDATE test.t SET v = ? WHERE id = 1")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := st.Execute(n); err != nil || r.Err != nil {
			t.Fatal(err, r.Err)
		}
		st.Close()
	}},
	{"procedure that fails", true, func(t *testing.T, c *mysqltest.RawClient, n int) {
		if r, err := c.Query("CALL test.p(" + strconv.Itoa(n) + ")"); err != nil || r.Err == nil {
			t.Fatal(err, "no error")
		}
	}},
	{"function", false, func(t *testing.T, c *mysqltest.RawClient, n int) { must(t, c, "SELECT test.f("+strconv.Itoa(n)+")") }},
	{"own trackers", false, func(t *testing.T, c *mysqltest.RawClient, n int) {
		for _, tracker := range []string{"session_track_system_variables", "session_track_gtids"} {
			if r, err := c.Query("SET " + tracker + " = DEFAULT"); err == nil && r.Err == nil {
				must(t, c, "SET "+tracker+" = "+map[bool]string{true: "OFF", false: "''"}[tracker == "session_track_gtids"])
				must(t, c, "UPDATE test.t SET v = "+strconv.Itoa(n)+" WHERE id = 1")
				must(t, c, "SET "+tracker+" = DEFAULT")
			}
		}
	}},
	{"several statements", false, func(t *testing.T, c *mysqltest.RawClient, n int) {
		r := must(t, c, "UPDATE test.t SET v = "+strconv.Itoa(n)+" WHERE id = 1; SELECT v FROM test.t WHERE id = 1")
		if got := r.Next.Rows[0][0]; got != strconv.Itoa(n) {
			t.Errorf("in the same text: %v, not %d", got, n)
		}
	}},
}

// routines are what some changes call.
func routines(t *testing.T, c *mysqltest.RawClient) {
	t.Helper()
	must(t, c, "INSERT INTO test.t VALUES (1, 0)")
	must(t, c, "CREATE PROCEDURE test.p(n INT) BEGIN UPDATE test.t SET v = n WHERE id = 1; INSERT INTO test.t VALUES (1, 0); END")
	must(t, c, "CREATE FUNCTION test.f(n INT) RETURNS INT DETERMINISTIC MODIFIES SQL DATA BEGIN UPDATE test.t SET v = n WHERE id = 1; RETURN n; END")
}

// A session reads what it has changed, however it was committed, while the replica that serves its reads is a second behind. The replica serves others, and
// the session again as soon as it has the change.
func TestReadsBehindChanges(t *testing.T) {
	t.Parallel()
	onReplicated(t, func(t *testing.T, r *replicated) {
		source := dial(t, r.primary.Addr, rootClient())
		routines(t, source)
		r.applies(t, 1)
		p := startProxy(t, r.config("session"))
		other := p.client("")
		mysqltest.WaitFor(t, "reads on the replica", func() bool { return servedBy(t, other) == "2" })
		n := 0
		for _, change := range waysToCommit {
			c := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", Capabilities: mysqltest.ScriptCapabilities | mysql.ClientMultiStatements})
			for range 2 {
				n++
				change.run(t, c, n)
				for range 2 {
					if got := value(t, c, "SELECT v FROM test.t WHERE id = 1"); got != strconv.Itoa(n) {
						t.Errorf("%s: %s, not %d", change.name, got, n)
					}
				}
				st, err := c.Prepare("SELECT v FROM test.t WHERE id = ?")
				if err != nil {
					t.Fatal(err)
				}
				n++
				change.run(t, c, n)
				if got, err := st.Execute(1); err != nil || got.Err != nil || got.Rows[0][0] != strconv.Itoa(n) {
					t.Errorf("%s, prepared read: %v %v, not %d", change.name, err, got.Rows, n)
				}
				st.Close()
			}
			if got := servedBy(t, other); got != "2" {
				t.Errorf("%s: a session that has changed nothing is served by %s", change.name, got)
			}
			if change.holds {
				continue
			}
			mysqltest.WaitFor(t, change.name+": the replica to serve the session again", func() bool { return servedBy(t, c) == "2" })
		}
		if got := p.outcomes(); got[2] == 0 || got[0] == 0 {
			t.Errorf("outcomes: %v", got)
		}
	})
}

// pairs is how many changes with a read behind each TestReadsWaitForReplicas makes at a level.
func pairs(level string) int {
	if level == "session" && os.Getenv("KS_ALL") != "" {
		return 100_000
	}
	return 500
}

// Behind a replica that is not late, reads wait for it, are not stale, and most of them are served there; without replica_consistency some are stale.
func TestReadsWaitForReplicas(t *testing.T) {
	t.Parallel()
	onReplicated(t, func(t *testing.T, r *replicated) {
		must(t, dial(t, r.primary.Addr, rootClient()), "INSERT INTO test.t VALUES (1, 0)")
		n := 0
		for _, level := range []string{"session", "global", "primary", "eventual"} {
			p := startProxy(t, strings.Replace(r.config(level), "max_replica_lag: 0", "max_replica_lag: 1h", 1)) // with heartbeats
			c, other := p.client("test"), p.client("test")
			mysqltest.WaitFor(t, "the servers to be known", func() bool {
				return !strings.Contains(value(t, c, "SELECT GROUP_CONCAT(state) FROM (SELECT 1 AS state) AS x"), "0") && servedBy(t, c) == "2" == (level != "primary")
			})
			st, err := c.Prepare("SELECT v FROM t WHERE id = ?")
			if err != nil {
				t.Fatal(err)
			}
			stale, reads := 0, c
			if level == "global" {
				reads = other
			}
			for k := range pairs(level) {
				n++
				must(t, c, "UPDATE t SET v = "+strconv.Itoa(n)+" WHERE id = 1")
				var got *mysqltest.RawResult
				if k%2 == 0 || level == "global" {
					got = must(t, reads, "SELECT v FROM t WHERE id = 1")
				} else if got, err = st.Execute(1); err != nil || got.Err != nil {
					t.Fatal(err, got.Err)
				}
				if got.Rows[0][0] != strconv.Itoa(n) {
					stale++
				}
			}
			at := p.Totals().Fresh
			t.Logf("%s: %d of %d reads are stale; at once, waited, primary: %v; %d in the fast lane", level, stale, pairs(level), at, p.Totals().Looped)
			switch waits := level == "session" || level == "global"; {
			case (stale > 0) != (level == "eventual"):
				t.Errorf("%s: %d of %d reads are stale", level, stale, pairs(level))
			case waits && at[0]+at[1] < uint64(pairs(level)/10), !waits && at != [3]uint64{}:
				t.Errorf("%s: at once, waited, primary: %v", level, at)
			}
		}
	})
}

// What a session has changed can be told to another one, of another proxy too, which then finds it; so does a session that moves to a new process.
func TestGTIDsOfAnotherSession(t *testing.T) {
	t.Parallel()
	onReplicated(t, func(t *testing.T, r *replicated) {
		must(t, dial(t, r.primary.Addr, rootClient()), "INSERT INTO test.t VALUES (1, 0)")
		if err := r.replica.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		p, other := startProxy(t, r.config("session")), startProxy(t, r.config("eventual"))
		c, reader := p.client(""), other.client("")
		mysqltest.WaitFor(t, "reads on the replica", func() bool { return servedBy(t, c) == "2" && servedBy(t, reader) == "2" })
		if got := value(t, c, "SELECT @@ks_gtid"); got != "" {
			t.Errorf("of a session that has changed nothing: %q", got)
		}
		r.replication(t, "STOP REPLICA SQL_THREAD")
		must(t, c, "UPDATE test.t SET v = 7 WHERE id = 1")
		gtid := value(t, c, "SELECT @@SESSION.ks_gtid")
		if !strings.HasPrefix(gtid, "n=") || strings.HasSuffix(gtid, "?") {
			t.Fatalf("of a session that has changed something: %q", gtid)
		}
		const read = "SELECT v FROM test.t WHERE id = 1"
		must(t, reader, "SET ks_gtid = '"+gtid+"'")
		if got := value(t, reader, read); got != "0" {
			t.Errorf("at level eventual: %s", got)
		}
		must(t, reader, "SET ks_replica_consistency = session")
		for range 3 {
			if got := value(t, reader, read); got != "7" {
				t.Errorf("with ks_gtid: %s", got)
			}
		}
		if got := value(t, reader, "SELECT @@ks_gtid"); got != gtid {
			t.Errorf("%q has become %q", gtid, got)
		}
		must(t, reader, "SET ks_gtid = 'n=?;unknown=?'")
		if got := value(t, reader, "SELECT @@ks_gtid, @@ks_replica_consistency"); got != "n=?,session" {
			t.Errorf("what is unknown: %q", got)
		}
		if got := value(t, reader, read); got != "7" {
			t.Errorf("with what is unknown: %s", got)
		}
		if got := value(t, reader, "SELECT @@ks_gtid"); got == "n=?" {
			t.Error("the primary was not asked")
		}
		must(t, reader, "SET ks_gtid = DEFAULT")
		if got := value(t, reader, read); got != "0" {
			t.Errorf("without ks_gtid: %s", got)
		}
		for _, text := range []string{"'n'", "'n=x'", "'n='", "'n=0-1-1'';'", "CONCAT('n=', '?')"} {
			if r, err := reader.Query("SET ks_gtid = " + text); err != nil || r.Err == nil || r.Err.Code != mysql.ERWrongValueForVar {
				t.Errorf("%s: %v %+v", text, err, r)
			}
		}
		if got := value(t, c, read); got != "7" {
			t.Errorf("the session itself: %s", got)
		}
		if r, err := c.Command(mysql.ComResetConnection, ""); err != nil {
			t.Fatal(err, r)
		}
		if got := value(t, c, "SELECT @@ks_gtid"); got != "" {
			t.Errorf("behind COM_RESET_CONNECTION: %q", got)
		}
	})
}

// A replica whose SQL thread is stopped serves nothing behind a change, and what it served the session before it did at once.
func TestStoppedReplicaServesNothingBehindAChange(t *testing.T) {
	t.Parallel()
	onReplicated(t, func(t *testing.T, r *replicated) {
		p := startProxy(t, r.config("session"))
		c, other := p.client(""), p.client("")
		mysqltest.WaitFor(t, "reads on the replica", func() bool { return servedBy(t, c) == "2" })
		r.replication(t, "STOP REPLICA SQL_THREAD")
		for id := range 50 {
			must(t, c, fmt.Sprintf("INSERT INTO test.t VALUES (%d, 0)", id))
			if got := value(t, c, "SELECT @@server_id, COUNT(*) FROM test.t"); got != fmt.Sprintf("1,%d", id+1) {
				t.Errorf("behind %d changes: server and rows %s", id+1, got)
			}
			if got := servedBy(t, other); got != "2" {
				t.Errorf("a session that has changed nothing is served by %s", got)
			}
		}
		r.replication(t, "START REPLICA SQL_THREAD")
		mysqltest.WaitFor(t, "the replica to serve the session again", func() bool { return servedBy(t, c) == "2" })
		if got := value(t, c, "SELECT COUNT(*) FROM test.t"); got != "50" {
			t.Errorf("%s rows", got)
		}
	})
}

// What statements and transactions over several nodes have committed is found on each of them, while no replica applies anything.
func TestReadsBehindChangesOfSeveralNodes(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := startWhole(t, kind)
			text := wholeConfig(r.servers[0].Addr, r.servers[1].Addr)
			var onReplicas []*replicated
			for k, primary := range r.servers {
				replica := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 11 + k})
				text = strings.Replace(text, `master: "`+primary.Addr+`"`, fmt.Sprintf(`master: "%s", slave: "%s", max_replica_lag: 0`, primary.Addr, replica.Addr), 1)
				onReplicas = append(onReplicas, &replicated{kind: kind, replica: replica, onReplica: dial(t, replica.Addr, rootClient())})
			}
			p := startProxy(t, text+"query_rules: [{name: r, pattern: 'MAX', route: replica}]\n")
			c, other := dial(t, p.addr, wholeClientConfig()), dial(t, p.addr, wholeClientConfig())
			must(t, c, "INSERT INTO t VALUES (1, 1, 0), (2, 1, 0)")
			must(t, c, "INSERT INTO r VALUES (1, 0)")
			for _, one := range onReplicas {
				if err := one.replica.CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			served := func(c *mysqltest.RawClient) string {
				return value(t, c, "SELECT @@server_id, v FROM t WHERE id = 1")[:2]
			}
			mysqltest.WaitFor(t, "reads on the replicas", func() bool { return served(c)[0] == '1' && served(c)[1] != ',' })
			for _, one := range onReplicas {
				one.replication(t, "STOP REPLICA SQL_THREAD")
			}
			n, sessions := 0, map[string]*mysqltest.RawClient{}
			for _, mode := range []string{"single", "best_effort", "atomic"} {
				for name, statements := range map[string][]string{
					"UPDATE":      {"UPDATE t SET v = ? WHERE id IN (1, 2)", "UPDATE r SET v = ? WHERE client = 1"},
					"INSERT":      {"DELETE FROM t WHERE id IN (1, 2)", "INSERT INTO t VALUES (1, 1, ?), (2, 1, ?)", "REPLACE INTO r VALUES (1, ?)"},
					"transaction": {"BEGIN", "UPDATE t SET v = ? WHERE id = 1", "UPDATE t SET v = ? WHERE id = 2", "UPDATE r SET v = ? WHERE client = 1", "COMMIT"},
					"DDL":         {"ALTER TABLE t DROP COLUMN v", "ALTER TABLE t ADD COLUMN v INT NOT NULL DEFAULT ?", "UPDATE r SET v = ? WHERE client = 1"},
				} {
					if mode == "single" && name == "transaction" {
						continue
					}
					c := dial(t, p.addr, wholeClientConfig())
					sessions[mode+", "+name] = c
					must(t, c, "SET ks_transaction_mode = "+mode)
					n++
					for _, statement := range statements {
						must(t, c, strings.ReplaceAll(statement, "?", strconv.Itoa(n)))
					}
					for _, read := range []string{"SELECT v FROM t WHERE id = 1", "SELECT v FROM t WHERE id = 2", "SELECT v FROM r WHERE client = 1", "SELECT MAX(v) FROM t WHERE id > 0"} {
						if got := value(t, c, read); got != strconv.Itoa(n) {
							t.Errorf("%s, %s: %s: %s, not %d", mode, name, read, got, n)
						}
					}
				}
			}
			if got := served(other); got[0] != '1' || got[1] == ',' {
				t.Errorf("a session that has changed nothing is served by %s", got)
			}
			for _, one := range onReplicas {
				one.replication(t, "START REPLICA SQL_THREAD")
				if err := one.replica.CatchUp(t.Context()); err != nil { // on its way there it has no column v for a while
					t.Fatal(err)
				}
			}
			for name, c := range sessions {
				mysqltest.WaitFor(t, name+": the replicas to serve the session again", func() bool { got := served(c); return got[0] == '1' && got[1] != ',' })
			}
		})
	}
}

// Where nobody knows what was committed, a session that has changed something reads from the primary, others from the replica.
func TestReadsBehindChangesWithoutGTIDs(t *testing.T) {
	t.Parallel()
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			r := &replicated{kind: kind, primary: startOwn(t, mysqltest.ServerConfig{Kind: kind, ServerID: 1}), replica: startOwn(t, mysqltest.ServerConfig{Kind: kind, ServerID: 2})}
			for _, s := range []*mysqltest.RealServer{r.primary, r.replica} {
				must(t, dial(t, s.Addr, rootClient()), "CREATE TABLE test.t (id INT PRIMARY KEY)")
			}
			p := startProxy(t, strings.Replace(r.config("session"), "max_replica_lag: 0", "roles: fixed, max_replica_lag: 0", 1)) // neither replicates
			c, other := p.client(""), p.client("")
			mysqltest.WaitFor(t, "reads on the replica", func() bool { return servedBy(t, c) == "2" })
			must(t, c, "SET NAMES utf8mb4")
			must(t, c, "BEGIN")
			must(t, c, "COMMIT")
			if got := servedBy(t, c); got != "2" {
				t.Errorf("a session that has only set something is served by %s", got)
			}
			must(t, c, "INSERT INTO test.t VALUES (1)")
			for range 20 {
				if got := value(t, c, "SELECT @@server_id, COUNT(*) FROM test.t"); got != "1,1" {
					t.Errorf("behind a change: server and rows %s", got)
				}
				if got := servedBy(t, other); got != "2" {
					t.Errorf("a session that has changed nothing is served by %s", got)
				}
			}
			if got := value(t, c, "SELECT @@ks_gtid"); got != "n=?" {
				t.Errorf("ks_gtid: %s", got)
			}
			if !strings.Contains(p.log.String(), "the server gives transactions no GTIDs") {
				t.Error("the log does not say why")
			}
		})
	}
}
