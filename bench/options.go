package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"kingshard/bench/load"
	"kingshard/bench/scenario"
	"kingshard/mysql/mysqltest"
)

// options are the command line.
type options struct {
	list      bool
	render    string // a run's file
	docs      string // folder of performance.md, "" writes none
	results   string // folder of runs' files
	proxy     string // path of the binary, "" builds it
	before    string // path of another one to compare with
	server    string
	scenarios []scenario.Scenario
	rounds    int // 0: each scenario's own
	warmup    time.Duration
	measured  time.Duration // 0: each scenario's own
	syscalls  time.Duration
	judge     bool // whether promises are kept
	slo       load.SLO
	goal      float64
	apart     bool // each program in a session of its own
	arguments []string
}

// parseOptions reads the command line; what is wrong with it has been printed when ok is false.
func parseOptions(args []string) (o options, ok bool) {
	o.arguments = args
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.BoolVar(&o.list, "list", false, "print the scenarios")
	f.StringVar(&o.render, "render", "", "write performance.md and its plots from a run's `file`")
	f.StringVar(&o.docs, "docs", "", "`folder` in which performance.md and its plots are written, and README.md beside it; with -render docs, else none")
	f.StringVar(&o.results, "results", "bench/results", "`folder` of runs' files")
	f.StringVar(&o.proxy, "proxy", "", "`path` of kingshard; default: this checkout's, built for the run")
	f.StringVar(&o.before, "before", "", "`path` of another kingshard that takes its turns, too, as \"before\"")
	f.StringVar(&o.server, "server", string(mysqltest.MariaDB), "`kind` of server: mariadb, mysql9 or mysql56")
	pattern := f.String("run", "", "only the scenarios whose name matches this regular `expression`")
	quick := f.Bool("quick", false, "a few scenarios of each kind, one short round")
	done := f.Bool("done", false, "the scenarios of the promises, and their table")
	rounds := f.Int("rounds", 0, "turns of each contender; default each scenario's own, 5 for most of those of the promises, 1 for most others; with -quick 1")
	seconds := f.Float64("seconds", 0, "measured `seconds` of a turn; default each scenario's own, 1 or 2, with -quick 1; some need more and take it")
	f.DurationVar(&o.warmup, "warmup", time.Second, "time before the measured one")
	f.DurationVar(&o.syscalls, "syscalls", 0, "count system calls for so long after each turn, with strace")
	f.BoolVar(&o.apart, "apart", false, "each program in a session of its own, which Linux schedules as a group, as those of services are; default: all in one")
	slo := f.String("slo", scenario.DefaultSLO.String(), "what the scenario slo searches the highest rate of")
	f.Float64Var(&o.goal, "goal", 0, "`rate` for which the scenario slo prints the machines needed")
	if f.Parse(args) != nil {
		return o, false
	}
	if err := o.finish(choice{*pattern, *quick, *done}, *slo, *rounds, *seconds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return o, false
	}
	if f.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "bench: arguments without a flag:", f.Args())
		return o, false
	}
	return o, true
}

// servers are the kinds of server to measure with.
var servers = []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9, mysqltest.MySQL56}

// choice is what was said about which scenarios to run.
type choice struct {
	pattern     string
	quick, done bool
}

// finish fills in what flags say together.
func (o *options) finish(c choice, slo string, rounds int, seconds float64) error {
	var err error
	if o.slo, err = load.ParseSLO(slo); err != nil {
		return err
	}
	if o.render != "" && o.docs == "" {
		o.docs = "docs"
	}
	o.rounds, o.measured = max(0, rounds), time.Duration(max(0, seconds)*float64(time.Second))
	if c.quick {
		o.rounds, o.measured = cmp.Or(o.rounds, 1), cmp.Or(o.measured, time.Second)
	}
	if o.docs != "" && o.before != "" {
		return errors.New("-docs and -before exclude each other: figures that are published are of one revision")
	}
	if !slices.Contains(servers, mysqltest.Kind(o.server)) {
		return fmt.Errorf("no server %q: there are %v", o.server, servers)
	}
	for _, path := range []string{o.proxy, o.before} {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			return err
		}
	}
	return o.choose(c)
}

// choose sets the scenarios.
func (o *options) choose(c choice) error {
	var err error
	switch {
	case c.quick && c.done:
		return errors.New("-quick and -done exclude each other")
	case c.quick:
		o.scenarios = scenario.Quick()
	case c.done:
		o.scenarios = scenario.Done()
	default:
		o.scenarios = scenario.All()
	}
	o.judge = c.done || c.pattern == "" && !c.quick
	if o.scenarios, err = scenario.Select(o.scenarios, c.pattern); err != nil {
		return err
	}
	o.scenarios = scenario.WithSLO(o.scenarios, o.slo)
	if o.before != "" {
		o.scenarios = scenario.WithBefore(o.scenarios, o.before)
	}
	return nil
}
