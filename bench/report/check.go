package report

import "math"

// Check is a promise about figures.
type Check struct {
	Line    int    // of the list that the promises come from
	Promise string // what is compared, for people
	Figure  func(*Run) (float64, bool)
	Bound   float64
	AtLeast bool // the figure must not be below the bound; else not above it
	Shown   bool // there is no bound, the figure is to be seen
	Unit    string
}

// Outcome is what became of a check.
type Outcome struct {
	Line     int
	Promise  string
	Figure   float64
	Bound    float64
	AtLeast  bool
	Shown    bool
	Unit     string
	Measured bool
	Holds    bool
}

// Judge looks at every check.
func Judge(r *Run, checks []Check) []Outcome {
	outcomes := make([]Outcome, len(checks))
	for i, c := range checks {
		figure, ok := c.Figure(r)
		if math.IsNaN(figure) || math.IsInf(figure, 0) {
			figure, ok = 0, false // a division by nothing
		}
		outcomes[i] = Outcome{
			Line: c.Line, Promise: c.Promise, Figure: figure, Bound: c.Bound, AtLeast: c.AtLeast, Shown: c.Shown, Unit: c.Unit, Measured: ok,
			Holds: ok && !c.Shown && (c.AtLeast && figure >= c.Bound || !c.AtLeast && figure <= c.Bound),
		}
	}
	return outcomes
}

// Value is a Figure: a median.
func Value(ref Ref) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) { return r.Value(ref) }
}

// Ratio is a Figure: the median of a/b.
func Ratio(a, b Ref) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) {
		return r.Pair(a, b, func(a, b float64) float64 { return a / b })
	}
}

// Difference is a Figure: the median of a-b.
func Difference(a, b Ref) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) {
		return r.Pair(a, b, func(a, b float64) float64 { return a - b })
	}
}
