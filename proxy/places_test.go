package proxy_test

import (
	"testing"

	"kingshard/mysql/mysqltest"
)

// A process with little to do runs on one processor. The scheduler has a place more while the fast lane is in use, be it for statements of its
// own or for those of goroutines, whose connections it watches.
func TestProcessors(t *testing.T) {
	server := startScript(t, "script")
	binary := buildBinary(t)
	for name, c := range map[string]struct {
		lane, first string
		want        int
	}{
		"fast lane": {"on", "SELECT 1", 2}, "a session with a connection of its own": {"on", "CREATE TEMPORARY TABLE t (id INT)", 2}, "goroutines": {"off", "SELECT 1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := startDaemon(t, binary, oneNode(server.Addr, 4)+"fast_lane: "+c.lane+"\n", "GOMAXPROCS=4")
			const places = "go_sched_gomaxprocs_threads"
			mysqltest.WaitFor(t, "one processor", func() bool { return d.metric("kingshard_processors") == 1 && d.metric(places) == 1 })
			client := dial(t, d.addr, rootClient())
			must(t, client, c.first)
			mysqltest.WaitFor(t, "places for what there is to do", func() bool {
				for range 50 {
					must(t, client, "SELECT 1")
				}
				return d.metric(places) == c.want
			})
			if got := d.metric("kingshard_processors"); got != 1 {
				t.Errorf("%d processors for a few statements", got)
			}
		})
	}
}
