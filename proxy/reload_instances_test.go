package proxy_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"kingshard/backend"
	"kingshard/mysql/mysqltest"
)

// What reloads replace is gone soon afterwards, with all that was known of the servers: what asks servers on connections that it keeps has new ones then.
func TestReloadsKeepNoInstances(t *testing.T) {
	t.Parallel()
	var addrs [2]string
	var direct *mysqltest.RawClient
	for k := range addrs {
		settings := wholeSettings(mysqltest.MariaDB)
		settings["general-log"], settings["log-output"] = "1", "TABLE"
		server := startOwn(t, mysqltest.ServerConfig{Kind: mysqltest.MariaDB, Binlog: true, ServerID: k + 1, Settings: settings})
		addrs[k] = server.Addr
		if k == 0 {
			direct = dial(t, server.Addr, rootClient())
		}
	}
	text := func(n int) string {
		text := strings.Replace(wholeConfig(addrs[0], addrs[1]), "connect_timeout: 2s", fmt.Sprintf("connect_timeout: %ds", 3+n), 1)
		return strings.Replace(text, "table: t, key: id,", "table: t, key: id, unique: [v],", 1)
	}
	p := startProxy(t, text(0))
	for _, asked := range []string{"XA RECOVER", "%FROM ks_meta.indexes%"} {
		mysqltest.WaitFor(t, asked, func() bool {
			return value(t, direct, "SELECT COUNT(*) FROM mysql.general_log WHERE argument LIKE '"+asked+"' AND argument NOT LIKE '%general_log%'") != "0"
		})
	}
	const reloads = 10
	var gone atomic.Int32
	for n := range reloads {
		mysqltest.WaitFor(t, "the server to be up", func() bool { return p.primary("n1").State() == backend.Up })
		runtime.AddCleanup(p.primary("n1"), func(int) { gone.Add(1) }, n)
		p.reload(text(n + 1))
	}
	mysqltest.WaitFor(t, "what was replaced to be gone", func() bool {
		runtime.GC()
		return gone.Load() == reloads
	})
}
