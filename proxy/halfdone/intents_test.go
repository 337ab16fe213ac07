package halfdone

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// intentsOf are the files of changes under way in a folder.
func intentsOf(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, intentsPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// killed is the folder of a process that was killed with changes under way: those with numbers that are even had ended.
func killed(t *testing.T, changes int) (dir string) {
	t.Helper()
	alive := filepath.Join(t.TempDir(), "alive")
	b := open(t, alive)
	for n := range changes {
		if k := b.Begin(record(n + 1)); n%2 == 1 {
			b.End(k)
		}
	}
	files := intentsOf(t, alive)
	if len(files) != 1 {
		t.Fatalf("%d files", len(files))
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(files[0])), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Changes that a process did not live to end are on record after the next start, their nodes as unknown, and once only.
func TestKilled(t *testing.T) {
	dir := killed(t, 5)
	told := 0
	b := &Book{Added: func(Record) { told++ }}
	b.Open(dir, nowhere)
	is(t, b, "1:1+ 2:3+ 3:5+")
	for _, r := range b.List() {
		if r.Outcomes() != "unknown: n1, n2, n3" || r.Cause != killedCause || r.Statement != "UPDATE t SET v = ?" {
			t.Errorf("%+v", r)
		}
	}
	if s := b.Stats(); s.Added != 3 {
		t.Errorf("%+v", s)
	}
	b.Close()
	if told != 3 || len(intentsOf(t, dir)) != 0 {
		t.Errorf("told of %d, left %v", told, intentsOf(t, dir))
	}
	is(t, open(t, dir), "1:1+ 2:3+ 3:5+")
}

// Wherever a kill cuts the file, what is whole is on record, and no record is made of what is not.
func TestKilledAsItWrites(t *testing.T) {
	dir := killed(t, 3)
	path := intentsOf(t, dir)[0]
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := slotSize + bytes.IndexByte(text[slotSize:], '\n') // behind it may be the rest of a longer record that was there before
	for size, want := range map[int]string{0: "", 1: "", 100: "", slotSize - 1: "1:1+", slotSize + 5: "1:1+", last: "1:1+", last + 1: "1:1+ 2:3+", len(text): "1:1+ 2:3+"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), text[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		b := open(t, dir)
		is(t, b, want)
		b.Close()
	}
}

// A change whose record was made before the process was killed has no second one.
func TestKilledBehindTheRecord(t *testing.T) {
	dir := killed(t, 1)
	path := intentsOf(t, dir)[0]
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, dir)
	is(t, b, "1:1+")
	b.Close()
	if err := os.WriteFile(path, text, 0o600); err != nil { // as if it had not been removed
		t.Fatal(err)
	}
	is(t, open(t, dir), "1:1+")
}

// What another process has under way is its own as long as it lives; then whoever has the folder takes it.
func TestIntentsOfTheLiving(t *testing.T) {
	dir := t.TempDir()
	old, next := open(t, dir), open(t, dir)
	n := old.Begin(record(1))
	old.Begin(record(2))
	mine := next.Begin(record(3))
	next.Add(record(4)) // which has it look
	is(t, next, "1:4+")
	old.End(n)
	old.Close()
	becomes(t, next, "1:4+ 2:2+")
	next.End(mine)
	next.Close()
	if left := intentsOf(t, dir); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// Changes at a time have places of their own, and those that have ended leave theirs to others.
func TestPlacesOfIntents(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for n := range 50 {
				b.End(b.Begin(record(100*g + n)))
			}
		})
	}
	all.Wait()
	if info, err := os.Stat(intentsOf(t, dir)[0]); err != nil || info.Size() > 8*slotSize {
		t.Errorf("%v, %v", info, err)
	}
	long := record(1)
	long.Statement = strings.Repeat("é", 1<<20)
	for n := range nodesMax {
		long.Nodes = append(long.Nodes, Node{fmt.Sprint("node-with-a-long-name-", n), "db.example.com:3306", 1, Kept})
	}
	b.Begin(long)
	b.Close()
	b = open(t, dir)
	if list := b.List(); len(list) != 1 || len(list[0].Nodes) < 300 {
		t.Errorf("%d records", len(list))
	}
}

// notes are the sessions of the changes that a folder's files have.
func notes(t testing.TB, dir string) string {
	t.Helper()
	copied := t.TempDir()
	for _, path := range intentsOf(t, dir) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(copied, filepath.Base(path)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	left, err := leftovers(copied)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, l := range left {
		for _, r := range l.records {
			list = append(list, fmt.Sprint(r.Session))
		}
	}
	return strings.Join(list, " ")
}

// noted waits until a folder's files have the changes of these sessions.
func noted(t *testing.T, dir, want string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); notes(t, dir) != want; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("noted are %q, want %q", notes(t, dir), want)
		}
	}
}

// What cannot be written is kept once, however often it changes, keeps nothing else from being written, and is tried again without another change.
func TestIntentsThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	in := b.intents
	var full atomic.Bool
	in.writeAt = func(text []byte, at int64) error {
		if full.Load() && at == slotSize {
			return syscall.ENOSPC
		}
		_, err := in.file.WriteAt(text, at)
		return err
	}
	first := b.Begin(record(1))
	full.Store(true)
	second := b.Begin(record(2))
	b.Begin(record(3))
	if got := notes(t, dir); got != "1 3" {
		t.Errorf("noted are %q behind one that cannot be", got)
	}
	b.End(first)
	if got := notes(t, dir); got != "3" {
		t.Errorf("noted are %q, and the first has ended", got)
	}
	for n := range 500 {
		b.End(second)
		second = b.Begin(record(n))
	}
	in.mu.Lock()
	dirty := len(in.dirty)
	in.mu.Unlock()
	if dirty != 1 {
		t.Errorf("%d slots are to be written, of one", dirty)
	}
	full.Store(false)
	noted(t, dir, "499 3")
}

// A file that somebody took away is made anew, with what is under way.
func TestIntentsTakenAway(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"removed": os.Remove,
		"renamed": func(path string) error { return os.Rename(path, filepath.Join(filepath.Dir(path), "old.intents")) },
		"rotated": func(path string) error { return os.Rename(path, path+".1") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			b := open(t, dir)
			b.End(b.Begin(record(1)))
			n := b.Begin(record(2))
			b.Begin(record(3))
			if err := take(intentsOf(t, dir)[0]); err != nil {
				t.Fatal(err)
			}
			b.End(n)
			noted(t, dir, "3")
			b.Close()
			is(t, open(t, dir), "1:3+")
		})
	}
}

// Where no other file can be made, or written to, the one that was taken away goes on saying what is under way.
func TestIntentsTakenAwayForGood(t *testing.T) {
	dir := t.TempDir()
	r := record(1)
	in := &intents{dir: dir, log: nowhere, slots: []slot{{text: slotText(&r)}}}
	in.soilLocked(0)
	in.write()
	taken := filepath.Join(t.TempDir(), filepath.Base(in.file.Name()))
	if err := os.Rename(in.file.Name(), taken); err != nil {
		t.Fatal(err)
	}
	said := func(want string) {
		t.Helper()
		if got := notes(t, filepath.Dir(taken)); got != want {
			t.Errorf("the file that was taken away says %q, want %q", got, want)
		}
	}
	in.dir = filepath.Join(taken, "no folder")
	in.renew()
	said("1")
	in.dir = dir
	in.writeAt = func([]byte, int64) error { return syscall.ENOSPC }
	in.renew()
	said("1")
	if in.failures() != 2 {
		t.Errorf("%d failures", in.failures())
	}
	in.writeAt = nil
	in.write()
	said("")
	if got := notes(t, dir); got != "1" {
		t.Errorf("the new file says %q", got)
	}
	in.close()
}

// A file of another process that cannot be opened keeps the records of this one, and of a third that was killed, from nothing.
func TestLeftoverThatCannotBeOpened(t *testing.T) {
	dir := killed(t, 1)
	loop := filepath.Join(dir, intentsPrefix+"0")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	b := open(t, dir)
	is(t, b, "1:1+")
	b.Add(record(2))
	is(t, b, "1:1+ 2:2+")
	if s := b.Stats(); s.Failures != 0 {
		t.Errorf("%+v", s)
	}
}

// Without a file nothing is noted; a folder that cannot be used, and a disk that stands still, hold nobody up for long.
func TestIntentsWithoutADisk(t *testing.T) {
	var none Book
	none.End(none.Begin(record(1)))
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t, dir)
	n := b.Begin(record(1))
	if b.Stats().Failures < 2 {
		t.Errorf("%+v", b.Stats())
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	b.End(b.Begin(record(2))) // which writes the other, too
	b.intents.mu.Lock()
	dirty := len(b.intents.dirty)
	b.intents.mu.Unlock()
	if files := intentsOf(t, dir); len(files) != 1 || dirty > 1 {
		t.Errorf("%v, %d not written", files, dirty)
	}
	b.End(n)

	stands := t.TempDir()
	fd, err := syscall.Open(stands, syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	b = open(t, stands)
	if err := syscall.Flock(fd, syscall.LOCK_EX); err != nil { // whoever writes waits for it
		t.Fatal(err)
	}
	for n := range 1000 { // the first waits for a second, not each
		b.End(b.Begin(record(n)))
	}
	if err := syscall.Flock(fd, syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
}

// What a change of several nodes pays; forced to the disk as well, to compare with.
func BenchmarkIntent(b *testing.B) {
	dir := os.Getenv("KS_BENCH_DIR")
	if dir == "" {
		dir = b.TempDir()
	}
	for _, forced := range []bool{false, true} {
		b.Run(map[bool]string{false: "written", true: "and forced"}[forced], func(b *testing.B) {
			var book Book
			book.Open(dir, nowhere)
			defer book.Close()
			r := record(1)
			for b.Loop() {
				n := book.Begin(r)
				if forced {
					if err := book.intents.file.Sync(); err != nil {
						b.Fatal(err)
					}
				}
				book.End(n)
			}
		})
	}
}
