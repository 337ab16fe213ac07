package scenario

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"kingshard/bench/load"
	"kingshard/bench/procstat"
	"kingshard/bench/report"
	"kingshard/bench/rig"
)

// work is a kind of load.
type work interface {
	// run does it once. The window is around the measured time, where there is one.
	run(ctx context.Context, c *rig.Contender, t timing, w load.Window) (outcome, error)
	// takes returns about how long that is.
	takes(t timing) time.Duration
}

// outcome is what a work found.
type outcome struct {
	load.Result
	client  procstat.CPU // of a load generator in a process of its own
	outside bool         // there was one
	more    map[report.Metric]float64
}

// sysbench is one of sysbench's scripts.
type sysbench struct {
	script   string
	threads  int
	prepared bool
	hot      bool   // a few rows are used very often
	db       string // "" is rig.DB
}

func (s sysbench) run(ctx context.Context, c *rig.Contender, t timing, w load.Window) (outcome, error) {
	db := s.db
	if db == "" {
		db = rig.DB
	}
	if err := c.Reset(ctx); err != nil {
		return outcome{}, err
	}
	result, cpu, err := load.Sysbench{
		Login: c.Login(db), Script: s.script, Threads: s.threads, TableSize: rig.Rows, Prepared: s.prepared, Hot: s.hot,
		Warmup: t.warmup, Duration: t.measured, Apart: c.Apart, Window: w,
	}.Run(ctx)
	return outcome{Result: result, client: cpu, outside: true}, err
}

// takes rounds the warm-up as sysbench does.
func (sysbench) takes(t timing) time.Duration {
	return (t.warmup + time.Second - 1).Truncate(time.Second) + t.measured
}

// closed is a closed loop of one statement.
type closed struct {
	clients   int
	statement load.Statement
	slowText  string // a slow reader beside the clients, if not ""
	slowRows  int    // a second
}

func (l closed) run(ctx context.Context, c *rig.Contender, t timing, w load.Window) (outcome, error) {
	result, err := load.Closed{
		Login: c.Login(rig.DB), Clients: l.clients, Statement: l.statement, Warmup: t.warmup, Duration: t.measured,
		SlowText: l.slowText, SlowRows: l.slowRows, Window: w,
	}.Run(ctx)
	return outcome{Result: result}, err
}

func (closed) takes(t timing) time.Duration { return t.warmup + t.measured }

// logins is a closed loop of logins.
type logins struct{ clients int }

func (l logins) run(ctx context.Context, c *rig.Contender, t timing, w load.Window) (outcome, error) {
	result, err := load.Logins{
		Login: c.Login(rig.DB), Clients: l.clients, Warmup: t.warmup, Duration: t.measured, Window: w,
	}.Run(ctx)
	return outcome{Result: result}, err
}

func (logins) takes(t timing) time.Duration { return t.warmup + t.measured }

// idleClients are clients that say nothing.
type idleClients struct{ clients int }

// enoughFiles fails where the limit of open files, which the proxy has as well, is too low for so many connections.
func enoughFiles(conns int) error {
	const others = 500 // logs, listeners, connections to the server
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if limit.Max < uint64(conns+others) {
		return fmt.Errorf("%d clients need as many open files, and the limit is %d", conns, limit.Max)
	}
	return nil
}

// settle is the time after which memory that only the logins needed is given back.
const settle = 10 * time.Second

// takes reckons with some thousands of logins a second.
func (l idleClients) takes(t timing) time.Duration {
	return settle + t.measured + time.Duration(l.clients)*time.Millisecond/3
}

func (l idleClients) run(ctx context.Context, c *rig.Contender, t timing, w load.Window) (outcome, error) {
	if err := enoughFiles(l.clients); err != nil {
		return outcome{}, err
	}
	// Some clients first, so that what exists once for all of them does not count.
	first, err := load.Idle{Login: c.Login(rig.DB), Clients: 64, Text: pointText}.Hold(ctx)
	if err != nil {
		return outcome{}, err
	}
	defer first()
	before, err := procstat.ReadMemory(c.PID)
	if err != nil {
		return outcome{}, err
	}
	release, err := load.Idle{Login: c.Login(rig.DB), Clients: l.clients, Text: pointText}.Hold(ctx)
	if err != nil {
		return outcome{}, err
	}
	defer release()
	time.Sleep(settle)
	w.Begin()
	time.Sleep(t.measured)
	w.End()
	after, err := procstat.ReadMemory(c.PID)
	if err != nil {
		return outcome{}, err
	}
	return outcome{more: map[report.Metric]float64{
		report.PerClient: float64(after.RSS-before.RSS) / float64(l.clients),
		report.Clients:   float64(l.clients),
	}}, nil
}
