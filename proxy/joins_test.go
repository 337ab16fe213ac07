package proxy_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// Idle connections that turn out to be dead where a transaction comes to a further node are no concern of the client's: others take their place, also where the
// server has begun the branch on them and not noticed yet that they are gone.
func TestTransactionPassesDeadConnections(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, rootClient())
		for _, text := range []string{
			"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database, "CREATE TABLE " + database + ".spread_0000 (id INT PRIMARY KEY)", "CREATE TABLE " + database + ".spread_0001 (id INT PRIMARY KEY)",
		} {
			must(t, direct, text)
		}
		t.Cleanup(func() { must(t, direct, "DROP DATABASE IF EXISTS ks_meta") })
		relay, err := mysqltest.StartRelay(server.Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(relay.Close)
		text := configText([]node{{name: "n", master: server.Addr, conns: 8}, {name: "m", master: relay.Addr(), conns: 8}}, "transaction_mode: atomic", "xa_on_unsafe_server: true")
		rule := ", shard: [{db: " + database + ", table: spread, key: id, nodes: [n, m], type: mod, locations: [1, 1]}]}"
		text = strings.Replace(text, "{user: root, nodes: [n, m], default: n}", "{user: root, nodes: [n, m], default: n"+rule, 1)
		c := startProxy(t, text).client(database)
		must(t, c, "INSERT INTO spread VALUES (1), (2)")
		const dead = 3
		var cut atomic.Int32
		if err := relay.Set(mysqltest.RelayFault{CutAfter: func(command mysql.Command, body []byte) bool {
			return command == mysql.ComQuery && strings.Contains(string(body), "XA START") && cut.Add(1) <= dead
		}}); err != nil {
			t.Fatal(err)
		}
		must(t, c, "BEGIN")
		must(t, c, "INSERT INTO spread VALUES (10)")
		must(t, c, "INSERT INTO spread VALUES (11)")
		must(t, c, "COMMIT")
		if n := cut.Load(); n <= dead {
			t.Errorf("%d branches were begun", n)
		}
		if got := value(t, direct, "SELECT (SELECT COUNT(*) FROM "+database+".spread_0000) * 10 + (SELECT COUNT(*) FROM "+database+".spread_0001)"); got != "22" {
			t.Errorf("the tables have %s rows", got)
		}
	})
}
