package sequence

import (
	"fmt"
	"time"

	"kingshard/proxy/kserror"
)

// A snowflake id has, below a sign bit of 0, 41 bits of milliseconds since the beginning of 2024, 10 of a worker number and 12 that count within the
// millisecond. Each process leases a worker number for a span of time, and gives out ids of that span only, so that no two clocks need to agree for
// ids to differ.
const (
	snowflakeEpoch = 1_704_067_200_000 // in Unix milliseconds
	timeBits       = 41
	workerBits     = 10
	countBits      = 12
	workers        = 1 << workerBits
	perMillisecond = 1 << countBits
)

// timeOf returns the milliseconds of an id since the epoch, and the worker that made it.
func timeOf(id uint64) (ms, worker uint64) {
	return id >> (workerBits + countBits), id >> countBits % workers
}

// aheadMax is how many milliseconds ids may be ahead of the clock, where more are asked for than a millisecond has.
const aheadMax = 1000

// take takes n ids out of use, the last millisecond that a table has ids of, or makes that a later one; ok is false where the lease or the clock
// do not allow that.
func (w *worker) take(use *block, n int, s Spacing) (first uint64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := max(w.nowLocked(), w.from)
	last, number := uint64(0), uint64(0)
	if use.end > 0 {
		last, number = timeOf(use.end - 1)
	}
	ms := max(now, last)
	if ms >= w.until || ms > now+aheadMax {
		return 0, false
	}
	if ms > last || number != w.number {
		*use = w.millisecond(ms)
	}
	if first, ok = use.take(n, s); ok {
		return first, true
	}
	if ms++; ms >= w.until || ms > now+aheadMax {
		return 0, false
	}
	*use = w.millisecond(ms)
	return use.take(n, s)
}

// millisecond are the ids of one.
func (w *worker) millisecond(ms uint64) block {
	first := (ms<<workerBits | w.number) << countBits
	return block{first, first + perMillisecond}
}

// lease has the worker number for some time ahead, and waits where the clock has not come to the ids that are asked for.
func (q *Sequence) lease(t *Table, deadline time.Time) error {
	q.mu.Lock()
	known, at := q.known && q.at == t.Node.Primary.Addr, t.Node.Primary.Addr
	q.mu.Unlock()
	limit := uint64(0)
	if !known {
		r, err := reservation{t: t}, error(nil)
		if _, limit, err = r.largest(deadline); err != nil {
			return err
		}
		if limit > 0 && limit < idMax {
			return kserror.New(kserror.Sequence, fmt.Sprintf("the AUTO_INCREMENT column of %s.%s must be BIGINT for snowflake ids", t.DB, t.Name))
		}
	}
	leased, err := q.worker.lease(t.Node, deadline)
	if err != nil {
		return err
	}
	if !leased && known {
		time.Sleep(time.Millisecond) // the ids are ahead of the clock
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.known, q.at, q.node = true, at, t.Node.Name
	if leased {
		q.blocks++
	}
	return nil
}

// tooMany says that a statement wants more ids than follow each other.
func tooMany(n uint64) error {
	return kserror.New(kserror.Sequence, fmt.Sprintf("a statement can have %d snowflake ids that follow each other, and this one needs %d: give it fewer rows", perMillisecond, n))
}
