package proxy_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// wholeKills is how often TestStatementsAreWholeThroughKills kills: KS_KILLS times, or 520 times with KS_ALL, of which each meets most kinds of statements and
// 500 each of them.
func wholeKills(t *testing.T) int {
	if text := os.Getenv("KS_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if os.Getenv("KS_ALL") != "" {
		return 520
	}
	return 8
}

// No statement of any kind is kept by one of two servers only, and none is kept of which a client heard that it was not, nor lost of which it heard OK, while the
// proxy and the servers are killed in turn, each time with statements of all kinds under way. Another proxy is there at once, as in production, and a
// killed one is started again.
func TestStatementsAreWholeThroughKills(t *testing.T) {
	kills := wholeKills(t)
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := startWhole(t, kind)
			serving, spare, third := r.proxy(), r.proxy(), r.proxy()
			began := time.Now()
			var load sync.WaitGroup
			defer load.Wait()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			dice := rand.New(rand.NewPCG(1, uint64(began.UnixNano())))
			for n := range kills {
				g := r.group(ctx, &load, serving.addr, n)
				mysqltest.WaitFor(t, "all clients to change something", func() bool { return g.unready.Load() == 0 })
				time.Sleep(time.Duration(dice.IntN(100_000)) * time.Microsecond) // so that it meets all steps
				switch n % 4 {
				case 0, 2:
					g.killed.Store(true)
					_ = syscall.Kill(serving.pids[0], syscall.SIGKILL)
					serving, spare = spare, r.proxy()
				default:
					s := r.servers[n/2%2]
					g.killed.Store(true)
					s.Kill()
					restart, end := context.WithTimeout(t.Context(), 2*time.Minute)
					err := s.Restart(restart)
					end()
					if err != nil {
						t.Fatal(err)
					}
				}
				if n%20 == 19 { // it is there for longer, so that it ends what the others leave while they are killed
					_ = syscall.Kill(third.pids[0], syscall.SIGKILL)
					third = r.proxy()
				}
				r.countDoubt()
			}
			load.Wait()
			took := time.Since(began)
			settling := time.Now()
			r.settled()
			settled := time.Since(settling)
			r.faultless()
			t.Logf("%d kills in %.0f s, %d branches in doubt at most, the last ended after %.1f s; %s", kills, took.Seconds(), r.doubts, settled.Seconds(), r.figures())
		})
	}
}

// What the test above looks for is found where it is: a change that one server lacks, one that a client was told of and both lack, and one that both have
// although the client was told that none has it.
func TestWholeCheckFindsFaults(t *testing.T) {
	r := startWhole(t, mysqltest.MariaDB)
	d := r.proxy()
	var load sync.WaitGroup
	g := r.group(t.Context(), &load, d.addr, 0)
	mysqltest.WaitFor(t, "all clients to change something", func() bool { return g.unready.Load() == 0 })
	g.killed.Store(true)
	load.Wait()
	if faults := r.check(); len(faults) > 0 {
		t.Fatalf("nothing was killed: %q", faults)
	}
	for k, plant := range []string{
		"UPDATE %s SET v = v + 1 WHERE client = %d", "DELETE FROM %s WHERE client = %d", "INSERT INTO %s (id, client, v) VALUES (2 * %[2]d, %[2]d, 7)",
	} {
		for n, c := range r.clients {
			table, server := "t_0000", 0
			if c.program.reference {
				table, server, plant = "r", n%2, strings.Replace(plant, "(id, client, v) VALUES (2 * %[2]d, ", "(client, v) VALUES (", 1)
			}
			if there := c.kept != absent; there != (k < 2) {
				continue
			}
			root := dial(t, r.servers[server].Addr, rootClient())
			must(t, root, "USE shop")
			must(t, root, "BEGIN")
			must(t, root, fmt.Sprintf(plant, table, c.id))
			must(t, root, "COMMIT")
			if faults := r.check(); len(faults) != 1 || !strings.Contains(faults[0], c.program.name) {
				t.Errorf("%s of %s: found %q", plant, c.program.name, faults)
			}
			// What both servers have, and the client did not ask for.
			if !c.program.reference {
				other := dial(t, r.servers[1].Addr, rootClient())
				must(t, other, "USE shop")
				must(t, other, fmt.Sprintf(strings.Replace(plant, "(2 * %[2]d,", "(2 * %[2]d + 1,", 1), "t_0001", c.id))
				if faults := r.check(); len(faults) != 1 || !strings.Contains(faults[0], "was told") {
					t.Errorf("%s of %s on both: found %q", plant, c.program.name, faults)
				}
			}
			r.clients = append(r.clients[:n:n], r.clients[n+1:]...)
			break
		}
	}
}
