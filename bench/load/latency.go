package load

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Latency is what clients waited, in microseconds.
type Latency struct {
	Mean, P50, P90, P99, P999, Max float64
}

// Quantile gives the latency of a quantile that Latency has: 0.5, 0.9, 0.99, 0.999 or 1.
func (l Latency) Quantile(q float64) (micros float64, err error) {
	switch q {
	case 0.5:
		return l.P50, nil
	case 0.9:
		return l.P90, nil
	case 0.99:
		return l.P99, nil
	case 0.999:
		return l.P999, nil
	case 1:
		return l.Max, nil
	}
	return 0, fmt.Errorf("no quantile %g: there are 0.5, 0.9, 0.99, 0.999 and 1", q)
}

const (
	latencyUnit = 100 * time.Nanosecond
	latencyMax  = 10 * time.Minute
)

// recorder counts latencies of many goroutines, in several histograms so that they rarely wait for each other.
type recorder struct {
	stripes []stripe
	turn    atomic.Uint32
}

type stripe struct {
	mu        sync.Mutex
	histogram *hdr.Histogram
	_         [64]byte // keeps stripes on cache lines of their own
}

func newRecorder() *recorder {
	r := &recorder{stripes: make([]stripe, 4*runtime.GOMAXPROCS(0))}
	for i := range r.stripes {
		r.stripes[i].histogram = hdr.New(1, int64(latencyMax/latencyUnit), 3)
	}
	return r
}

// stripe gives a goroutine its histogram.
func (r *recorder) stripe() *stripe {
	return &r.stripes[int(r.turn.Add(1))%len(r.stripes)]
}

// record counts one latency.
func (s *stripe) record(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.histogram.RecordValue(int64(min(max(d, latencyUnit), latencyMax) / latencyUnit))
}

// latency sums up all stripes, after their goroutines have ended.
func (r *recorder) latency() (Latency, uint64) {
	all := hdr.New(1, int64(latencyMax/latencyUnit), 3)
	for i := range r.stripes {
		all.Merge(r.stripes[i].histogram)
	}
	micros := func(v int64) float64 { return float64(v) * float64(latencyUnit) / float64(time.Microsecond) }
	at := func(percent float64) float64 { return micros(all.ValueAtQuantile(percent)) }
	return Latency{
		Mean: all.Mean() * float64(latencyUnit) / float64(time.Microsecond),
		P50:  at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: micros(all.Max()),
	}, uint64(all.TotalCount())
}
