package queryrule

import (
	"errors"
	"sync/atomic"

	"kingshard/proxy/throttle"
)

// flow is what passes a throttled rule and waits for it; it is handed on at a reload.
type flow struct {
	throttle.Flow
	refused atomic.Uint64
}

// Throttled is how many statements the rule refused since the proxy started because their wait for a place would be too long.
func (r *Rule) Throttled() uint64 { return r.flow.refused.Load() }

// Enter waits until one more statement may pass the rule, not longer than the rule says. Errors are those of [throttle.Flow.Enter]. A
// statement that was let in is to call Leave.
func (r *Rule) Enter(cancel <-chan struct{}) error {
	err := r.flow.Enter(r.bounds, cancel)
	if err != nil && !errors.Is(err, throttle.ErrCancelled) {
		r.flow.refused.Add(1)
	}
	return err
}

// Leave gives up the place of a statement that was let in.
func (r *Rule) Leave() { r.flow.Leave() }
