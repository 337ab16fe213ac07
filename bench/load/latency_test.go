package load

import (
	"math"
	"sync"
	"testing"
	"time"
)

func TestLatency(t *testing.T) {
	r := newRecorder()
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			s := r.stripe()
			for i := 1; i <= 1000; i++ {
				s.record(time.Duration(i) * time.Microsecond)
			}
		})
	}
	group.Wait()
	r.stripe().record(time.Hour)
	l, n := r.latency()
	if n != 10_001 {
		t.Errorf("%d recorded", n)
	}
	for name, c := range map[string]struct{ got, want float64 }{
		"p50": {l.P50, 500}, "p90": {l.P90, 900}, "p99": {l.P99, 990}, "p99.9": {l.P999, 999}, "max": {l.Max, 6e8},
		"mean": {l.Mean, (1000*500.5*10 + 6e8) / 10001},
	} {
		if math.Abs(c.got-c.want) > 0.003*c.want+0.2 {
			t.Errorf("%s: %g, want %g", name, c.got, c.want)
		}
	}
	if _, err := l.Quantile(0.42); err == nil {
		t.Error("a quantile that nobody counted")
	}
}
