package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// row is a contender in a scenario: medians over its rounds.
type row struct {
	family, parameter, contender string
	x                            float64
	rounds                       int     // 0: not measured in this run
	seconds                      float64 // of each round's measured time
	medians                      map[Metric]float64
	errors                       uint64
	failure                      string // of the first turn that had one
}

// Turn is a contender in a scenario.
type Turn struct {
	Family, Parameter string
	X                 float64
	Contender         string
}

// rows returns a row for each of turns, then for the other turns of the run in the order in which they were measured.
func (r *Run) rows(turns []Turn) []row {
	byTurn := make(map[Turn][]Sample)
	seen := make(map[Turn]bool)
	for _, t := range turns {
		seen[t] = true
	}
	order := slices.Clone(turns)
	for _, s := range r.Samples {
		t := Turn{s.Family, s.Parameter, s.X, s.Contender}
		if !seen[t] {
			seen[t] = true
			order = append(order, t)
		}
		byTurn[t] = append(byTurn[t], s)
	}
	rows := make([]row, len(order))
	for i, t := range order {
		rows[i] = summarise(t, byTurn[t])
	}
	return rows
}

func summarise(t Turn, samples []Sample) row {
	r := row{
		family: t.Family, parameter: t.Parameter, contender: t.Contender, x: t.X,
		rounds: len(samples), medians: make(map[Metric]float64),
	}
	values := make(map[Metric][]float64)
	for _, s := range samples {
		r.seconds = s.Seconds
		for m, v := range s.Metrics {
			values[m] = append(values[m], v)
		}
		r.errors += s.Errors
		if r.failure == "" {
			r.failure = s.Failure
		}
	}
	for m, v := range values {
		r.medians[m], _ = Median(v)
	}
	return r
}

// Contenders are those of a scenario, in the order of their turns.
func (r *Run) Contenders(scenario string) []string {
	var names []string
	for _, s := range r.Samples {
		if s.Name() == scenario && !slices.Contains(names, s.Contender) {
			names = append(names, s.Contender)
		}
	}
	return names
}

// families groups rows by family, in their order; within one, rows are by parameter.
func families(rows []row) [][]row {
	var groups [][]row
	at := make(map[string]int)
	for _, r := range rows {
		i, ok := at[r.family]
		if !ok {
			i = len(groups)
			at[r.family] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b row) int { return cmp.Compare(a.x, b.x) })
	}
	return groups
}

// columns are those that tables may have; a table has those of which it has figures.
var columns = []struct {
	metric Metric
	title  string
	digits int
}{
	{TPM, "tpmC", 0}, {QPS, "per second", 0}, {Rate, "asked for", 0}, {HighestRate, "highest rate", 0},
	{P50, "p50 µs", 0}, {P95, "p95 µs", 0}, {P99, "p99 µs", 0}, {P999, "p99.9 µs", 0}, {Max, "max µs", 0},
	{ProxyCPU, "proxy CPU µs", 1}, {ProxyUser, "user", 1}, {ProxySystem, "system", 1}, {ServerCPU, "server CPU µs", 1}, {ClientCPU, "client CPU µs", 1},
	{Allocations, "allocations", 2}, {Syscalls, "system calls", 2},
	{PerClient, "KiB per client", 1}, {Clients, "held", 0}, {RSS, "RSS KiB", 0}, {RSSGrowth, "growth KiB", 0},
	{RolledBack, "rolled back", 0}, {Retries, "retries", 0}, {Refused, "refused", 0}, {Unknown, "unknown", 0}, {Violated, "violated", 0},
}

// table makes a family's table, its first line the titles.
func table(family []row) [][]string {
	titles := []string{}
	if family[0].parameter != "" {
		titles = append(titles, family[0].parameter)
	}
	titles = append(titles, "contender", "rounds")
	var shown []int
	for i, c := range columns {
		if slices.ContainsFunc(family, func(r row) bool { _, ok := r.medians[c.metric]; return ok }) {
			shown = append(shown, i)
			titles = append(titles, c.title)
		}
	}
	titles = append(titles, "errors")
	lines := [][]string{titles}
	for _, r := range family {
		var line []string
		if r.parameter != "" {
			line = append(line, strconv.FormatFloat(r.x, 'f', -1, 64))
		}
		line = append(line, r.contender, r.turns())
		for _, i := range shown {
			line = append(line, figure(r.medians, columns[i].metric, columns[i].digits))
		}
		lines = append(lines, append(line, faults(r)))
	}
	return lines
}

func figure(medians map[Metric]float64, m Metric, digits int) string {
	v, ok := medians[m]
	if !ok {
		return ""
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// turns returns how often and for how long a row was measured.
func (r row) turns() string {
	if r.rounds == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %g s", r.rounds, r.seconds)
}

// notMeasured stands for a figure that a run does not have. It is never filled in from another.
const notMeasured = "not measured in this run"

// faults says what went wrong.
func faults(r row) string {
	const failureMax = 80
	text := strings.Join(strings.Fields(r.failure), " ")
	if len(text) > failureMax {
		text = text[:failureMax] + "…"
	}
	switch {
	case r.rounds == 0:
		return notMeasured
	case r.errors > 0:
		return fmt.Sprintf("%d: %s", r.errors, text)
	case text != "":
		return "failed: " + text
	}
	return ""
}

// checkTable makes the table of checks, its first line the titles.
func checkTable(checks []Outcome) [][]string {
	lines := [][]string{{"line", "promise", "figure", "bound", "holds"}}
	for _, c := range checks {
		bound, measured, holds := "at most "+number(c.Bound, c.Unit), notMeasured, "?"
		if c.AtLeast {
			bound = "at least " + number(c.Bound, c.Unit)
		}
		if c.Measured {
			measured, holds = number(c.Figure, c.Unit), "no"
		}
		if c.Holds {
			holds = "yes"
		}
		if c.Shown {
			bound, holds = "", ""
		}
		lines = append(lines, []string{strconv.Itoa(c.Line), c.Promise, measured, bound, holds})
	}
	return lines
}

// number writes a figure with three digits that count, or as a whole number.
func number(v float64, unit string) string {
	text := strconv.FormatFloat(v, 'g', 3, 64)
	if v == 0 || v >= 100 || v <= -100 {
		text = strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strings.TrimSpace(text + " " + unit)
}
