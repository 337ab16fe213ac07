package proxy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// The primaries of two nodes die at once, over which a table is sharded, and each of their replicas is promoted.
func TestTwoPrimariesLost(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			var nodes []node
			var primaries, replicas []*mysqltest.RealServer
			for k, name := range []string{"n", "m"} {
				primary, replica := startPair(t, kind)
				must(t, dial(t, primary.Addr, rootClient()), fmt.Sprintf("CREATE TABLE test.t_%04d (id INT PRIMARY KEY)", k))
				primaries, replicas = append(primaries, primary), append(replicas, replica)
				nodes = append(nodes, node{name: name, master: primary.Addr, slave: replica.Addr, conns: 8})
			}
			rule := ", shard: [{db: test, table: t, key: id, nodes: [n, m], type: mod, locations: [1, 1]}]}"
			text := strings.Replace(configText(nodes, "fast_lane: true"), "nodes: [n, m], default: n}", "nodes: [n, m], default: n"+rule, 1)
			p := startProxy(t, text, "primary_wait_timeout: 60s")
			var w writers
			const clients = 16
			w.start(t, p, clients)
			w.more(t, 200)
			for _, s := range primaries {
				s.Kill()
			}
			mysqltest.WaitFor(t, "all clients to be held", func() bool {
				return p.Nodes()["n"].HoldStats().Waiting+p.Nodes()["m"].HoldStats().Waiting == clients
			})
			for _, s := range replicas {
				promote(t, s)
			}
			w.more(t, 200)
			close(w.stop)
			w.done.Wait()
			if n := w.errors.Load(); n > clients {
				t.Errorf("%d errors of %d clients", n, clients)
			}
			var rows int
			there := map[string]bool{}
			for k, s := range replicas {
				for _, row := range must(t, dial(t, s.Addr, rootClient()), fmt.Sprintf("SELECT id FROM test.t_%04d", k)).Rows {
					rows++
					there[row[0].(string)] = true
				}
			}
			if rows != len(there) {
				t.Errorf("%d rows of %d", rows, len(there))
			}
			w.check(t, there)
		})
	}
}

// A primary dies, and then the one that took its place.
func TestPrimaryLostTwice(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			first, second := startPair(t, kind)
			third := startAcknowledging(t, second, 3)
			must(t, dial(t, first.Addr, rootClient()), "CREATE TABLE test.t (id INT PRIMARY KEY)")
			p := startProxy(t, configText([]node{{name: "n", master: first.Addr, slave: second.Addr + "," + third.Addr, conns: 8}}, "fast_lane: true"), "primary_wait_timeout: 60s")
			var w writers
			const clients = 16
			w.start(t, p, clients)
			w.more(t, 200)
			first.Kill()
			mysqltest.WaitFor(t, "statements to be held", func() bool { return p.Nodes()["n"].HoldStats().Waiting > 0 })
			detach(t, second)
			acknowledge(t, second, third)
			promoted := dial(t, second.Addr, rootClient())
			must(t, promoted, "SET GLOBAL read_only = 0")
			w.more(t, 200)
			mysqltest.WaitFor(t, "the epoch", func() bool {
				r, err := dial(t, third.Addr, rootClient()).Query("SELECT epoch FROM ks_meta.epoch")
				return err == nil && r.Err == nil && len(r.Rows) == 1
			})
			second.Kill()
			mysqltest.WaitFor(t, "statements to be held again", func() bool { return p.Nodes()["n"].HoldStats().Waiting > 0 })
			promote(t, third)
			w.more(t, 200)
			close(w.stop)
			w.done.Wait()
			if n := w.errors.Load(); n > 2*clients {
				t.Errorf("%d errors of %d clients", n, clients)
			}
			w.check(t, ids(t, dial(t, third.Addr, rootClient())))
		})
	}
}

// BenchmarkPrimaryLost kills a primary under 2,000 statements a second of 200 clients and promotes its replica, which acknowledges each transaction, five seconds
// later. It reports after how long behind the promotion the first change was made, the most of all, and the errors that clients had.
func BenchmarkPrimaryLost(b *testing.B) {
	for _, kind := range bothKinds {
		b.Run(string(kind), func(b *testing.B) {
			var resumed time.Duration
			faults := 0
			for range b.N {
				primary, replica := startPair(b, kind)
				must(b, dial(b, primary.Addr, rootClient()), "CREATE TABLE test.t (id INT PRIMARY KEY)")
				p := startProxy(b, configText([]node{{name: "n", master: primary.Addr, slave: replica.Addr, conns: 8}}, "fast_lane: true"), "primary_wait_timeout: 60s", "pool_wait_timeout: 60s")
				l := startLoad(b, p, "root", 200, 2000)
				time.Sleep(2 * time.Second)
				primary.Kill()
				time.Sleep(5 * time.Second)
				promote(b, replica)
				promoted := time.Now()
				direct := dial(b, replica.Addr, rootClient())
				before := number(b, direct, "SELECT COUNT(*) FROM test.t")
				mysqltest.WaitFor(b, "a row", func() bool { return number(b, direct, "SELECT COUNT(*) FROM test.t") > before })
				took := time.Since(promoted)
				resumed = max(resumed, took)
				time.Sleep(2 * time.Second)
				l.finish()
				faults += l.errors()
				b.Logf("changes after %v, %d operations, errors %v", took, len(l.took), l.faults)
				there := ids(b, direct)
				for _, id := range l.acked {
					if !there[fmt.Sprint(id)] {
						b.Errorf("row %d was acknowledged and is not there", id)
					}
				}
				for text := range l.faults {
					if !strings.Contains(text, "9003") && !strings.Contains(text, "1213") {
						b.Error(text)
					}
				}
			}
			b.ReportMetric(float64(faults)/float64(b.N), "errors/op")
			b.ReportMetric(resumed.Seconds()*1e3, "ms-until-writes")
		})
	}
}
