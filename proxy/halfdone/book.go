package halfdone

import (
	"cmp"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	// recordsMax is how many changes are kept; the oldest go.
	recordsMax = 1000
	// diskPatience is how long a change waits for the disk, which may be full, read only or stand still.
	diskPatience = time.Second
	// closePatience is how long Close does.
	closePatience = 2 * time.Second
	// lookEvery is how often the file is looked at, which another process may have written to.
	lookEvery = time.Second
	// retryEvery is how often it is tried again what could not be written.
	retryEvery = 10 * time.Second
	// searchEvery is how often it is looked for changes of processes that were killed in the middle.
	searchEvery = 5 * time.Second
)

// ErrNone says that there is no such record.
var ErrNone = errors.New("there is no such record")

// Book holds the records. Zero is ready and keeps them in memory; any goroutine may use it.
type Book struct {
	// Added, if set before the first Add, is told of every change that is taken.
	Added func(Record)

	mu      sync.Mutex
	entries []*entry // by id
	last    uint64
	dropped map[uint64]mark // by id: what the file has still
	stats   Stats
	waits   []chan struct{} // closed after the next round of the writer
	closed  bool

	// From Open on; nil and empty without a file.
	file    *file
	intents *intents
	found   []Record // of processes that were killed; of the writer alone
	unread  string   // why their files cannot be read; of the writer alone
	log     *slog.Logger
	wake    chan struct{}
	stop    chan struct{}
	done    chan struct{}
}

type entry struct {
	Record
}

// mark tells a record from others that may have been given its id.
type mark struct {
	at      time.Time
	session uint32
}

func markOf(r *Record) mark { return mark{r.At.Round(0).UTC(), r.Session} }

// Stats are counts of a book.
type Stats struct {
	Unmended  int    // records that are there
	Unwritten int    // those among them that are not in the file, and would not outlive the process
	Added     uint64 // since the start
	Failures  uint64 // of the file, since the start
}

// Open reads the records of the file in a folder, which is made if it is not there, and keeps them there from now on. A folder that cannot
// be used is logged and tried again: the records are in memory until then. The caller closes the book.
func (b *Book) Open(dir string, log *slog.Logger) {
	b.log = log
	b.file = &file{dir: dir}
	b.intents = openIntents(dir, log)
	b.wake, b.stop, b.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go b.run()
	b.await(diskPatience)
	if s := b.Stats(); s.Unmended > 0 {
		log.Warn("changes of several nodes are not known to be whole (SHOW KS HALF_DONE)", "records", s.Unmended)
	}
}

// Close writes what is not in the file yet. A disk that stands still is not waited for beyond two seconds.
func (b *Book) Close() {
	if b.file == nil {
		return
	}
	b.mu.Lock()
	was := b.closed
	b.closed = true
	b.mu.Unlock()
	if was {
		return
	}
	patience := time.After(closePatience)
	ends := func(done chan struct{}) bool {
		select {
		case <-done:
			return true
		case <-patience:
			return false
		}
	}
	close(b.intents.stop)
	intents := ends(b.intents.done) // first: of changes that are still under way it leaves a file, which becomes records
	close(b.stop)
	if !intents || !ends(b.done) {
		b.log.Error("the record of half-done changes: the disk does not answer", "folder", b.file.dir)
	}
}

// Begin notes a change whose nodes are about to be told to keep it, one after the other, and gives the number for End. A process that is
// killed before End leaves a record of the change. It waits until the system has the note, a second at most; without a file it does nothing.
func (b *Book) Begin(r Record) int {
	if b.intents == nil {
		return 0
	}
	r = r.bounded()
	return b.intents.begin(&r)
}

// End drops what Begin noted: the change is whole, is nowhere, or has a record. It waits as Begin does.
func (b *Book) End(n int) {
	if n > 0 {
		b.intents.end(n)
	}
}

// Add takes a change. It waits for the disk, a second at most: another process may have given the id to a change of its own.
func (b *Book) Add(r Record) {
	r = r.bounded()
	b.mu.Lock()
	b.last++
	r.ID, r.OnDisk = b.last, false
	e := &entry{r}
	b.entries = append(b.entries, e)
	b.stats.Added++
	b.makeRoomLocked()
	b.mu.Unlock()
	b.await(diskPatience)
	if b.Added != nil {
		b.mu.Lock()
		r = e.Record
		b.mu.Unlock()
		b.Added(r)
	}
}

// List gives the records by id.
func (b *Book) List() (list []Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.entries {
		list = append(list, e.Record)
	}
	return list
}

// Forget drops a record.
func (b *Book) Forget(id uint64) error {
	if b.forget(func(e *entry) bool { return e.ID == id }) == 0 {
		return ErrNone
	}
	return nil
}

// ForgetAll drops all of them.
func (b *Book) ForgetAll() { b.forget(func(*entry) bool { return true }) }

func (b *Book) forget(which func(*entry) bool) (n int) {
	b.mu.Lock()
	b.entries = slices.DeleteFunc(b.entries, func(e *entry) bool {
		if !which(e) {
			return false
		}
		n++
		b.forgetLocked(e)
		return true
	})
	b.mu.Unlock()
	if n > 0 {
		b.await(diskPatience)
	}
	return n
}

// Stats gives the counts.
func (b *Book) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.stats
	s.Unmended = len(b.entries)
	if b.intents != nil {
		s.Failures += b.intents.failures()
	}
	for _, e := range b.entries {
		if !e.OnDisk {
			s.Unwritten++
		}
	}
	return s
}

// makeRoomLocked drops the oldest records beyond the bound.
func (b *Book) makeRoomLocked() {
	for len(b.entries) > recordsMax {
		b.forgetLocked(b.entries[0])
		b.entries = b.entries[1:]
	}
}

// forgetLocked has the writer drop a record from the file, which may have it though it was not said to.
func (b *Book) forgetLocked(e *entry) {
	if b.file == nil {
		return
	}
	if b.dropped == nil {
		b.dropped = make(map[uint64]mark)
	}
	b.dropped[e.ID] = markOf(&e.Record)
}

// await wakes the writer and waits for its next round to end.
func (b *Book) await(most time.Duration) {
	if b.file == nil {
		return
	}
	round := make(chan struct{})
	b.mu.Lock()
	b.waits = append(b.waits, round)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default: // it is about to begin one
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-round:
	case <-b.done:
	case <-timer.C:
	}
}

// run is the writer: the only one that touches the file.
func (b *Book) run() {
	defer close(b.done)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var failed time.Time // zero while the file is well
	var searched time.Time
	for {
		woken := true
		select {
		case <-b.wake:
		case <-b.stop:
			b.round(&failed)
			return
		case <-tick.C:
			woken = false
		}
		due := false
		if !woken && failed.IsZero() && time.Since(searched) > searchEvery {
			due, searched = len(b.leftovers()) > 0, time.Now()
		}
		if woken || !failed.IsZero() && time.Since(failed) > retryEvery || due || failed.IsZero() && b.file.changed() {
			b.round(&failed)
		}
	}
}

// round brings book and file together, and tells those who wait for it.
func (b *Book) round(failed *time.Time) {
	b.mu.Lock()
	waits := b.waits
	b.waits = nil
	b.mu.Unlock()
	err := b.file.locked(b.sync)
	b.mu.Lock()
	if err != nil {
		b.stats.Failures++
	}
	b.mu.Unlock()
	switch {
	case err != nil && failed.IsZero():
		b.log.Error("the record of half-done changes cannot be kept on disk: it is tried again, and is in memory until then", "folder", b.file.dir, "error", err)
	case err == nil && !failed.IsZero():
		b.log.Info("the record of half-done changes is kept on disk again", "folder", b.file.dir)
	}
	*failed = time.Time{}
	if err != nil {
		*failed = time.Now()
	}
	for _, w := range waits {
		close(w)
	}
	for _, r := range b.found {
		b.log.Error("a proxy ended in the middle of a change of several nodes", "user", r.User, "client", r.Client, "statement", r.Statement, "unknown", r.Names(Unknown))
		if b.Added != nil {
			b.Added(r)
		}
	}
	b.found = nil
}

// sync takes over what other processes have written, and writes what is new here.
func (b *Book) sync(f *file) error {
	is, err := f.read()
	if err != nil {
		return err
	}
	if is.bad > 0 {
		b.log.Warn("the record of half-done changes has lines that nobody can read", "folder", f.dir, "lines", is.bad)
	}
	left := b.leftovers()
	b.find(left, is)
	fresh, unsure, gone := b.merge(is)
	if len(fresh)+len(unsure)+len(gone) > 0 {
		if err := f.append(fresh, gone); err != nil {
			return err
		}
		b.written(append(fresh, unsure...), gone)
	}
	for _, l := range left {
		if err := os.Remove(l.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if is.long || is.lines+len(fresh)+len(gone) > len(is.records)+len(fresh)-len(gone)+recordsMax {
		return f.rewrite(b.onDisk())
	}
	return nil
}

// leftovers are the files of processes that are gone. One that cannot be read is logged once, and hinders nothing else.
func (b *Book) leftovers() []leftover {
	left, err := leftovers(b.file.dir)
	why := ""
	if err != nil {
		why = err.Error()
	}
	if why != "" && why != b.unread {
		b.log.Error("it cannot be read what another process had under way of changes of several nodes, should it be gone", "folder", b.file.dir, "error", err)
	}
	b.unread = why
	return left
}

// find takes the changes of processes that are gone, but for those that have a record.
func (b *Book) find(left []leftover, is contents) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := make(map[mark]bool)
	for _, r := range is.records {
		known[markOf(&r)] = true
	}
	for _, e := range b.entries {
		known[markOf(&e.Record)] = true
	}
	b.last = max(b.last, is.last)
	for _, l := range left {
		for _, r := range l.records {
			if known[markOf(&r)] {
				continue
			}
			b.last++
			r.ID, r.OnDisk = b.last, false
			b.entries = append(b.entries, &entry{r})
			b.stats.Added++
			b.found = append(b.found, r)
			known[markOf(&r)] = true // a file that was taken away may be there twice
		}
	}
	b.makeRoomLocked()
}

// merge makes the book what the file says with what is new here: fresh records, those that are in the file but the disk may not keep
// yet, and those that are gone.
func (b *Book) merge(is contents) (fresh, unsure []Record, gone []uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = max(b.last, is.last)
	have := make(map[uint64]bool)
	b.entries = slices.DeleteFunc(b.entries, func(e *entry) bool {
		r, there := is.records[e.ID]
		switch {
		case there && markOf(&r) != markOf(&e.Record): // its number was given to another one
			b.last++
			e.ID, e.OnDisk = b.last, false
		case there:
		case e.OnDisk && is.forgets(e.ID): // by another process
			return true
		default:
			e.OnDisk = false // it is written anew where somebody has taken the file away, or emptied it
		}
		have[e.ID] = true
		return false
	})
	for id, m := range b.dropped {
		if r, there := is.records[id]; there && markOf(&r) == m {
			gone = append(gone, id)
		} else {
			delete(b.dropped, id)
		}
	}
	for id, r := range is.records {
		if _, dropped := b.dropped[id]; !have[id] && !dropped {
			r.OnDisk = true
			b.entries = append(b.entries, &entry{r})
		}
	}
	slices.SortFunc(b.entries, func(x, y *entry) int { return cmp.Compare(x.ID, y.ID) })
	b.makeRoomLocked()
	for _, e := range b.entries {
		_, there := is.records[e.ID]
		switch {
		case e.OnDisk:
		case there:
			unsure = append(unsure, e.Record)
		default:
			fresh = append(fresh, e.Record)
		}
	}
	return fresh, unsure, gone
}

// written notes what the file has now.
func (b *Book) written(added []Record, gone []uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	is := make(map[uint64]bool)
	for k := range added {
		is[added[k].ID] = true
	}
	for _, e := range b.entries {
		e.OnDisk = e.OnDisk || is[e.ID]
	}
	for _, id := range gone {
		delete(b.dropped, id)
	}
}

// onDisk gives the records of the file, and the last id.
func (b *Book) onDisk() (list []Record, last uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.entries {
		if e.OnDisk {
			list = append(list, e.Record)
		}
	}
	return list, b.last
}
