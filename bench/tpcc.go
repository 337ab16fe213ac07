package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"kingshard/bench/procstat"
	"kingshard/bench/report"
	"kingshard/bench/rig"
	"kingshard/bench/tpcc"
)

// runTPCC is bench tpcc with an exit code: 0 done, 1 failed or something went wrong in it, 2 wrong arguments.
func runTPCC(ctx context.Context, args []string) int {
	o, ok := parseTPCC(args)
	if !ok {
		return 2
	}
	if err := measureTPCC(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench tpcc:", err)
		return 1
	}
	return 0
}

// tpccSubject is a setup that runs, with its tables filled.
type tpccSubject struct {
	setup    tpccSetup
	cluster  *rig.Cluster
	db       *sql.DB
	seen     tpcc.Result // of all turns
	findings []tpcc.Finding
	log      string // of the proxy
}

// measureTPCC starts and fills all setups, lets them take turns, looks at the conditions and writes what was found.
func measureTPCC(ctx context.Context, o tpccOptions) (err error) {
	name := revision(ctx)
	dir, err := os.MkdirTemp("", "kingshard-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	switch {
	case o.proxy != "":
		name = versionOf(ctx, o.proxy)
	case !slices.Equal(o.setups, []tpccSetup{directSetup}):
		if o.proxy, err = build(ctx, name, dir); err != nil {
			return err
		}
	}
	found := &report.Run{
		Started: time.Now().UTC().Truncate(time.Second), Revision: name, Machine: report.Machine(procstat.ReadMachine()),
		Settings: report.Settings{Arguments: o.arguments, Warmup: o.warmup.Seconds(), Apart: o.apart},
	}
	var subjects []*tpccSubject
	defer func() {
		for _, s := range subjects {
			err = errors.Join(err, s.close())
		}
	}()
	for _, setup := range o.setups {
		s, err := openTPCC(ctx, o, setup)
		if err != nil {
			return fmt.Errorf("%s: %w", setup, err)
		}
		subjects = append(subjects, s)
		if len(found.Versions) == 0 {
			found.Versions = []string{s.cluster.Version()}
		}
	}
	for round := 1; round <= o.rounds; round++ {
		for _, s := range subjects {
			samples, err := s.turn(ctx, o, round)
			if err != nil {
				return fmt.Errorf("%s: %w", s.setup, err)
			}
			for i := range samples {
				samples[i].Run = found.Name()
			}
			found.Samples = append(found.Samples, samples...)
		}
	}
	found.Ended = time.Now().UTC()
	path, err := write(found, o.results)
	if err != nil {
		return err
	}
	fmt.Print(report.Text(found))
	for _, s := range subjects {
		fmt.Print(s.text())
	}
	progress("written to " + path)
	var faults []error
	for _, s := range subjects {
		faults = append(faults, s.verdict(o.kills > 0 && s.setup != directSetup))
	}
	return errors.Join(faults...)
}

// openTPCC starts a setup and fills its tables.
func openTPCC(ctx context.Context, o tpccOptions, setup tpccSetup) (*tpccSubject, error) {
	cluster := rig.ClusterOptions{Kind: o.server, Nodes: 1, DB: tpcc.DB, BufferPool: o.bufferPool, Apart: o.apart}
	if setup != directSetup {
		cluster.Proxy, cluster.Config = o.proxy, setup.config()+o.config
	}
	if setup.sharded() {
		cluster.Nodes, cluster.Shard = o.nodes, tpcc.Rules
	}
	progress(fmt.Sprintf("%s: starting", setup))
	c, err := rig.StartCluster(ctx, cluster)
	if err != nil {
		return nil, err
	}
	s := &tpccSubject{setup: setup, cluster: c}
	login := c.Login()
	if s.db, err = (tpcc.Target{Addr: login.Addr, User: login.User, Password: login.Password, Prepared: o.prepared}).Open(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	began := time.Now()
	if err := tpcc.Load(ctx, s.db, tpcc.Loading{Size: o.size, Clients: 4, Seed: o.seed}); err != nil {
		return nil, errors.Join(fmt.Errorf("load: %w", err), s.close())
	}
	progress(fmt.Sprintf("%s: %d warehouses loaded in %.0f s", setup, o.size.Warehouses, time.Since(began).Seconds()))
	return s, nil
}

func (s *tpccSubject) close() error { return errors.Join(s.db.Close(), s.cluster.Close()) }

// turn lets the clients run once, with kills of the proxy if there is one, and looks at the conditions.
func (s *tpccSubject) turn(ctx context.Context, o tpccOptions, round int) ([]report.Sample, error) {
	w := tpcc.Workload{
		Size: o.size, Clients: o.clients, Prepared: o.prepared, Remote: o.remote && s.setup != localSetup, Seed: o.seed + uint64(round), Warmup: o.warmup, Duration: o.duration,
	}
	kills := o.kills
	if s.setup == directSetup {
		kills = 0
	}
	var cpu tpccCPU
	if kills == 0 { // else it would be that of the last proxy
		w.Begin, w.End = func() { cpu.read(s.cluster, -1) }, func() { cpu.read(s.cluster, 1) }
	}
	began := time.Now().UTC()
	killing, stop := context.WithCancel(ctx)
	killed := make(chan error, 1)
	go func() { killed <- s.kill(killing, w, kills) }()
	r := w.Run(ctx, s.db)
	stop()
	if err := errors.Join(<-killed, ctx.Err(), cpu.err); err != nil {
		return nil, err
	}
	s.seen.Add(r)
	var err error
	if s.log, err = s.cluster.ProxyLog(); err != nil {
		return nil, err
	}
	if err := s.check(ctx, o.size, kills > 0); err != nil {
		return nil, err
	}
	samples := samplesTPCC(r, o.size)
	if kills == 0 {
		cpu.add(samples[0].Metrics, tpcc.Total(r.Measured).Committed, s.setup != directSetup)
	}
	for i := range samples {
		samples[i].Contender, samples[i].Round, samples[i].Began = string(s.setup), round, began
	}
	for _, f := range s.findings {
		if !f.Holds() {
			samples[0].Metrics[report.Violated]++
		}
	}
	progress(fmt.Sprintf("%s round %d: %.0f tpmC", s.setup, round, r.TPM()))
	return samples, nil
}

// kill kills the proxy n times, evenly spread over the measured time. That it has not come to all of them is an error.
func (s *tpccSubject) kill(ctx context.Context, w tpcc.Workload, n int) error {
	began := time.Now()
	for i := range n {
		at := began.Add(w.Warmup + w.Duration*time.Duration(i+1)/time.Duration(n+1))
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d kills of %d within the measured time", i, n)
		case <-time.After(time.Until(at)):
		}
		if err := s.cluster.KillProxy(context.WithoutCancel(ctx)); err != nil {
			return fmt.Errorf("kill %d: %w", i+1, err)
		}
	}
	return nil
}

// settle is how long what a killed proxy left may take to be rolled back, or brought to its end by the next one.
const settle = 30 * time.Second

// check looks at the conditions, and behind kills once more for a while if they do not hold.
func (s *tpccSubject) check(ctx context.Context, size tpcc.Size, killed bool) error {
	for began := time.Now(); ; time.Sleep(time.Second) {
		var err error
		if s.findings, err = tpcc.Check(ctx, s.db, size, &s.seen); err != nil {
			return fmt.Errorf("check: %w", err)
		}
		if s.holds() || !killed || time.Since(began) > settle {
			return nil
		}
	}
}

// holds reports whether all conditions held when they were looked at last.
func (s *tpccSubject) holds() bool {
	return !slices.ContainsFunc(s.findings, func(f tpcc.Finding) bool { return !f.Holds() })
}

// verdict returns what went wrong, nil if nothing did: refusals and errors behind which a transaction was run again are figures.
func (s *tpccSubject) verdict(killed bool) error {
	var errs []error
	fault := func(n uint64, what string) {
		if n > 0 {
			errs = append(errs, fmt.Errorf("%s: %d %s", s.setup, n, what))
		}
	}
	total := tpcc.Total(s.seen.All)
	fault(total.Failed, "transactions failed")
	fault(s.seen.Errors[tpcc.WrongAnswer].Count, "wrong answers")
	if !killed {
		fault(total.Unknown, "transactions are unknown though nothing was killed")
		fault(s.seen.Errors[tpcc.BrokenConnection].Count, "connections broke though nothing was killed")
	}
	for _, f := range s.findings {
		fault(uint64(len(f.Violations)), "violations of "+f.Name)
	}
	if strings.Contains(s.log, "panic") {
		errs = append(errs, fmt.Errorf("%s: the proxy panicked:\n%s", s.setup, s.log))
	}
	return errors.Join(errs...)
}
