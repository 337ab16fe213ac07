package report

import "slices"

// Median is the middle of values, of an even number the mean of the two in the middle; false without any.
func Median(values []float64) (float64, bool) {
	if len(values) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2], true
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2, true
}

// Ref names a figure: a metric of a contender in a scenario.
type Ref struct {
	Scenario, Contender string
	Metric              Metric
}

// rounds gives a figure by round.
func (r *Run) rounds(ref Ref) map[int]float64 {
	found := make(map[int]float64)
	for _, s := range r.Samples {
		if s.Contender != ref.Contender || s.Name() != ref.Scenario {
			continue
		}
		if v, ok := s.Metrics[ref.Metric]; ok {
			found[s.Round] = v
		}
	}
	return found
}

// Value is the median of a figure over its rounds; false when it was not measured.
func (r *Run) Value(ref Ref) (float64, bool) {
	var values []float64
	for _, v := range r.rounds(ref) {
		values = append(values, v)
	}
	return Median(values)
}

// Pair is the median over the rounds of what combine makes of two figures of the same round, so that what disturbed a
// whole round disturbs both; false when no round has both. Figures of one round each, as of different scenarios with
// different rounds, are compared by number of round all the same.
func (r *Run) Pair(a, b Ref, combine func(a, b float64) float64) (float64, bool) {
	others := r.rounds(b)
	var values []float64
	for round, v := range r.rounds(a) {
		if other, ok := others[round]; ok {
			values = append(values, combine(v, other))
		}
	}
	return Median(values)
}
