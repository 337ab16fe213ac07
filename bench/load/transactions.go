package load

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Transactions is a closed loop of transactions: each client sends their statements one after another, again and again.
type Transactions struct {
	Login   Login
	Clients int
	// Statements are those of a transaction. In each, %d is the place of a number from 0 to Keys-1, the next one in each transaction; clients begin apart.
	Statements []string
	Keys       int
	// Last has a query of the Result be the last statement alone, else the whole transaction.
	Last     bool
	Warmup   time.Duration
	Duration time.Duration
	Window   Window
}

// Run logs the clients in, runs them and gives what was measured. An error means that the load could not begin.
func (l Transactions) Run(ctx context.Context) (Result, error) {
	c := &crew{login: l.Login, recorder: newRecorder(), deadline: time.Now().Add(l.Warmup + l.Duration + overtime)}
	var err error
	if c.clients, err = dialAll(ctx, l.Clients, func(int) (*Client, error) { return Dial(l.Login) }); err != nil {
		return Result{}, err
	}
	defer closeAll(c.clients)
	for i, client := range c.clients {
		_ = client.conn.Net.SetDeadline(c.deadline)
		c.group.Go(func() { l.loop(c, client, i*l.Keys/l.Clients) })
	}
	return c.measure(ctx, l.Warmup, l.Duration, l.Window), ctx.Err()
}

// loop is one client's; it ends at the first error, behind which the transaction is not what it was.
func (l Transactions) loop(c *crew, client *Client, key int) {
	s := c.recorder.stripe()
	for !c.stopping.Load() {
		began := time.Now()
		for k, text := range l.Statements {
			if l.Last && k == len(l.Statements)-1 {
				began = time.Now()
			}
			if _, err := client.Do(l.command(text, key)); err != nil {
				c.faults.add(err)
				return
			}
		}
		if c.measuring.Load() {
			s.record(time.Since(began))
		}
		key = (key + 1) % l.Keys
	}
}

// command is a statement with its number.
func (l Transactions) command(text string, key int) []byte {
	if !strings.Contains(text, "%d") {
		return queryCommand(text)
	}
	return queryCommand(fmt.Sprintf(text, key))
}
