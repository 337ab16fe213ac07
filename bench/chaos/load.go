package chaos

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"math/rand/v2"
	"sync"
	"time"
)

// load is an open loop: operations are due at a constant rate, and begin then, whatever became of those before.
type load struct {
	db   *sql.DB
	rate float64 // operations a second

	operations sync.WaitGroup
	mu         sync.Mutex
	next       int64 // id
	ended      []operation
	inserted   []insertion // a ring of rows that clients were told of
	oldest     int
}

// insertion is a row that a client was told of.
type insertion struct {
	id   int64
	told time.Time
}

const (
	accounts    = 1000 // of each node
	balance     = 1000 // of each account in the beginning
	insertedMax = 5000
	// staleness is how old a row may be that a replica lacks: max_replica_lag of the proxy's configuration, twice, as servers tell whole
	// seconds and are asked once a second.
	staleness = 2 * lagMax
	lagMax    = 3 * time.Second
)

// run has operations begin until ctx is done, and waits for the last one.
func (l *load) run(ctx context.Context) {
	began := time.Now()
	gap := float64(time.Second) / l.rate
	tick := time.NewTimer(0)
	defer tick.Stop()
	for n := 0; ; n++ {
		due := began.Add(time.Duration(float64(n) * gap))
		tick.Reset(time.Until(due))
		select {
		case <-ctx.Done():
			l.operations.Wait()
			return
		case <-tick.C:
			o := l.draw(due)
			l.operations.Go(func() { l.carryOut(o) })
		}
	}
}

// draw makes the next operation.
func (l *load) draw(due time.Time) operation {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := operation{due: due}
	switch n := rand.IntN(100); {
	case n < 15:
		o.kind = read
	case n < 25:
		o.kind = stale
	case n < 60:
		o.kind = insert
	case n < 82:
		o.kind = local
	default:
		o.kind = across
	}
	if o.kind == read || o.kind == stale {
		if i := l.pick(o.kind, due); i != nil {
			o.id = i.id
			return o
		}
		o.kind = insert
	}
	l.next++
	o.id = l.next
	if o.kind != insert { // accounts of the row's node, or one of the other's
		o.payer = 2*rand.Int64N(accounts) + o.id%2
		for o.payee = o.payer; o.payee == o.payer; {
			o.payee = 2*rand.Int64N(accounts) + o.id%2
		}
		if o.kind == across {
			o.payee ^= 1
		}
	}
	return o
}

// pick returns a row that can be read; nil if there is none.
func (l *load) pick(k kind, now time.Time) *insertion {
	for range 10 {
		if len(l.inserted) == 0 {
			break
		}
		i := &l.inserted[rand.IntN(len(l.inserted))]
		if k == read || now.Sub(i.told) > staleness {
			return i
		}
	}
	return nil
}

// carryOut carries an operation out and notes what came of it.
func (l *load) carryOut(o operation) {
	ctx := context.Background() // what was sent waits for its answer: none is left in the middle
	o.began = time.Now()
	conn, err := l.db.Conn(ctx)
	if err != nil {
		err = connecting{err}
	} else {
		err = o.run(ctx, conn)
		if err != nil && (o.kind == local || o.kind == across) { // a transaction may be open
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
		_ = conn.Close()
	}
	o.ended = time.Now()
	if o.outcome, o.fault = judge(err); err != nil {
		o.text = err.Error()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = append(l.ended, o)
	if o.kind != insert || o.outcome != done {
		return
	}
	i := insertion{id: o.id, told: o.ended}
	if len(l.inserted) < insertedMax {
		l.inserted = append(l.inserted, i)
		return
	}
	l.inserted[l.oldest] = i
	l.oldest = (l.oldest + 1) % insertedMax
}

// take returns the operations that have ended, and forgets them.
func (l *load) take() []operation {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.ended
	l.ended = nil
	return all
}
