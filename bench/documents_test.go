package main

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"kingshard/bench/chaos"
	"kingshard/bench/report"
	"kingshard/bench/scenario"
)

var update = flag.Bool("update", false, "write the documents anew from the run that is kept with them")

// TestDocuments: performance.md, its plots and the figures of README.md are those of the run that is kept with them, or promise nothing
// where there is none.
func TestDocuments(t *testing.T) {
	const docs = "../docs"
	run, err := report.ReadFile(filepath.Join(docs, "performance", report.RunFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		run = new(report.Run)
	case err != nil:
		t.Fatal(err)
	default:
		if err := run.Verify(); err != nil {
			t.Fatal(err)
		}
	}
	run.Checks = report.Judge(run, scenario.Checks())
	text, drawn := report.Markdown(run, scenario.Turns())
	compare(t, filepath.Join(docs, "performance.md"), text)
	for name, svg := range drawn {
		compare(t, filepath.Join(docs, "performance", name), svg)
	}
	plots, err := filepath.Glob(filepath.Join(docs, "performance", "*.svg"))
	if err != nil || len(plots) != len(drawn) {
		t.Errorf("%d plots, the run has %d: %v", len(plots), len(drawn), err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := report.ReplaceSection(string(readme), report.FiguresSection, scenario.Headline(run))
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "../README.md", want)
}

// compare compares a file with what it should be.
func compare(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is not of the run in docs/performance (go run ./bench -render docs/performance/%s, or without one go test ./bench -run TestDocuments -update): %v",
			path, report.RunFile, err)
	}
}

// TestReliabilityDocument: the sections of reliability.md are those of the results that are kept with it.
func TestReliabilityDocument(t *testing.T) {
	const path = "../docs/reliability.md"
	results, err := chaos.Read[chaos.Result](filepath.Join("../docs/reliability", chaos.ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	soaks, err := chaos.Read[chaos.Soak](filepath.Join("../docs/reliability", chaos.SoaksFile))
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := string(document)
	for section, text := range map[string]string{chaos.TableSection: chaos.Table(results), chaos.SoakSection: chaos.SoakTable(soaks)} {
		if want, err = report.ReplaceSection(want, section, text); err != nil {
			t.Fatal(err)
		}
	}
	compare(t, path, want)
}
