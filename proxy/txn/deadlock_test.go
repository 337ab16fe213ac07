package txn

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/backend/pool"
	"kingshard/mysql/mysqltest"
)

// Which of the waits, begun one after the other, is in vain. One is written "ab>c": it holds a connection to a and one to b, and wants one
// to c.
func TestDetectorFindsWhoIsStuck(t *testing.T) {
	for _, test := range []struct {
		max    int
		waits  []string
		victim int // -1: none
	}{
		{1, []string{"a>b"}, -1},               // b's holder does not wait
		{1, []string{"a>b", "b>a"}, 1},         // two
		{1, []string{"a>b", "b>c"}, -1},        // c's holder does not wait
		{1, []string{"a>b", "b>c", "c>a"}, 2},  // three
		{1, []string{"a>a"}, 0},                // by itself
		{2, []string{"a>b", "b>a"}, -1},        // another connection to each may come back
		{2, []string{"a>b", "a>b", "b>a"}, -1}, // one of b's is held by a session that does not wait
		{2, []string{"a>b", "a>b", "b>a", "b>a"}, 3},
		{2, []string{"aa>b", "bb>a"}, 1},               // two connections to one instance
		{1, []string{"c>a", "a>b", "b>a"}, 2},          // who waits for the circle is no part of it
		{1, []string{"a>b", "b>a", "c>a"}, 1},          // nor who comes when it is broken
		{2, []string{"ac>b", "a>b", "b>a", "b>c"}, -1}, // c has a connection left
		{2, []string{"ac>b", "ac>b", "b>a", "b>c"}, 3}, // two circles in one
	} {
		t.Run(fmt.Sprint(test.max, test.waits), func(t *testing.T) {
			nodes := open(t, mysqltest.ScriptConfig{}, test.max, test.max, test.max, test.max)
			var d Detector
			for k, text := range test.waits {
				w := &wait{session: uint32(k), wants: nodes[text[len(text)-1]-'a'].Primary}
				for _, c := range text[:len(text)-2] {
					w.holds = append(w.holds, nodes[c-'a'].Primary)
				}
				waiting := len(d.Holds())
				stuck := d.stuck(w)
				if stuck != (k == test.victim) {
					t.Fatalf("%s is stuck: %v", text, stuck)
				}
				if !stuck {
					waiting++
				}
				if n := len(d.Holds()); n != waiting {
					t.Errorf("behind %s %d wait, not %d", text, n, waiting)
				}
				if !stuck {
					continue
				}
				if !d.leave(w) || d.stuck(w) {
					t.Errorf("%s did not give way, or does again", text)
				}
				return
			}
		})
	}
}

// Sessions hold a connection each, to nodes of one, and want the next one's: exactly one gives way, and once it has given back what it
// held, the others go on.
func TestDetectorEndsDeadlocks(t *testing.T) {
	for _, sessions := range []int{2, 3} {
		t.Run(fmt.Sprint(sessions), func(t *testing.T) {
			nodes := open(t, mysqltest.ScriptConfig{}, []int{1, 1, 1}[:sessions]...)
			var d Detector
			type outcome struct {
				k   int
				p   backend.Pooled
				err error
			}
			held := make([]backend.Pooled, sessions)
			results := make(chan outcome)
			for k := range sessions {
				held[k] = borrow(t, nodes[k].Primary)
			}
			cancel := make(chan struct{})
			for k := range sessions {
				go func() {
					p, err := d.Get(uint32(k), nodes[(k+1)%sessions].Primary, held[k].Key, []*backend.Instance{held[k].Instance}, time.Now().Add(10*time.Second), cancel)
					results <- outcome{k, p, err}
				}()
			}
			first := <-results
			if !errors.Is(first.err, ErrDeadlock) {
				t.Fatalf("session %d: %v", first.k, first.err)
			}
			held[first.k].Put()
			for range sessions - 1 {
				next := <-results
				if next.err != nil {
					t.Fatalf("session %d, behind %d that gave way: %v", next.k, first.k, next.err)
				}
				next.p.Put()
				held[next.k].Put()
			}
			if n := len(d.Holds()); n != 0 {
				t.Errorf("%d still wait", n)
			}
		})
	}
}

// A wait that somebody ends, before it or in its midst, was cancelled and did not give way; one in a line that moves has its connection.
func TestDetectorWaitsAreCancelled(t *testing.T) {
	nodes := open(t, mysqltest.ScriptConfig{}, 1, 1)
	var d Detector
	a, b := borrow(t, nodes[0].Primary), borrow(t, nodes[1].Primary)
	get := func(cancel <-chan struct{}) (backend.Pooled, error) {
		return d.Get(1, nodes[1].Primary, b.Key, []*backend.Instance{nodes[0].Primary}, time.Now().Add(10*time.Second), cancel)
	}
	cancel := make(chan struct{})
	time.AfterFunc(4*deadlockAfter, func() { close(cancel) })
	for range 2 {
		if _, err := get(cancel); !errors.Is(err, pool.ErrCancelled) {
			t.Errorf("cancelled: %v", err)
		}
	}
	time.AfterFunc(4*deadlockAfter, b.Put)
	p, err := get(make(chan struct{}))
	if err != nil {
		t.Fatal(err)
	}
	p.Put()
	if n := len(d.Holds()); n != 0 {
		t.Errorf("%d still wait", n)
	}
	a.Put()
}
