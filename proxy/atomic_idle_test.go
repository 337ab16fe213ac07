package proxy_test

import (
	"strings"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A transaction over nodes whose client sends nothing for idle_transaction_timeout is rolled back on all of them, and others get its rows. The client hears so
// at its next statement, whatever that is, and goes on; a ROLLBACK has what it wants. Transactions of one node may idle.
func TestTransactionsOverNodesMayNotIdle(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := startWhole(t, kind)
			d := r.proxyWith("idle_transaction_timeout: 2s\ndrain_timeout: 20s\n")
			r.pairs(d.addr, 8)
			steps := []struct {
				ahead, next, then string // before the transaction, behind its time, and behind that
				code              uint16 // of next; 0: it is answered
				ends              bool   // the session
			}{
				{"", "COMMIT", "SELECT 1", mysql.ERLockDeadlock, false},
				{"", changePair(2, 0, 9), "COMMIT", mysql.ERLockDeadlock, false},
				{"", "ROLLBACK", "SELECT 1", 0, false},
				{"SET autocommit = 0", "SELECT v FROM t WHERE id = 8", "ROLLBACK", mysql.ERLockDeadlock, false},
				{"", "SELECT 1", "SELECT 1", mysql.ERLockDeadlock, false},
				{"CREATE TEMPORARY TABLE own (a INT)", "SELECT 1", "", mysql.ERLockDeadlock, true},
			}
			var clients []*mysqltest.RawClient
			for k, step := range steps {
				c := dial(t, d.addr, wholeClientConfig())
				clients = append(clients, c)
				if step.ahead != "" {
					must(t, c, step.ahead)
				}
				if !strings.HasPrefix(step.ahead, "SET") {
					must(t, c, "BEGIN")
				}
				must(t, c, changePair(k+1, 0, 5))
				must(t, c, changePair(k+1, 1, 5))
			}
			single, busy := dial(t, d.addr, wholeClientConfig()), dial(t, d.addr, wholeClientConfig())
			for _, sql := range []string{"BEGIN", changePair(7, 0, 6)} {
				must(t, single, sql)
			}
			for _, sql := range []string{"BEGIN", changePair(8, 0, 6), changePair(8, 1, 6)} {
				must(t, busy, sql)
			}
			must(t, clients[4], "SELECT 1")
			began, other := time.Now(), dial(t, d.addr, wholeClientConfig())
			for time.Since(began) < 4500*time.Millisecond {
				must(t, busy, "SELECT 1")
				time.Sleep(100 * time.Millisecond)
			}
			for k := range steps {
				must(t, other, changePair(k+1, 0, 7))
				must(t, other, changePair(k+1, 1, 7))
			}
			if _, err := clients[4].Command(mysql.ComPing, ""); err != nil {
				t.Errorf("COM_PING: %v", err)
			}
			for k, step := range steps {
				c := clients[k]
				if step.code == 0 {
					must(t, c, step.next)
				} else if e := fails(t, c, step.next, step.code); !strings.Contains(e.Message, "idle_transaction_timeout") {
					t.Errorf("%s: %v", step.next, e)
				}
				if step.ends {
					if _, err := c.Read(); err == nil {
						t.Error("a session goes on without its temporary table")
					}
					continue
				}
				if r := must(t, c, step.then); r.Status.Has(mysql.ServerStatusInTrans) {
					t.Errorf("%s: a transaction is open", step.then)
				}
				must(t, c, changePair(k+1, 0, 8))
				must(t, c, changePair(k+1, 1, 8))
				if strings.HasPrefix(step.ahead, "SET") {
					must(t, c, "COMMIT")
				}
			}
			must(t, single, "COMMIT")
			must(t, busy, "COMMIT")
			r.settled()
			for k := range steps {
				want := "8 8"
				if steps[k].ends {
					want = "7 7"
				}
				r.has(k+1, want)
			}
			r.has(7, "6 0")
			r.has(8, "6 6")
			if !strings.Contains(d.log(), "idled for too long") {
				t.Error("nothing is logged")
			}
		})
	}
}
