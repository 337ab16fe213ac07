package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// A switchover by plan costs no client an error, under changes by themselves and in transactions, and loses none; the old primary replicates from the new
// one, so that the way back is the same.
func TestSwitchover(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers, text := switchable(t, kind)
			p := startProxy(t, text, "primary_wait_timeout: 60s", "pool_wait_timeout: 60s")
			operator := p.client("")
			var w writers
			w.start(t, p, 24)
			for k := range 4 {
				w.more(t, 100)
				to := servers[(k+1)%2]
				r := must(t, operator, "KS NODE n SWITCHOVER TO '"+to.Addr+"'")
				if got := fmt.Sprint(r.Rows[0][4:]); got != "["+servers[k%2].Addr+" <nil>]" {
					t.Fatalf("switch %d: %v", k, r.Rows)
				}
				if got := p.primary("n").Addr; got != to.Addr {
					t.Fatalf("switch %d: the primary is %s", k, got)
				}
				t.Logf("switch %d: held for %v ms", k, r.Rows[0][2])
			}
			w.more(t, 100)
			close(w.stop)
			w.done.Wait()
			if n := w.errors.Load(); n > 0 {
				t.Errorf("%d errors", n)
			}
			for _, s := range servers {
				c := dial(t, s.Addr, rootClient())
				mysqltest.WaitFor(t, "all rows on "+s.Addr, func() bool { return number(t, c, "SELECT COUNT(*) FROM test.t") == int(w.count.Load()) })
			}
			// What cannot be, and what hinders.
			for sql, why := range map[string]string{
				"KS NODE n SWITCHOVER TO '127.0.0.1:1'":             "no replica at",
				"KS NODE nx SWITCHOVER TO '127.0.0.1:1'":            "no node",
				"KS NODE n SWITCHOVER TO '" + servers[0].Addr + "'": "no replica at",
			} {
				if e := fails(t, operator, sql, 9032); !strings.Contains(e.Message, why) {
					t.Errorf("%s: %v", sql, e)
				}
			}
			busy := p.client("test")
			must(t, busy, "BEGIN")
			must(t, busy, "INSERT INTO t VALUES (-1)")
			must(t, operator, "KS SET nodes[n].max_conns_limit = 9") // the transaction goes on where it was
			to := "KS NODE n SWITCHOVER TO '" + servers[1].Addr + "' SECONDS 1"
			if e := fails(t, operator, to, 9032); !strings.Contains(e.Message, "FORCE ends them") {
				t.Errorf("with a transaction: %v", e)
			}
			must(t, busy, "INSERT INTO t VALUES (-2)")
			must(t, p.client("test"), "INSERT INTO t VALUES (-3)")
			must(t, operator, to+" FORCE 'now'")
			fails(t, busy, "INSERT INTO t VALUES (-4)", 1213)
			must(t, busy, "INSERT INTO t VALUES (-5)")
			if got := value(t, dial(t, servers[1].Addr, rootClient()), "SELECT GROUP_CONCAT(id ORDER BY id) FROM test.t WHERE id < 0"); got != "-5,-3" {
				t.Errorf("the new primary has %s", got)
			}
		})
	}
}
