package sequence

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"kingshard/backend/pool"
)

// Sequence hands out the ids of one table. Its methods may be called from any goroutine.
type Sequence struct {
	owner string
	log   *slog.Logger
	// worker is what snowflake ids have their number from; nil where ids come in blocks. Their use is a millisecond, and ahead is empty.
	worker *worker

	mu    sync.Mutex
	use   block
	ahead block  // the one after use; empty without one
	floor uint64 // the least id that the next block may have; 0: any
	known bool   // the largest id of all shards is below floor
	at    string // address of the server that has the row
	node  string // its node
	limit uint64 // the largest id that the column takes; 0 before it is known
	had   bool   // the row is there, as a block was reserved since the last restart
	// reserving is the reservation under way; nil without one.
	reserving *reserving
	// doubts counts what makes known untrue: what a reservation found out before that does not hold.
	doubts uint64
	// forgotten counts the calls of forgetLocked: a block that was asked for before one is not used.
	forgotten uint64
	// taken is the first id of the last Take, 0 once others came into use.
	taken uint64

	drawn, blocks, collisions uint64
	// back are those among drawn that were given back, and are not counted when they are taken again.
	back uint64
}

// reserving is a reservation that a goroutine makes, or what keeps one from beginning.
type reserving struct {
	over chan struct{} // closed at its end
	err  error         // valid then
}

// block are ids from next on, ahead of end. A next beyond end is where the block that follows begins: so far InnoDB counts by spaced ids.
type block struct{ next, end uint64 }

func (b block) left() uint64 { return b.end - min(b.next, b.end) }

// pass leaves out what is ahead of next.
func (b *block) pass(next uint64) { b.next = max(b.next, min(next, b.end)) }

// take takes n ids, spaced as s says.
func (b *block) take(n int, s Spacing) (first uint64, ok bool) {
	first = s.first(b.next)
	last := first + uint64(n-1)*max(s.Increment, 1)
	if n < 1 || first < b.next || last < first || last >= b.end {
		return 0, false
	}
	b.next = last + max(s.Increment, 1) // as InnoDB counts
	return first, true
}

// Spacing is how the ids of a statement follow each other: auto_increment_increment and auto_increment_offset. MySQL manual: "Replication Source
// Options and Variables".
type Spacing struct{ Increment, Offset uint64 }

// first is the least id from n on.
func (s Spacing) first(n uint64) uint64 {
	if s.Increment <= 1 || n <= s.Offset {
		return max(n, min(s.Offset, s.Increment))
	}
	return n + (s.Increment-(n-s.Offset)%s.Increment)%s.Increment
}

// Take takes n ids, spaced as s says, of which the first is returned. ok is false where so many are not there: Fill reserves them. It never waits.
func (q *Sequence) Take(t *Table, n int, s Spacing) (first uint64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.known || q.at != t.Node.Primary.Addr {
		return 0, false
	}
	soon := false // to be reserved
	if q.worker != nil {
		first, ok = q.worker.take(&q.use, n, s)
		soon = q.worker.runsOut()
	} else {
		if first, ok = q.use.take(n, s); !ok && q.ahead.left() > 0 {
			q.ahead.next = max(q.ahead.next, q.use.next)
			q.use, q.ahead = q.ahead, block{}
			first, ok = q.use.take(n, s)
		}
		if last := first + uint64(n-1)*max(s.Increment, 1); ok && q.limit > last {
			q.use.next = min(q.use.next, q.limit) // which no counter of InnoDB passes
		}
		soon = q.ahead.left() == 0 && q.use.left() < q.stepLocked(t)/2
	}
	if soon {
		q.reserveLocked(t, 1)
	}
	if ok {
		again := min(uint64(n), q.back)
		q.back -= again
		q.drawn += uint64(n) - again
		q.taken = first
	}
	return first, ok
}

// GiveBack takes back ids that nobody has used: those from first to last, spaced as s says, where they are the ones that Take gave last.
func (q *Sequence) GiveBack(first, last uint64, s Spacing) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken == first && q.use.next == last+max(s.Increment, 1) && q.floor <= first {
		q.use.next, q.taken = first, 0
		q.back += (last-first)/max(s.Increment, 1) + 1
	}
}

// Saw notes an id that a client brought to the table, whose ids are spaced as s says: no smaller one is handed out any more.
func (q *Sequence) Saw(t *Table, id uint64, s Spacing) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.worker != nil || id < min(q.use.next, q.use.end) && q.known || q.limit > 0 && id > q.limit {
		return
	}
	next := id
	if after := s.first(id + 1); after > id {
		next = after
	}
	beyond := q.known && next > max(q.use.end, q.ahead.end, q.floor)
	q.passLocked(next)
	if beyond {
		q.reserveLocked(t, 1) // other proxies are to know it before their blocks come to it
	}
}

// passLocked leaves out the ids below next.
func (q *Sequence) passLocked(next uint64) {
	q.floor = max(q.floor, next)
	q.use.pass(q.floor)
	q.ahead.pass(q.floor)
}

// forgetLocked drops the blocks: the next ids are above all that the shards have, and from floor on.
func (q *Sequence) forgetLocked(floor uint64) {
	q.use, q.ahead, q.floor, q.known = block{}, block{}, floor, false
	q.doubts++
	q.forgotten++
	q.taken = 0
}

// Doubt has the next ids be larger than all that the shards have by then, as somebody has used ids that were reserved here.
func (q *Sequence) Doubt() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.doubtLocked()
	q.collisions++
}

func (q *Sequence) doubtLocked() {
	if q.worker == nil {
		q.known = false
		q.doubts++
	}
}

// Relearn has the next ids be larger than all that the shards have, as a client brought some that are not known here. It never waits.
func (q *Sequence) Relearn(t *Table) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.worker == nil {
		q.doubtLocked()
		q.reserveLocked(t, 1) // other proxies are to know it before their blocks come to it
	}
}

// fillTimeout bounds a reservation.
const fillTimeout = 10 * time.Second

// reserveLocked begins to reserve at least n ids, unless a reservation is under way, and returns the one that is.
func (q *Sequence) reserveLocked(t *Table, n uint64) *reserving {
	if q.reserving == nil {
		r := &reserving{over: make(chan struct{})}
		q.reserving = r
		go func() {
			err := q.reserve(t, n, time.Now().Add(fillTimeout))
			if err != nil && q.log != nil {
				q.log.Warn("no ids could be reserved", "table", t.DB+"."+t.Name, "node", t.Node.Name, "error", err)
			}
			q.mu.Lock()
			q.reserving, r.err = nil, err
			q.mu.Unlock()
			close(r.over)
		}()
	}
	return q.reserving
}

// Fill waits until ids are reserved, so many at least that Take has n spaced as s says, unless others take them first: until the deadline, or until
// cancel is closed. Errors are *mysql.SQLError, those of the pool, or of a connection.
func (q *Sequence) Fill(t *Table, n int, s Spacing, deadline time.Time, cancel <-chan struct{}) error {
	if needed := uint64(n) * max(s.Increment, 1); q.worker != nil && needed > perMillisecond {
		return tooMany(needed)
	}
	q.mu.Lock()
	r := q.reserveLocked(t, (uint64(n)+1)*max(s.Increment, 1))
	q.mu.Unlock()
	wait := time.NewTimer(time.Until(deadline))
	defer wait.Stop()
	select {
	case <-r.over:
		return r.err
	case <-wait.C:
		return pool.ErrTimeout
	case <-cancel:
		return pool.ErrCancelled
	}
}

// reserve reserves a block of at least n ids, unless blocks that are there have as many.
func (q *Sequence) reserve(t *Table, n uint64, deadline time.Time) error {
	if q.worker != nil {
		return q.lease(t, deadline)
	}
	r := reservation{t: t, owner: q.owner, at: t.Node.Primary.Addr}
	if enough, err := q.learn(&r, n, deadline); enough || err != nil {
		return err
	}
	got, err := r.make(deadline)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.blocks++
	q.had = true
	if q.forgotten != r.forgotten {
		return nil // it may be of before a restart
	}
	got.pass(q.floor)
	got.next = max(got.next, q.use.next)
	switch {
	case q.use.end == got.next: // the blocks are one
		q.use.end = got.end
	case q.use.left() < n:
		q.use, q.ahead = got, block{}
	default:
		q.ahead = got
	}
	return nil
}

// learn finds out how large the ids of a reservation must be at least. enough says that the largest id of the shards was not known, and that blocks
// that are there have n larger ones.
func (q *Sequence) learn(r *reservation, n uint64, deadline time.Time) (enough bool, err error) {
	q.mu.Lock()
	known, doubts := q.known && q.at == r.at, q.doubts
	q.mu.Unlock()
	largest, limit := uint64(0), uint64(0)
	if !known {
		if largest, limit, err = r.largest(deadline); err != nil {
			return false, err
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !known {
		trusted := q.doubts == doubts
		if q.at != r.at {
			// Another server has the row now, and may not have what was reserved on the one before.
			q.forgetLocked(max(q.floor, q.use.next, q.ahead.next))
		}
		q.passLocked(largest + 1)
		q.at, q.node, q.limit = r.at, r.t.Node.Name, limit
		if limit > 0 && q.floor > limit+1 {
			q.floor = largest + 1 // an id that no shard can have taken
		}
		q.known = trusted
		enough = trusted && (q.use.left() >= n || q.ahead.left() >= n)
	}
	r.floor, r.ids = max(q.floor, q.use.next), max(n, q.stepLocked(r.t))
	r.skip, r.had, r.forgotten = skipBlocks*r.ids, q.had || r.t.Placed && largest > 0, q.forgotten
	if q.limit > 0 {
		r.skip = min(r.skip, q.limit/64)
	}
	return enough, nil
}

// skipBlocks is more than the blocks that all proxies together have reserved and not yet used up, of which a server that takes another's place may not
// know.
const skipBlocks = 100

// stepLocked is how many ids a block has: as few of a small type as it can lose with a thousand processes.
func (q *Sequence) stepLocked(t *Table) uint64 {
	if q.limit == 0 {
		return t.Step
	}
	return min(t.Step, q.limit/1000+1)
}

// Begin has the ids begin at next, unless larger ones were handed out or are in the table, or they are snowflakes: other proxies know it when it returns.
func (q *Sequence) Begin(t *Table, next uint64, deadline time.Time, cancel <-chan struct{}) error {
	if q.worker != nil {
		return nil
	}
	q.mu.Lock()
	q.passLocked(next)
	q.mu.Unlock()
	for {
		q.mu.Lock()
		there := q.known && q.use.left() > 0
		q.mu.Unlock()
		if there {
			return nil
		}
		if err := q.Fill(t, 1, Spacing{1, 1}, deadline, cancel); err != nil {
			return err
		}
	}
}

// Restart has the ids of a table that is empty, or was made anew, begin at 1. Where other processes may have ids of before it does nothing: they
// would come again. Nor does it where ids are snowflakes.
func (q *Sequence) Restart(t *Table, deadline time.Time) error {
	if q.worker != nil {
		return nil
	}
	r := reservation{t: t, owner: q.owner}
	done, err := q.alone(deadline)
	if err != nil {
		return err
	}
	defer done()
	gone, err := r.drop(deadline)
	if err != nil || !gone {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forgetLocked(0)
	q.had = false
	return nil
}

// ErrBelow says that ids would begin at less than the sequence stands at.
var ErrBelow = errors.New("the sequence stands higher already")

// ErrSnowflake says that ids are of the clock.
var ErrSnowflake = errors.New("the ids are snowflakes, which follow the clock")

// Set has the ids of all proxies begin at next from their next blocks on. Where the sequence stands higher it returns ErrBelow unless it is forced;
// ids that the shards have are not handed out again in any case, but others of before may be. Snowflake ids cannot be set: ErrSnowflake.
func (q *Sequence) Set(t *Table, next uint64, forced bool, deadline time.Time) error {
	if q.worker != nil {
		return ErrSnowflake
	}
	r := reservation{t: t, owner: q.owner, floor: next, ids: 1}
	if !forced {
		r.skip = skipBlocks * t.Step
	}
	done, err := q.alone(deadline)
	if err != nil {
		return err
	}
	defer done()
	if err := r.set(forced, deadline); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forgetLocked(next)
	return nil
}

// alone waits until no reservation is under way, and keeps others from beginning until done is called: a block that one takes from the row in
// between would be lost, or be of before. The error is pool.ErrTimeout.
func (q *Sequence) alone(deadline time.Time) (done func(), err error) {
	own := &reserving{over: make(chan struct{})}
	for {
		q.mu.Lock()
		other := q.reserving
		if other == nil {
			q.reserving = own
		}
		q.mu.Unlock()
		if other == nil {
			break
		}
		select {
		case <-other.over:
		case <-time.After(time.Until(deadline)):
			return nil, pool.ErrTimeout
		}
	}
	return func() {
		q.mu.Lock()
		q.reserving = nil
		q.mu.Unlock()
		close(own.over)
	}, nil
}
