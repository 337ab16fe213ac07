package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"kingshard/bench/report"
	"kingshard/bench/tpcc"
)

// tpccFamily is the name under which results are written.
const tpccFamily = "tpcc"

// samplesTPCC returns a sample for the whole mix, and one for each kind of transactions.
func samplesTPCC(r *tpcc.Result, size tpcc.Size) []report.Sample {
	total := tpcc.Total(r.Measured)
	all := tpccSample(tpccFamily, r, size, total)
	all.Metrics[report.TPM], all.Metrics[report.RolledBack] = math.Round(r.TPM()), float64(total.RolledBack)
	all.Metrics[report.Retries], all.Metrics[report.Violated] = float64(r.Retries), 0
	samples := []report.Sample{all}
	for _, k := range tpcc.Kinds {
		s := tpccSample(tpccFamily+"/"+k.String(), r, size, r.Measured[k])
		s.Metrics[report.P50], s.Metrics[report.P95] = micros(r.Latency(k, 0.5)), micros(r.Latency(k, 0.95))
		samples = append(samples, s)
	}
	return samples
}

func tpccSample(family string, r *tpcc.Result, size tpcc.Size, c tpcc.Count) report.Sample {
	s := report.Sample{
		Family: family, Parameter: "warehouses", X: float64(size.Warehouses), Seconds: tenths(r.Seconds), Errors: c.Failed,
		Metrics: map[report.Metric]float64{
			report.QPS: tenths(float64(c.Committed) / r.Seconds), report.Refused: float64(c.Refused), report.Unknown: float64(c.Unknown),
		},
	}
	if c.Failed > 0 {
		s.Failure = "see the errors by number"
	}
	return s
}

func tenths(f float64) float64 { return math.Round(10*f) / 10 }

func micros(d time.Duration) float64 { return float64(d.Microseconds()) }

// text says which errors there were in all turns of a setup, and which conditions hold after the last.
func (s *tpccSubject) text() string {
	var b strings.Builder
	total := tpcc.Total(s.seen.All)
	fmt.Fprintf(&b, "\n%s, with warm-up: %d committed, %d rolled back, %d refused, %d failed, %d unknown, %d retries\n",
		s.setup, total.Committed, total.RolledBack, total.Refused, total.Failed, total.Unknown, s.seen.Retries)
	for _, name := range s.seen.Faults() {
		f := s.seen.Errors[name]
		fmt.Fprintf(&b, "  error %-12s %7d  %s\n", name, f.Count, f.First)
	}
	for _, f := range s.findings {
		holds := "holds"
		if !f.Holds() {
			holds = "DOES NOT HOLD"
		}
		fmt.Fprintf(&b, "  %-8s %s: %s\n", f.Name, holds, f.What)
		const shown = 10
		for i, v := range f.Violations {
			if i == shown {
				fmt.Fprintf(&b, "           and %d more\n", len(f.Violations)-shown)
				break
			}
			fmt.Fprintf(&b, "           %s\n", v)
		}
	}
	return b.String()
}
