package proxy_test

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
	"kingshard/proxy/session"
)

// Who would wait for a connection for too long, as the line moves, is refused at once and hears why; those in line are served.
func TestOverload(t *testing.T) {
	for _, lane := range []string{"fast_lane: true", "fast_lane: false"} {
		t.Run(lane, func(t *testing.T) {
			server := mysqltest.Shared(t, mysqltest.MariaDB)
			p := startProxy(t, oneNode(server.Addr, 1), lane, "pool_wait_timeout: 8s")
			holder := p.client("")
			must(t, holder, "BEGIN")
			must(t, holder, "SELECT 1")
			var waiting sync.WaitGroup
			const line = 40
			for range line {
				c := p.client("")
				waiting.Go(func() {
					if r, err := c.Query("SELECT 1"); err != nil || r.Err != nil {
						t.Errorf("in line: %v, %v", err, r)
					}
				})
			}
			mysqltest.WaitFor(t, "the line", func() bool { return p.primary("n").Stats().Waiting == line })
			must(t, holder, "SELECT SLEEP(2.5)")
			late := p.client("")
			refused := fails(t, late, "SELECT 1", session.KSTooManyWaiters)
			for _, part := range []string{"40 are, one more might for ", " of the 8s that it has; 1 of 1 in use"} {
				if !strings.Contains(refused.Message, part) {
					t.Errorf("%q does not say %q", refused.Message, part)
				}
			}
			must(t, holder, "COMMIT")
			waiting.Wait()
			must(t, late, "SELECT 1")
		})
	}
}

// BenchmarkOverload offers three times what a pool of 8 connections can carry, with statements of 20 ms, at a constant rate: an operation is one
// statement that is offered. -benchtime 72000x is a minute. It reports how many were served of those that the connections could have, the
// 99th percentile of the time of those served and of those refused, and by how much the memory in use has grown.
func BenchmarkOverload(b *testing.B) {
	server := mysqltest.Shared(b, mysqltest.MariaDB)
	const (
		conns = 8
		held  = 20 * time.Millisecond
		gap   = held / conns / 3
		bound = time.Second
	)
	statement := fmt.Sprintf("SELECT SLEEP(%g)", held.Seconds())
	p := startProxy(b, oneNode(server.Addr, conns), "pool_wait_timeout: "+bound.String())
	clients := make(chan *mysqltest.RawClient, 3*int(bound/gap))
	for range cap(clients) {
		clients <- p.client("")
	}
	peak := closedLoop(b, clients, conns, statement)
	before := heapInUse()
	b.ResetTimer()
	began := time.Now()
	served, refused, failed := openLoop(b, clients, gap, statement)
	if failed > 0 {
		b.Errorf("%d statements had other errors than a refusal", failed)
	}
	b.ReportMetric(float64(len(served))/time.Since(began).Seconds()/peak*100, "%goodput")
	b.ReportMetric(percentile(served, 99).Seconds()*1e3, "ms-served-p99")
	b.ReportMetric(percentile(refused, 99).Seconds()*1e3, "ms-refused-p99")
	b.ReportMetric(float64(heapInUse()-before)/1024, "KiB-grown")
}

// openLoop offers b.N statements, one each gap, whatever becomes of those before. It returns what those that were served, and those that were refused as too many
// waited, took from when they were due, and how many had another error.
func openLoop(b *testing.B, clients chan *mysqltest.RawClient, gap time.Duration, statement string) (served, refused []time.Duration, failed int) {
	var mu sync.Mutex
	var all sync.WaitGroup
	began := time.Now()
	for n := range b.N {
		due := began.Add(time.Duration(n) * gap)
		<-time.After(time.Until(due))
		c := <-clients
		all.Go(func() {
			r, err := c.Query(statement)
			took := time.Since(due)
			clients <- c
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				b.Error(err)
			case r.Err == nil:
				served = append(served, took)
			case r.Err.Code == session.KSTooManyWaiters:
				refused = append(refused, took)
			default:
				failed++
				b.Log(r.Err)
			}
		})
	}
	all.Wait()
	return served, refused, failed
}

// closedLoop is the rate at which n clients have a statement served, one behind the other each.
func closedLoop(b *testing.B, clients chan *mysqltest.RawClient, n int, statement string) (perSecond float64) {
	const each = 50
	began := time.Now()
	var all sync.WaitGroup
	for range n {
		c := <-clients
		all.Go(func() {
			for range each {
				if r, err := c.Query(statement); err != nil || r.Err != nil {
					b.Error(cmp.Or(err, error(r.Err)))
				}
			}
			clients <- c
		})
	}
	all.Wait()
	return float64(n*each) / time.Since(began).Seconds()
}

func percentile(all []time.Duration, p int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)-1)*p/100]
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
