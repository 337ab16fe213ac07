package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kingshard/bench/load"
	"kingshard/bench/procstat"
	"kingshard/bench/report"
	"kingshard/bench/rig"
	"kingshard/bench/scenario"
	"kingshard/mysql/mysqltest"
)

// pausesWatched is how long the machine is watched before a run.
const pausesWatched = 2 * time.Second

// list prints the scenarios with their contenders.
func list(o options) {
	for _, s := range o.scenarios {
		names := make([]string, len(s.Against))
		for i, spec := range s.Against {
			names[i] = spec.Name
		}
		fmt.Printf("%-32s %s\n", s.Name(), strings.Join(names, ", "))
	}
	runner := scenario.Runner{Rounds: o.rounds, Warmup: o.warmup, Measured: o.measured}
	fmt.Printf("\n%d scenarios, about %.0f minutes\n", len(o.scenarios), runner.Estimate(o.scenarios).Minutes())
}

// measure runs the scenarios and writes what they found.
func measure(ctx context.Context, o options) (err error) {
	name := revision(ctx)
	if o.proxy != "" {
		name = versionOf(ctx, o.proxy)
	}
	if o.docs != "" {
		if err := report.VerifyRevision(name); err != nil {
			return fmt.Errorf("nothing to publish: %w", err)
		}
	}
	dir, err := os.MkdirTemp("", "kingshard-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.proxy == "" {
		if o.proxy, err = build(ctx, name, dir); err != nil {
			return err
		}
	}
	pauses := report.Pauses(procstat.WatchPauses(pausesWatched))
	set, err := rig.Start(ctx, rig.Options{Kind: mysqltest.Kind(o.server), Proxy: o.proxy, Apart: o.apart, Progress: progress})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	found := &report.Run{
		Started: time.Now().UTC().Truncate(time.Second), Revision: name, Machine: report.Machine(procstat.ReadMachine()),
		Pauses: &pauses, Versions: versions(ctx, set, o.proxy),
		Settings: report.Settings{Arguments: o.arguments, Warmup: o.warmup.Seconds(), Apart: o.apart},
	}
	runner := scenario.Runner{
		Name: found.Name(), Rig: set, Rounds: o.rounds, Warmup: o.warmup, Measured: o.measured, Syscalls: o.syscalls,
		Progress: func(s report.Sample) { progress(report.Line(s)) },
	}
	if found.Samples, err = runner.Run(ctx, o.scenarios); err != nil && len(found.Samples) == 0 {
		return err
	}
	found.Ended = time.Now().UTC()
	found.Checks = report.Judge(found, scenario.Checks())
	if !o.judge { // only those whose scenarios have run
		found.Checks = slices.DeleteFunc(found.Checks, func(c report.Outcome) bool { return !c.Measured })
	}
	path, writeErr := write(found, o.results)
	if err := errors.Join(err, writeErr); err != nil {
		return err
	}
	fmt.Print(report.Text(found))
	printMachines(found, o)
	progress("written to " + path)
	if o.docs == "" {
		return nil
	}
	return publish(found, o.docs)
}

func progress(text string) { fmt.Fprintln(os.Stderr, "bench:", text) }

// build builds this checkout's proxy as the Makefile does.
func build(ctx context.Context, revision, dir string) (string, error) {
	path := filepath.Join(dir, "kingshard")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w -X main.version="+revision, "-o", path, "kingshard/cmd/kingshard")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build kingshard: %w\n%s", err, out)
	}
	return path, nil
}

// revision is the checkout's, with a + behind it if files differ from it; "unknown" outside of a checkout.
func revision(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(out))
	if changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain").Output(); err != nil || len(changed) > 0 {
		name += "+"
	}
	return name
}

// versionOf returns the revision that a kingshard says it is of, "unknown" if it does not.
func versionOf(ctx context.Context, proxy string) string {
	out, err := exec.CommandContext(ctx, proxy, "-version").Output()
	if fields := strings.Fields(string(out)); err == nil && len(fields) > 1 {
		return fields[1]
	}
	return "unknown"
}

// versions names the programs that take part.
func versions(ctx context.Context, set *rig.Rig, proxy string) []string {
	names := []string{set.Version()}
	if v := rig.HAProxyVersion(); v != "" {
		names = append(names, v)
	}
	for _, args := range [][]string{{"sysbench", "--version"}, {proxy, "-version"}} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).Output(); err == nil {
			names = append(names, strings.TrimSpace(string(out)))
		}
	}
	return names
}

// write writes a run into a folder, under its name.
func write(found *report.Run, dir string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(dir, found.Name()+".jsonl")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	return path, errors.Join(found.Write(f), f.Close())
}

// printMachines says how many machines like this one carry the goal.
func printMachines(found *report.Run, o options) {
	if o.goal <= 0 {
		return
	}
	for _, contender := range found.Contenders("slo") {
		rate, ok := found.Value(report.Ref{Scenario: "slo", Contender: contender, Metric: report.HighestRate})
		if ok {
			fmt.Printf("%s: %.0f/s with %v; %d machines for %.0f/s\n", contender, rate, o.slo, load.Machines(o.goal, rate), o.goal)
		}
	}
}

// render writes performance.md and its plots, and the figures of README.md, from a run's file.
func render(file, docs string) error {
	found, err := report.ReadFile(file)
	if err != nil {
		return err
	}
	return publish(found, docs)
}

// publish writes what a run found into the folder of the documents, and into README.md beside it. What is promised is judged anew.
func publish(found *report.Run, docs string) error {
	found.Checks = report.Judge(found, scenario.Checks())
	if err := report.WriteDocuments(found, scenario.Turns(), docs); err != nil {
		return err
	}
	path := filepath.Join(docs, "..", "README.md")
	readme, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := report.ReplaceSection(string(readme), report.FiguresSection, scenario.Headline(found))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
