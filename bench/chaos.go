package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"kingshard/bench/chaos"
	"kingshard/bench/report"
	"kingshard/mysql/mysqltest"
)

// chaosOptions are the command lines of bench chaos and bench soak.
type chaosOptions struct {
	chaos.Options
	kinds []mysqltest.Kind
	soak  time.Duration // 0: bench chaos
	docs  string
}

// runChaos is bench chaos and bench soak with an exit code: 0 done, 1 a guarantee was broken or something went wrong, 2 wrong arguments.
func runChaos(ctx context.Context, name string, args []string) int {
	o, ok := parseChaos(name, args)
	if !ok {
		return 2
	}
	if err := measureChaos(ctx, o); err != nil {
		fmt.Fprintf(os.Stderr, "bench %s: %v\n", name, err)
		return 1
	}
	return 0
}

// parseChaos reads the command line; what is wrong with it has been printed when ok is false.
func parseChaos(name string, args []string) (o chaosOptions, ok bool) {
	f := flag.NewFlagSet("bench "+name, flag.ContinueOnError)
	f.StringVar(&o.Proxy, "proxy", "", "`path` of kingshard; default: this checkout's, built for the run")
	f.Float64Var(&o.Rate, "rate", 150, "operations a second")
	f.DurationVar(&o.Lasts, "lasts", 6*time.Second, "how long something fails each time, at the least")
	f.DurationVar(&o.Behind, "behind", 8*time.Second, "how long the load goes on behind it")
	f.StringVar(&o.docs, "docs", "", "`folder` of documents whose reliability.md, and results, get what was found; default: none")
	pattern := f.String("run", "", "`regexp` of the faults' names")
	servers := "mariadb and mysql9"
	if name == "soak" {
		servers = "mariadb"
		f.DurationVar(&o.soak, "for", 5*time.Minute, "how long")
	}
	server := f.String("server", "", "`kind` of server: mariadb or mysql9; default: "+servers)
	if f.Parse(args) != nil {
		return o, false
	}
	if err := o.finish(name, *pattern, *server, f.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "bench %s: %v\n", name, err)
		return o, false
	}
	return o, true
}

// finish reads the flags that are texts, and looks whether all of them make sense.
func (o *chaosOptions) finish(name, pattern, server string, rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("arguments without a flag: %v", rest)
	}
	if o.Rate <= 0 || o.Lasts <= 0 || o.Behind < 0 || name == "soak" && o.soak <= 0 {
		return errors.New("-rate, -lasts and -for are above 0, and -behind not below")
	}
	o.Warmup, o.Stuck, o.Alone, o.Progress = 2*time.Second, chaos.StuckMax, chaos.AloneMax, progress
	switch kind := mysqltest.Kind(server); {
	case kind == mysqltest.MariaDB || kind == mysqltest.MySQL9:
		o.kinds = []mysqltest.Kind{kind}
	case server != "":
		return fmt.Errorf("no server %q", server)
	case name == "soak":
		o.kinds = []mysqltest.Kind{mysqltest.MariaDB}
	default:
		o.kinds = []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9}
	}
	chosen, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	for _, f := range chaos.Faults() {
		if chosen.MatchString(f.Name) {
			o.Faults = append(o.Faults, f)
		}
	}
	if len(o.Faults) == 0 {
		return fmt.Errorf("no fault is %q", pattern)
	}
	return nil
}

// measureChaos runs the faults, or a soak, and writes what was found.
func measureChaos(ctx context.Context, o chaosOptions) (err error) {
	o.Revision = revision(ctx)
	dir, err := os.MkdirTemp("", "kingshard-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.Proxy != "" {
		o.Revision = versionOf(ctx, o.Proxy)
	} else if o.Proxy, err = build(ctx, o.Revision, dir); err != nil {
		return err
	}
	for _, o.Kind = range o.kinds {
		if o.soak > 0 {
			err = errors.Join(err, soak(ctx, o))
		} else {
			err = errors.Join(err, faults(ctx, o))
		}
	}
	return err
}

// faults runs the faults on servers of a kind.
func faults(ctx context.Context, o chaosOptions) error {
	broken := 0
	o.Done = func(r chaos.Result) {
		fmt.Println(r.String())
		broken += len(r.Broken)
	}
	results, err := chaos.Run(ctx, o.Options)
	if broken > 0 {
		err = errors.Join(err, fmt.Errorf("%s: %d guarantees were broken", o.Kind, broken))
	}
	if o.docs == "" {
		return err
	}
	path := filepath.Join(o.docs, "reliability", chaos.ResultsFile)
	before, failed := chaos.Read[chaos.Result](path)
	if failed != nil {
		return errors.Join(err, failed)
	}
	all := chaos.Merge(before, results)
	return errors.Join(err, chaos.Write(path, all), publishReliability(o.docs, chaos.TableSection, chaos.Table(all)))
}

// soak runs a soak.
func soak(ctx context.Context, o chaosOptions) error {
	s, err := chaos.RunSoak(ctx, o.Options, o.soak)
	if err != nil {
		return err
	}
	fmt.Print(s.String())
	if len(s.Broken) > 0 {
		err = fmt.Errorf("%s: %d guarantees were broken", o.Kind, len(s.Broken))
	}
	if s.Early != "" {
		return errors.Join(err, errors.New("ended early: "+s.Early))
	}
	if o.docs == "" {
		return err
	}
	path := filepath.Join(o.docs, "reliability", chaos.SoaksFile)
	all, failed := chaos.Read[chaos.Soak](path)
	if failed != nil {
		return errors.Join(err, failed)
	}
	all = append(all, s)
	return errors.Join(err, chaos.Write(path, all), publishReliability(o.docs, chaos.SoakSection, chaos.SoakTable(all)))
}

// publishReliability writes a section of reliability.md.
func publishReliability(docs, section, text string) error {
	path := filepath.Join(docs, "reliability.md")
	document, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	replaced, err := report.ReplaceSection(string(document), section, text)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(replaced), 0o644)
}
