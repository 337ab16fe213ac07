package proxy_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// BenchmarkSwitchover moves the primary's role to and fro by plan, under 2,000 statements a second of 200 clients, each time for a load of its own that goes on
// for a second and a half before and behind: -benchtime 20x are twenty. It reports errors of clients, for how long statements waited, and the 99.9th percentile of
// what operations took beyond that and beyond the one of the load at rest; of both the worst of all switches.
func BenchmarkSwitchover(b *testing.B) {
	for _, kind := range bothKinds {
		b.Run(string(kind), func(b *testing.B) {
			servers, text := switchable(b, kind)
			p := startProxy(b, text, "primary_wait_timeout: 60s", "pool_wait_timeout: 60s")
			operator := p.client("")
			const around = 1500 * time.Millisecond
			var held, added time.Duration
			faults := 0
			b.ResetTimer()
			for k := range b.N {
				must(b, operator, "DELETE FROM test.t")
				l := startLoad(b, p, "root", 200, 2000)
				time.Sleep(2 * around)
				switched := time.Now()
				r := must(b, operator, "KS NODE n SWITCHOVER TO '"+servers[(k+1)%2].Addr+"'")
				time.Sleep(around)
				l.finish()
				now, err := strconv.ParseFloat(r.Rows[0][2].(string), 64)
				if err != nil || r.Rows[0][5] != nil {
					b.Fatalf("%v, %v", r.Rows, err)
				}
				wait := time.Duration(now * float64(time.Millisecond))
				rest := l.percentile(999, switched.Add(-around), switched.Add(-time.Millisecond))
				whole := l.percentile(999, switched.Add(-around), switched.Add(around))
				held, added = max(held, wait), max(added, whole-rest-wait)
				faults += l.errors()
				b.Logf("switch %d: statements held for %v, p99.9 %v, at rest %v, %d operations, errors %v", k, wait, whole, rest, len(l.took), l.faults)
				direct := dial(b, servers[(k+1)%2].Addr, rootClient())
				if n := number(b, direct, "SELECT COUNT(*) FROM test.t"); n != len(l.acked) {
					b.Errorf("switch %d: %d rows of %d that were acknowledged", k, n, len(l.acked))
				}
				for _, s := range servers {
					c := dial(b, s.Addr, rootClient())
					mysqltest.WaitFor(b, "all rows on "+s.Addr, func() bool { return number(b, c, "SELECT COUNT(*) FROM test.t") == len(l.acked) })
				}
			}
			b.ReportMetric(float64(faults), "errors")
			b.ReportMetric(held.Seconds()*1e3, "ms-held")
			b.ReportMetric(added.Seconds()*1e3, "ms-added-p99.9")
		})
	}
}

// switchable starts a primary and a replica, and gives the configuration of a node of both whose role can be moved.
func switchable(t testing.TB, kind mysqltest.Kind) (servers [2]*mysqltest.RealServer, text string) {
	t.Helper()
	servers[0] = startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: 1})
	servers[1] = startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: servers[0], ServerID: 2})
	must(t, dial(t, servers[0].Addr, rootClient()), "CREATE TABLE test.t (id INT PRIMARY KEY)")
	account := fmt.Sprintf("replication_user: %s, replication_password: %s, down_after_noalive", mysqltest.User, mysqltest.Password)
	text = configText([]node{{name: "n", master: servers[0].Addr, slave: servers[1].Addr, conns: 8}}, "fast_lane: true")
	return servers, strings.Replace(text, "down_after_noalive", account, 1)
}
