package proxy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// beats is how many heartbeats there were on a server, of all primaries.
func beats(t testing.TB, c *mysqltest.RawClient) int {
	t.Helper()
	r, err := c.Query("SELECT COALESCE(SUM(counter), 0) FROM ks_meta.heartbeat")
	if err != nil {
		t.Fatal(err)
	}
	if r.Err != nil { // it is not there yet
		return 0
	}
	var n int
	fmt.Sscan(r.Rows[0][0].(string), &n)
	return n
}

// moreBeats waits for heartbeats.
func moreBeats(t testing.TB, c *mysqltest.RawClient, n int) {
	t.Helper()
	want := beats(t, c) + n
	mysqltest.WaitFor(t, "heartbeats", func() bool { return beats(t, c) >= want })
}

// lagText is a configuration with a bound.
func lagText(primary, replica *mysqltest.RealServer, bound string) string {
	text := configText([]node{{name: "n", master: primary.Addr, slave: replica.Addr, conns: 4}})
	return strings.Replace(text, "down_after_noalive: 1", "max_replica_lag: "+bound, 1)
}

// A replica whose applier has stopped falls behind though nobody changes anything, is passed over beyond the bound, and comes back when it runs again.
func TestHeartbeatLag(t *testing.T) {
	t.Parallel()
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			primary := startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: 1})
			replica := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 2, Settings: map[string]string{"autocommit": "0"}})
			source, direct := dial(t, primary.Addr, rootClient()), dial(t, replica.Addr, rootClient())
			must(t, direct, "SET autocommit = 1")
			p := startProxy(t, lagText(primary, replica, "2s"))
			c := p.client("")
			moreBeats(t, source, 2)
			mysqltest.WaitFor(t, "reads on the replica", func() bool { return value(t, c, "SELECT @@server_id") == "2" && lagShown(t, c) == "0,NO" })
			must(t, direct, "STOP "+replicaWord(kind)+" SQL_THREAD")
			grew := false
			mysqltest.WaitFor(t, "the replica to be passed over", func() bool {
				lag, passedOver, _ := strings.Cut(lagShown(t, c), ",")
				var seconds float64
				fmt.Sscan(lag, &seconds)
				grew = grew || seconds > 0 && seconds <= 2 && passedOver == "NO"
				if (seconds > 2) != (passedOver == "YES") {
					t.Fatalf("at a lag of %s passed over: %s", lag, passedOver)
				}
				return seconds > 4
			})
			if !grew {
				t.Error("the lag was not seen below the bound")
			}
			if got := value(t, c, "SELECT @@server_id"); got != "1" {
				t.Errorf("read from server %s", got)
			}
			must(t, direct, "START "+replicaWord(kind)+" SQL_THREAD")
			mysqltest.WaitFor(t, "reads on the replica again", func() bool { return value(t, c, "SELECT @@server_id") == "2" && lagShown(t, c) == "0,NO" })
			// Without a bound none are written.
			p.reload(lagText(primary, replica, "0"))
			before := beats(t, source)
			_, asked := p.Nodes()["n"].Roles.Seen(primary.Addr)
			mysqltest.WaitFor(t, "the primary to be asked again", func() bool { _, now := p.Nodes()["n"].Roles.Seen(primary.Addr); return now > asked+8 })
			if got := beats(t, source); got != before {
				t.Errorf("%d heartbeats without a bound", got-before)
			}
		})
	}
}

// Of two proxies one writes, and when it does not any more the other one.
func TestHeartbeatWriters(t *testing.T) {
	t.Parallel()
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			primary := startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: 1})
			replica := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 2})
			source := dial(t, primary.Addr, rootClient())
			text := lagText(primary, replica, "1s")
			first := startProxy(t, text)
			moreBeats(t, source, 2)
			writer := func() string { return value(t, source, "SELECT writer FROM ks_meta.heartbeat") }
			one := writer()
			second := startProxy(t, text)
			mysqltest.WaitFor(t, "the other proxy to know of heartbeats", func() bool {
				_, due := second.Nodes()["n"].HeartbeatDue(time.Now())
				return !due && second.Nodes()["n"].Roles.Behind(replica.Addr, time.Now()).Known
			})
			must(t, source, "SET GLOBAL log_output = 'TABLE'")
			must(t, source, "SET GLOBAL general_log = 1")
			began := beats(t, source)
			moreBeats(t, source, 8)
			must(t, source, "SET GLOBAL general_log = 0")
			grew := beats(t, source) - began
			written := number(t, source, "SELECT COUNT(*) FROM mysql.general_log WHERE CONVERT(argument USING utf8mb4) LIKE 'INSERT INTO ks_meta.heartbeat%'")
			by := number(t, source, "SELECT COUNT(DISTINCT thread_id) FROM mysql.general_log WHERE CONVERT(argument USING utf8mb4) LIKE 'INSERT INTO ks_meta.heartbeat%'")
			if by != 1 || written < grew-1 || written > grew+1 || writer() != one {
				t.Errorf("%d heartbeats by %d connections, the counter grew by %d", written, by, grew)
			}
			first.stop(time.Second)
			mysqltest.WaitFor(t, "the other proxy to write", func() bool { return writer() != one })
			moreBeats(t, source, 2)
		})
	}
}

// An account that may not write the table leaves the lag to what servers say.
func TestHeartbeatRefused(t *testing.T) {
	t.Parallel()
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			primary := startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: 1})
			replica := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 2})
			source, direct := dial(t, primary.Addr, rootClient()), dial(t, replica.Addr, rootClient())
			right := "REPLICATION CLIENT"
			if kind == mysqltest.MariaDB {
				right = "REPLICA MONITOR"
			}
			must(t, source, "CREATE USER own IDENTIFIED BY 'own'")
			must(t, source, "GRANT "+right+" ON *.* TO own")
			if err := replica.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(lagText(primary, replica, "1s"), "user: root, password: root, master", "user: root, password: root, admin_user: own, admin_password: own, master")
			p := startProxy(t, text)
			c := p.client("")
			mysqltest.WaitFor(t, "the log to say so", func() bool { return strings.Contains(p.log.String(), "no heartbeats can be written") })
			mysqltest.WaitFor(t, "no lag to be shown", func() bool { return lagShown(t, c) == "0,NO" })
			must(t, direct, "STOP "+replicaWord(kind))
			mysqltest.WaitFor(t, "no lag to be known", func() bool { return lagShown(t, c) == "NULL,YES" })
			if n := strings.Count(p.log.String(), "no heartbeats can be written"); n != 1 {
				t.Errorf("told %d times", n)
			}
		})
	}
}

// A new primary that lacks heartbeats of the old one, and nothing else, lacks nothing.
func TestHeartbeatsLost(t *testing.T) {
	t.Parallel()
	for _, kind := range bothKinds {
		for name, change := range map[string]bool{"heartbeats": false, "a change": true} {
			t.Run(string(kind)+"/"+name, func(t *testing.T) {
				t.Parallel()
				primary := startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: 1})
				replica := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 2})
				source, direct := dial(t, primary.Addr, rootClient()), dial(t, replica.Addr, rootClient())
				must(t, source, "CREATE TABLE test.t (id INT PRIMARY KEY)")
				p := startProxy(t, lagText(primary, replica, "30s"), "primary_wait_timeout: 60s")
				moreBeats(t, source, 1)
				mysqltest.WaitFor(t, "heartbeats on the replica", func() bool { return beats(t, direct) > 0 })
				must(t, direct, "STOP "+replicaWord(kind)+" IO_THREAD")
				moreBeats(t, source, 3)
				if change {
					must(t, p.client("test"), "INSERT INTO t VALUES (1)")
				}
				moreBeats(t, source, 3)
				lost := beats(t, source) - beats(t, direct)
				primary.Kill()
				promote(t, replica)
				if change {
					mysqltest.WaitFor(t, "the new primary to be found to lack something", func() bool { return strings.Contains(p.Nodes()["n"].Roles.Verdict().Reason, "lacks transactions") })
					return
				}
				if lost < 5 {
					t.Fatalf("it lacks %d heartbeats", lost)
				}
				must(t, p.client("test"), "INSERT INTO t VALUES (1)")
				if got := p.primary("n").Addr; got != replica.Addr {
					t.Errorf("the primary is %s", got)
				}
				moreBeats(t, direct, 2)
				if got := value(t, direct, "SELECT COUNT(*) FROM ks_meta.heartbeat"); got != "2" {
					t.Errorf("%s servers have heartbeats", got)
				}
			})
		}
	}
}

// A heartbeat that no replica acknowledges has been lost by nobody, either, and hinders nothing else on the way.
func TestHeartbeatUnacknowledged(t *testing.T) {
	t.Parallel()
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			primary, replica := startPair(t, kind)
			source, direct := dial(t, primary.Addr, rootClient()), dial(t, replica.Addr, rootClient())
			must(t, source, "CREATE TABLE test.t (id INT PRIMARY KEY)")
			p := startProxy(t, lagText(primary, replica, "30s"), "primary_wait_timeout: 60s")
			moreBeats(t, source, 2)
			must(t, direct, "STOP "+replicaWord(kind)+" IO_THREAD")
			roles := p.Nodes()["n"].Roles
			mysqltest.WaitFor(t, "a heartbeat to wait", func() bool { o, _ := roles.Seen(primary.Addr); return o.Unsure })
			_, asked := roles.Seen(primary.Addr)
			mysqltest.WaitFor(t, "the primary to answer meanwhile", func() bool {
				o, now := roles.Seen(primary.Addr)
				return now > asked+8 && o.Failures == 0 && o.Unsure
			})
			primary.Kill()
			promote(t, replica)
			must(t, p.client("test"), "INSERT INTO t VALUES (1)")
			if got := p.primary("n").Addr; got != replica.Addr {
				t.Errorf("the primary is %s", got)
			}
		})
	}
}
