package proxy_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"kingshard/mysql/mysqltest"
)

// startOwn starts a server for one test.
func startOwn(t testing.TB, c mysqltest.ServerConfig) *mysqltest.RealServer {
	t.Helper()
	s, err := mysqltest.StartServer(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A planned change of the primary, by KS PAUSE, KS NODE ... SET PRIMARY and KS RESUME, costs no client an error and loses no change.
func TestPlannedSwitchover(t *testing.T) {
	if testing.Short() {
		t.Skip("two servers of its own")
	}
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			primary := startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: 1})
			replica := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 2})
			source := dial(t, primary.Addr, rootClient())
			must(t, source, "CREATE TABLE test.t (id INT PRIMARY KEY, v INT NOT NULL)")
			p := startProxy(t, oneNode(primary.Addr, 6, "fast_lane: true"), "pool_wait_timeout: 60s", "connect_timeout: 30s")
			operator := p.client("")
			stop := make(chan struct{})
			var load sync.WaitGroup
			var changes atomic.Int64
			const clients = 16
			for k := range clients {
				must(t, source, fmt.Sprintf("INSERT INTO test.t VALUES (%d, 0)", k))
				c := p.client("")
				load.Go(func() { changes.Add(writeUntil(t, c, k, stop)) })
			}
			mysqltest.WaitFor(t, "the clients to write", func() bool { return number(t, source, "SELECT MIN(v) FROM test.t") > 2 })
			must(t, operator, "KS PAUSE SECONDS 600")
			mysqltest.WaitFor(t, "the servers to be at rest", func() bool {
				return strings.HasPrefix(value(t, operator, "KS PAUSE SECONDS 600"), fmt.Sprintf("paused,0,%d,", clients))
			})
			before := value(t, source, "SELECT SUM(v) FROM test.t")
			must(t, source, "SET GLOBAL read_only = 1") // root may pass it; nobody writes now
			if err := replica.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			promoted := dial(t, replica.Addr, rootClient())
			must(t, promoted, "SET GLOBAL read_only = 1")
			if e := fails(t, operator, "KS NODE n SET PRIMARY '"+replica.Addr+"'", 9032); !strings.Contains(e.Message, "takes no writes, read_only is set there") {
				t.Errorf("a primary that is read only: %v", e)
			}
			must(t, promoted, "SET GLOBAL read_only = 0")
			must(t, operator, "KS NODE n SET PRIMARY '"+replica.Addr+"'")
			must(t, operator, "KS RESUME")
			mysqltest.WaitFor(t, "the clients to write again", func() bool { return number(t, promoted, "SELECT MIN(v) FROM test.t") > 5 })
			close(stop)
			load.Wait()
			if got := number(t, promoted, "SELECT SUM(v) FROM test.t"); int64(got) != changes.Load() {
				t.Errorf("the new primary has %d changes, the clients made %d", got, changes.Load())
			}
			if got := value(t, source, "SELECT SUM(v) FROM test.t"); got != before {
				t.Errorf("the old primary has %s changes, at the switch it had %s", got, before)
			}
		})
	}
}

// writeUntil changes a row again and again, by itself and in transactions, and gives how often.
func writeUntil(t *testing.T, c *mysqltest.RawClient, k int, stop <-chan struct{}) (changes int64) {
	change := fmt.Sprintf("UPDATE test.t SET v = v + 1 WHERE id = %d", k)
	for n := 0; ; n++ {
		select {
		case <-stop:
			return changes
		default:
		}
		texts := []string{change}
		if n%2 == 1 {
			texts = []string{"BEGIN", change, fmt.Sprintf("SELECT v FROM test.t WHERE id = %d", k), "COMMIT"}
		}
		for _, text := range texts {
			if r, err := c.Query(text); err != nil || r.Err != nil {
				t.Errorf("client %d, %s: %v, %+v", k, text, err, r)
				return changes
			}
		}
		changes++
	}
}
