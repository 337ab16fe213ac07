package metrics

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"kingshard/proxy/observe"
)

// The buckets of classic histograms: one for each doubling, up to half a minute.
const (
	classicStep = 4
	classicLast = 25 * classicStep
)

// histogram is a native histogram, which the text exposition does not have, with classic buckets as wanted.
type histogram struct {
	prometheus.Metric
	classic []*dto.Bucket
}

// Write gives the metric both ways.
func (h histogram) Write(out *dto.Metric) error {
	if err := h.Metric.Write(out); err != nil {
		return err
	}
	out.Histogram.Bucket = h.classic
	out.Histogram.CreatedTimestamp = nil // it would be that of the time's beginning
	return nil
}

// histogramOf makes a histogram in seconds of the sessions' times, whose buckets are the native ones.
func histogramOf(d *prometheus.Desc, t *observe.Times, classic bool, labels ...string) prometheus.Metric {
	native := make(map[int]int64)
	h := histogram{}
	var count uint64
	for k, n := range t.Buckets {
		count += n
		if k > 0 && n > 0 {
			native[observe.NativeIndex(k)] = int64(min(n, math.MaxInt64))
		}
		if classic && k%classicStep == 0 && k <= classicLast {
			bound, below := observe.TimeBound(k), count
			h.classic = append(h.classic, &dto.Bucket{UpperBound: &bound, CumulativeCount: &below})
		}
	}
	h.Metric = prometheus.MustNewConstNativeHistogram(d, count, float64(t.Nanos)/1e9, native, nil, t.Buckets[0], observe.NativeSchema,
		observe.TimeBound(0), time.Time{}, labels...)
	return h
}
