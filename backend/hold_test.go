package backend

import (
	"container/list"
	"errors"
	"strings"
	"testing"
	"time"

	"kingshard/config"
)

// An instance that an operator took down stays down whatever the health checks find, over a reload too, until it is let go.
func TestHoldDown(t *testing.T) {
	open := func() *Node {
		cfg := config.Default()
		cfg.Nodes = []config.Node{{Name: "n", Master: "127.0.0.1:1", Slave: "127.0.0.1:2,127.0.0.1:3", MaxConnsLimit: 1}}
		nodes, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nodes["n"].Close)
		return nodes["n"]
	}
	n := open()
	held := n.Replicas[0]
	if !held.HoldDown(true) || held.HoldDown(true) {
		t.Error("taking it down changes something the first time only")
	}
	held.SetState(Up)
	if held.State() != Down || held.Health() != Up || !held.HeldDown() {
		t.Errorf("state %v, health %v: a good probe brought it up", held.State(), held.Health())
	}
	for range 4 {
		if r := n.Reader(0); r != n.Replicas[1] {
			t.Errorf("a read went to %s", r.Addr)
		}
	}
	_, err := held.Get(nil, time.Now().Add(time.Second), nil)
	if !errors.Is(err, ErrHeldDown) || !errors.Is(err, ErrDown) {
		t.Errorf("borrowed: %v", err)
	}
	seen := time.Now()
	held.SetAnswered(seen)
	after := open()
	after.Succeed(n)
	if r := after.Replicas[0]; r.State() != Down || !r.HeldDown() || r.Health() != Up || !r.Answered().Equal(seen) {
		t.Errorf("after a reload: state %v, health %v", r.State(), r.Health())
	}
	if after.Replicas[1].HeldDown() || after.Primary.HeldDown() {
		t.Error("a reload took others down")
	}
	if !after.Replicas[0].HoldDown(false) || after.Replicas[0].State() != Up {
		t.Error("let go, it is what the health checks say")
	}
}

// The time for a primary counts from when a statement came, however long it has waited for a connection until the primary was found dead.
func TestHoldUntil(t *testing.T) {
	now := time.Now()
	h := newHold(10*time.Second, 4*time.Second, 1)
	if got := h.until(now.Add(time.Second)).Sub(now); got != 7*time.Second { // 3 of its 4 seconds for a connection are over
		t.Errorf("for %v more", got)
	}
	h.configure(newHold(time.Second, 4*time.Second, 1))
	w := held{holds: []*Hold{h}, until: h.until(now.Add(time.Second))}
	if err := w.wait(ErrDown, nil); !errors.Is(err, ErrDown) || !errors.Is(err, ErrHeld) {
		t.Errorf("past its time: %v", err)
	}
}

// What lets a statement go that waits at several nodes, and is of no use to it, lets the next one go.
func TestHeldPassesOn(t *testing.T) {
	for _, use := range []bool{true, false} {
		a, b := newHold(time.Hour, time.Hour, 10), newHold(time.Hour, time.Hour, 10)
		line := func(holds ...*Hold) (w held, let chan struct{}, places []*list.Element) {
			w, let = held{holds: holds}, make(chan struct{}, len(holds))
			places, err := w.line(let, ErrDown)
			if err != nil {
				t.Fatal(err)
			}
			return w, let, places
		}
		w, _, places := line(a, b)
		_, behindA, _ := line(a)
		_, behindB, _ := line(b)
		a.wake()
		b.wake()
		if w.leave(places, use) != use {
			t.Error("it was let go")
		}
		if len(behindA) == 1 == use || len(behindB) != 1 {
			t.Errorf("used %t: let go behind it %d and %d", use, len(behindA), len(behindB))
		}
	}
}

// What was the primary lends nothing once another server is, also before its pool is closed.
func TestSucceededLendsNothing(t *testing.T) {
	open := func(primary, replica string) *Node {
		cfg := config.Default()
		cfg.PrimaryWaitTimeout = 0
		cfg.Nodes = []config.Node{{Name: "n", Master: primary, Slave: replica, MaxConnsLimit: 1}}
		nodes, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nodes["n"].Close)
		return nodes["n"]
	}
	before, after := open("127.0.0.1:1", "127.0.0.1:2"), open("127.0.0.1:2", "127.0.0.1:1")
	for _, n := range []*Node{before, after} {
		n.Withhold(Unsettled, "")
	}
	after.Succeed(before)
	if _, err := before.Primary.Get(nil, time.Now().Add(time.Second), nil); err == nil || !strings.Contains(err.Error(), "primary 127.0.0.1:2") {
		t.Errorf("borrowed: %v", err)
	}
}
