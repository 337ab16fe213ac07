package halfdone

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// intentsPrefix begins the names of the files of changes under way: each process has its own, which it keeps locked while it lives.
	intentsPrefix = "half-done.intents."
	// slotSize is what a change under way has of the file, in bytes. The file has holes: a short record takes one page of the disk.
	slotSize = 64 << 10
	// killedCause is that of the records made of changes whose process ended in the middle.
	killedCause = "the proxy ended before it knew"
)

// intents is the file of the changes that are under way. A change is written ahead of the first commit and taken back behind the last, so
// that the file of a process that was killed says which may be half done. It is written to the system, which keeps it when the process
// dies, and not forced to the disk, which would double the time that a change of several nodes takes: a machine that loses its power takes
// them with it.
type intents struct {
	dir  string
	log  *slog.Logger
	wake chan struct{}
	stop chan struct{}
	done chan struct{}

	mu    sync.Mutex
	slots []slot
	free  []int
	dirty []int           // slots that the file does not have as they are, each once
	waits []chan struct{} // closed when it has
	late  bool            // the disk stands still: nobody waits for it
	fails uint64          // times that the file could not be written

	// Of the writer alone.
	file   *os.File
	taken  *os.File // the one before, which somebody has taken away, until file has all; else nil
	failed bool
	// writeAt writes a slot, nil: to the file. Tests have it fail.
	writeAt func(text []byte, at int64) error
}

// slot is a place in the file. An empty one has no text.
type slot struct {
	text  []byte
	dirty bool // it is in the list of those
}

// soilLocked notes that the file does not have a slot as it is.
func (in *intents) soilLocked(k int) {
	if s := &in.slots[k]; !s.dirty {
		s.dirty = true
		in.dirty = append(in.dirty, k)
	}
}

func openIntents(dir string, log *slog.Logger) *intents {
	in := &intents{dir: dir, log: log, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go in.run()
	return in
}

// begin writes a change and gives the number that it is taken back by, from 1.
func (in *intents) begin(r *Record) int {
	text := slotText(r)
	in.mu.Lock()
	var k int
	if n := len(in.free) - 1; n >= 0 {
		k, in.free = in.free[n], in.free[:n]
		in.slots[k].text = text
	} else {
		k = len(in.slots)
		in.slots = append(in.slots, slot{text: text})
	}
	in.awaitLocked(k)
	return k + 1
}

// end takes a change back: also that is waited for, so that a change whose client has its answer leaves no record.
func (in *intents) end(n int) {
	in.mu.Lock()
	in.slots[n-1].text = nil
	in.free = append(in.free, n-1)
	in.awaitLocked(n - 1)
}

// awaitLocked unlocks, and waits until the file has a slot as it is now: for a second at most, and not at all while the disk stands still.
func (in *intents) awaitLocked(k int) {
	late := in.late
	in.soilLocked(k)
	var written chan struct{}
	if !late {
		written = make(chan struct{})
		in.waits = append(in.waits, written)
	}
	in.mu.Unlock()
	select {
	case in.wake <- struct{}{}:
	default: // the writer is about to look
	}
	if late {
		return
	}
	timer := time.NewTimer(diskPatience)
	defer timer.Stop()
	select {
	case <-written:
	case <-in.done:
	case <-timer.C:
		in.mu.Lock()
		in.late = true
		in.mu.Unlock()
	}
}

// failures is how often the file could not be written.
func (in *intents) failures() uint64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.fails
}

// run is the writer. Without a change, too, it looks every second whether the file is there, and writes what could not be written.
func (in *intents) run() {
	defer close(in.done)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-in.wake:
			in.write()
		case <-tick.C:
			if in.missing() {
				in.renew()
			}
			if in.failed {
				in.write()
			}
		case <-in.stop:
			in.write()
			in.close()
			return
		}
	}
}

// missing reports whether somebody has taken the file away.
func (in *intents) missing() bool {
	if in.file == nil {
		return false
	}
	is, err := in.file.Stat()
	if err != nil {
		return true
	}
	there, err := os.Stat(in.file.Name())
	return err == nil && !os.SameFile(is, there) || errors.Is(err, os.ErrNotExist)
}

// renew has another file take the place of one that was taken away. That one, which may be there by another name, is written to until there is
// another, and says what it does until the other one says it.
func (in *intents) renew() {
	taken := in.file
	if err := in.create(); err != nil {
		in.outcome(err)
		return
	}
	in.log.Warn("the file of the changes of several nodes that are under way was taken away: another one is made", "file", taken.Name())
	in.emptyTaken()
	in.taken = taken
	in.mu.Lock()
	for k := range in.slots {
		if in.slots[k].text != nil {
			in.soilLocked(k)
		}
	}
	in.mu.Unlock()
	in.write()
}

// emptyTaken has a file that was taken away say nothing any more.
func (in *intents) emptyTaken() {
	if in.taken != nil {
		_ = in.taken.Truncate(0)
		_ = in.taken.Close()
		in.taken = nil
	}
}

// write brings the file in line with the slots. Those that it cannot write are tried again.
func (in *intents) write() {
	in.mu.Lock()
	dirty, waits := in.dirty, in.waits
	in.dirty, in.waits = nil, nil
	texts := make([][]byte, len(dirty))
	for k, at := range dirty {
		in.slots[at].dirty = false
		texts[k] = in.slots[at].text // as it is by now, which may be newer
	}
	in.mu.Unlock()
	var err error
	if in.file == nil && len(dirty) > 0 {
		err = in.create()
	}
	failed := dirty
	if err == nil {
		failed, err = in.writeSlots(dirty, texts)
	}
	in.mu.Lock()
	in.late = false
	for _, at := range failed {
		in.soilLocked(at)
	}
	in.mu.Unlock()
	if in.outcome(err); err == nil {
		in.emptyTaken()
	}
	for _, w := range waits {
		close(w)
	}
}

// outcome counts and tells whether the file could be written.
func (in *intents) outcome(err error) {
	if err != nil {
		in.mu.Lock()
		in.fails++
		in.mu.Unlock()
	}
	switch {
	case err != nil && !in.failed:
		in.log.Error("changes of several nodes cannot be written down ahead of their commits: one that the proxy does not live to end leaves no record",
			"folder", in.dir, "error", err)
	case err == nil && in.failed:
		in.log.Info("changes of several nodes are written down ahead of their commits again", "folder", in.dir)
	}
	in.failed = err != nil
}

// writeSlots writes texts to slots, and gives those that it cannot write with the last error: a full disk may have room for others.
func (in *intents) writeSlots(slots []int, texts [][]byte) (failed []int, last error) {
	write := in.writeAt
	if write == nil {
		write = func(text []byte, at int64) error {
			_, err := in.file.WriteAt(text, at)
			return err
		}
	}
	for k, at := range slots {
		text := texts[k]
		if text == nil {
			text = []byte{'\n'}
		}
		if err := write(text, int64(at)*slotSize); err != nil {
			failed, last = append(failed, at), err
		}
	}
	return failed, last
}

// create makes the process's file, of which others see the name when it is locked.
func (in *intents) create() error {
	return lockDir(in.dir, func() error {
		out, err := os.CreateTemp(in.dir, intentsPrefix+"*")
		if err != nil {
			return err
		}
		if err := syscall.Flock(int(out.Fd()), syscall.LOCK_EX); err != nil { // nobody keeps it: they only try
			return errors.Join(fmt.Errorf("lock %s: %w", out.Name(), err), out.Close(), os.Remove(out.Name()))
		}
		in.file = out
		return nil
	})
}

// close lets go of the file. One with changes in it stays, for whoever looks next.
func (in *intents) close() {
	if in.file == nil {
		return
	}
	in.mu.Lock()
	idle := len(in.free) == len(in.slots)
	in.mu.Unlock()
	if idle {
		_ = os.Remove(in.file.Name())
	}
	_ = in.file.Close()
	if in.taken != nil {
		_ = in.taken.Close() // with what could not be written anew
	}
}

// slotText is a line of JSON that a slot has room for.
func slotText(r *Record) []byte {
	for {
		text, err := json.Marshal(r)
		if err != nil {
			panic("halfdone: " + err.Error()) // it has nothing that JSON does not know
		}
		if len(text) < slotSize {
			return append(text, '\n')
		}
		r.Nodes = r.Nodes[:len(r.Nodes)*3/4]
	}
}

// leftover is the file of a process that is gone, with the changes that it did not end.
type leftover struct {
	path    string
	records []Record
}

// leftovers finds the files of processes that are gone. While the folder is not locked it may take one for such whose process begins. Files
// that cannot be read are passed over; the error is theirs.
func leftovers(dir string) (list []leftover, unread error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !strings.HasPrefix(name.Name(), intentsPrefix) {
			continue
		}
		l := leftover{path: filepath.Join(dir, name.Name())}
		if gone, err := l.read(); err != nil {
			unread = errors.Join(unread, err)
		} else if gone {
			list = append(list, l)
		}
	}
	return list, unread
}

// read takes the changes from a file; gone is false while its process lives.
func (l *leftover) read() (gone bool, err error) {
	f, err := os.OpenFile(l.path, os.O_RDWR|syscall.O_NONBLOCK, 0) // NFS locks only what may be written to
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close() // which ends the lock
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", l.path, err)
	}
	text := make([]byte, slotSize)
	for at := int64(0); at < info.Size(); at += slotSize {
		n, err := f.ReadAt(text, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		line, _, whole := bytes.Cut(text[:n], []byte{'\n'})
		var r Record
		if !whole || len(line) == 0 || json.Unmarshal(line, &r) != nil {
			continue // free, or the process was killed as it wrote it: ahead of the first commit
		}
		for k := range r.Nodes {
			r.Nodes[k].Outcome = Unknown
		}
		r.Cause = killedCause
		l.records = append(l.records, r)
	}
	return true, nil
}
