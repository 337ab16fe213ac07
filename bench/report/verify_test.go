package report

import (
	"strings"
	"testing"
	"time"
)

// TestVerify: a run is published only if all its samples are its own, each once, and of a revision that can be had again; what is
// wrong is named.
func TestVerify(t *testing.T) {
	if err := sampleRun().Verify(); err != nil {
		t.Fatalf("a whole run: %v", err)
	}
	const name = "20261121-100000-0123456789ab"
	for what, c := range map[string]struct {
		change func(r *Run)
		want   []string // parts of the error
	}{
		"samples of other runs": {func(r *Run) {
			r.Samples[0].Run, r.Samples[1].Run, r.Samples[2].Run = "20261101-000000-aaaaaaaaaaaa", "20261101-000000-aaaaaaaaaaaa", "20261102-000000-bbbbbbbbbbbb"
		}, []string{name + ": 2 samples are of run 20261101-000000-aaaaaaaaaaaa", "1 samples are of run 20261102-000000-bbbbbbbbbbbb"}},
		"another revision": {func(r *Run) { r.Revision = "bbbbbbbbbbbb" }, []string{"20261121-100000-bbbbbbbbbbbb: 30 samples are of run " + name}},
		"no name":          {func(r *Run) { r.Samples[5].Run = "" }, []string{"1 samples do not say of which run they are"}},
		"a copy": {func(r *Run) { r.Samples[13].Metrics = r.Samples[3].Metrics },
			[]string{"point-select/text/1, direct, round 2 is a copy of point-select/text/1, direct, round 1"}},
		"a turn twice":     {func(r *Run) { r.Samples[10].Round = 1 }, []string{"two samples are point-select/text/64, direct, round 1"}},
		"out of turn":      {func(r *Run) { r.Samples[4], r.Samples[5] = r.Samples[5], r.Samples[4] }, []string{"point-select/text/1, kingshard, round 1 began at"}},
		"the same moment":  {func(r *Run) { r.Samples[4].Began = r.Samples[3].Began }, []string{"point-select/text/1, kingshard, round 1 began at"}},
		"after the end":    {func(r *Run) { r.Ended = r.Started.Add(time.Second) }, []string{"point-select/text/64, haproxy, round 1 began at"}},
		"before the begin": {func(r *Run) { r.Samples[0].Began = r.Started.Add(-time.Second) }, []string{"point-select/text/64, direct, round 1 began at"}},
		"another program":  {func(r *Run) { r.Samples[1].Contender += Before }, []string{`"kingshard, before" is another revision`}},
		"nothing":          {func(r *Run) { r.Samples = nil }, []string{name + " has no samples"}},
		"uncommitted":      {func(r *Run) { r.Revision += "+" }, []string{"0123456789ab+ has changes that are not committed"}},
		"dirty":            {func(r *Run) { r.Revision += "-dirty" }, []string{"has changes that are not committed"}},
		"unknown":          {func(r *Run) { r.Revision = "unknown" }, []string{"not known which revision"}},
	} {
		r := sampleRun()
		c.change(r)
		err := r.Verify()
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", what, err, want)
			}
		}
	}
}

// TestNoRun: without a run the page promises nothing, and says so of each promise.
func TestNoRun(t *testing.T) {
	checks := []Check{{Promise: "a", Bound: 1, Figure: Value(Ref{"f", "a", QPS})}, {Promise: "b", Shown: true, Figure: Value(Ref{"f", "b", QPS})}}
	text, drawn := Markdown(&Run{Checks: Judge(new(Run), checks)}, sampleTurns())
	if len(drawn) != 0 || strings.Count(text, notMeasured) != len(checks) || !strings.Contains(text, "no figures") {
		t.Errorf("%d plots\n%s", len(drawn), text)
	}
}

func TestReplaceSection(t *testing.T) {
	document := "a\n" + FiguresSection + "old\n" + sectionEnd + "b\n"
	if got, err := ReplaceSection(document, FiguresSection, "new\n"); err != nil || got != strings.Replace(document, "old", "new", 1) {
		t.Errorf("%q, %v", got, err)
	}
	for _, without := range []string{"", FiguresSection, sectionEnd, sectionEnd + FiguresSection} {
		if _, err := ReplaceSection(without, FiguresSection, "new\n"); err == nil {
			t.Errorf("%q has a section", without)
		}
	}
}
