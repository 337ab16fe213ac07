package proxy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/mysql/mysqltest"
)

// Clients log in, get ready and use the other node while the default node has been silent since before the proxy started.
func TestStartUpsBesideANodeNeverReached(t *testing.T) {
	for _, kind := range bothKinds {
		for name, how := range map[string]func(*testing.T, *mysqltest.RealServer) vanishing{"stopped": stopping, "gone": func(_ *testing.T, s *mysqltest.RealServer) vanishing {
			return vanishing{s.Addr, func() { s.Kill() }, func() {}}
		}} {
			t.Run(fmt.Sprintf("%v, %s", kind, name), func(t *testing.T) {
				v := how(t, startOwn(t, mysqltest.ServerConfig{Kind: kind}))
				other := mysqltest.Shared(t, kind)
				one := startProxy(t, oneNode(other.Addr, 64))
				v.vanish()
				t.Cleanup(v.comeBack)
				text := configText([]node{{name: "a", master: v.addr, conns: 64}, {name: "b", master: other.Addr, conns: 64}})
				p := startProxy(t, strings.Replace(text, "{user: root, nodes: [a, b], default: a}",
					"{user: root, nodes: [a, b], default: a, shard: [{db: unreached, table: unreached, key: id, nodes: [a, b], type: hash, locations: [1, 1]}]}", 1))
				direct := dial(t, other.Addr, rootClient())
				for _, q := range []string{
					"DROP DATABASE IF EXISTS unreached", "CREATE DATABASE unreached", "USE unreached",
					"CREATE TABLE unreached_0001 (id INT PRIMARY KEY, s VARCHAR(9))", "INSERT INTO unreached_0001 VALUES (1, 'one')",
				} {
					must(t, direct, q)
				}
				t.Cleanup(func() { must(t, dial(t, other.Addr, rootClient()), "DROP DATABASE unreached") })
				mysqltest.WaitFor(t, "the other node", func() bool { return p.primary("b").State() == backend.Up })
				for driver, statements := range startUps {
					want := one.client("unreached")
					c := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "unreached", Timeout: 10 * time.Second})
					for _, text := range statements {
						if got, want := answer(t, c, text), answer(t, want, text); got != want && !strings.Contains(text, "CONNECTION_ID") {
							t.Errorf("%s: %s: %s, want %s", driver, text, got, want)
						}
					}
					if got, want := answer(t, c, "SELECT s FROM unreached.unreached WHERE id = 1"), "one"; !strings.Contains(got, want) {
						t.Errorf("%s: the row of the other node: %s", driver, got)
					}
					c.Close()
					want.Close()
				}
			})
		}
	}
}
