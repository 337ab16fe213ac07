package proxy_test

import (
	"strings"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// BenchmarkPacketsDropped has all packets to one of two nodes dropped for a minute, under 1,000 statements a second to each, and the settings for waiting as they are by
// default. It reports the 99th percentile on the other node at rest and meanwhile, the longest that any statement took, and after how long behind the end the node served again.
func BenchmarkPacketsDropped(b *testing.B) {
	for _, kind := range bothKinds {
		b.Run(string(kind), func(b *testing.B) {
			var nodes []node
			var relay *mysqltest.Relay
			for _, name := range []string{"n", "m"} {
				s := startOwn(b, mysqltest.ServerConfig{Kind: kind})
				must(b, dial(b, s.Addr, rootClient()), "CREATE TABLE test.t (id INT PRIMARY KEY)")
				one := node{name: name, master: s.Addr, conns: 16}
				if name == "n" {
					var err error
					if relay, err = mysqltest.StartRelay(s.Addr); err != nil {
						b.Fatal(err)
					}
					b.Cleanup(relay.Close)
					one.master = relay.Addr()
				}
				nodes = append(nodes, one)
			}
			text := strings.Replace(configText(nodes, "fast_lane: true"), "{user: ks, nodes: [n, m], default: n}", "{user: ks, nodes: [n, m], default: m}", 1)
			p := startProxy(b, text, "primary_wait_timeout: 10s", "pool_wait_timeout: 10s", "health_interval: 1s", "connect_timeout: 3s")
			for range b.N {
				for _, user := range []string{"root", "ks"} {
					must(b, dial(b, p.addr, mysqltest.ClientConfig{User: user, Password: user}), "DELETE FROM test.t")
				}
				n, m := startLoad(b, p, "root", 200, 1000), startLoad(b, p, "ks", 200, 1000)
				const rest, lost = 10 * time.Second, time.Minute
				time.Sleep(rest)
				began := time.Now()
				if err := relay.Set(mysqltest.RelayFault{Stall: true}); err != nil {
					b.Fatal(err)
				}
				time.Sleep(lost)
				healed := time.Now()
				if err := relay.Heal(); err != nil {
					b.Fatal(err)
				}
				served := n.served(b, healed)
				time.Sleep(5 * time.Second)
				n.finish()
				m.finish()
				b.Logf("errors %v, on the other node %v", n.faults, m.faults)
				mysqltest.WaitFor(b, "all connections to be back", func() bool { return p.primary("n").Stats().InUse == 0 && p.primary("m").Stats().InUse == 0 })
				if st := p.primary("n").Stats(); st.Open > 16 || m.errors() > 0 {
					b.Errorf("%+v, %d errors on the other node", st, m.errors())
				}
				b.ReportMetric(m.percentile(990, began.Add(-rest/2), began).Seconds()*1e3, "ms-p99-at-rest")
				b.ReportMetric(m.percentile(990, began, healed).Seconds()*1e3, "ms-p99-meanwhile")
				b.ReportMetric(n.slowest().Seconds(), "s-slowest")
				b.ReportMetric(served.Sub(healed).Seconds()*1e3, "ms-until-served")
			}
		})
	}
}
