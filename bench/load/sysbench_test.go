package load

import (
	"math"
	"os"
	"strings"
	"testing"
)

func TestParseSysbench(t *testing.T) {
	text, err := os.ReadFile("testdata/sysbench.txt")
	if err != nil {
		t.Fatal(err)
	}
	r, err := parseSysbench(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if r.Queries != 142346 || r.Errors != 3 || math.Abs(r.Seconds-2.0035) > 0.001 {
		t.Errorf("%+v", r)
	}
	if want := (Latency{Mean: 60, P50: 39, P90: 48, P99: 75, P999: 2145, Max: 7220}); r.Latency != want {
		t.Errorf("latency %+v, want %+v", r.Latency, want)
	}
}

func TestParseSysbenchBad(t *testing.T) {
	good, err := os.ReadFile("testdata/sysbench.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, remove := range []string{checkpointMark, histogramMark, "    queries: ", "    ignored errors:", "avg:", "max:", "|"} {
		if _, err := parseSysbench(strings.ReplaceAll(string(good), remove, "")); err == nil {
			t.Errorf("a report without %q is taken", remove)
		}
	}
	if _, err := parseSysbench(strings.ReplaceAll(string(good), "|****  ", "|x")); err == nil {
		t.Error("a histogram with a strange line is taken")
	}
}

func TestFatal(t *testing.T) {
	for text, want := range map[string]string{
		"Initializing\n\nFATAL: unable to connect\nFATAL: error 1040: Too many connections\nFATAL: other\n": "error 1040: Too many connections",
		"FATAL: Thread initialization failed!\nFATAL: other\n":                                              "Thread initialization failed!",
	} {
		if got := fatal(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if fatal("") == "" {
		t.Error("nothing is said")
	}
}
