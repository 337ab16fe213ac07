package load

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Open is an open loop: statements are due at a constant rate, whatever became of those before, and the client that has
// been free for longest takes the next one. A latency counts from the moment the statement was due, so a server that
// stands still is seen by all statements that were due meanwhile. It needs Linux.
type Open struct {
	Login     Login     // without TLS
	Clients   int       // statements under way at most
	Statement Statement // whose answer has less than 64 KiB
	Rate      float64   // statements a second
	Warmup    time.Duration
	Duration  time.Duration
	Window    Window
}

// grace is the time that statements have which are due at the end. What is not answered then counts as if it were.
const grace = 2 * time.Second

// coresPerLoop: a loop makes some 100,000 statements a second, more than server and proxy do on three cores.
const coresPerLoop = 4

// Run logs the clients in, runs them and gives what was measured. Statements that were due in the measured time and
// never answered count with the time that they had waited until the end; those that were refused, or whose connection broke, count as errors
// only. An error means that the load could not begin, or not go on.
func (l Open) Run(ctx context.Context) (Result, error) {
	if l.Rate <= 0 {
		return Result{}, fmt.Errorf("a rate of %g statements a second", l.Rate)
	}
	c, err := newCrew(ctx, l.Login, l.Statement, l.Clients, l.Warmup+l.Duration)
	if err != nil {
		return Result{}, err
	}
	defer closeAll(c.clients)
	o := openRun{crew: c, gap: float64(time.Second) / l.Rate, loops: min(max(1, runtime.NumCPU()/coresPerLoop), l.Clients)}
	loops, err := o.split()
	defer func() {
		for _, loop := range loops {
			loop.poll.close()
		}
	}()
	if err != nil {
		return Result{}, err
	}
	o.began = time.Now()
	o.start = o.began.Add(l.Warmup)
	o.end = o.start.Add(l.Duration)
	failures := make([]error, len(loops))
	for i, loop := range loops {
		c.group.Go(func() {
			ownThread()
			failures[i] = loop.serve()
		})
	}
	wait(ctx, time.Until(o.start))
	l.Window.begin()
	wait(ctx, time.Until(o.end))
	l.Window.end()
	if ctx.Err() != nil {
		c.stopping.Store(true)
	}
	c.group.Wait()
	c.stopping.Store(true)
	o.redials.Wait()
	r := c.result(l.Duration.Seconds())
	r.Queries -= o.lost.Load() // their latencies count, but nobody answered them
	return r, errors.Join(append(failures, ctx.Err())...)
}

// openRun is an open loop under way.
type openRun struct {
	*crew
	gap               float64 // nanoseconds between two statements
	loops             int
	began, start, end time.Time // of the warm-up, and of the measured time
	lost              atomic.Uint64
	redials           sync.WaitGroup
}

// due is the moment at which statement n is due.
func (o *openRun) due(n int) time.Time { return o.began.Add(time.Duration(float64(n) * o.gap)) }

// split divides the clients among loops. After an error, too, the loops that it gives have to be closed.
func (o *openRun) split() ([]*openLoop, error) {
	var loops []*openLoop
	for i := range o.loops {
		poll, err := newPoller()
		if err != nil {
			return loops, err
		}
		n := len(o.clients)
		loops = append(loops, &openLoop{
			run: o, poll: poll, stripe: o.recorder.stripe(), next: i, free: make(chan *openClient, n), back: make(chan *openClient, n),
		})
	}
	for i, client := range o.clients {
		l, c := loops[i%o.loops], &openClient{number: i, Client: client}
		l.clients = append(l.clients, c)
		if err := l.add(c); err != nil {
			return loops, err
		}
	}
	return loops, nil
}
