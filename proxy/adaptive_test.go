package proxy_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// thrashing is a server that serves so many statements at once as quickly as one, and of more loses time to each of them.
type thrashing struct {
	*mysqltest.ScriptServer
	capacity atomic.Int64
	running  atomic.Int64
}

// startThrashing starts one that takes alone for a statement that says work. loss is the part of the work of one statement that each beyond the capacity costs.
func startThrashing(t testing.TB, capacity int, alone time.Duration, loss float64) *thrashing {
	s := new(thrashing)
	s.capacity.Store(int64(capacity))
	answer := answers("s")
	s.ScriptServer = mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		if strings.Contains(string(payload), "work") {
			s.running.Add(1)
			const steps = 4
			for range steps { // others come and go meanwhile
				running, capacity := float64(s.running.Load()), float64(s.capacity.Load())
				share := max(1, running/capacity)
				c.Delay(time.Duration(float64(alone/steps) * share * (1 + loss*max(0, running-capacity))))
			}
			s.running.Add(-1)
		}
		answer(c, cmd, payload)
	}})
	return s
}

// adaptively is the configuration of a node on one server with a limit that is found.
func adaptively(addr string, conns, least int) string {
	return strings.Replace(oneNode(addr, conns), "max_conns_limit", fmt.Sprintf("adaptive_conns_limit: %d, max_conns_limit", least), 1)
}

// busy has clients send a statement again and again until stop is called, which waits for them, or the test ends.
func busy(t *testing.T, p *testProxy, clients int, statement string) (stop func()) {
	var over atomic.Bool
	var all sync.WaitGroup
	for range clients {
		c := p.client("")
		all.Go(func() {
			for !over.Load() {
				if r, err := c.Query(statement); err != nil || r.Err != nil {
					t.Errorf("%v, %v", err, r)
					return
				}
			}
		})
	}
	stop = func() {
		over.Store(true)
		all.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// A server that cannot serve as many at once as there are connections gets fewer, as many as it serves best, and more again when it can.
func TestAdaptiveConnsLimit(t *testing.T) {
	for _, lane := range []string{"fast_lane: true", "fast_lane: false"} {
		t.Run(lane, func(t *testing.T) {
			t.Parallel()
			const conns, alone = 24, 15 * time.Millisecond // what others on the machine take is little beside it
			server := startThrashing(t, 100, alone, 0)
			p := startProxy(t, adaptively(server.Addr, conns, 2), lane, "pool_wait_timeout: 20s")
			limit := func() int { return p.primary("n").Stats().Limit }
			stop := busy(t, p, 2*conns, "SELECT work")
			mysqltest.WaitFor(t, "the limit to be the ceiling", func() bool { return limit() == conns })
			server.capacity.Store(1)
			mysqltest.WaitFor(t, "it to fall", func() bool { return limit() <= 9 && server.running.Load() <= 9 })
			c := p.client("")
			if got := must(t, c, "SHOW KS POOLS WHERE max = 24 AND in_use_max < 18").Rows; len(got) != 1 {
				t.Error("SHOW KS POOLS does not tell the limit")
			}
			server.capacity.Store(100)
			mysqltest.WaitFor(t, "it to rise", func() bool { return limit() >= 18 })
			server.capacity.Store(1)
			mysqltest.WaitFor(t, "it to fall again", func() bool { return limit() <= 9 })
			must(t, p.client(""), "KS SET nodes[n].max_conns_limit = 22")
			if got := limit(); got > 20 {
				t.Errorf("a reload has forgotten the limit: it is %d", got)
			}
			must(t, p.client(""), "KS SET nodes[n].adaptive_conns_limit = 0")
			mysqltest.WaitFor(t, "as many to be used as may be", func() bool { return limit() == 22 && p.primary("n").Stats().InUse == 22 })
			stop()
		})
	}
}

// Who has a transaction does not wait for the limit, also where transactions use all of it.
func TestAdaptiveConnsLimitSpares(t *testing.T) {
	t.Parallel()
	server := startThrashing(t, 1, 20*time.Millisecond, 0)
	p := startProxy(t, adaptively(server.Addr, 12, 2), "pool_wait_timeout: 20s")
	stop := busy(t, p, 24, "SELECT work") // few, so that little but the server's work takes time on a busy machine
	mysqltest.WaitFor(t, "the limit to fall", func() bool { return p.primary("n").Stats().Limit <= 6 })
	stop()
	limit := p.primary("n").Stats().Limit
	var holders []*mysqltest.RawClient
	for range limit { // the limit is used up
		c := p.client("")
		must(t, c, "BEGIN")
		must(t, c, "SELECT work")
		holders = append(holders, c)
	}
	for _, c := range holders {
		must(t, c, "SELECT work")
	}
	must(t, p.client(""), "SELECT work") // as nobody works, there is room before long
	for _, c := range holders {
		must(t, c, "COMMIT")
	}
}

// BenchmarkThrashing offers twice what a server can serve, at a constant rate, one that loses time to many statements at once and one that does not, behind a pool of 200 connections: an operation
// is one statement that is offered. It reports how many were served of those that the server could, and the 99th percentile of their time.
func BenchmarkThrashing(b *testing.B) {
	for _, c := range []struct {
		loss  float64
		least int
	}{{0.02, 0}, {0.02, 2}, {0, 0}, {0, 2}} {
		b.Run(fmt.Sprintf("loss=%g/adaptive_conns_limit=%d", c.loss, c.least), func(b *testing.B) {
			const (
				capacity = 8
				alone    = 16 * time.Millisecond
				gap      = alone / capacity / 2
			)
			server := startThrashing(b, capacity, alone, c.loss)
			p := startProxy(b, adaptively(server.Addr, 200, c.least), "pool_wait_timeout: 1s")
			clients := make(chan *mysqltest.RawClient, 1200)
			for range cap(clients) {
				clients <- p.client("")
			}
			b.ResetTimer()
			began := time.Now()
			served, refused, late := openLoop(b, clients, gap, "SELECT work")
			b.ReportMetric(float64(len(served))*float64(alone)/capacity/float64(time.Since(began))*100, "%goodput")
			b.ReportMetric(percentile(served, 50).Seconds()*1e3, "ms-served-p50")
			b.ReportMetric(percentile(served, 99).Seconds()*1e3, "ms-served-p99")
			b.ReportMetric(percentile(refused, 99).Seconds()*1e3, "ms-refused-p99")
			b.ReportMetric(float64(late), "late")
		})
	}
}
