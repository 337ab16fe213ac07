package proxy_test

import (
	"testing"
)

// BenchmarkObservability is a point select through a session, over loopback and answered by a scripted server, with nothing
// recorded and with everything: the sides of the claim that statistics and logs cost little.
func BenchmarkObservability(b *testing.B) {
	server := startScript(b, "a")
	for _, side := range []struct {
		name  string
		lines []string
	}{
		{"off", []string{"log_sql: off", "digests: 0"}},
		{"digests", []string{"log_sql: off"}},
		{"digests+slow", []string{"slow_log_time: 1000"}},
		{"digests+sql", nil},
	} {
		b.Run(side.name, func(b *testing.B) {
			p := startProxy(b, oneNode(server.Addr, 4, append(side.lines, "log_path: "+b.TempDir())...))
			c := dial(b, p.addr, rootClient())
			must(b, c, "SELECT name FROM users WHERE id = 42")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Query("SELECT name FROM users WHERE id = 42"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
