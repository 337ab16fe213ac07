package proxy_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// set is a set of label names.
type set map[string]bool

func setOf(names ...string) set {
	s := make(set)
	for _, n := range names {
		s[n] = true
	}
	return s
}

// exposition is what a scrape told: the metrics, and the values of each label.
type exposition struct {
	metrics map[string]*family
	used    map[string]bool // names that an expression used
}

type family struct {
	kind   dto.MetricType
	labels map[string]set // values by label
}

// parseExposition reads the text format.
func parseExposition(text string) (*exposition, error) {
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	e := &exposition{metrics: make(map[string]*family), used: make(map[string]bool)}
	for name, f := range families {
		one := &family{kind: f.GetType(), labels: make(map[string]set)}
		for _, m := range f.Metric {
			for _, l := range m.Label {
				if one.labels[l.GetName()] == nil {
					one.labels[l.GetName()] = make(set)
				}
				one.labels[l.GetName()][l.GetValue()] = true
			}
			for _, q := range m.GetSummary().GetQuantile() {
				if one.labels["quantile"] == nil {
					one.labels["quantile"] = make(set)
				}
				one.labels["quantile"][fmt.Sprint(q.GetQuantile())] = true
			}
		}
		// Prometheus gives every series a job and an instance, and renames labels of ours that have these names.
		for _, l := range []string{"job", "instance"} {
			if one.labels[l] != nil {
				return nil, fmt.Errorf("%s has a label %s of its own", name, l)
			}
			one.labels[l] = nil
		}
		e.metrics[name] = one
	}
	// Prometheus makes this one.
	e.metrics["up"] = &family{kind: dto.MetricType_GAUGE, labels: map[string]set{"job": nil, "instance": nil}}
	return e, nil
}

// check tells whether an expression can be right, and which labels its series have.
func (e *exposition) check(text string) (set, error) {
	expr, err := parser.ParseExpr(text)
	if err != nil {
		return nil, err
	}
	return e.labels(expr, false)
}

// labels gives the labels of an expression's series; nil for a scalar. ranged says that it is under a range function.
func (e *exposition) labels(expr parser.Expr, ranged bool) (set, error) {
	switch x := expr.(type) {
	case *parser.NumberLiteral:
		return nil, nil
	case *parser.ParenExpr:
		return e.labels(x.Expr, ranged)
	case *parser.MatrixSelector:
		return e.labels(x.VectorSelector, true)
	case *parser.VectorSelector:
		return e.selected(x, ranged)
	case *parser.AggregateExpr:
		inner, err := e.labels(x.Expr, false)
		for _, l := range x.Grouping {
			if err == nil && !inner[l] {
				err = fmt.Errorf("grouped by %s, of %v", l, slices.Sorted(maps.Keys(inner)))
			}
		}
		if x.Without {
			return nil, errors.New("without: write by")
		}
		return setOf(x.Grouping...), err
	case *parser.Call:
		return e.called(x)
	case *parser.BinaryExpr:
		return e.combined(x)
	}
	return nil, fmt.Errorf("%T is not known to this test", expr)
}

// selected checks the name, the labels and their values; a counter goes into a range function, a gauge rarely.
func (e *exposition) selected(x *parser.VectorSelector, ranged bool) (set, error) {
	name := x.Name
	f, part := e.metrics[name], ""
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && f == nil {
			name, part = base, suffix
			if f = e.metrics[name]; f != nil && f.kind != dto.MetricType_HISTOGRAM {
				return nil, fmt.Errorf("%s is no histogram", name)
			}
		}
	}
	if f == nil {
		return nil, fmt.Errorf("no metric %s", x.Name)
	}
	if counts := f.kind == dto.MetricType_COUNTER || part != ""; counts != ranged && name != "process_start_time_seconds" && name != "kingshard_config_generation" {
		return nil, fmt.Errorf("%s, a %v, is in a range function: %v", x.Name, f.kind, ranged)
	}
	e.used[name] = true
	for _, m := range x.LabelMatchers {
		if m.Name == labels.MetricName {
			continue
		}
		values, known := f.labels[m.Name]
		if !known {
			return nil, fmt.Errorf("%s has no label %s", x.Name, m.Name)
		}
		if values == nil || strings.Contains(m.Value, "$") {
			continue
		}
		wanted := []string{m.Value}
		if m.Type == labels.MatchRegexp {
			wanted = strings.Split(m.Value, "|")
		}
		for _, v := range wanted {
			if !values[v] {
				return nil, fmt.Errorf("%s has no %s %q; it has %v", x.Name, m.Name, v, slices.Sorted(maps.Keys(values)))
			}
		}
	}
	got := setOf(slices.Collect(maps.Keys(f.labels))...)
	if part == "_bucket" {
		got["le"] = true
	}
	return got, nil
}

// called gives the labels of a function's result.
func (e *exposition) called(x *parser.Call) (set, error) {
	switch x.Func.Name {
	case "rate", "increase", "changes":
		return e.labels(x.Args[0], false)
	case "vector":
		return set{}, nil
	case "histogram_quantile":
		inner, err := e.labels(x.Args[1], false)
		if err == nil && !inner["le"] {
			err = errors.New("histogram_quantile of what has no le")
		}
		got := maps.Clone(inner)
		delete(got, "le")
		return got, err
	}
	return nil, fmt.Errorf("%s is not known to this test", x.Func.Name)
}

// combined checks that both sides have the same labels, as no series would match another otherwise.
func (e *exposition) combined(x *parser.BinaryExpr) (set, error) {
	left, err := e.labels(x.LHS, false)
	if err != nil {
		return nil, err
	}
	right, err := e.labels(x.RHS, false)
	if err != nil || right == nil {
		return left, err
	}
	if x.Op == parser.LOR {
		both := make(set)
		for l := range left {
			if right[l] {
				both[l] = true
			}
		}
		return both, nil
	}
	if left != nil && !maps.Equal(left, right) {
		return nil, fmt.Errorf("the sides of %s have the labels %v and %v", x.Op, slices.Sorted(maps.Keys(left)), slices.Sorted(maps.Keys(right)))
	}
	return right, nil
}

// The checks above find what they are for.
func TestExpressionsThatAreWrong(t *testing.T) {
	e := exported(t)
	for _, c := range []struct{ text, says string }{
		{`kingshard_session`, "no metric kingshard_session"},
		{`kingshard_sessions{node="n"}`, "no label node"},
		{`rate(kingshard_errors_total{origin="server"}[5m])`, `no origin "server"`},
		{`rate(kingshard_pool_gets_total{outcome=~"timed_out|late"}[5m])`, `no outcome "late"`},
		{`kingshard_rows_total`, "is in a range function: false"},
		{`rate(kingshard_sessions[5m])`, "is in a range function: true"},
		{`sum by (node) (rate(kingshard_rows_total[5m]))`, "grouped by node"},
		{`kingshard_sessions / kingshard_pool_waiting`, "the sides of / have the labels"},
		{`histogram_quantile(0.5, sum(rate(kingshard_command_seconds_bucket[5m])))`, "no le"},
		{`rate(kingshard_rows_total_count[5m])`, "no histogram"},
		{`sum(`, "parse error"},
	} {
		if _, err := e.check(c.text); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.text, err, c.says)
		}
	}
}
