package scenario

import (
	"regexp"
	"strings"
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
				report.QPS, report.P50, report.P999, report.ProxyCPU, report.ServerCPU, report.Allocations, report.RSSGrowth, report.PerClient,
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
	for line := 1; line <= 9; line++ {
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

// TestWholeRunIsShort: nobody waits for more than 45 minutes, nor splices a shorter run to have it sooner.
func TestWholeRunIsShort(t *testing.T) {
	runner := Runner{Warmup: time.Second}
	if d := runner.Estimate(All()); d > 44*time.Minute || d < 20*time.Minute {
		t.Errorf("%v", d)
	}
	for _, c := range []struct {
		runner Runner
		want   time.Duration
	}{
		{runner, 2 * 3 * (time.Second + 5*time.Second + turnOverhead)},
		{Runner{Warmup: time.Second, Rounds: 1, Measured: 3 * time.Second}, 2 * (time.Second + 4*time.Second + turnOverhead)},
	} {
		s := Scenario{Work: closed{}, Against: []rig.Spec{direct, plain}, Rounds: 3, Seconds: 5, SecondsMin: 4}
		if got := c.runner.Estimate([]Scenario{s}); got != c.want {
			t.Errorf("%+v: %v, want %v", c.runner, got, c.want)
		}
	}
}

// TestTurns: every contender of every scenario is a turn of a whole run.
func TestTurns(t *testing.T) {
	n := 0
	for _, s := range All() {
		n += len(s.Against)
	}
	if got := Turns(); len(got) != n || got[0] != (report.Turn{Family: "point-select/text", Parameter: "threads", X: 1, Contender: directName}) {
		t.Errorf("%d turns, want %d, the first %+v", len(got), n, got[0])
	}
}

// TestHeadline: the README has the run's figures, and none without a run.
func TestHeadline(t *testing.T) {
	if text := Headline(new(report.Run)); strings.Contains(text, "**") || !strings.Contains(text, "(docs/performance.md)") {
		t.Errorf("without a run: %s", text)
	}
	run := new(report.Run)
	for protocol, cpu := range map[string]float64{"text": 15, "prepared": 12} {
		for contender, v := range map[string]float64{proxyName: cpu, haproxyName: 20} {
			run.Samples = append(run.Samples, report.Sample{Family: "point-select/" + protocol, Parameter: "threads", X: 64, Contender: contender,
				Round: 1, Metrics: map[report.Metric]float64{report.ProxyCPU: v, report.QPS: 3000 - 100*v}})
		}
	}
	text := Headline(run)
	for _, want := range []string{"**0.75 of", "prepared 0.60", "at 1.50", "(docs/performance.md)", ".svg)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
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
