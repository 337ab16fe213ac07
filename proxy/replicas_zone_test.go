package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// Reads go to the replica of the proxy's zone while it is up, and back to it when it is up again; another zone comes into force by a reload.
func TestReadsStayInZone(t *testing.T) {
	t.Parallel()
	near, far := startScript(t, "near"), startScript(t, "far")
	relay, err := mysqltest.StartRelay(near.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(relay.Close)
	zoned := func(zone string) string {
		text := configText([]node{{name: "n", master: startScript(t, "primary").Addr, slave: relay.Addr() + "," + far.Addr + "@9", conns: 4}}, "zone: "+zone)
		return strings.Replace(text, "down_after_noalive: 1",
			fmt.Sprintf(`down_after_noalive: 0, roles: fixed, max_replica_lag: 0, zones: {%q: eu-1a, %q: eu-1b}`, relay.Addr(), far.Addr), 1)
	}
	p := startProxy(t, zoned("eu-1a"))
	c := p.client("")
	served := func(by string) bool {
		for range 20 {
			if value(t, c, "SELECT name") != by {
				return false
			}
		}
		return true
	}
	if !served("near") {
		t.Error("reads leave the zone")
	}
	if err := relay.Set(mysqltest.RelayFault{Refuse: true}); err != nil {
		t.Fatal(err)
	}
	relay.Reset()
	mysqltest.WaitFor(t, "the other zone to serve", func() bool { return served("far") })
	if err := relay.Heal(); err != nil {
		t.Fatal(err)
	}
	mysqltest.WaitFor(t, "the zone to serve again", func() bool { return served("near") })
	p.reload(zoned("eu-1b"))
	if !served("far") {
		t.Error("another zone is not in force")
	}
	if shown := must(t, c, "SHOW KS NODES WHERE zone = 'eu-1a'").Rows; len(shown) != 1 || shown[0][1] != relay.Addr() {
		t.Errorf("SHOW KS NODES has in the zone: %v", shown)
	}
}
