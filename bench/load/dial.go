package load

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// dialAtOnce is how many clients log in at the same time: fewer than a listener's backlog holds.
const dialAtOnce = 32

// dialAll logs in n clients. After the first failure, or the end of ctx, no more are tried and those that are in are
// closed: a server that takes no more would let each of them wait.
func dialAll(ctx context.Context, n int, dial func(i int) (*Client, error)) ([]*Client, error) {
	clients := make([]*Client, n)
	var next, in atomic.Int64
	var once sync.Once
	var failure error
	var failed atomic.Bool
	var group sync.WaitGroup
	for range min(n, dialAtOnce) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && !failed.Load() && ctx.Err() == nil; i = next.Add(1) - 1 {
				var err error
				if clients[i], err = dial(int(i)); err != nil {
					once.Do(func() { failure = err })
					failed.Store(true)
					return
				}
				in.Add(1)
			}
		})
	}
	group.Wait()
	if failure == nil {
		failure = ctx.Err()
	}
	if failure != nil {
		closeAll(clients)
		return nil, fmt.Errorf("%d of %d clients could log in: %w", in.Load(), n, failure)
	}
	return clients, nil
}

// closeAll closes the clients that there are.
func closeAll(clients []*Client) {
	for _, client := range clients {
		if client != nil {
			client.Close()
		}
	}
}
