package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"kingshard/bench/load"
	"kingshard/bench/procstat"
	"kingshard/bench/report"
	"kingshard/bench/rig"
)

// Runner runs scenarios on a rig.
type Runner struct {
	Rig      *rig.Rig
	Name     string // of the run, which samples carry
	Rounds   int    // 0 is each scenario's own
	Warmup   time.Duration
	Measured time.Duration // of each turn; 0 is each scenario's own
	// Syscalls is the time in which system calls are counted after each turn; 0 is not at all.
	Syscalls time.Duration
	Progress func(report.Sample) // told of each sample; nil is nobody
}

// Run runs scenarios one after another and gives a sample for each turn. What fails in a turn is in its sample; the
// error is that of ctx, and comes with what was found before.
func (r *Runner) Run(ctx context.Context, scenarios []Scenario) ([]report.Sample, error) {
	var samples []report.Sample
	for _, s := range scenarios {
		found := r.scenario(ctx, s)
		if ctx.Err() != nil {
			return samples, ctx.Err() // a scenario cut short compares nothing
		}
		samples = append(samples, found...)
	}
	return samples, nil
}

// scenario opens the contenders, lets them take turns, and closes them.
func (r *Runner) scenario(ctx context.Context, s Scenario) []report.Sample {
	contenders := make([]*rig.Contender, len(s.Against))
	failures := make([]error, len(s.Against))
	closeContender := func(i int) {
		if contenders[i] != nil {
			_ = contenders[i].Close() // it is killed if need be, and what it did is measured already
			contenders[i] = nil
		}
	}
	var samples []report.Sample
	for round := 1; round <= cmp.Or(r.Rounds, s.Rounds, 1); round++ {
		for i, spec := range s.Against {
			if round == 1 || s.Fresh {
				closeContender(i)
				contenders[i], failures[i] = r.Rig.Open(ctx, spec)
			}
		}
		for turn := range contenders {
			if ctx.Err() != nil {
				break
			}
			i := turn
			if round%2 == 0 { // the other way round: who is always later has the machine as the others left it
				i = len(contenders) - 1 - turn
			}
			sample := report.Sample{Family: s.Family, Parameter: s.Parameter, X: s.X, Contender: s.Against[i].Name, Round: round,
				Run: r.Name, Began: time.Now().UTC(), Seconds: r.timing(s).measured.Seconds()}
			err := failures[i]
			if err == nil {
				err = r.turn(ctx, s, contenders[i], &sample)
			}
			if err != nil {
				sample.Failure = err.Error()
			}
			samples = append(samples, sample)
			if r.Progress != nil {
				r.Progress(sample)
			}
		}
	}
	for i := range contenders {
		closeContender(i)
	}
	return samples
}

// turn is one contender's turn.
func (r *Runner) turn(ctx context.Context, s Scenario, c *rig.Contender, to *report.Sample) error {
	calibration, err := procstat.Calibrate()
	if err != nil {
		return err
	}
	waiting, err := procstat.ReadLoad()
	if err != nil {
		return err
	}
	p := probe{ctx: ctx, contender: c}
	t := r.timing(s)
	found, err := s.Work.run(ctx, c, t, load.Window{Begin: p.beginWindow, End: p.endWindow})
	if err := errors.Join(err, p.err); err != nil {
		return err
	}
	to.Metrics = map[report.Metric]float64{
		report.Load: waiting, report.CalibrationCPU: micros(calibration.CPU), report.CalibrationWall: micros(calibration.Wall),
	}
	to.Errors, to.Failure = found.Errors, found.FirstError
	p.add(to.Metrics, found)
	for m, v := range to.Metrics {
		to.Metrics[m] = significant(v)
	}
	// A search is not repeated: under strace it would find the end of strace.
	if _, search := s.Work.(highestRate); r.Syscalls > 0 && c.PID > 0 && found.Queries > 0 && !search {
		return r.countSyscalls(ctx, s, c, to)
	}
	return nil
}

func (r *Runner) timing(s Scenario) timing {
	measured := cmp.Or(r.Measured, time.Duration(s.Seconds)*time.Second, time.Second)
	measured = max(measured, time.Duration(s.SecondsMin)*time.Second)
	if _, ok := s.Work.(sysbench); ok {
		measured = (measured + time.Second - 1).Truncate(time.Second) // it knows no less
	}
	return timing{warmup: r.Warmup, measured: measured}
}

// Estimate returns about how long scenarios take, without what is set up before the first.
func (r *Runner) Estimate(scenarios []Scenario) time.Duration {
	var total time.Duration
	for _, s := range scenarios {
		turns := time.Duration(cmp.Or(r.Rounds, s.Rounds, 1) * len(s.Against))
		total += turns * (s.Work.takes(r.timing(s)) + turnOverhead)
	}
	return total
}

// turnOverhead is what a turn takes beside its load: processes start, clients log in, tables are emptied.
const turnOverhead = 400 * time.Millisecond

// countSyscalls runs the load once more under strace.
func (r *Runner) countSyscalls(ctx context.Context, s Scenario, c *rig.Contender, to *report.Sample) error {
	type counted struct {
		calls map[string]uint64
		err   error
	}
	result := make(chan counted, 1)
	begun := false
	found, err := s.Work.run(ctx, c, timing{r.Warmup, r.Syscalls}, load.Window{
		Begin: func() {
			begun = true
			go func() {
				calls, err := procstat.CountSyscalls(ctx, c.PID, r.Syscalls)
				result <- counted{calls, err}
			}()
		},
		End: func() {},
	})
	if !begun {
		return errors.Join(err, errors.New("no system calls counted: the load did not begin"))
	}
	if got := <-result; err == nil && got.err == nil && found.Queries > 0 {
		total := uint64(0)
		for _, n := range got.calls {
			total += n
		}
		to.Metrics[report.Syscalls] = float64(total) / float64(found.Queries)
		return nil
	} else {
		return fmt.Errorf("count system calls: %w", errors.Join(err, got.err))
	}
}
