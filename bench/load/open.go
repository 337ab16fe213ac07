package load

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Open is an open loop: statements are due at a constant rate, whatever became of those before, and whichever client is
// free takes the next one. A latency counts from the moment the statement was due, so a server that stands still is seen
// by all statements that were due meanwhile.
type Open struct {
	Login     Login
	Clients   int // statements under way at most
	Statement Statement
	Rate      float64 // statements a second
	Warmup    time.Duration
	Duration  time.Duration
	Window    Window
}

const (
	dueMax = 1 << 20 // statements that are due and not taken; with more the pacer waits, and their latency grows still
	// grace is the time that statements have which are due at the end. What is not answered then counts as if it were.
	grace = 2 * time.Second
)

// Run logs the clients in, runs them and gives what was measured. Statements that were due in the measured time and
// never answered count with the time that they had waited until the end. An error means that the load could not begin.
func (l Open) Run(ctx context.Context) (Result, error) {
	if l.Rate <= 0 {
		return Result{}, fmt.Errorf("a rate of %g statements a second", l.Rate)
	}
	c, err := newCrew(ctx, l.Login, l.Statement, l.Clients, l.Warmup+l.Duration)
	if err != nil {
		return Result{}, err
	}
	defer closeAll(c.clients)
	o := openRun{crew: c, due: make(chan time.Time, dueMax), start: time.Now().Add(l.Warmup)}
	o.end = o.start.Add(l.Duration)
	for i := range c.clients {
		c.group.Go(func() { o.serve(i) })
	}
	paced := make(chan error, 1)
	go func() { paced <- o.pace(ctx, l) }()
	wait(ctx, l.Warmup)
	l.Window.begin()
	err = <-paced
	l.Window.end()
	close(o.due)
	late := time.AfterFunc(grace, func() { c.stopping.Store(true) })
	c.group.Wait()
	late.Stop()
	o.countLost()
	if err == nil {
		err = ctx.Err()
	}
	r := c.result(l.Duration.Seconds())
	r.Queries -= o.notSent.Load() // their latencies count, but nobody answered them
	return r, err
}

// openRun is an open loop under way.
type openRun struct {
	*crew
	due        chan time.Time
	start, end time.Time // of the measured time
	notSent    atomic.Uint64
}

// pace sends the moments at which statements are due, from the warm-up's begin to the end, not before they come.
func (o *openRun) pace(ctx context.Context, l Open) error {
	gap := float64(time.Second) / l.Rate
	p, err := newPacer(time.Duration(gap))
	if err != nil {
		return err
	}
	defer p.close()
	began := o.start.Add(-l.Warmup)
	for n := 0; ; {
		now := time.Now()
		for ; ; n++ {
			due := began.Add(time.Duration(float64(n) * gap))
			if due.After(now) {
				break
			}
			if !due.Before(o.end) {
				return nil
			}
			select {
			case o.due <- due:
			case <-ctx.Done():
				return nil
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		if err := p.wait(); err != nil {
			return err
		}
	}
}

// serve is one client: it takes what is due, until the channel is closed and empty or time is up.
func (o *openRun) serve(i int) {
	s := o.recorder.stripe()
	for due := range o.due {
		if o.stopping.Load() {
			o.lost(s, due)
			continue
		}
		_, err := o.clients[i].Do(o.clients[i].command())
		switch {
		case err != nil:
			o.faults.add(err)
			if !goesOn(err) && !o.again(i) {
				return
			}
		case !due.Before(o.start):
			s.record(time.Since(due))
		}
	}
}

// lost counts a statement that was never sent.
func (o *openRun) lost(s *stripe, due time.Time) {
	if !due.Before(o.start) {
		s.record(time.Since(due))
		o.notSent.Add(1)
		o.faults.add(errNotSent)
	}
}

// countLost counts what no client took.
func (o *openRun) countLost() {
	s := o.recorder.stripe()
	for due := range o.due {
		o.lost(s, due)
	}
}

var errNotSent = fmt.Errorf("not sent %v after the end: the rate is too high", grace)
