package driver

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
	"kingshard/proxy/txn/twophase"
)

// leave leaves n branches prepared on node b, each of a transaction whose anchor a has no decision.
func (r *rig) leave(n int) {
	r.t.Helper()
	if _, err := r.other.ask(time.Now().Add(10 * time.Second)); err != nil { // which makes the table
		r.t.Fatal(err)
	}
	for k := range n {
		c, err := mysqltest.DialRaw(r.relays["b"].target, mysqltest.ClientConfig{User: mysqltest.User, Password: mysqltest.Password})
		if err != nil {
			r.t.Fatal(err)
		}
		g := twophase.GTRID{Anchor: twophase.NodeIDOf("a"), Proxy: 9, Start: uint32(time.Now().Unix()), Sequence: uint64(k)}
		x := twophase.XID{GTRID: g, Node: twophase.NodeIDOf("b")}.String()
		for _, sql := range []string{"XA START " + x, fmt.Sprintf("INSERT INTO d.t VALUES (%d, 0)", 100+k), "XA END " + x, "XA PREPARE " + x} {
			if _, err := c.Exec(sql); err != nil {
				r.t.Fatalf("%s: %v", sql, err)
			}
		}
		c.Close()
	}
}

// Branches that were left behind are ended several at a time: here none of the decisions reaches the server before four are under way.
func TestLeftBehindTogether(t *testing.T) {
	onServers(t, func(t *testing.T, r *rig) {
		r.leave(12)
		var (
			mu       sync.Mutex
			underWay int
		)
		together := make(chan struct{})
		r.relays["a"].ahead(func(sent []byte) {
			if !bytes.Contains(sent, []byte("INSERT INTO ks_meta.dtx")) {
				return
			}
			mu.Lock()
			if underWay++; underWay == 4 {
				close(together)
			}
			mu.Unlock()
			select {
			case <-together:
			case <-time.After(adminTimeout): // its answer comes too late then
			}
		})
		looking := newResolving(r.other)
		defer looking.close()
		looking.look(nil)
		if left := r.must("XA RECOVER"); len(left) > 0 {
			t.Errorf("%d branches are left", len(left))
		}
		if s := r.other.Stats(); s.Fenced != 12 || s.ResolvedRollbacks != 12 || r.values() != "0 0 0" {
			t.Errorf("%+v; the nodes have %s", s, r.values())
		}
	})
}

// A node that does not answer is asked for few decisions, and not for each of those that it has: each question takes as long as the proxy waits for an answer.
func TestLeftBehindOfSilentAnchor(t *testing.T) {
	onServers(t, func(t *testing.T, r *rig) {
		const left = 40
		r.leave(left)
		looking := newResolving(r.other)
		defer looking.close()
		r.relays["a"].reach(false)
		before := r.relays["a"].connections()
		looking.look(nil)
		if n := r.relays["a"].connections() - before; n == 0 || n > 2*endAtOnce {
			t.Errorf("%d connections were tried for %d branches", n, left)
		}
		r.relays["a"].reach(true)
		mysqltest.WaitFor(t, "nothing is prepared", func() bool {
			looking.look(nil)
			return len(r.must("XA RECOVER")) == 0
		})
	})
}

// A server that lets proxies log in and writes nothing, for a full disk say, is asked by each goroutine once.
func TestLeftBehindOfAnchorThatWritesNothing(t *testing.T) {
	onServers(t, func(t *testing.T, r *rig) {
		const left = 30
		r.leave(left)
		var asked atomic.Int32
		over := make(chan struct{})
		r.relays["a"].ahead(func(sent []byte) {
			if bytes.Contains(sent, []byte("INSERT INTO ks_meta.dtx")) {
				asked.Add(1)
				<-over
			}
		})
		looking := newResolving(r.other)
		defer looking.close()
		looking.look(nil)
		if n := asked.Load(); n == 0 || n > 2*endAtOnce {
			t.Errorf("it was asked %d times for %d branches", n, left)
		}
		r.relays["a"].ahead(nil)
		close(over)
		mysqltest.WaitFor(t, "nothing is prepared", func() bool {
			looking.look(nil)
			return len(r.must("XA RECOVER")) == 0
		})
	})
}
