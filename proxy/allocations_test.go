//go:build !race

package proxy_test

import (
	"io"
	"runtime"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A read of one row allocates nothing in the proxy, with a replica and without. Under the race detector pools forget what they are given.
func TestReadsAllocateNothing(t *testing.T) {
	server := mysqltest.Shared(t, mysqltest.MariaDB)
	for name, replica := range map[string]string{"primary": "", "replica": server.Addr + "@1"} {
		t.Run(name, func(t *testing.T) {
			p := startProxy(t, configText([]node{{name: "n", master: server.Addr, slave: replica, conns: 4}}, "fast_lane: true"), "health_interval: 1m")
			c := p.client("")
			must(t, c, "SELECT 1")
			nc := c.Conn.Net.NetConn()
			text := "SELECT 1"
			command := append([]byte{byte(len(text) + 1), 0, 0, 0, byte(mysql.ComQuery)}, text...)
			packet := make([]byte, 1<<10)
			read := func() {
				if _, err := nc.Write(command); err != nil {
					t.Fatal(err)
				}
				for packets := 1; ; packets++ { // the count of columns, the column, where it is told its end, the row, the end
					if _, err := io.ReadFull(nc, packet[:4]); err != nil {
						t.Fatal(err)
					}
					body := packet[4 : 4+int(packet[0])]
					if _, err := io.ReadFull(nc, body); err != nil {
						t.Fatal(err)
					}
					if body[0] == mysql.ErrHeader {
						t.Fatalf("%q", body)
					}
					if packets >= 4 && body[0] == mysql.EOFHeader {
						return
					}
				}
			}
			const reads = 10_000
			allocations := func() uint64 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range reads {
					read()
				}
				runtime.ReadMemStats(&after)
				return after.Mallocs - before.Mallocs
			}
			allocations()
			if n := allocations(); n > reads/2 { // the servers are asked for other things meanwhile
				t.Errorf("%d allocations in %d reads", n, reads)
			}
		})
	}
}
