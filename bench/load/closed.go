package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Closed is a closed loop: each client sends its next statement when it has the answer to the last.
type Closed struct {
	Login     Login
	Clients   int
	Statement Statement
	Warmup    time.Duration // before the measured time
	Duration  time.Duration // measured
	Window    Window
	// SlowReader reads the response to SlowText at SlowRows a second, beside the clients and not measured.
	SlowText string
	SlowRows int
}

// crew is a set of clients that run until they are told to stop.
type crew struct {
	login     Login
	statement Statement
	commands  [][]byte
	serial    *atomic.Uint64 // counts keys; nil where they are random
	clients   []*Client
	faults    faults
	recorder  *recorder
	deadline  time.Time // of every connection, so that a server that hangs ends the run with an error
	measuring atomic.Bool
	stopping  atomic.Bool
	group     sync.WaitGroup
}

// overtime is what a run may take beyond its warm-up and its measured time.
const overtime = time.Minute

// newCrew logs in n clients and prepares them; their connections end overtime after the run should have.
func newCrew(ctx context.Context, login Login, s Statement, n int, run time.Duration) (*crew, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	c := &crew{
		login: login, statement: s, commands: s.commands(), serial: s.serial(), recorder: newRecorder(), deadline: time.Now().Add(run + overtime),
	}
	var err error
	c.clients, err = dialAll(ctx, n, func(i int) (*Client, error) { return c.dial(uint64(i)) })
	return c, err
}

func (c *crew) dial(seed uint64) (*Client, error) {
	client, err := Dial(c.login)
	if err != nil {
		return nil, err
	}
	err = client.conn.Net.SetDeadline(c.deadline)
	if err == nil {
		err = client.use(c.statement, c.commands, c.serial, seed+1)
	}
	if err != nil {
		client.Close()
		return nil, err
	}
	return client, nil
}

// redialPause keeps clients that lost their connection from doing nothing but dial.
const redialPause = 50 * time.Millisecond

// again gives client i a new connection after an error that ended the old one; false when the crew stops or is overdue.
func (c *crew) again(i int) bool {
	c.clients[i].Close()
	for !c.stopping.Load() && time.Now().Before(c.deadline) {
		client, err := c.dial(uint64(i))
		if err == nil {
			c.clients[i] = client
			return true
		}
		c.faults.add(err)
		time.Sleep(redialPause)
	}
	return false
}

// loop is one client's closed loop.
func (c *crew) loop(i int) {
	s := c.recorder.stripe()
	start := time.Now()
	for !c.stopping.Load() {
		_, err := c.clients[i].Do(c.clients[i].command())
		end := time.Now()
		switch {
		case err == nil:
			if c.measuring.Load() {
				s.record(end.Sub(start))
			}
		default:
			c.faults.add(err)
			if !goesOn(err) && !c.again(i) {
				return
			}
			end = time.Now()
		}
		start = end
	}
}

// Run logs the clients in, runs them and gives what was measured. An error means that the load could not begin.
func (l Closed) Run(ctx context.Context) (Result, error) {
	c, err := newCrew(ctx, l.Login, l.Statement, l.Clients, l.Warmup+l.Duration)
	if err != nil {
		return Result{}, err
	}
	defer closeAll(c.clients)
	stopSlow, err := l.startSlow()
	if err != nil {
		return Result{}, err
	}
	defer stopSlow()
	for i := range c.clients {
		c.group.Go(func() { c.loop(i) })
	}
	return c.measure(ctx, l.Warmup, l.Duration, l.Window), ctx.Err()
}

// measure lets the clients run for the warm-up and the measured time, ends them and gives what was measured.
func (c *crew) measure(ctx context.Context, warmup, duration time.Duration, window Window) Result {
	wait(ctx, warmup)
	window.begin()
	began := time.Now()
	c.measuring.Store(true)
	wait(ctx, duration)
	c.measuring.Store(false)
	seconds := time.Since(began).Seconds()
	window.end()
	c.stopping.Store(true)
	c.group.Wait()
	return c.result(seconds)
}

// startSlow starts the slow reader, if there is one; the function it gives ends it and waits for it.
func (l Closed) startSlow() (stop func(), err error) {
	if l.SlowText == "" {
		return func() {}, nil
	}
	client, err := Dial(l.Login)
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if _, err := client.DoSlowly(queryCommand(l.SlowText), l.SlowRows); err != nil {
				return // its connection was closed
			}
		}
	}()
	return func() {
		client.conn.Close()
		<-done
	}, nil
}

func (c *crew) result(seconds float64) Result {
	latency, queries := c.recorder.latency()
	return Result{Seconds: seconds, Queries: queries, Errors: c.faults.count.Load(), FirstError: c.faults.first, Latency: latency}
}

// wait sleeps, less long if ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
