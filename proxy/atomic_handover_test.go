package proxy_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// pairs are rows of both servers of a wholeRig: the pair n is the rows 2n and 2n + 1, which begin with 0.
func (r *wholeRig) pairs(addr string, n int) {
	r.t.Helper()
	c := dial(r.t, addr, wholeClientConfig())
	for k := 1; k <= n; k++ {
		must(r.t, c, fmt.Sprintf("INSERT INTO t (id, client, v) VALUES (%d, %d, 0), (%d, %[2]d, 0)", 2*k, k, 2*k+1))
	}
	c.Close()
}

// wholeClientConfig is a client of a wholeRig.
func wholeClientConfig() mysqltest.ClientConfig {
	return mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop", Timeout: time.Minute}
}

// change changes the row of a pair that the first server has, for 0, or the second one.
func changePair(pair, server, value int) string {
	return fmt.Sprintf("UPDATE t SET v = %d WHERE id = %d", value, 2*pair+server)
}

// has compares what the servers have of a pair.
func (r *wholeRig) has(pair int, want string) {
	r.t.Helper()
	got := ""
	for k, s := range r.servers {
		c := dial(r.t, s.Addr, rootClient())
		got += value(r.t, c, fmt.Sprintf("SELECT v FROM shop.t_000%d WHERE id = %d", k, 2*pair+k)) + " "
		c.Close()
	}
	if got = strings.TrimSpace(got); got != want {
		r.t.Errorf("pair %d is %s, want %s", pair, got, want)
	}
}

// proxyWith starts a proxy with more settings.
func (r *wholeRig) proxyWith(settings string) *daemon {
	d := startDaemon(r.t, r.binary, wholeConfig(r.servers[0].Addr, r.servers[1].Addr)+settings)
	r.proxies = append(r.proxies, d)
	return d
}

// The old process of an upgrade finishes transactions over nodes, also those that get to their second node only then. One that does not end in time is rolled
// back on all nodes with its session, and its rows can be changed at once.
func TestUpgradeWithTransactionsOverNodes(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := startWhole(t, kind)
			d := r.proxyWith("upgrade_timeout: 3s\ndrain_timeout: 1s\n")
			r.pairs(d.addr, 4)
			var clients []*mysqltest.RawClient
			for range 5 {
				clients = append(clients, dial(t, d.addr, wholeClientConfig()))
			}
			keeps, undoes, later, stays, idle := clients[0], clients[1], clients[2], clients[3], clients[4]
			for k, c := range clients[:4] {
				must(t, c, "BEGIN")
				must(t, c, changePair(k+1, 0, 5))
				if c != later {
					must(t, c, changePair(k+1, 1, 5))
				}
			}
			began := time.Now()
			d.upgrade()
			d.came(1)
			must(t, idle, "SELECT 1")
			must(t, later, changePair(3, 1, 5))
			must(t, keeps, changePair(1, 0, 6))
			must(t, keeps, changePair(1, 1, 6))
			must(t, keeps, "COMMIT")
			must(t, undoes, "ROLLBACK")
			must(t, later, "COMMIT")
			d.came(4)
			for _, c := range clients[:3] {
				must(t, c, "SELECT 1")
			}
			if _, err := stays.Read(); err == nil {
				t.Error("the client with an open transaction was not sent away")
			}
			if waited := time.Since(began); waited < 3*time.Second {
				t.Errorf("it was sent away after %v", waited)
			}
			d.onlyLast()
			must(t, idle, changePair(4, 0, 7))
			must(t, idle, changePair(4, 1, 7))
			r.settled()
			for pair, want := range map[int]string{1: "6 6", 2: "0 0", 3: "5 5", 4: "7 7"} {
				r.has(pair, want)
			}
			r.faultlessProxies()
		})
	}
}

// A drain lets transactions over nodes end. One whose COMMIT waits for a server that is silent is wholly there in the end, or not at all, and its process goes;
// another one ends it when the server is back.
func TestDrainWithTransactionsOverNodes(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := startWhole(t, kind)
			d, other := r.proxyWith("drain_timeout: 3s\n"), r.proxy()
			r.pairs(d.addr, 3)
			var clients []*mysqltest.RawClient
			for k := range 3 {
				c := dial(t, d.addr, wholeClientConfig())
				clients = append(clients, c)
				must(t, c, "BEGIN")
				must(t, c, changePair(k+1, 0, 5))
				must(t, c, changePair(k+1, 1, 5))
			}
			keeps, stays, silent := clients[0], clients[1], clients[2]
			if err := syscall.Kill(d.pid(), syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			mysqltest.WaitFor(t, "the drain", func() bool {
				c, err := mysqltest.DialRaw(d.addr, wholeClientConfig())
				if err == nil {
					c.Close()
				}
				return err != nil
			})
			must(t, keeps, "COMMIT")
			if _, err := keeps.Read(); err == nil {
				t.Error("a client without a transaction was not sent away")
			}
			r.servers[1].Pause()
			heard := make(chan error, 1)
			go func() {
				_, err := silent.Exec("COMMIT")
				heard <- err
			}()
			if _, err := stays.Read(); err == nil {
				t.Error("the client with an open transaction was not sent away")
			}
			mysqltest.WaitFor(t, "the process to end", func() bool { return !alive(d.pid()) })
			err := <-heard
			r.servers[1].Resume()
			back := time.Now()
			r.settled()
			if took := time.Since(back); took > 10*time.Second {
				t.Errorf("the last branch was ended after %v", took)
			}
			r.has(1, "5 5")
			r.has(2, "0 0")
			c := dial(t, other.addr, wholeClientConfig())
			kept := fmt.Sprint(must(t, c, "SELECT v FROM t WHERE id IN (6, 7)").Rows)
			if want := map[bool]string{true: "[[5] [5]]"}[err == nil]; kept != want && (err == nil || kept != "[[0] [0]]" && kept != "[[5] [5]]") {
				t.Errorf("COMMIT: %v, and the rows are %s", err, kept)
			}
			t.Logf("COMMIT at a silent server: %v, rows %s", err, kept)
			for pair := 1; pair <= 3; pair++ {
				must(t, c, fmt.Sprintf("UPDATE t SET v = 9 WHERE id IN (%d, %d)", 2*pair, 2*pair+1))
			}
			r.faultlessProxies()
		})
	}
}

// faultlessProxies checks that no proxy asks for an operator.
func (r *wholeRig) faultlessProxies() {
	r.t.Helper()
	for _, d := range r.proxies {
		if strings.Contains(d.log(), "needs an operator") {
			r.t.Errorf("an incident: %s", d.log())
		}
	}
}

// A transaction over nodes ends in the mode that it got its second node in, whatever mode is in force by then; one of one node gets another by the mode
// that is in force.
func TestReloadDuringTransactionsOverNodes(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := startWhole(t, kind)
			text := wholeConfig(r.servers[0].Addr, r.servers[1].Addr)
			p := startProxy(t, text)
			r.pairs(p.addr, 1)
			c := dial(t, p.addr, wholeClientConfig())
			mode := func(name string) {
				t.Helper()
				p.reload(strings.Replace(text, "transaction_mode: atomic", "transaction_mode: "+name, 1))
			}
			reads := dial(t, r.servers[0].Addr, rootClient())
			decisions := func() int { return number(t, reads, "SELECT COUNT(*) FROM ks_meta.dtx WHERE state IN ('C', 'D')") }
			for n, step := range []struct {
				from, to       string
				early          bool // the second node is there before the change
				fails, decides bool
			}{
				{"atomic", "single", true, false, true},
				{"atomic", "best_effort", true, false, true},
				{"atomic", "single", false, true, false},
				{"atomic", "best_effort", false, false, false},
				{"single", "atomic", false, false, true},
				{"best_effort", "atomic", true, false, false},
				{"best_effort", "single", true, false, false},
			} {
				v := n + 1
				mode(step.from)
				must(t, c, "BEGIN")
				must(t, c, changePair(1, 0, v))
				if step.early {
					must(t, c, changePair(1, 1, v))
				}
				mode(step.to)
				before := decisions()
				if step.fails {
					fails(t, c, changePair(1, 1, v), 9004)
					must(t, c, "ROLLBACK")
				} else {
					must(t, c, changePair(1, 1, v))
					must(t, c, changePair(1, 0, v))
					must(t, c, "COMMIT")
					r.has(1, fmt.Sprintf("%d %[1]d", v))
				}
				if got := decisions() > before; got != step.decides {
					t.Errorf("%+v: decided %v", step, got)
				}
			}
			r.settled()
		})
	}
}

// Where another server becomes a node's primary in the middle, a transaction over nodes is kept on none of the old servers: who finishes what a
// process leaves behind looks at the new ones. The client hears why, and its next one is on the servers that are.
func TestPrimaryMovesDuringTransactionsOverNodes(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := startWhole(t, kind)
			p := startProxy(t, wholeConfig(r.servers[0].Addr, r.servers[1].Addr))
			r.pairs(p.addr, 2)
			c, operator := dial(t, p.addr, wholeClientConfig()), dial(t, p.addr, wholeClientConfig())
			for k := range r.servers {
				words := semiSyncs[kind]
				next := startOwn(t, mysqltest.ServerConfig{Kind: kind, ServerID: 20 + k, ReplicaOf: r.servers[k], Settings: wholeSettings(kind), Binlog: true})
				t.Cleanup(next.Kill)
				must(t, c, "BEGIN")
				must(t, c, changePair(1, 0, 10+k))
				must(t, c, changePair(1, 1, 10+k))
				single := dial(t, p.addr, wholeClientConfig())
				must(t, single, "BEGIN")
				must(t, single, changePair(2, k, 7))
				if err := next.CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				promoted := dial(t, next.Addr, rootClient())
				must(t, promoted, words.stop)
				must(t, promoted, words.all)
				must(t, promoted, "SET GLOBAL read_only = 0")
				must(t, operator, fmt.Sprintf("KS NODE n%d SET PRIMARY '%s'", k+1, next.Addr))
				old := r.servers[k]
				e := fails(t, c, "COMMIT", 9018)
				if !strings.Contains(e.Message, "another server is a node's primary") {
					t.Errorf("%v", e)
				}
				must(t, single, "COMMIT") // as in any mode
				noTransactions(t, old)
				r.has(1, fmt.Sprintf("%d %[1]d", 100*k))
				r.servers[k] = next
				r.has(1, fmt.Sprintf("%d %[1]d", 100*k))
				must(t, c, "BEGIN")
				must(t, c, changePair(1, 0, 100*(k+1)))
				must(t, c, changePair(1, 1, 100*(k+1)))
				must(t, c, "COMMIT")
				r.has(1, fmt.Sprintf("%d %[1]d", 100*(k+1)))
			}
			r.settled()
		})
	}
}
