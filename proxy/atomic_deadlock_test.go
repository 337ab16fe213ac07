package proxy_test

import (
	"fmt"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// Transactions of several proxies that wait for each other's rows in a circle over two servers, which neither a server nor a proxy sees as a whole: one of
// them hears 1213 and is undone on both servers, long before a server gives a lock up, and the others go on.
func TestDeadlockOverProxies(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := startWhole(t, kind, map[string]string{"performance-schema": "ON"})
			proxies := []*daemon{r.proxy(), r.proxy(), r.proxy()}
			r.pairs(proxies[0].addr, 6)
			longest := time.Duration(0)
			for round, members := range []int{2, 3, 2, 3} {
				// Each has the pair of its own on both servers, and wants the next one's, on this one or on that.
				var clients []*mysqltest.RawClient
				for k := range members {
					c := dial(t, proxies[k].addr, wholeClientConfig())
					clients = append(clients, c)
					must(t, c, "BEGIN")
					must(t, c, changePair(k+1, 0, 10*round+k))
					must(t, c, changePair(k+1, 1, 10*round+k))
				}
				type answer struct {
					member int
					err    error
				}
				answers := make(chan answer, members)
				began := time.Now()
				for k, c := range clients {
					go func() {
						_, err := c.Exec(changePair((k+1)%members+1, (k+round)%2, 10*round+k))
						answers <- answer{k, err}
					}()
				}
				lost := -1
				for range members {
					a := <-answers
					if a.err == nil {
						must(t, clients[a.member], "COMMIT")
						continue
					}
					if !isCode(a.err, mysql.ERLockDeadlock) || lost >= 0 {
						t.Errorf("round %d, member %d: %v", round, a.member, a.err)
					}
					lost, longest = a.member, max(longest, time.Since(began))
					if r := must(t, clients[a.member], "SELECT 1"); r.Status.Has(mysql.ServerStatusInTrans) {
						t.Error("a transaction is open")
					}
				}
				if lost < 0 {
					t.Errorf("round %d: nobody gave way", round)
				}
			}
			if longest > 5*time.Second {
				t.Errorf("one gave way after %v", longest)
			}
			t.Logf("one gave way after %v at the longest", longest)
			r.settled()
			r.faultlessProxies()
			// What waits and is in no circle goes on to wait, and gets its lock.
			holds, waits := dial(t, proxies[0].addr, wholeClientConfig()), dial(t, proxies[1].addr, wholeClientConfig())
			for k, c := range []*mysqltest.RawClient{holds, waits} {
				for _, sql := range []string{"BEGIN", changePair(5+k, 0, 1), changePair(5+k, 1, 1)} {
					must(t, c, sql)
				}
			}
			done := make(chan error, 1)
			go func() {
				_, err := waits.Exec(changePair(5, 0, 2))
				done <- err
			}()
			select {
			case err := <-done:
				t.Errorf("it did not wait: %v", err)
			case <-time.After(3 * time.Second):
			}
			root := dial(t, r.servers[1].Addr, rootClient())
			if n := len(must(t, root, "SHOW FULL PROCESSLIST").Rows); n > 100 {
				t.Errorf("%d connections", n)
			}
			must(t, holds, "COMMIT")
			if err := <-done; err != nil {
				t.Error(err)
			}
			must(t, waits, "COMMIT")
			const shown = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'DO SLEEP%'"
			mysqltest.WaitFor(t, "the servers to be told nothing more", func() bool { return number(t, root, shown) == 0 })
			r.has(5, fmt.Sprintf("%d 1", 2))
		})
	}
}

// Where servers do not say who waits for whom, as MySQL without performance_schema, a transaction over nodes waits for a row lock for 5 seconds, or for as long
// as its client has said, or the servers where that is less, and hears 1205: it goes on, and its client may end it. Behind it the session has what it had.
func TestDeadlockOverProxiesUnseen(t *testing.T) {
	for _, server := range []string{"50", "2"} {
		t.Run(server, func(t *testing.T) {
			r := startWhole(t, mysqltest.MySQL9, map[string]string{"innodb-lock-wait-timeout": server})
			proxies := []*daemon{r.proxy(), r.proxy()}
			r.pairs(proxies[0].addr, 3)
			clients := []*mysqltest.RawClient{dial(t, proxies[0].addr, wholeClientConfig()), dial(t, proxies[1].addr, wholeClientConfig())}
			r.unseen(clients, 1, map[string]time.Duration{"50": 5 * time.Second, "2": 2 * time.Second}[server])
			waits := func(c *mysqltest.RawClient, want string) {
				t.Helper()
				for id := 2; id < 4; id++ {
					if got := value(t, c, fmt.Sprintf("SELECT @@innodb_lock_wait_timeout FROM t WHERE id = %d", id)); got != want {
						t.Errorf("innodb_lock_wait_timeout is %s behind the transaction", got)
					}
				}
			}
			waits(clients[0], server)
			waits(clients[1], server)
			must(t, clients[0], "SET innodb_lock_wait_timeout = 3")
			r.unseen(clients, 2, 3*time.Second)
			waits(clients[0], "3")
			r.faultlessProxies()
		})
	}
}

// unseen has two clients wait for each other's rows on two servers, the first one for as long as it should.
func (r *wholeRig) unseen(clients []*mysqltest.RawClient, v int, want time.Duration) {
	r.t.Helper()
	t, first, second := r.t, clients[0], clients[1]
	for k, c := range clients {
		must(t, c, "BEGIN")
		must(t, c, changePair(k+1, 0, v))
		must(t, c, changePair(k+1, 1, v))
	}
	began, heard := time.Now(), make(chan error, 1)
	go func() {
		_, err := first.Exec(changePair(2, 0, 9))
		heard <- err
	}()
	time.Sleep(want / 2)
	done := make(chan error, 1)
	go func() {
		_, err := second.Exec(changePair(1, 1, v))
		done <- err
	}()
	if err := <-heard; !isCode(err, erLockWaitTimeout) {
		t.Errorf("%v", err)
	}
	if waited := time.Since(began); waited < want-time.Second || waited > want+3*time.Second {
		t.Errorf("it waited for %v, want %v", waited, want)
	}
	must(t, first, changePair(3, 0, 9)) // as on one server
	must(t, first, "ROLLBACK")
	if err := <-done; err != nil {
		t.Errorf("the other one: %v", err)
	}
	must(t, second, "COMMIT")
	r.settled()
	r.has(2, fmt.Sprintf("%d %[1]d", v))
	r.has(3, "0 0")
}
