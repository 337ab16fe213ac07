package proxy_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// copiesChange is a statement that clients send about one another's rows of a reference table.
func copiesChange(dice *rand.Rand) string {
	id := 1 + dice.IntN(60)
	switch dice.IntN(9) {
	case 0:
		return fmt.Sprintf("REPLACE INTO r (client, v) VALUES (%d, UNIX_TIMESTAMP()), (%d, %d)", id, id+1, dice.IntN(10))
	case 1:
		return fmt.Sprintf("INSERT INTO r (client, v) VALUES (%d, %d) ON DUPLICATE KEY UPDATE v = v + 1", id, dice.IntN(10))
	case 2:
		return fmt.Sprintf("INSERT IGNORE INTO r (client, v) VALUES (%d, %d), (%d, 3)", id, dice.IntN(10), id+2)
	case 3:
		return fmt.Sprintf("DELETE FROM r WHERE client = %d", id)
	case 4:
		return fmt.Sprintf("DELETE FROM r WHERE client > 0 AND v = %d ORDER BY client LIMIT 2", dice.IntN(10))
	case 5:
		return fmt.Sprintf("INSERT INTO r (client, v) SELECT client + 1000 * %d, v FROM r AS other WHERE client BETWEEN 1 AND 60 AND v = %d", 1+dice.IntN(1000), dice.IntN(10))
	case 6:
		return fmt.Sprintf("BEGIN; UPDATE r SET v = v + 1 WHERE client = %d; INSERT IGNORE INTO r (client, v) VALUES (%d, MICROSECOND(NOW(6))); COMMIT", id, id+3)
	}
	return fmt.Sprintf("UPDATE r SET v = (v + 1) %% 10 WHERE client BETWEEN %d AND %d", id, id+5)
}

// copiesClient sends changes through one proxy after the other until the context ends. What fails is as good as anything else.
func copiesClient(ctx context.Context, dice *rand.Rand, addr func() string, done *atomic.Int64) {
	for ctx.Err() == nil {
		c, err := mysqltest.DialRaw(addr(), mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop"})
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		for broken := false; ctx.Err() == nil && !broken; {
			for sql := range strings.SplitSeq(copiesChange(dice), "; ") {
				r, err := c.Query(sql)
				if broken = err != nil; broken {
					break
				}
				if r.Err == nil {
					done.Add(1)
				} else if strings.HasPrefix(sql, "UPDATE") {
					_, _ = c.Query("ROLLBACK")
				}
			}
		}
		c.Close()
	}
}

// The copies of a reference table are equal behind kills of proxies and servers while clients of two proxies change one another's rows, below REPEATABLE READ too.
func TestCopiesThroughKills(t *testing.T) {
	kills := wholeKills(t)
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := startWhole(t, kind)
			var mu sync.Mutex
			proxies := []*daemon{r.proxy(), r.proxy()}
			ctx, cancel := context.WithCancel(t.Context())
			var load sync.WaitGroup
			var done atomic.Int64
			for w := range 12 {
				load.Go(func() {
					copiesClient(ctx, rand.New(rand.NewPCG(7, uint64(w))), func() string {
						mu.Lock()
						defer mu.Unlock()
						return proxies[w%2].addr
					}, &done)
				})
			}
			defer load.Wait()
			defer cancel()
			dice := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
			began := time.Now()
			for n := range kills {
				before := done.Load()
				mysqltest.WaitFor(t, "changes", func() bool { return done.Load() > before+20 })
				time.Sleep(time.Duration(dice.IntN(20_000)) * time.Microsecond)
				if n%2 == 0 {
					_ = syscall.Kill(proxies[n/2%2].pids[0], syscall.SIGKILL)
					d := r.proxy()
					mu.Lock()
					proxies[n/2%2] = d
					mu.Unlock()
					continue
				}
				s := r.servers[n/2%2]
				s.Kill()
				restart, end := context.WithTimeout(t.Context(), 2*time.Minute)
				err := s.Restart(restart)
				end()
				if err != nil {
					t.Fatal(err)
				}
			}
			cancel()
			load.Wait()
			r.settled()
			rows := r.equalCopies()
			t.Logf("%d kills in %.0f s, %d statements, %d rows", kills, time.Since(began).Seconds(), done.Load(), rows)

			c := dial(t, proxies[0].addr, mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop"})
			states := func(sql string) (text string) {
				for _, row := range must(t, c, sql).Rows {
					text += fmt.Sprintf("%v %v %v; ", row[0], row[2], row[8])
				}
				return text
			}
			if got := states("KS CHECK REFERENCE r"); got != "n1 <nil> ok; n2 <nil> ok; " {
				t.Error(got)
			}
			// It finds, and mends, what is put there.
			root := dial(t, r.servers[1].Addr, rootClient())
			must(t, root, "UPDATE shop.r SET v = v + 1 WHERE client = -5")
			must(t, root, "DELETE FROM shop.r WHERE client = -1999")
			must(t, root, "INSERT INTO shop.r VALUES (99999999, 1)")
			if got := states("KS CHECK REFERENCE shop.r"); !strings.Contains(got, "differs; n1 <nil> ok; n2 <nil> differs; ") {
				t.Error(got)
			}
			if got := states("KS CHECK REFERENCE shop.r REPAIR FROM n1"); !strings.Contains(got, "repaired; n1 <nil> ok; n2 <nil> repaired; ") {
				t.Error(got)
			}
			r.equalCopies()
			for _, sql := range []string{"KS CHECK REFERENCE t", "KS CHECK REFERENCE nothing", "KS CHECK REFERENCE r REPAIR FROM n3"} {
				if res, err := c.Query(sql); err != nil || res.Err == nil || res.Err.Code != 9032 {
					t.Errorf("%s: %v %+v", sql, err, res)
				}
			}
			operator := dial(t, proxies[0].addr, mysqltest.ClientConfig{User: "ops", Password: "ops"})
			if got := must(t, operator, "KS CHECK REFERENCE shop.r").Rows; len(got) != 2 {
				t.Error(got)
			}
			if res, err := operator.Query("KS CHECK REFERENCE shop.r REPAIR FROM n1"); err != nil || res.Err == nil || res.Err.Code != 9030 {
				t.Errorf("an operator repairs: %v %+v", err, res)
			}
		})
	}
}

// equalCopies compares the two copies row by row and returns how many rows they have.
func (r *wholeRig) equalCopies() int {
	r.t.Helper()
	var copies [2][][]any
	for k, s := range r.servers {
		copies[k] = must(r.t, dial(r.t, s.Addr, rootClient()), "SELECT client, v FROM shop.r ORDER BY client").Rows
	}
	if a, b := fmt.Sprint(copies[0]), fmt.Sprint(copies[1]); a != b {
		r.t.Errorf("the copies differ:\n%s\n%s", a, b)
	}
	return len(copies[0])
}
