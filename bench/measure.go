package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
}

// measure runs the scenarios and writes what they found.
func measure(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "kingshard-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.proxy == "" {
		if o.proxy, err = build(ctx, dir); err != nil {
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
		Started: time.Now().UTC().Truncate(time.Second), Revision: revision(ctx), Machine: report.Machine(procstat.ReadMachine()),
		Pauses: &pauses, Versions: versions(ctx, set, o.proxy),
		Settings: report.Settings{Arguments: o.arguments, Rounds: o.rounds, Seconds: o.measured.Seconds(), Apart: o.apart},
	}
	runner := scenario.Runner{
		Rig: set, Rounds: o.rounds, Warmup: o.warmup, Measured: o.measured, Syscalls: o.syscalls,
		Progress: func(s report.Sample) { progress(report.Line(s)) },
	}
	if found.Samples, err = runner.Run(ctx, o.scenarios); err != nil && len(found.Samples) == 0 {
		return err
	}
	if o.judge {
		found.Checks = report.Judge(found, scenario.Checks())
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
	return report.WriteDocuments(found, o.docs)
}

func progress(text string) { fmt.Fprintln(os.Stderr, "bench:", text) }

// build builds this checkout's proxy as the Makefile does.
func build(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "kingshard")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w -X main.version="+revision(ctx), "-o", path, "kingshard/cmd/kingshard")
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

// write writes a run into a folder, under the time of its start and its revision.
func write(found *report.Run, dir string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(dir, found.Started.Format("20060102-150405")+"-"+strings.TrimSuffix(found.Revision, "+")+".json")
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

// render writes performance.md and its plots from a run's file.
func render(file, docs string) error {
	found, err := report.ReadFile(file)
	if err != nil {
		return err
	}
	return report.WriteDocuments(found, docs)
}
