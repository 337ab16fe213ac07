package proxy

import (
	"testing"
	"time"
)

// TestSpareMemory: memory goes back behind a crowd of logins, not in the middle of it, and not again and again.
func TestSpareMemory(t *testing.T) {
	const mb = 1 << 20
	var m spareMemory
	now := time.Unix(1000, 0)
	var allocated uint64
	var used time.Duration
	live := uint64(20 * mb)
	look := func(spare, more uint64) bool {
		now = now.Add(memoryEvery)
		allocated += more
		used += 10 * time.Millisecond
		return m.due(spare, live, allocated, used, now)
	}
	for _, c := range []struct {
		when        string
		looks       int
		spare, more uint64
		busy        time.Duration
		want        bool
	}{
		{"during logins", 10, 40 * mb, 50 * mb, 0, false},
		{"under statements that allocate hardly anything", 10, 40 * mb, 1 * mb, time.Second, false},
		{"at once after the load", 1, 40 * mb, 1 * mb, 0, false},
		{"after the load", 1, 40 * mb, 1 * mb, 0, true},
		{"again within a minute", int(returnEvery/memoryEvery) - 1, 40 * mb, 1 * mb, 0, false},
		{"for a little", 1, 3 * mb, 1 * mb, 0, false},
		{"after a minute", 1, 20 * mb, 1 * mb, 0, true},
	} {
		for range c.looks {
			used += c.busy
			if look(c.spare, c.more) != c.want {
				t.Fatalf("%s: %v", c.when, !c.want)
			}
		}
	}
}
