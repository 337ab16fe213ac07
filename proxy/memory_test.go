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
	look := func(spare, more uint64) bool {
		now = now.Add(memoryEvery)
		allocated += more
		used += 10 * time.Millisecond
		return m.due(spare, allocated, used, now)
	}
	for range 10 {
		if look(40*mb, 50*mb) {
			t.Fatal("during logins")
		}
	}
	for range 10 {
		used += time.Second // statements that allocate hardly anything
		if look(40*mb, 1*mb) {
			t.Fatal("under load")
		}
	}
	if look(40*mb, 1*mb) {
		t.Error("at once")
	}
	if !look(40*mb, 1*mb) {
		t.Error("not after the load")
	}
	for range int(returnEvery/memoryEvery) - 1 {
		if look(40*mb, 1*mb) {
			t.Fatal("twice within a minute")
		}
	}
	if look(10*mb, 1*mb) {
		t.Error("for a little")
	}
	if !look(20*mb, 1*mb) {
		t.Error("not again")
	}
}
