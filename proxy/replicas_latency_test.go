package proxy_test

import (
	"strings"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// byLatency is a configuration with two replicas that reads choose by latency.
func byLatency(primary, a, b string) string {
	return strings.Replace(configText([]node{{name: "n", master: primary, slave: a + "," + b, conns: 30}}), "down_after_noalive: 1",
		"down_after_noalive: 0, roles: fixed, max_replica_lag: 0, replica_choice: latency", 1)
}

// A slow replica gets few reads, is still looked at, and has its share again when it is fast.
func TestReplicaByLatency(t *testing.T) {
	t.Parallel()
	relays := map[string]*mysqltest.Relay{}
	for _, name := range []string{"a", "b"} {
		r, err := mysqltest.StartRelay(startScript(t, name).Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		relays[name] = r
	}
	slow := func(name string, delay time.Duration) {
		if err := relays[name].Set(mysqltest.RelayFault{Delay: delay}); err != nil {
			t.Fatal(err)
		}
	}
	p := startProxy(t, byLatency(startScript(t, "primary").Addr, relays["a"].Addr(), relays["b"].Addr()))
	c := p.client("")
	reads := func(number int) map[string]int {
		served := map[string]int{}
		for range number {
			served[value(t, c, "SELECT name")]++
		}
		return served
	}
	const delay = 50 * time.Millisecond
	slow("b", delay)
	b := p.Nodes()["n"].Replicas[1]
	mysqltest.WaitFor(t, "b to be found slow", func() bool { reads(5); return b.Latency.Mean() >= delay })
	if served := reads(200); served["b"] > 40 || served["primary"] > 0 {
		t.Errorf("one is slow: %v", served)
	}
	for range 2 {
		mysqltest.WaitFor(t, "b to be asked again", func() bool { return reads(1)["b"] > 0 })
	}
	slow("b", 0)
	slow("a", delay)
	mysqltest.WaitFor(t, "b to be found fast", func() bool { return reads(20)["b"] >= 15 })
	mysqltest.WaitFor(t, "SHOW KS NODES to tell which is slow", func() bool {
		reads(5)
		return len(must(t, c, "SHOW KS NODES WHERE instance = '"+relays["a"].Addr()+"' AND latency_ms >= 25").Rows) == 1
	})
}

// As long as nothing is known of their latency, reads go to the replica that has fewer of them under way.
func TestReplicaByLoad(t *testing.T) {
	t.Parallel()
	a, begunA, releaseA := slowReports(t, "a")
	b, begunB, releaseB := slowReports(t, "b")
	p := startProxy(t, byLatency(startScript(t, "primary").Addr, a.Addr, b.Addr), "health_interval: 1h")
	for _, r := range p.Nodes()["n"].Replicas {
		<-r.Known()
	}
	onA, onB := 0, 0
	done := make(chan error)
	const reports = 20
	for range reports {
		c := p.client("")
		go func() {
			_, err := c.Query("SELECT name /* report */")
			done <- err
		}()
		select {
		case <-begunA:
			onA++
		case <-begunB:
			onB++
		}
		if onA-onB > 1 || onB-onA > 1 {
			t.Errorf("%d reads on one, %d on the other", onA, onB)
		}
	}
	close(releaseA)
	close(releaseB)
	for range reports {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
