package scenario

import (
	"regexp"
	"testing"
	"time"

	"kingshard/bench/load"
	"kingshard/bench/report"
	"kingshard/bench/rig"
)

// TestTable: names are unique and can be selected, contenders have names of their own, statements can be sent.
func TestTable(t *testing.T) {
	all := All()
	seen := make(map[string]bool)
	for _, s := range all {
		name := s.Name()
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
		if got, err := Select(all, "^"+regexp.QuoteMeta(name)+"$"); err != nil || len(got) != 1 {
			t.Errorf("%s: %d selected, %v", name, len(got), err)
		}
		contenders := make(map[string]bool)
		for _, spec := range s.Against {
			if spec.Name == "" || contenders[spec.Name] {
				t.Errorf("%s: contender %q", name, spec.Name)
			}
			contenders[spec.Name] = true
		}
		if l, ok := s.Work.(closed); ok {
			if err := l.statement.Check(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if (s.Parameter == "") != (s.X == 0) {
			t.Errorf("%s: parameter %q is %g", name, s.Parameter, s.X)
		}
	}
	if _, err := Select(all, "no such scenario"); err == nil {
		t.Error("nothing selected is no error")
	}
	if _, err := Select(all, "("); err == nil {
		t.Error("half an expression is no error")
	}
}

// TestChecksAreMeasured: when every scenario of Done has every metric for every contender, every check has a figure.
func TestChecksAreMeasured(t *testing.T) {
	run := new(report.Run)
	for _, s := range Done() {
		for _, spec := range s.Against {
			m := make(map[report.Metric]float64)
			for _, metric := range []report.Metric{
				report.QPS, report.P50, report.P999, report.ProxyCPU, report.Allocations, report.RSSGrowth, report.PerClient,
				report.Clients, report.HighestRate,
			} {
				m[metric] = s.X + 1 // CPU grows with the size of a statement
			}
			run.Samples = append(run.Samples, report.Sample{
				Family: s.Family, Parameter: s.Parameter, X: s.X, Contender: spec.Name, Round: 1, Metrics: m,
			})
		}
	}
	lines := make(map[int]bool)
	for _, o := range report.Judge(run, Checks()) {
		lines[o.Line] = true
		if !o.Measured {
			t.Errorf("not measured: %s", o.Promise)
		}
	}
	for line := 1; line <= 8; line++ {
		if !lines[line] {
			t.Errorf("no check of line %d", line)
		}
	}
	for _, o := range report.Judge(new(report.Run), Checks()) {
		if o.Measured || o.Holds {
			t.Errorf("measured without a sample: %s", o.Promise)
		}
	}
}

func TestStatementSizes(t *testing.T) {
	for _, bytes := range []int{1000, 17_000, 170_000} {
		if n := len(longStatement(bytes).Text); n < bytes-20 || n > bytes+20 {
			t.Errorf("%d bytes: %d", bytes, n)
		}
	}
	if n := len(ormStatement().Text); n < 16_000 || n > 20_000 {
		t.Errorf("the ORM's statement has %d bytes", n)
	}
}

func TestWith(t *testing.T) {
	slo := load.SLO{Quantile: 0.5, Limit: time.Second}
	all := All()
	for i, s := range WithSLO(all, slo) {
		if h, ok := s.Work.(highestRate); ok && h.slo != slo {
			t.Errorf("%s searches %v", s.Name(), h.slo)
		}
		if h, ok := all[i].Work.(highestRate); ok && h.slo != DefaultSLO {
			t.Errorf("the table was changed: %v", h.slo)
		}
	}
	changed := WithBefore([]Scenario{{Against: []rig.Spec{direct, plain}}}, "/other")
	if got := changed[0].Against; len(got) != 3 || got[1].Binary != "/other" || got[1].Name != "kingshard, before" || got[2].Name != proxyName || got[2].Binary != "" {
		t.Errorf("%+v", got)
	}
}
