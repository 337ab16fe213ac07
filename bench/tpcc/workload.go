package tpcc

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"time"
)

// Workload is clients that run the mix of transactions, each the next one when it has the answer to the last.
type Workload struct {
	Size     Size // with which the tables were made
	Clients  int
	Prepared bool // as in [Target]
	// Remote has 15 of 100 payments be of a customer of another warehouse, and 1 of 100 lines of an order from the stock of another one, as the
	// specification does. Without it each transaction keeps to one warehouse.
	Remote   bool
	Seed     uint64
	Warmup   time.Duration // before the measured time
	Duration time.Duration // measured
	// Begin and End are called when the measured time begins and ends; nil is nobody.
	Begin, End func()
}

// phase tells clients how far the run is.
type phase struct {
	at    atomic.Int32
	ended atomic.Int64 // when, in nanoseconds since 1970
}

const (
	warming int32 = iota
	measuring
	ending
)

// overtime is how long after the end a transaction is still run again when it fails.
const overtime = 30 * time.Second

func (p *phase) end() {
	p.ended.Store(time.Now().UnixNano())
	p.at.Store(ending)
}

func (p *phase) over() bool     { return p.at.Load() == ending }
func (p *phase) measured() bool { return p.at.Load() == measuring }

// late reports whether a transaction that failed is not run again.
func (p *phase) late() bool {
	return p.over() && time.Now().UnixNano()-p.ended.Load() > int64(overtime)
}

// Run runs the clients and returns what they saw. When the measured time is over, or ctx ends, each brings its transaction to an end first.
func (w Workload) Run(ctx context.Context, db *sql.DB) *Result {
	p := new(phase)
	clients := make([]*client, w.Clients)
	var group sync.WaitGroup
	for i := range clients {
		r := newRandom(w.Seed, uint64(i)+1<<32, w.Size, lastNamesAsked)
		clients[i] = &client{
			session: session{db: db, prepared: w.Prepared}, random: r, home: 1 + i%w.Size.Warehouses, district: r.district(), remote: w.Remote, phase: p,
		}
		group.Go(clients[i].loop)
	}
	wait(ctx, w.Warmup)
	call(w.Begin)
	began := time.Now()
	p.at.Store(measuring)
	wait(ctx, w.Duration)
	seconds := time.Since(began).Seconds()
	p.end()
	call(w.End)
	group.Wait()
	all := &Result{Seconds: seconds}
	for _, c := range clients {
		all.Add(&c.result)
	}
	return all
}

func call(f func()) {
	if f != nil {
		f()
	}
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
