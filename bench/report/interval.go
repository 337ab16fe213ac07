package report

import (
	"fmt"
	"math"
	"strings"
)

// Before is added to a contender's name to name the same contender with another binary.
const Before = ", before"

// Interval is how a figure of one contender compares with another's of the same rounds: the geometric mean of the rounds' ratios and the
// interval in which it lies with a confidence of 95 %, by Student's t of their logarithms.
type Interval struct {
	Mean, Low, High float64
	Rounds          int
}

// Interval compares two figures round by round, a to b; false with fewer than two rounds that have both.
func (r *Run) Interval(a, b Ref) (Interval, bool) {
	others := r.rounds(b)
	var logs []float64
	for round, v := range r.rounds(a) {
		if other := others[round]; v > 0 && other > 0 {
			logs = append(logs, math.Log(v/other))
		}
	}
	if len(logs) < 2 {
		return Interval{}, false
	}
	n := float64(len(logs))
	mean, squares := 0.0, 0.0
	for _, l := range logs {
		mean += l / n
	}
	for _, l := range logs {
		squares += (l - mean) * (l - mean)
	}
	half := student(len(logs)-1) * math.Sqrt(squares/(n-1)/n)
	return Interval{Mean: math.Exp(mean), Low: math.Exp(mean - half), High: math.Exp(mean + half), Rounds: len(logs)}, true
}

// students are the 97.5 % quantiles of Student's t distribution for 1 to 30 degrees of freedom.
var students = [...]float64{
	12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
	2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
}

// student is the quantile for so many degrees of freedom, from 1; beyond the table a slightly larger one.
func student(freedom int) float64 { return students[min(freedom, len(students))-1] }

// ratioTable compares the contenders of a run with those of their names and Before, by CPU time a query; nil without any.
func ratioTable(r *Run) [][]string {
	lines := [][]string{{"scenario", "contender", "CPU a query, after : before", "95 % interval", "rounds"}}
	seen := make(map[Ref]bool)
	for _, s := range r.Samples {
		ref := Ref{Scenario: s.Name(), Contender: s.Contender, Metric: ProxyCPU}
		if seen[ref] || strings.HasSuffix(s.Contender, Before) {
			continue
		}
		seen[ref] = true
		before := ref
		before.Contender += Before
		if q, ok := r.Interval(ref, before); ok {
			lines = append(lines, []string{
				ref.Scenario, ref.Contender, fmt.Sprintf("%.3f", q.Mean), fmt.Sprintf("%.3f to %.3f", q.Low, q.High), fmt.Sprint(q.Rounds),
			})
		}
	}
	if len(lines) == 1 {
		return nil
	}
	return lines
}
