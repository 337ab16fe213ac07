//go:build faultpoints

package proxy_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

func init() { buildTags = "faultpoints" }

// opening is what an account has when it is opened.
const opening = 100

// bank is a proxy over two servers that each have one account of each teller.
type bank struct {
	*wholeRig
	d       *daemon
	tellers []*teller
}

// teller moves money from his account on the first server to that on the second, one at a time.
type teller struct {
	id int
	// acknowledged is how many transfers he heard OK of; unknown says that he heard nothing of the last one.
	acknowledged atomic.Int64
	unknown      bool
}

func startBank(t *testing.T, kind mysqltest.Kind) *bank {
	b := &bank{wholeRig: startWhole(t, kind)}
	first := dial(t, b.servers[0].Addr, rootClient())
	must(t, first, "CREATE PROCEDURE shop.two_results() BEGIN SELECT 1; SELECT 2; END")
	b.d = b.proxy()
	return b
}

// open gives a new teller his accounts.
func (b *bank) open() *teller {
	w := &teller{id: len(b.tellers) + 1}
	b.tellers = append(b.tellers, w)
	for k, s := range b.servers {
		must(b.t, dial(b.t, s.Addr, rootClient()), fmt.Sprintf("INSERT INTO shop.t_000%d (id, client, v) VALUES (%d, %d, %d)", k, 2*w.id+k, w.id, opening))
	}
	return w
}

// client connects to the proxy that serves.
func (b *bank) client(t *testing.T) *mysqltest.RawClient {
	t.Helper()
	return dial(t, b.d.addr, mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop"})
}

// set says what happens at a point.
func (b *bank) set(t *testing.T, point, do string) {
	t.Helper()
	must(t, b.client(t), "KS FAULTPOINT "+point+" DO "+do)
}

// failure runs a statement and returns what the server or the connection said of it, nil of a success.
func failure(c *mysqltest.RawClient, text string) error {
	r, err := c.Query(text)
	if err != nil {
		return err
	}
	for ; r != nil; r = r.Next {
		if r.Err != nil {
			return r.Err
		}
	}
	return nil
}

// heard reports whether an error is one that the client was told.
func heard(err error) bool {
	var told *mysql.SQLError
	return errors.As(err, &told)
}

// transfer moves money by a transaction over both nodes.
func (w *teller) transfer(c *mysqltest.RawClient) error {
	for _, text := range []string{"BEGIN", fmt.Sprintf("UPDATE t SET v = v - 1 WHERE id = %d", 2*w.id), fmt.Sprintf("UPDATE t SET v = v + 1 WHERE id = %d", 2*w.id+1)} {
		if err := failure(c, text); err != nil {
			return err
		}
	}
	w.unknown = true
	err := failure(c, "COMMIT")
	if err == nil {
		w.acknowledged.Add(1)
	}
	w.unknown = err != nil && !heard(err)
	return err
}

// balances reads what the servers have of a teller.
func (b *bank) balances(t *testing.T, w *teller) (values [2]int) {
	t.Helper()
	for k, s := range b.servers {
		values[k] = number(t, dial(t, s.Addr, rootClient()), fmt.Sprintf("SELECT v FROM shop.t_000%d WHERE client = %d", k, w.id))
	}
	return values
}

// audit compares all accounts with what tellers heard, when nothing is in doubt any more.
func (b *bank) audit(t *testing.T) {
	t.Helper()
	b.settled()
	admin := b.client(t)
	mysqltest.WaitFor(t, "nothing in doubt", func() bool { return len(must(t, admin, "SHOW KS TRANSACTIONS").Rows) == 0 })
	if rows := must(t, admin, "SHOW KS INCIDENTS").Rows; len(rows) > 0 {
		t.Errorf("incidents: %v", rows)
	}
	sum := 0
	for _, w := range b.tellers {
		has, least := b.balances(t, w), int(w.acknowledged.Load())
		sum += has[0] + has[1]
		moved := has[1] - opening
		most := least
		if w.unknown {
			most++
		}
		switch {
		case has[0]+has[1] != 2*opening:
			t.Errorf("teller %d: a half transfer: %v", w.id, has)
		case moved < least || moved > most:
			t.Errorf("teller %d: %d transfers are kept; %d were acknowledged, of one more nothing was heard: %t", w.id, moved, least, w.unknown)
		}
		if w.unknown {
			w.acknowledged.Store(int64(moved))
			w.unknown = false
		}
	}
	if want := 2 * opening * len(b.tellers); sum != want {
		t.Errorf("all accounts together have %d, want %d", sum, want)
	}
	b.whole(t)
}

// whole waits until nobody has a connection of a pool.
func (b *bank) whole(t *testing.T) {
	t.Helper()
	admin := b.client(t)
	mysqltest.WaitFor(t, "all connections to be back", func() bool { return len(must(t, admin, "SHOW KS POOLS WHERE in_use > 0").Rows) == 0 })
}

// died waits for the process to end, which cut clients off, and starts another.
func (b *bank) died(t *testing.T, err error) {
	t.Helper()
	if err == nil || heard(err) {
		t.Errorf("the client heard %v of a process that dies", err)
	}
	mysqltest.WaitFor(t, "the process to die", func() bool { return !alive(b.d.pid()) })
	b.d = b.proxy()
}

// bystanders are clients that have nothing to do with a fault: one has a transaction open, another one's statements run by themselves.
type bystanders struct {
	teller *teller
	within *mysqltest.RawClient
	alone  *mysqltest.RawClient
}

func (b *bank) bystanders(t *testing.T) *bystanders {
	t.Helper()
	by := &bystanders{b.open(), b.client(t), b.client(t)}
	must(t, by.within, "BEGIN")
	must(t, by.within, fmt.Sprintf("UPDATE t SET v = v - 1 WHERE id = %d", 2*by.teller.id))
	by.goOn(t)
	return by
}

// goOn has those without a transaction get right answers.
func (by *bystanders) goOn(t *testing.T) {
	t.Helper()
	for k := range 2 {
		if got := number(t, by.alone, fmt.Sprintf("SELECT v FROM t WHERE id = %d", 2*by.teller.id+k)); got != opening {
			t.Errorf("a bystander reads %d", got)
		}
	}
}

// end ends the transaction of the other, which has gone on.
func (by *bystanders) end(t *testing.T) {
	t.Helper()
	by.goOn(t)
	must(t, by.within, fmt.Sprintf("UPDATE t SET v = v + 1 WHERE id = %d", 2*by.teller.id+1))
	must(t, by.within, "COMMIT")
	by.teller.acknowledged.Add(1)
}

// load has tellers move money, and the process die at a point when all have moved some.
func (b *bank) load(t *testing.T, point string) {
	t.Helper()
	var working sync.WaitGroup
	var mu sync.Mutex
	var last error
	list := []*teller{b.open(), b.open(), b.open(), b.open()}
	for _, w := range list {
		c := b.client(t)
		working.Go(func() {
			for {
				if err := w.transfer(c); err != nil {
					mu.Lock()
					defer mu.Unlock()
					last = err
					return
				}
			}
		})
	}
	mysqltest.WaitFor(t, "all tellers to move money", func() bool {
		for _, w := range list {
			if w.acknowledged.Load() < 3 {
				return false
			}
		}
		return true
	})
	_ = failure(b.client(t), "KS FAULTPOINT "+point+" DO EXIT") // it may die before it answers
	working.Wait()
	b.died(t, last)
}
