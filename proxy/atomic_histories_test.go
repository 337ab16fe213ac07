package proxy_test

import (
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kingshard/proxy/txn/history"
)

// listsKeys is how many lists each run of the tests below has.
func listsKeys() int {
	if os.Getenv("KS_ALL") != "" {
		return 200
	}
	return listsAtOnce + 8
}

// What clients of two proxies see of each other's transactions over nodes is what a serial run gives, in the order in which they heard of it, where reads
// lock. Where they do not, each node is read at its own moment, and that is all.
func TestHistoriesOverNodes(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			keys := listsKeys()
			r := startLists(t, kind, 6*keys)
			proxies := []*daemon{r.proxy(), r.proxy()}
			for _, table := range []string{"lists2", "lists3"} {
				for _, level := range listsLevels {
					run := r.run(table, level, keys)
					var clients sync.WaitGroup
					for id := range 4 {
						clients.Go(func() { run.client(t.Context(), id, func() string { return proxies[id%2].addr }) })
					}
					clients.Wait()
					run.check()
				}
			}
		})
	}
}

// The same holds while the proxy that most of the clients use is killed again and again, and another one ends what it had under way.
func TestHistoriesThroughKills(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			keys := 2 * listsKeys()
			r := startLists(t, kind, 3*keys)
			stays, unknown := r.proxy(), 0
			dice := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
			for _, level := range listsLevels {
				if level.name == "serializable" && os.Getenv("KS_ALL") == "" {
					continue
				}
				var serving atomic.Pointer[daemon]
				serving.Store(r.proxy())
				run := r.run("lists3", level, keys)
				var clients sync.WaitGroup
				for id := range 6 {
					clients.Go(func() {
						run.client(t.Context(), id, func() string {
							if id < 2 {
								return stays.addr
							}
							return serving.Load().addr
						})
					})
				}
				kills := 0
				for ; !run.over(); kills++ {
					next := r.proxy()
					time.Sleep(time.Duration(dice.IntN(200_000)) * time.Microsecond)
					_ = syscall.Kill(serving.Swap(next).pids[0], syscall.SIGKILL)
				}
				clients.Wait()
				unknown += run.check()[history.Unknown]
				t.Logf("%d kills", kills)
			}
			if unknown == 0 && os.Getenv("KS_ALL") != "" {
				t.Error("no kill met a COMMIT")
			}
		})
	}
}
