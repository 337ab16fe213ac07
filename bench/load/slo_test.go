package load

import (
	"errors"
	"testing"
	"time"
)

func TestParseSLO(t *testing.T) {
	for text, want := range map[string]SLO{
		"p99=60ms":   {0.99, 60 * time.Millisecond},
		"p99.9=1s":   {0.999, time.Second},
		"p50=250µs":  {0.5, 250 * time.Microsecond},
		"max=1m0s":   {1, time.Minute},
		"p100=2ms":   {1, 2 * time.Millisecond},
		"p90=1.5ms":  {0.9, 1500 * time.Microsecond},
		"p99.90=5ms": {0.999, 5 * time.Millisecond},
	} {
		got, err := ParseSLO(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if again, err := ParseSLO(got.String()); err != nil || again != got {
			t.Errorf("%s is written as %s, which is %+v, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", "p99", "99=60ms", "p99=60", "p99=0s", "p99=-1s", "p97=1s", "pxy=1s"} {
		if s, err := ParseSLO(text); err == nil {
			t.Errorf("%q is taken for %v", text, s)
		}
	}
}

func TestHolds(t *testing.T) {
	slo := SLO{0.99, 60 * time.Millisecond}
	for name, c := range map[string]struct {
		result Result
		want   bool
	}{
		"good":      {Result{Queries: 100, Latency: Latency{P99: 59_999}}, true},
		"slow":      {Result{Queries: 100, Latency: Latency{P99: 60_000}}, false},
		"an error":  {Result{Queries: 100, Errors: 1, Latency: Latency{P99: 1}}, false},
		"no answer": {Result{}, false},
	} {
		if got := slo.Holds(c.result); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// target holds every rate up to its capacity; every third answer is a disturbance.
type target struct {
	capacity  float64
	disturbed bool
	calls     int
	highest   float64
}

func (t *target) holds(rate float64) (bool, error) {
	t.calls++
	t.highest = max(t.highest, rate)
	return rate <= t.capacity && (!t.disturbed || t.calls%3 != 0), nil
}

func TestSearch(t *testing.T) {
	for _, disturbed := range []bool{false, true} {
		for _, capacity := range []float64{0.3, 49, 50, 51, 777, 12_345, 99_000} {
			to := target{capacity: capacity, disturbed: disturbed}
			got, err := Search{From: 50, Tolerance: 1.05, RateMax: 100_000}.Highest(to.holds)
			if err != nil || got > capacity || got < capacity/1.06 {
				t.Errorf("capacity %g, disturbed %v: %g, %v", capacity, disturbed, got, err)
			}
			if to.calls > 60 {
				t.Errorf("capacity %g: %d runs", capacity, to.calls)
			}
		}
	}
}

func TestSearchEnds(t *testing.T) {
	search := Search{From: 50, Tolerance: 1.05, RateMax: 1000}
	unbounded := target{capacity: 1e9}
	if got, err := search.Highest(unbounded.holds); err != nil || got != 1000 || unbounded.highest != 1000 {
		t.Errorf("%g, %v, highest %g", got, err, unbounded.highest)
	}
	nothing := target{}
	if got, err := search.Highest(nothing.holds); err != nil || got != 0 {
		t.Errorf("%g, %v", got, err)
	}
	broken := errors.New("broken")
	if _, err := search.Highest(func(float64) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestMachines(t *testing.T) {
	for _, c := range []struct {
		goal, per float64
		want      int
	}{{1000, 1000, 1}, {1001, 1000, 2}, {1, 1000, 1}, {100_000, 3333, 31}} {
		if got := Machines(c.goal, c.per); got != c.want {
			t.Errorf("%g at %g each: %d, want %d", c.goal, c.per, got, c.want)
		}
	}
}
