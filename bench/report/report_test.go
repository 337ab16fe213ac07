package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares text with a file of testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs (go test ./bench/report -update accepts it):\n%s", path, text)
	}
}

// sampleRun is a small run of every kind of family.
func sampleRun() *Run {
	r := &Run{
		Started: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), Revision: "0123456789ab",
		Machine:  Machine{CPU: "A processor", Cores: 2, MemoryMiB: 8192, Kernel: "6.1", Go: "go1.26 linux/amd64", Congestion: "cubic", Autogroup: "1"},
		Versions: []string{"MariaDB 10.11", "HAProxy 2.6"},
		Settings: Settings{Arguments: []string{"-run", "point"}, Warmup: 0.5, Apart: true},
	}
	r.Ended = r.Started.Add(90 * time.Second)
	// add takes a sample; every turn takes the machine as it is then.
	add := func(family, parameter string, x float64, contender string, round int, m map[Metric]float64, errors uint64, failure string) {
		if m != nil {
			m[CalibrationCPU] = 7000 + float64(len(r.Samples))
		}
		r.Samples = append(r.Samples, Sample{
			Family: family, Parameter: parameter, X: x, Contender: contender, Round: round, Metrics: m, Errors: errors, Failure: failure,
			Run: r.Name(), Began: r.Started.Add(time.Duration(len(r.Samples)) * time.Second), Seconds: 2,
		})
	}
	for round := 1; round <= 3; round++ {
		f := float64(round)
		for _, threads := range []float64{64, 1} {
			point := func(contender string, m map[Metric]float64) {
				add("point-select/text", "threads", threads, contender, round, m, 0, "")
			}
			point("direct", map[Metric]float64{QPS: 1000*f + threads, P50: 10, P999: 900 / f, OtherCPU: f})
			point("kingshard", map[Metric]float64{QPS: 800 * f, P50: 12, P999: 990, ProxyCPU: 11 * f, ProxyUser: 1, ProxySystem: 2, Allocations: 1.25})
			point("haproxy", map[Metric]float64{QPS: 900 * f, P50: 11, P999: 950, ProxyCPU: 10 * f})
		}
		add("idle", "", 0, "kingshard", round, map[Metric]float64{PerClient: 5 + f}, 0, "")
		add("idle", "", 0, "kingshard TLS", round, nil, 0, "too many | open\nfiles")
		add("login", "", 0, "kingshard", round, map[Metric]float64{QPS: 30, ProxyCPU: 300}, 2, "refused")
		add("login", "", 0, "<haproxy>", round, map[Metric]float64{QPS: 40, ProxyCPU: 90}, 0, "")
	}
	ref := func(contender string, m Metric) Ref { return Ref{"point-select/text/64", contender, m} }
	r.Checks = Judge(r, []Check{
		{Line: 1, Promise: "CPU over HAProxy's", Bound: 1, Figure: Ratio(ref("kingshard", ProxyCPU), ref("haproxy", ProxyCPU))},
		{Line: 3, Promise: "latency beyond HAProxy's", Bound: 8, Unit: "µs", Figure: Difference(ref("kingshard", P50), ref("haproxy", P50))},
		{Line: 4, Promise: "throughput", Bound: 1000, AtLeast: true, Figure: Value(ref("kingshard", QPS))},
		{Line: 6, Promise: "clients", Bound: 1, AtLeast: true, Figure: Value(ref("nobody", Clients))},
		{Line: 9, Promise: "no promise", Shown: true, Figure: Value(ref("kingshard", QPS))},
	})
	return r
}

// sampleTurns are those of sampleRun and some that it does not have: a scenario, a contender of another one and a whole family.
func sampleTurns() []Turn {
	return []Turn{
		{"absent", "", 0, "kingshard"}, {"point-select/text", "threads", 1, "kingshard"}, {"point-select/text", "threads", 1, "absent"},
		{"point-select/text", "threads", 256, "kingshard"}, {"point-select/text", "threads", 1024, "kingshard"},
	}
}

func TestMarkdown(t *testing.T) {
	text, drawn := Markdown(sampleRun(), sampleTurns())
	golden(t, "performance.md", text)
	golden(t, "lines.svg", drawn["point-select-text-qps.svg"])
	golden(t, "bars.svg", drawn["login-proxy-cpu.svg"])
	for name, svg := range drawn {
		if !strings.Contains(text, "("+plotFolder+"/"+name+")") {
			t.Errorf("%s is not shown", name)
		}
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

func TestText(t *testing.T) {
	r := sampleRun()
	golden(t, "run.txt", Text(r))
	if line := Line(r.Samples[len(r.Samples)-3]); !strings.Contains(line, "failed: too many") {
		t.Errorf("%q", line)
	}
	if line := Line(r.Samples[1]); !strings.Contains(line, "800 per second") || !strings.Contains(line, "11.0 proxy CPU") {
		t.Errorf("%q", line)
	}
}

// TestWriteRead: a run comes back from its file as it was, and pictures of an older run go.
func TestWriteRead(t *testing.T) {
	dir := t.TempDir()
	r := sampleRun()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "run.json")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if again.Checks = r.Checks; Text(again) != Text(r) {
		t.Errorf("%s", Text(again))
	}
	old := filepath.Join(dir, plotFolder, "old.svg")
	if err := os.MkdirAll(filepath.Dir(old), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteDocuments(again, nil, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old picture is there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, plotFolder, "login-qps.svg")); err != nil {
		t.Error(err)
	}
	if kept, err := ReadFile(filepath.Join(dir, plotFolder, RunFile)); err != nil || len(kept.Samples) != len(r.Samples) || kept.Verify() != nil {
		t.Errorf("the run beside the documents: %v", err)
	}
	again.Samples[0].Run = "another"
	if err := WriteDocuments(again, nil, t.TempDir()); err == nil {
		t.Error("samples of two runs are published")
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("half a file: %v", err)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
		ok     bool
	}{{nil, 0, false}, {[]float64{5}, 5, true}, {[]float64{9, 1, 5}, 5, true}, {[]float64{4, 1, 2, 9}, 3, true}} {
		if got, ok := Median(c.values); got != c.want || ok != c.ok {
			t.Errorf("%v: %g, %v", c.values, got, ok)
		}
	}
}

// TestJudge: figures of a round are compared with those of the same round, and what was not measured does not hold.
func TestJudge(t *testing.T) {
	r := &Run{}
	for round, v := range [][2]float64{{10, 10}, {100, 50}, {9, 10}, {7, 0}} {
		r.Samples = append(r.Samples,
			Sample{Family: "f", Contender: "a", Round: round, Metrics: map[Metric]float64{QPS: v[0]}})
		if v[1] > 0 {
			r.Samples = append(r.Samples, Sample{Family: "f", Contender: "b", Round: round, Metrics: map[Metric]float64{QPS: v[1], Max: 0}})
		}
	}
	a, b := Ref{"f", "a", QPS}, Ref{"f", "b", QPS}
	outcomes := Judge(r, []Check{
		{Figure: Ratio(a, b), Bound: 1},
		{Figure: Ratio(a, b), Bound: 0.99},
		{Figure: Difference(a, b), Bound: 0.5, AtLeast: true},
		{Figure: Ratio(a, Ref{"f", "b", Max}), Bound: math.MaxFloat64},
		{Figure: Value(Ref{"f", "b", P50}), Bound: math.MaxFloat64},
	})
	for i, want := range []Outcome{{Figure: 1, Measured: true, Holds: true}, {Figure: 1, Measured: true}, {Measured: true}, {}, {}} {
		got := outcomes[i]
		if got.Figure != want.Figure || got.Measured != want.Measured || got.Holds != want.Holds {
			t.Errorf("check %d: %+v", i, got)
		}
	}
}

// TestInterval: ratios of the same rounds, by the worked example of two samples whose logarithms have the mean 0.1 and the standard
// deviation 0.1.
func TestInterval(t *testing.T) {
	r := &Run{}
	for round, log := range []float64{0, 0.1, 0.2} {
		r.Samples = append(r.Samples,
			Sample{Family: "f", Contender: "a", Round: round, Metrics: map[Metric]float64{ProxyCPU: 20 * math.Exp(log)}},
			Sample{Family: "f", Contender: "a" + Before, Round: round, Metrics: map[Metric]float64{ProxyCPU: 20}})
	}
	r.Samples = append(r.Samples, Sample{Family: "f", Contender: "a", Round: 3, Metrics: map[Metric]float64{ProxyCPU: 900}})
	got, ok := r.Interval(Ref{"f", "a", ProxyCPU}, Ref{"f", "a" + Before, ProxyCPU})
	half := 4.303 * 0.1 / math.Sqrt(3)
	if !ok || got.Rounds != 3 || math.Abs(math.Log(got.Mean)-0.1) > 1e-9 || math.Abs(math.Log(got.Low)-0.1+half) > 1e-9 || math.Abs(math.Log(got.High)-0.1-half) > 1e-9 {
		t.Errorf("%+v, %v", got, ok)
	}
	if text := Text(r); !strings.Contains(text, "f         a          1.105                        0.862 to 1.417  3") {
		t.Errorf("no line of two builds in\n%s", text)
	}
	if _, ok := (&Run{Samples: r.Samples[:2]}).Interval(Ref{"f", "a", ProxyCPU}, Ref{"f", "a" + Before, ProxyCPU}); ok {
		t.Error("one round has an interval")
	}
}

func TestNiceStep(t *testing.T) {
	for highest, want := range map[float64]float64{0: 1, 1: 0.2, 4.9: 1, 5.1: 2, 47_000: 10_000, 101: 50} {
		if got := niceStep(highest); math.Abs(got-want) > 1e-9 {
			t.Errorf("%g: %g, want %g", highest, got, want)
		}
	}
}
