package querylog

import (
	"cmp"
	"hash/maphash"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// digestTextMax bounds the text of a digest, in bytes. Statements that differ behind it only are one digest.
const digestTextMax = 1024

// cellsMax is how many cores count by themselves at most.
const cellsMax = 16

// evictShare: of a full table one in so many goes at a time, so that not every new digest has to look for the least used.
const evictShare = 16

// digest is an entry of the table: a statement of one user in one database.
type digest struct {
	hash           uint64
	key            string // user, database and text, with zero bytes between
	user, db, text string
	cells          []atomic.Pointer[cell] // by core, made when it counts its first statement
	// Under digests.mu: what eviction goes by, the counts so far with those of long ago worth less.
	score, seen uint64
}

// digests is the table of digests. Those who count take no lock but that of their core's cell; they find entries in slots,
// an open hash table of which entries are never removed: eviction makes another one.
type digests struct {
	seed  maphash.Seed
	cores int
	slots atomic.Pointer[[]atomic.Pointer[digest]]

	mu      sync.Mutex // to change the slots
	max     int
	kept    int
	other   digest // what was evicted, or came while another digest was being added
	evicted atomic.Uint64
}

// newDigests makes a table of at most limit digests.
func newDigests(limit int) *digests {
	cores := min(1<<bits.Len(uint(runtime.NumCPU()-1)), cellsMax)
	t := &digests{seed: maphash.MakeSeed(), cores: cores, max: limit, other: digest{cells: make([]atomic.Pointer[cell], cores)}}
	t.clear()
	return t
}

// clear makes the table empty. The caller holds mu, or nobody else knows of the table.
func (t *digests) clear() {
	t.slots.Store(t.newSlots())
	t.kept = 0
}

// newSlots makes slots for twice the digests that the table may hold, so that there is always an empty one.
func (t *digests) newSlots() *[]atomic.Pointer[digest] {
	slots := make([]atomic.Pointer[digest], 1<<bits.Len(uint(2*t.max)))
	return &slots
}

// record counts a statement under key; core is any number that says where the caller runs.
func (t *digests) record(key []byte, core int, st *Statement) {
	hash := maphash.Bytes(t.seed, key)
	began := st.Start.UnixNano()
	d := t.find(hash, key)
	if d == nil {
		d = t.add(hash, key)
	}
	if !d.cell(core%t.cores).add(st, began) {
		t.other.cell(core%t.cores).add(st, began)
	}
}

// find looks for a digest.
func (t *digests) find(hash uint64, key []byte) *digest {
	slots := *t.slots.Load()
	for k := hash; ; k++ {
		d := slots[k&uint64(len(slots)-1)].Load()
		if d == nil || d.hash == hash && d.key == string(key) {
			return d
		}
	}
}

// cell gives a core's cell.
func (d *digest) cell(core int) *cell {
	c := d.cells[core].Load()
	if c == nil {
		c = new(cell)
		if !d.cells[core].CompareAndSwap(nil, c) {
			c = d.cells[core].Load()
		}
	}
	return c
}

// add makes a digest. While another one is being made, statements go under other: they are new, and one of many.
func (t *digests) add(hash uint64, key []byte) *digest {
	if !t.mu.TryLock() {
		return &t.other
	}
	defer t.mu.Unlock()
	if d := t.find(hash, key); d != nil {
		return d
	}
	if t.kept >= t.max {
		t.evict()
	}
	d := &digest{hash: hash, key: string(key), cells: make([]atomic.Pointer[cell], t.cores)}
	rest := ""
	d.user, rest, _ = strings.Cut(d.key, "\x00")
	d.db, d.text, _ = strings.Cut(rest, "\x00")
	t.put(*t.slots.Load(), d)
	t.kept++
	return d
}

func (t *digests) put(slots []atomic.Pointer[digest], d *digest) {
	for k := d.hash; ; k++ {
		if s := &slots[k&uint64(len(slots)-1)]; s.Load() == nil {
			s.Store(d)
			return
		}
	}
}

// all lists the digests of the table.
func (t *digests) all() []*digest {
	var list []*digest
	slots := *t.slots.Load()
	for k := range slots {
		if d := slots[k].Load(); d != nil {
			list = append(list, d)
		}
	}
	return list
}

// evict drops the least used digests; what they counted goes to other. The caller holds mu.
func (t *digests) evict() {
	list := t.all()
	for _, d := range list {
		n := d.count()
		d.score = d.score/2 + n - d.seen
		d.seen = n
	}
	slices.SortFunc(list, func(a, b *digest) int { return cmp.Compare(b.score, a.score) })
	keep := list[:max(0, min(len(list), t.max-1-t.max/evictShare))]
	slots := t.newSlots()
	for _, d := range keep {
		t.put(*slots, d)
	}
	t.slots.Store(slots)
	t.kept = len(keep)
	for _, d := range list[len(keep):] {
		for k := range d.cells {
			// A core that found the digest before may count its first statement only now.
			if !d.cells[k].CompareAndSwap(nil, closedCell) {
				t.other.cell(k).take(d.cells[k].Load())
			}
		}
		t.evicted.Add(1)
	}
}

// count is the number of executions.
func (d *digest) count() (n uint64) {
	for k := range d.cells {
		if c := d.cells[k].Load(); c != nil {
			c.mu.Lock()
			n += c.counts.n
			c.mu.Unlock()
		}
	}
	return n
}

// closedCell stands for the cells that an evicted digest never had.
var closedCell = &cell{closed: true}

// take closes a cell and adds what it counted. No other code holds two cells.
func (c *cell) take(from *cell) {
	from.mu.Lock()
	defer from.mu.Unlock()
	from.closed = true
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.merge(&from.counts)
	for k := range c.total {
		c.total[k] += min(from.total[k], ^c.total[k]-1)
		c.exec[k] += min(from.exec[k], ^c.exec[k]-1)
	}
}

// resize sets how many digests are kept.
func (t *digests) resize(limit int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if limit == t.max {
		return
	}
	t.max = limit
	t.evict()
}

// reset forgets all.
func (t *digests) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	for k := range t.other.cells {
		t.other.cells[k].Store(nil)
	}
}
