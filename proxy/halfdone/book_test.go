package halfdone

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var nowhere = slog.New(slog.NewTextHandler(io.Discard, nil))

// open opens a book, to be closed at the end if it is not before.
func open(t *testing.T, dir string) *Book {
	t.Helper()
	b := new(Book)
	b.Open(dir, nowhere)
	t.Cleanup(b.Close)
	return b
}

// record makes a record that is told from others by n.
func record(n int) Record {
	return Record{
		At: time.Now(), User: "app", Client: "10.0.0.9:4711", Session: uint32(n), DB: "shop", Statement: "UPDATE t SET v = ?",
		Nodes: []Node{{"n1", "10.0.0.1:3306", 7, Kept}, {"n2", "10.0.0.2:3306", 8, Unknown}, {"n3", "10.0.0.3:3306", 9, RolledBack}}, Cause: "EOF",
	}
}

// shown is what a book has: id, session, and + of what is on disk.
func shown(b *Book) string {
	var list []string
	for _, r := range b.List() {
		text := fmt.Sprintf("%d:%d", r.ID, r.Session)
		if r.OnDisk {
			text += "+"
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

func is(t *testing.T, b *Book, want string) {
	t.Helper()
	if got := shown(b); got != want {
		t.Errorf("the book has %q, want %q", got, want)
	}
}

// becomes waits until a book has what is wanted.
func becomes(t *testing.T, b *Book, want string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); shown(b) != want; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the book has %q, want %q", shown(b), want)
		}
	}
}

// What is added outlives the book, with all of its fields, and what is forgotten does not; no id is given twice.
func TestReopen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	b := open(t, dir)
	one := record(1)
	b.Add(one)
	b.Add(record(2))
	b.Add(record(3))
	is(t, b, "1:1+ 2:2+ 3:3+")
	b.Close()
	b = open(t, dir)
	is(t, b, "1:1+ 2:2+ 3:3+")
	one.ID, one.OnDisk, one.At = 1, true, one.At.Round(0)
	if got := b.List()[0]; !got.At.Equal(one.At) || fmt.Sprint(got.Nodes, got.User, got.Client, got.DB, got.Statement, got.Cause) != fmt.Sprint(one.Nodes, one.User, one.Client, one.DB, one.Statement, one.Cause) {
		t.Errorf("%+v, want %+v", got, one)
	}
	if got := one.Outcomes(); got != "kept: n1; unknown: n2; rolled back: n3" {
		t.Error(got)
	}
	if err := b.Forget(3); err != nil {
		t.Error(err)
	}
	if err := b.Forget(3); err != ErrNone {
		t.Errorf("again: %v", err)
	}
	b.Close()
	b = open(t, dir)
	b.Add(record(4))
	is(t, b, "1:1+ 2:2+ 4:4+")
	b.ForgetAll()
	b.Close()
	b = open(t, dir)
	is(t, b, "")
	b.Add(record(5))
	is(t, b, "5:5+")
}

// Without a file, and before it is opened, records are in memory.
func TestInMemory(t *testing.T) {
	var b Book
	told := 0
	b.Added = func(Record) { told++ }
	b.Add(record(1))
	b.Add(record(2))
	if err := b.Forget(1); err != nil {
		t.Error(err)
	}
	is(t, &b, "2:2")
	if s := b.Stats(); s != (Stats{Unmended: 1, Unwritten: 1, Added: 2}) || told != 2 {
		t.Errorf("%+v, told %d", s, told)
	}
	b.Open(t.TempDir(), nowhere)
	defer b.Close()
	is(t, &b, "2:2+")
}

// A crash may cut the last line anywhere: the records before it are there, and new ones are not lost behind it.
func TestCutLine(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	b.Add(record(1))
	b.Add(record(2))
	b.Close()
	path := filepath.Join(dir, fileName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(bytes.TrimSpace(whole), '\n') + 1
	for _, size := range []int{last, last + 1, last + 10, (last + len(whole)) / 2, len(whole) - 3, len(whole) - 2} {
		if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		const want = "1:1+ 2:3+"
		for range 2 {
			b := open(t, dir)
			if shown(b) == "1:1+" {
				b.Add(record(3))
			}
			is(t, b, want)
			b.Close()
		}
	}
}

// Two processes, as in an upgrade, have one file: each sees what the other does, and no id is given to both.
func TestTwoBooks(t *testing.T) {
	dir := t.TempDir()
	old, next := open(t, dir), open(t, dir)
	old.Add(record(1))
	next.Add(record(2))
	is(t, next, "1:1+ 2:2+")
	becomes(t, old, "1:1+ 2:2+")
	if err := next.Forget(1); err != nil {
		t.Error(err)
	}
	becomes(t, old, "2:2+")
	old.Add(record(3))
	becomes(t, next, "2:2+ 3:3+")
}

// A file that somebody has taken away comes back.
func TestFileTakenAway(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	b.Add(record(1))
	b.Add(record(2))
	path := filepath.Join(dir, fileName)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it does not come back")
		}
	}
	b.Close()
	is(t, open(t, dir), "1:1+ 2:2+")
}

// A disk that cannot be written to loses nothing while the process lives, and has it all when it is well again.
func TestBadDisk(t *testing.T) {
	for name, breaks := range map[string]func(dir string) (path string, err error){
		"folder is a file": func(dir string) (string, error) { return dir, os.WriteFile(dir, nil, 0o600) },
		"file is a folder": func(dir string) (string, error) {
			return filepath.Join(dir, fileName), os.MkdirAll(filepath.Join(dir, fileName), 0o700)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			path, err := breaks(dir)
			if err != nil {
				t.Fatal(err)
			}
			b := open(t, dir)
			b.Add(record(1))
			is(t, b, "1:1")
			if s := b.Stats(); s.Unwritten != 1 || s.Failures < 2 {
				t.Errorf("%+v", s)
			}
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			b.Add(record(2))
			is(t, b, "1:1+ 2:2+")
		})
	}
}

// A disk that stands still holds nobody up.
func TestDiskStandsStill(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	if err := syscall.Mkfifo(path, 0o600); err != nil { // whoever opens it waits for the other side
		t.Fatal(err)
	}
	b := open(t, dir)
	began := time.Now()
	b.Add(record(1))
	is(t, b, "1:1")
	b.Close()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	end, err := os.OpenFile(path, os.O_RDWR, 0) // lets the writer go on
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(path)
	_ = end.Close()
	<-b.done
}

// The newest records are kept, and the file does not grow with what was forgotten.
func TestBounds(t *testing.T) {
	dir := t.TempDir()
	b := new(Book)
	long := record(1)
	long.Statement, long.Cause = strings.Repeat("x", 1<<20), strings.Repeat("é", 1<<20)
	b.Add(long)
	if r := b.List()[0]; len(r.Statement) != StatementMax || len(r.Cause) > causeMax || !strings.HasSuffix(r.Cause, "é...") {
		t.Errorf("%d and %d bytes, %q", len(r.Statement), len(r.Cause), r.Cause[len(r.Cause)-10:])
	}
	for n := range recordsMax + 1 {
		b.Add(record(n + 2))
	}
	b.Open(dir, nowhere)
	t.Cleanup(b.Close)
	if list := b.List(); len(list) != recordsMax || list[0].ID != 3 || !list[recordsMax-1].OnDisk {
		t.Errorf("%d records from %d on", len(list), list[0].ID)
	}
	b.ForgetAll()
	b.Add(record(1))
	b.Add(record(2))
	text, err := os.ReadFile(filepath.Join(dir, fileName))
	if lines := bytes.Count(text, []byte("\n")); err != nil || lines > 10 {
		t.Errorf("%d lines of two records, %v", lines, err)
	}
	b.Close()
	b = open(t, dir)
	is(t, b, fmt.Sprintf("%d:1+ %d:2+", recordsMax+3, recordsMax+4))
}

// A disk that takes what it may not keep: the file does not grow with each try, and what is forgotten in between stays so.
func TestSyncFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	b := open(t, dir)
	b.Add(record(1))
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b.file.sync = func(*os.File) error { return syscall.EIO } // the writer sleeps
	for n := range 5 {
		b.Add(record(n + 2))
	}
	is(t, b, "1:1+ 2:2 3:3 4:4 5:5 6:6")
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("%v, the file is %d bytes long, was %d", err, len(after), len(before))
	}
	if err := b.Forget(3); err != nil {
		t.Error(err)
	}
	b.file.sync = nil
	b.Add(record(7))
	const want = "1:1+ 2:2+ 4:4+ 5:5+ 6:6+ 7:7+"
	is(t, b, want)
	b.Close()
	is(t, open(t, dir), want)
}

// What the file has though it was not said to is not written again, and can be forgotten.
func TestWrittenAfterAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	b := open(t, dir)
	b.Add(record(1))
	b.Add(record(2))
	b.mu.Lock()
	for _, e := range b.entries {
		e.OnDisk = false // as after an error of a disk that has it all the same
	}
	b.mu.Unlock()
	if err := b.Forget(2); err != nil {
		t.Error(err)
	}
	is(t, b, "1:1+")
	text, err := os.ReadFile(path)
	if n := bytes.Count(text, []byte(`"add"`)); err != nil || n != 2 {
		t.Errorf("%d lines of two records, %v", n, err)
	}
	b.Close()
	is(t, open(t, dir), "1:1+")
}

// A file that somebody has emptied or damaged takes no record from memory, and is whole again.
func TestFileEmptied(t *testing.T) {
	for name, damage := range map[string]func(text []byte) []byte{
		"emptied":        func([]byte) []byte { return nil },
		"the first line": func(text []byte) []byte { return append([]byte("xx"), text[5:]...) },
		"the last line":  func(text []byte) []byte { return text[:len(text)/2] },
		"of zeros":       func(text []byte) []byte { return make([]byte, len(text)) },
		"of somebody else": func([]byte) []byte {
			return []byte("{\"add\":{\"id\":1,\"at\":\"2020-01-01T00:00:00Z\",\"session\":9}}\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, fileName)
			b := open(t, dir)
			b.Add(record(1))
			b.Add(record(2))
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(text), 0o600); err != nil {
				t.Fatal(err)
			}
			b.Add(record(3))
			want := "1:1+ 2:2+ 3:3+"
			if name == "of somebody else" { // whose number stays
				want = "1:9+ 2:2+ 3:1+ 4:3+"
			}
			if got := shown(b); got != want && name != "of somebody else" || len(b.List()) != strings.Count(want, ":") {
				t.Errorf("the book has %q, want %q", got, want)
			}
			got := shown(b)
			b.Close()
			is(t, open(t, dir), got)
		})
	}
}

// A file that is written anew says what was forgotten: another process drops it.
func TestTwoBooksWrittenAnew(t *testing.T) {
	dir := t.TempDir()
	old, next := open(t, dir), open(t, dir)
	old.Add(record(1))
	old.Add(record(2))
	becomes(t, next, "1:1+ 2:2+")
	other := &file{dir: dir}
	err := other.locked(func(f *file) error { return f.rewrite([]Record{next.List()[1]}, 2) })
	if err != nil {
		t.Fatal(err)
	}
	becomes(t, old, "2:2+")
}

// A file that is too long is written anew with the records that it has.
func TestFileTooLong(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	b := open(t, dir)
	b.Add(record(1))
	b.Close()
	if err := os.Truncate(path, fileMax+1); err != nil { // a hole
		t.Fatal(err)
	}
	b = open(t, dir)
	becomes(t, b, "1:1+")
	b.Add(record(2))
	is(t, b, "1:1+ 2:2+")
	if info, err := os.Stat(path); err != nil || info.Size() > 10000 {
		t.Errorf("%v, %v", info, err)
	}
}

// Who hears of a record hears the id that it has in the end.
func TestAddedID(t *testing.T) {
	dir := t.TempDir()
	old, next := open(t, dir), open(t, dir)
	told := uint64(0)
	next.Added = func(r Record) { told = r.ID }
	next.mu.Lock() // the writer does not look in between
	old.Add(record(1))
	next.mu.Unlock()
	next.Add(record(2))
	is(t, next, "1:1+ 2:2+")
	if told != 2 {
		t.Errorf("told %d", told)
	}
}
