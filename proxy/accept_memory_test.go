package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// Long statements of all clients, also those that grow out of few compressed bytes, take no more together than packet_memory; others'
// statements run meanwhile, and what was taken comes back.
func TestLongPacketsTogetherAreBounded(t *testing.T) {
	for _, compression := range []mysql.Compression{mysql.NoCompression, mysql.Zlib, mysql.Zstd} {
		t.Run(fmt.Sprint(compression), func(t *testing.T) {
			answer := make(chan struct{})
			good := answers("server")
			server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
				if len(payload) > 1<<20 {
					<-answer
				}
				good(c, cmd, payload)
			}})
			p := startProxy(t, oneNode(server.Addr, 20, "max_allowed_packet: 16M", "packet_memory: 40M", "prometheus_addr: 127.0.0.1:0"))
			metric := func(name string) (n int) {
				_, body := get(t, p.httpAddr("prometheus_addr")+"/metrics", "")
				for line := range strings.SplitSeq(body, "\n") {
					var v float64
					if _, err := fmt.Sscanf(line, "kingshard_"+name+" %g", &v); err == nil {
						n = int(v)
					}
				}
				return n
			}
			const clients, fit = 8, 3
			results := make(chan error, clients)
			text := "SELECT '" + strings.Repeat("x", 12<<20) + "'"
			for range clients {
				c := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", Compression: compression})
				go func() {
					r, err := c.Query(text)
					if err == nil && r.Err != nil {
						err = r.Err
					}
					results <- err
				}()
			}
			mysqltest.WaitFor(t, "statements to be refused", func() bool { return metric("client_packets_refused_total") == clients-fit })
			if used := metric("client_packet_bytes"); used > 40<<20 || used < 12<<20 {
				t.Errorf("%d bytes are held", used)
			}
			if got := value(t, p.client(""), "SELECT name"); got != "server" {
				t.Errorf("another client is answered %s", got)
			}
			for range clients - fit {
				if err := <-results; err == nil { // a client that still writes when the connection closes hears of that, not the error
					t.Error("a statement was answered before the server did")
				}
			}
			close(answer)
			for range fit {
				if err := <-results; err != nil {
					t.Error(err)
				}
			}
			mysqltest.WaitFor(t, "the memory to come back", func() bool { return metric("client_packet_bytes") == 0 })
		})
	}
}
