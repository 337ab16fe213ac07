package roles

import (
	"testing"
	"time"
)

func TestHeartbeats(t *testing.T) {
	start := time.Now()
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	var h Heartbeats
	if !h.Last().IsZero() {
		t.Error("seen before anything was")
	}
	for _, b := range []struct {
		counter uint64
		ms      int
	}{{10, 0}, {10, 250}, {11, 500}, {11, 750}, {13, 1000}, {14, 1500}} {
		h.See("p", b.counter, at(b.ms))
	}
	if h.Last() != at(1500) {
		t.Errorf("it grew last after %v", h.Last().Sub(start))
	}
	for _, c := range []struct {
		name    string
		counter uint64
		ms      int
		want    time.Duration
		atLeast bool
	}{
		{"has all", 14, 9000, 0, false},
		{"has what was not seen yet", 15, 9000, 0, false},
		{"lacks the last", 13, 1750, 250 * time.Millisecond, false},
		{"lacks the last, for long", 13, 61500, time.Minute, false},
		{"was asked before the last was seen", 13, 1400, 0, false},
		{"one was not seen by itself", 12, 1750, 750 * time.Millisecond, false},
		{"lacks all but the first", 10, 1750, 1250 * time.Millisecond, false},
		{"lacks what was there before", 9, 1750, 1750 * time.Millisecond, true},
	} {
		if got, atLeast := h.Behind(c.counter, at(c.ms)); got != c.want || atLeast != c.atLeast {
			t.Errorf("%s: %v, at least %v", c.name, got, atLeast)
		}
	}
	h.See("p", 3, at(2000)) // the table was made anew
	if got, atLeast := h.Behind(2, at(2500)); got != 500*time.Millisecond || !atLeast {
		t.Errorf("behind a new table: %v, at least %v", got, atLeast)
	}
	h.See("q", 4, at(3000))
	if got, atLeast := h.Behind(3, at(3100)); got != 100*time.Millisecond || !atLeast {
		t.Errorf("behind another primary: %v, at least %v", got, atLeast)
	}
}

// A replica that is behind by hours is seen to be, to a few per cent, by few counters.
func TestHeartbeatsOfLong(t *testing.T) {
	start := time.Now()
	var h Heartbeats
	const day = 2 * 24 * 3600 // at two a second
	at := func(k int) time.Time { return start.Add(time.Duration(k) * 500 * time.Millisecond) }
	for k := range day {
		h.See("p", uint64(k+1), at(k))
	}
	if len(h.seen) > beatsMax {
		t.Errorf("%d are remembered", len(h.seen))
	}
	for _, lag := range []int{1, 10, 100, 1000, 10000, 100000} {
		got, atLeast := h.Behind(uint64(day-lag), at(day))
		want := time.Duration(lag+1) * 500 * time.Millisecond
		if atLeast || got > want || float64(got) < 0.9*float64(want) && want-got > time.Second {
			t.Errorf("%v, not %v, at least %v", got, want, atLeast)
		}
	}
}
