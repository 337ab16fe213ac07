package proxy_test

import (
	"testing"

	"kingshard/mysql/mysqltest"
)

// A process with little to do runs on one processor. The scheduler has a place more while the fast lane is in use.
func TestProcessors(t *testing.T) {
	server := startScript(t, "script")
	binary := buildBinary(t)
	for lane, want := range map[string]int{"on": 2, "off": 1} {
		t.Run("fast_lane "+lane, func(t *testing.T) {
			d := startDaemon(t, binary, oneNode(server.Addr, 4)+"fast_lane: "+lane+"\n", "GOMAXPROCS=4")
			const places = "go_sched_gomaxprocs_threads"
			mysqltest.WaitFor(t, "one processor", func() bool { return d.metric("kingshard_processors") == 1 && d.metric(places) == 1 })
			c := dial(t, d.addr, rootClient())
			mysqltest.WaitFor(t, "places for what there is to do", func() bool {
				for range 50 {
					must(t, c, "SELECT 1")
				}
				return d.metric(places) == want
			})
			if got := d.metric("kingshard_processors"); got != 1 {
				t.Errorf("%d processors for a few statements", got)
			}
		})
	}
}
