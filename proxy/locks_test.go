package proxy_test

import (
	"fmt"
	"testing"

	"kingshard/mysql/mysqltest"
)

// SHOW KS LOCKS tells who waits for whose connections, in a lane and without.
func TestLocks(t *testing.T) {
	one, two := startTransactional(t, "one"), startTransactional(t, "two")
	for _, lane := range []string{"fast_lane: false", "fast_lane: true"} {
		t.Run(lane, func(t *testing.T) {
			p := startProxy(t, configText([]node{{name: "n1", master: one.Addr, conns: 1}, {name: "n2", master: two.Addr, conns: 1}}, lane), "pool_wait_timeout: 60s")
			operator, a, b, c := p.client(""), p.client(""), p.client(""), p.client("")
			must(t, a, "BEGIN")
			must(t, a, "/*n1*/ SELECT 1 FOR UPDATE")
			must(t, b, "BEGIN")
			must(t, b, "/*n2*/ SELECT 1 FOR UPDATE")
			shown := func() string {
				t.Helper()
				text := ""
				for _, row := range must(t, operator, "SHOW KS LOCKS ORDER BY id").Rows {
					for _, k := range []int{0, 4, 6, 8, 9, 10} {
						text += fmt.Sprint(row[k]) + " "
					}
					text += "\n"
				}
				return text
			}
			id := func(c *mysqltest.RawClient) uint32 { return c.Greeting.ConnectionID }
			keeps := func(c *mysqltest.RawClient, addr string) string {
				return fmt.Sprintf("%d keeps <nil> %s transaction <nil> \n", id(c), addr)
			}
			mysqltest.WaitFor(t, "both to keep a connection", func() bool { return shown() == keeps(a, one.Addr)+keeps(b, two.Addr) })
			reading, plain := later(query(b, "/*n1*/ SELECT 1")), later(query(c, "/*n1*/ SELECT 1"))
			want := keeps(a, one.Addr) +
				fmt.Sprintf("%d waits %s %s transaction %d \n", id(b), one.Addr, two.Addr, id(a)) +
				fmt.Sprintf("%d waits %s <nil> <nil> %d \n", id(c), one.Addr, id(a))
			mysqltest.WaitFor(t, "both to wait", func() bool { return shown() == want })
			must(t, a, "COMMIT")
			for k, done := range []<-chan awaited{reading, plain} {
				if k == 1 {
					must(t, b, "COMMIT") // which has read on n1 now, and gives both back
				}
				if o := <-done; o.err != nil || o.r.Err != nil {
					t.Errorf("%v, %+v", o.err, o.r)
				}
			}
			mysqltest.WaitFor(t, "nobody to hold or wait", func() bool { return shown() == "" })
		})
	}
}
