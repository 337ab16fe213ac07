package load

import (
	"fmt"
	"strconv"
	"strings"
)

// parseSysbench reads the final report of a run that had a checkpoint and a histogram.
func parseSysbench(text string) (Result, error) {
	_, checkpoint, ok := strings.Cut(text, checkpointMark)
	if !ok {
		return Result{}, fmt.Errorf("sysbench printed no checkpoint")
	}
	_, final, ok := strings.Cut(checkpoint, histogramMark)
	if !ok {
		return Result{}, fmt.Errorf("sysbench printed no histogram")
	}
	var r Result
	queries, perSecond, err := parseRate(final, "queries:")
	if err != nil {
		return r, err
	}
	ignored, _, err := parseRate(final, "ignored errors:")
	if err != nil {
		return r, err
	}
	if perSecond > 0 {
		r.Seconds = queries / perSecond
	}
	r.Queries, r.Errors = uint64(queries), uint64(ignored)
	if r.Errors > 0 {
		r.FirstError = "ignored by sysbench"
	}
	if r.Latency, err = parseHistogram(final); err != nil {
		return r, err
	}
	if r.Latency.Mean, err = parseMillis(final, "avg:"); err != nil {
		return r, err
	}
	r.Latency.Max, err = parseMillis(final, "max:")
	return r, err
}

// parseRate reads a line such as "queries:   142346 (71047.81 per sec.)".
func parseRate(text, name string) (count, perSecond float64, err error) {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), name)
		if !ok {
			continue
		}
		fields := strings.Fields(strings.ReplaceAll(rest, "(", " "))
		if len(fields) < 2 {
			continue
		}
		count, err1 := strconv.ParseFloat(fields[0], 64)
		perSecond, err2 := strconv.ParseFloat(fields[1], 64)
		if err1 != nil || err2 != nil {
			break
		}
		return count, perSecond, nil
	}
	return 0, 0, fmt.Errorf("sysbench's report has no readable line %q", name)
}

// parseMillis reads a line such as "max:   7.22" of the latencies, and gives microseconds.
func parseMillis(text, name string) (float64, error) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), name); ok {
			if millis, err := strconv.ParseFloat(strings.TrimSpace(rest), 64); err == nil {
				return millis * 1000, nil
			}
		}
	}
	return 0, fmt.Errorf("sysbench's report has no readable line %q", name)
}

// parseHistogram reads lines such as "0.048 |**** 8801": milliseconds, a bar, a count, in ascending order.
func parseHistogram(text string) (Latency, error) {
	type bucket struct{ micros, count float64 }
	var buckets []bucket
	total := 0.0
	for line := range strings.Lines(text) {
		value, rest, ok := strings.Cut(line, "|")
		if !ok {
			continue
		}
		millis, err1 := strconv.ParseFloat(strings.TrimSpace(value), 64)
		count, err2 := strconv.ParseFloat(strings.TrimLeft(strings.TrimSpace(rest), "* "), 64)
		if err1 != nil || err2 != nil {
			return Latency{}, fmt.Errorf("sysbench's histogram has the line %q", line)
		}
		buckets = append(buckets, bucket{millis * 1000, count})
		total += count
	}
	if total == 0 {
		return Latency{}, fmt.Errorf("sysbench's histogram is empty")
	}
	at := func(q float64) float64 {
		seen := 0.0
		for _, b := range buckets {
			if seen += b.count; seen >= q*total {
				return b.micros
			}
		}
		return buckets[len(buckets)-1].micros
	}
	return Latency{P50: at(0.5), P90: at(0.9), P99: at(0.99), P999: at(0.999)}, nil
}
