package chaos

import (
	"context"
	"time"
)

// Fault is something that fails while the load goes on.
type Fault struct {
	Name string
	// What tells what happens, in a sentence for a table.
	What  string
	needs setup
	// replica: its servers need a replica of the first node.
	replica bool
	// steady: the process of the proxy stays the same, and so can be watched over several faults.
	steady bool
	// holds is how long a statement may wait beyond what any may: as long as the fault itself.
	holds bool
	// run has it fail for a while and returns when all is whole again.
	run func(ctx context.Context, s *subject, lasts time.Duration) error
}

// Faults are all that there are.
func Faults() []Fault {
	var all []Fault
	all = append(all, calm)
	all = append(all, networkFaults()...)
	all = append(all, serverFaults()...)
	all = append(all, proxyFaults()...)
	return all
}

// calm is none: what is seen in it is seen without any.
var calm = Fault{Name: "none", What: "nothing fails", steady: true, run: func(ctx context.Context, _ *subject, lasts time.Duration) error { return pause(ctx, lasts) }}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// repeat does something at once and then each interval for a while.
func repeat(ctx context.Context, lasts, interval time.Duration, do func(n int) error) error {
	end := time.Now().Add(lasts)
	for n := 0; time.Now().Before(end); n++ {
		if err := do(n); err != nil {
			return err
		}
		if err := pause(ctx, min(interval, time.Until(end))); err != nil {
			return err
		}
	}
	return nil
}
