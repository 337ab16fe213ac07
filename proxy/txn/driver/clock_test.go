package driver

import (
	"testing"
	"time"

	"kingshard/proxy/txn/twophase"
)

// Clocks go on between two readings, and deadlines are never later than the server's own answer would be.
func TestClocks(t *testing.T) {
	var c clocks
	if got := c.in("s", time.Second); got != "" {
		t.Errorf("a clock that was never read: %s", got)
	}
	c.note("s", "2026-12-31 23:59:59.900000", time.Second)
	c.read["s"] = reading{c.read["s"].clock, time.Now().Add(-3 * time.Second)}
	want := time.Date(2027, 1, 1, 0, 0, 3, 900_000_000, time.UTC) // 23:59:58.9, 3 s ago, and 2 s
	got, err := time.Parse(clockFormat, c.in("s", 2*time.Second))
	if err != nil || got.Before(want) || got.After(want.Add(time.Minute)) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	c.read["s"] = reading{c.read["s"].clock, time.Now().Add(-clockFor - time.Second)}
	if got := c.in("s", time.Second); got != "" {
		t.Errorf("an old reading: %s", got)
	}
	c.note("s", "2026-12-31 23:59:59.900000", 0)
	if c.forget("s"); c.in("s", time.Second) != "" {
		t.Error("it is not forgotten")
	}
	if c.note("s", "a minute ago", 0); c.in("s", time.Second) != "" {
		t.Error("it was read from an answer that is no time")
	}
}

// An anchor is asked for its time once in a while, and anew when its clock has jumped: what is refused as late meanwhile is rolled back.
func TestClockJumps(t *testing.T) {
	onServers(t, func(t *testing.T, r *rig) {
		ends := func(want twophase.End, reason twophase.Reason) {
			t.Helper()
			x, loans := r.begin("a", "b")
			if o := r.commit(x, loans); o.End != want || o.Cause.Reason != reason {
				t.Errorf("%+v", o)
			}
		}
		ends(twophase.Commit, 0)
		server := r.driver.store.Server(r.nodes["a"].Primary.Addr)
		known, ok := r.driver.clocks.read[server.Identity()]
		if !ok {
			t.Fatal("the clock is not known")
		}
		ends(twophase.Commit, 0)
		if again := r.driver.clocks.read[server.Identity()]; again != known {
			t.Error("it was asked again")
		}
		r.driver.clocks.read[server.Identity()] = reading{known.clock.Add(-time.Minute), known.at} // as if the server's had gone on by one
		ends(twophase.Rollback, twophase.Late)
		ends(twophase.Commit, 0)
		if got := r.values(); got != "3 3 0" {
			t.Error(got)
		}
		r.settle()
	})
}
