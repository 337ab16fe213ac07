package scenario

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kingshard/bench/load"
	"kingshard/bench/report"
	"kingshard/bench/rig"
	"kingshard/mysql/mysqltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// buildProxy builds this checkout's proxy.
func buildProxy(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kingshard")
	cmd := exec.Command("go", "build", "-o", path, "kingshard/cmd/kingshard")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// startRig starts a rig with small tables.
func startRig(t *testing.T) *rig.Rig {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a server")
	}
	set, err := rig.Start(context.Background(), rig.Options{Kind: mysqltest.MariaDB, Proxy: buildProxy(t), Rows: 1000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	return set
}

// TestRunner runs a turn of each kind of work on a real server, through all kinds of contenders.
func TestRunner(t *testing.T) {
	set := startRig(t)
	t.Run("statements", func(t *testing.T) { runStatements(t, set) })
	fewKeys := load.Statement{Text: point.Text, Keys: 1000, Prepared: true}
	scenarios := []Scenario{
		{Family: "sysbench", Work: sysbench{script: "oltp_insert", threads: 2, db: rig.InsertDB}, Against: []rig.Spec{direct, oneShard, haproxy}},
		{Family: "closed", Work: closed{clients: 2, statement: fewKeys}, Against: []rig.Spec{directTLS, haproxyTLS, plainTLS}},
		{Family: "open", Work: openRate{rate: 100, stallFor: time.Millisecond, stallEach: 20 * time.Millisecond}, Against: []rig.Spec{plain}},
		{Family: "logins", Work: logins{2}, Against: []rig.Spec{plainTLS}},
		{Family: "ids", Work: ids()[0].Work, Against: []rig.Spec{bringing, drawing}},
		{Family: "lookup", Work: lookups()[0].Work, Against: []rig.Spec{byShardingKey, byUniqueKey, byLookupKey, unsharded}},
		{Family: "commit", Work: commit()[0].Work, Against: []rig.Spec{bestEffort, atomic}},
		{Family: "idle", Work: idleClients{50}, Against: []rig.Spec{plain}},
		{Family: "missing", Work: logins{1}, Against: []rig.Spec{{Name: "missing", Kind: rig.Kingshard, Binary: "/nowhere/kingshard"}}},
	}
	runner := Runner{Name: "a run", Rig: set, Rounds: 1, Warmup: 50 * time.Millisecond, Measured: time.Second}
	samples, err := runner.Run(context.Background(), scenarios)
	if err != nil {
		t.Fatal(err)
	}
	last := time.Time{}
	for _, s := range samples {
		checkSample(t, s)
		if s.Run != runner.Name || !s.Began.After(last) || s.Seconds != 1 {
			t.Errorf("%s, %s: of run %q, began at %v, %g s", s.Family, s.Contender, s.Run, s.Began, s.Seconds)
		}
		last = s.Began
	}
	if len(samples) != 3+3+1+1+2+4+2+1+1 {
		t.Errorf("%d samples", len(samples))
	}
}

// A fresh scenario has another process for each turn, which knows nothing of the turn before.
func TestFreshContenders(t *testing.T) {
	set := startRig(t)
	pids := map[int]bool{}
	runner := Runner{Rig: set, Rounds: 2, Warmup: 10 * time.Millisecond, Measured: 10 * time.Millisecond}
	for _, fresh := range []bool{false, true} {
		clear(pids)
		samples, err := runner.Run(context.Background(), []Scenario{{Family: "pids", Work: pidsOf(pids), Against: []rig.Spec{plain}, Fresh: fresh}})
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{false: 1, true: 2}[fresh]; len(samples) != 2 || len(pids) != want || samples[1].Failure != "" {
			t.Errorf("fresh %t: %d samples of processes %v: %v", fresh, len(samples), pids, samples)
		}
	}
}

// pidsOf is work that notes who does it.
type pidsOf map[int]bool

func (l pidsOf) run(_ context.Context, c *rig.Contender, _ timing, w load.Window) (outcome, error) {
	w.Begin()
	l[c.PID] = true
	w.End()
	return outcome{}, nil
}

func (pidsOf) takes(t timing) time.Duration { return t.measured }

// runStatements sends every statement of the closed loops once: through each contender it has as many rows as directly.
func runStatements(t *testing.T, set *rig.Rig) {
	contenders := make(map[string]*rig.Contender)
	rows := func(spec rig.Spec, text string) uint64 {
		key := fmt.Sprint(spec.Name, spec.Shards)
		c := contenders[key]
		if c == nil {
			var err error
			if c, err = set.Open(context.Background(), spec); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			contenders[key] = c
		}
		client, err := load.Dial(c.Login(rig.DB))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		n, err := client.Query(text)
		if err != nil {
			t.Errorf("%s: %.100s: %v", spec.Name, text, err)
		}
		return n
	}
	for _, s := range All() {
		l, ok := s.Work.(closed)
		if !ok {
			continue
		}
		text := strings.ReplaceAll(l.statement.Text, "?", "7")
		want := rows(direct, text)
		if want == 0 && !strings.HasPrefix(text, "REPLACE") && !strings.HasPrefix(text, "INSERT") {
			t.Errorf("%s: no rows", s.Name())
		}
		for _, spec := range s.Against {
			if got := rows(spec, text); got != want {
				t.Errorf("%s, %s: %d rows, want %d", s.Name(), spec.Name, got, want)
			}
		}
	}
}

// checkSample looks for the figures that a turn must have.
func checkSample(t *testing.T, s report.Sample) {
	t.Helper()
	t.Log(report.Line(s))
	if s.Contender == "missing" {
		if s.Failure == "" {
			t.Errorf("%s: a proxy that is not there did not fail", s.Family)
		}
		return
	}
	if s.Failure != "" || s.Errors > 0 {
		t.Errorf("%s, %s: %d errors, %s", s.Family, s.Contender, s.Errors, s.Failure)
	}
	want := []report.Metric{report.QPS, report.P50, report.Max, report.ServerCPU, report.ClientCPU, report.CalibrationCPU}
	if s.Family == "idle" {
		want = []report.Metric{report.Clients} // the memory of so few may be anything
	}
	if s.Contender != directName && s.Contender != directTLS.Name {
		want = append(want, report.RSS)
		if s.Family != "idle" {
			want = append(want, report.ProxyCPU)
		}
	}
	for _, m := range want {
		if s.Metrics[m] <= 0 {
			t.Errorf("%s, %s: %s is %g", s.Family, s.Contender, m, s.Metrics[m])
		}
	}
}
