package fastlane

import (
	"testing"
	"time"
)

// echoed takes what comes on a loop.
type echoed struct{ over chan struct{} }

func (h *echoed) Ready(_ *Loop, c *Conn) {
	var b [8]byte
	_, _ = c.TryRead(b[:])
	h.over <- struct{}{}
}

// A loop that polls hears of what comes, and tells how long it has looked; without it looks for nothing.
func TestPoll(t *testing.T) {
	g := openGroup(t, 1)
	c, peer := pair(t, g)
	h := &echoed{make(chan struct{}, 1)}
	events := func(n int) {
		for range n {
			peer.Write([]byte("x"))
			if !c.Park(h) {
				h.Ready(nil, c)
			}
			<-h.over
		}
	}
	events(10)
	if took, used := g.Polled(); took != 0 || used != 0 {
		t.Errorf("without polling: %v, %v", took, used)
	}
	g.Poll(time.Millisecond)
	for took := time.Duration(0); took < 20*time.Millisecond; {
		events(1)
		var used time.Duration
		if took, used = g.Polled(); used < 0 || used > took {
			t.Fatalf("%v of a processor within %v", used, took)
		}
	}
	if _, used := g.Polled(); used == 0 {
		t.Error("no processor was used")
	}
	g.Poll(0)
	events(1) // behind a poll that was under way
	before, _ := g.Polled()
	events(2 * restFor)
	if after, _ := g.Polled(); after != before {
		t.Errorf("polled on for %v", after-before)
	}
}

// A loop that never finds anything looks for it now and then only, one that finds something sometimes goes on.
func TestPollsThatPay(t *testing.T) {
	const occasions = 10_000
	for name, c := range map[string]struct {
		found    func(n int) bool // whether the n-th poll finds something
		crowded  bool
		min, max int
	}{
		"never":                {func(int) bool { return false }, false, occasions / 20, occasions / 15},
		"sometimes":            {func(n int) bool { return n%10 == 0 }, false, occasions, occasions},
		"always, after others": {func(int) bool { return true }, true, occasions / 270, occasions / 250},
	} {
		var p polling
		polls := 0
		for range occasions {
			if !p.pays() {
				continue
			}
			p.found(c.found(polls), c.crowded)
			polls++
		}
		if polls < c.min || polls > c.max {
			t.Errorf("%s: %d polls", name, polls)
		}
	}
}
