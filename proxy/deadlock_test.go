package proxy_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// Transactions that read on two nodes in opposite order hold all connections of both and wait for each other: one gives way
// at once, as between rows of a server, and all others end.
func TestTransactionsDoNotWaitForEachOthersConnections(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p := startProxy(t, configText([]node{{name: "n1", master: server.Addr, conns: 3}, {name: "n2", master: server.Addr, conns: 3}}),
			"pool_wait_timeout: 60s", "prometheus_addr: 127.0.0.1:0")
		const clients, rounds = 12, 30
		var gaveWay atomic.Int32
		var done sync.WaitGroup
		for k := range clients {
			c := p.client("")
			nodes := []string{"n1", "n2"}
			if k%2 == 1 {
				nodes = []string{"n2", "n1"}
			}
			done.Go(func() {
				for range rounds {
					if err := readOnBoth(c, nodes); err != nil {
						if !strings.Contains(err.Error(), "try restarting transaction") {
							t.Error(err)
							return
						}
						gaveWay.Add(1)
					}
				}
			})
		}
		done.Wait()
		if n := gaveWay.Load(); n == 0 || n == clients*rounds {
			t.Errorf("%d of %d transactions gave way", n, clients*rounds)
		}
		_, body := get(t, p.httpAddr("prometheus_addr")+"/metrics", "")
		if line := fmt.Sprintf("kingshard_connection_deadlocks_total %d\n", gaveWay.Load()); !strings.Contains(body, line) {
			t.Errorf("no %q in the metrics", line)
		}
	})
}

// readOnBoth reads on both nodes in one transaction. After a deadlock the transaction is over.
func readOnBoth(c *mysqltest.RawClient, nodes []string) error {
	for _, sql := range []string{"BEGIN", "/*" + nodes[0] + "*/ SELECT 1", "/*" + nodes[1] + "*/ SELECT 1", "COMMIT"} {
		r, err := c.Query(sql)
		if err != nil {
			return err
		}
		if r.Err != nil {
			if r.Err.Code != mysql.ERLockDeadlock {
				return fmt.Errorf("%s: %w", sql, r.Err)
			}
			if r, err := c.Query("SELECT 1"); err != nil || r.Err != nil || r.Status.Has(mysql.ServerStatusInTrans) {
				return fmt.Errorf("after the deadlock: %+v, %v", r, err)
			}
			return r.Err
		}
	}
	return nil
}
