package load

import (
	"context"
	"time"
)

// Logins is a closed loop whose clients log in and out again; a query of the Result is one login.
type Logins struct {
	Login    Login
	Clients  int
	Warmup   time.Duration
	Duration time.Duration
	Window   Window
}

// Run runs the clients and gives what was measured. An error means that the first login failed.
func (l Logins) Run(ctx context.Context) (Result, error) {
	first, err := Dial(l.Login)
	if err != nil {
		return Result{}, err
	}
	first.Close()
	c := &crew{recorder: newRecorder()}
	for range l.Clients {
		c.group.Go(func() { c.logIn(l.Login) })
	}
	return c.measure(ctx, l.Warmup, l.Duration, l.Window), ctx.Err()
}

// logIn logs in and out until the crew stops.
func (c *crew) logIn(login Login) {
	s := c.recorder.stripe()
	for !c.stopping.Load() {
		start := time.Now()
		client, err := Dial(login)
		if err != nil {
			c.faults.add(err)
			time.Sleep(redialPause)
			continue
		}
		if c.measuring.Load() {
			s.record(time.Since(start))
		}
		client.Close()
	}
}
