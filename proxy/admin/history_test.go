package admin

import (
	"slices"
	"testing"
	"time"

	"kingshard/proxy/observe"
)

// The ring holds ten minutes; a sample is what the counters grew by since the one before.
func TestHistory(t *testing.T) {
	h := new(history)
	now := observe.Totals{Commands: map[string]uint64{"COM_QUERY": 1000}, Errors: map[string]uint64{"proxy": 7}}
	at := time.Unix(1e9, 0)
	h.add(sample{at: at}, now)
	if len(h.list()) != 0 || h.commandsPerSecond() != 0 {
		t.Fatalf("the first one says what happened: %+v", h.list())
	}
	now.Commands = map[string]uint64{"COM_QUERY": 1300, "COM_PING": 100}
	now.Errors = map[string]uint64{"proxy": 9, "backend": 1}
	now.Latency.Buckets[40] = 300
	now.Parts[1][2].Nanos = 600
	h.add(sample{at: at.Add(2 * time.Second), sessions: 3}, now)
	s := h.list()[0]
	if s.id != 1 || s.commands != 400 || s.errors != [3]uint64{0, 2, 1} || s.parts != [3]uint64{0, 0, 600} || s.statements != 300 || rounded(s.percentiles[2]) != 0.975 || s.sessions != 3 {
		t.Errorf("%+v", s)
	}
	if n := h.commandsPerSecond(); n != 200 {
		t.Errorf("%d commands per second, want 400 in 2 s", n)
	}
	for k := range 1000 {
		h.add(sample{at: at.Add(time.Duration(3+k) * time.Second)}, now)
	}
	list := h.list()
	if len(list) != historyMax || list[len(list)-1].id != 1001 || !slices.IsSortedFunc(list, func(a, b sample) int { return int(a.id) - int(b.id) }) {
		t.Errorf("%d samples, the last is %d", len(list), list[len(list)-1].id)
	}
	if s := list[0]; s.commands != 0 || s.statements != 0 || s.percentiles[0] != 0 {
		t.Errorf("a quiet second: %+v", s)
	}
}

func TestPercentile(t *testing.T) {
	var times observe.Times
	if p := percentile(&times, 0.5); p != 0 {
		t.Errorf("of nothing: %v", p)
	}
	times.Buckets[44] = 90 // to 2^-9 s, from 0.84 of that
	times.Buckets[56] = 9  // to 2^-6 s
	times.Buckets[observe.TimeBuckets-1] = 1
	for share, want := range map[float64]float64{0.45: 1.798, 0.9: 1.953, 0.99: 15.625, 1: 3444311.717} {
		if p := rounded(percentile(&times, share)); p != want {
			t.Errorf("%v: %v ms, want %v", share, p, want)
		}
	}
}
