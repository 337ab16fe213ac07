package console

import (
	"sync"
	"time"
)

const (
	// failuresMax is how many logins may fail from one address in failuresIn.
	failuresMax = 10
	failuresIn  = time.Minute
	// addressesMax bounds the addresses that are remembered; beyond it all are forgotten, which frees no one for longer than a minute.
	addressesMax = 4096
)

// attempts counts logins that failed, so that passwords cannot be tried fast.
type attempts struct {
	mu    sync.Mutex
	since time.Time // when the minute at hand began
	by    map[string]int
}

// may tells whether an address may try.
func (a *attempts) may(address string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn()
	return a.by[address] < failuresMax
}

// failed counts a login that failed.
func (a *attempts) failed(address string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn()
	if len(a.by) >= addressesMax {
		clear(a.by)
	}
	a.by[address]++
}

// turn begins a new minute when the old one is over. The caller holds mu.
func (a *attempts) turn() {
	if now := time.Now(); a.by == nil || now.Sub(a.since) >= failuresIn {
		a.since, a.by = now, make(map[string]int)
	}
}
