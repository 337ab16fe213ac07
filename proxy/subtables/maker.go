package subtables

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"kingshard/backend"
	"kingshard/router"
)

// Job is a table whose missing sub-tables are to be made.
type Job struct {
	Table *router.Table
	Nodes map[string]*backend.Node // those of Table at least
}

// Maker makes sub-tables. Log is required.
type Maker struct {
	Log *slog.Logger
	// Changed, if set, is called when sub-tables were made.
	Changed func()

	made, failed atomic.Uint64
}

// Made is the number of sub-tables that were made, Failed that of attempts in vain, a node that could not be asked among them.
func (m *Maker) Made() uint64   { return m.made.Load() }
func (m *Maker) Failed() uint64 { return m.failed.Load() }

// How often the tables are looked at: every day, and after a failure sooner, a number of times.
const (
	every      = 24 * time.Hour
	retryFirst = time.Second
	retryMax   = 5 * time.Minute
	retriesMax = 20 // an hour or so
)

// Run makes what is missing after each wake and every day, of the jobs as they are then, until ctx ends.
func (m *Maker) Run(ctx context.Context, wake <-chan struct{}, jobs func() []Job) {
	wait := every
	delay, tries := retryFirst, 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
			delay, tries = retryFirst, 0
		case <-time.After(wait):
		}
		if m.makeAll(ctx, jobs()) || tries >= retriesMax {
			wait, delay, tries = every, retryFirst, 0
			continue
		}
		wait = delay
		delay = min(2*delay, retryMax)
		tries++
	}
}

// makeAll tells whether nothing is left that another try may do.
func (m *Maker) makeAll(ctx context.Context, jobs []Job) (complete bool) {
	complete = true
	before := m.Made()
	down := map[string]bool{}
	for _, job := range jobs {
		if ctx.Err() != nil {
			return false
		}
		w := work{m: m, ctx: ctx, job: job, down: down}
		complete = w.run() && complete
	}
	if m.Made() > before && m.Changed != nil {
		m.Changed()
	}
	return complete
}
