package querylog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func openWriter(t *testing.T, path string, r Rotation) *Writer {
	t.Helper()
	w, err := OpenWriter(path, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// All lines of many writers are there at the end, whole.
func TestWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sql.log")
	w := openWriter(t, path, Rotation{})
	var writers sync.WaitGroup
	for n := range 8 {
		writers.Go(func() {
			for k := range 1000 {
				fmt.Fprintf(w, "writer %d line %d\n", n, k)
			}
		})
	}
	writers.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(read(t, path), "\n"), "\n")
	if len(lines) != 8000 {
		t.Errorf("%d lines", len(lines))
	}
	next := [8]int{}
	for _, line := range lines {
		var n, k int
		if _, err := fmt.Sscanf(line, "writer %d line %d", &n, &k); err != nil || next[n] != k {
			t.Fatalf("%q, want line %d", line, next[n])
		}
		next[n]++
	}
	fmt.Fprintln(w, "too late")
	if st := w.Stats(); st != (WriterStats{Lines: 8001, Dropped: 1}) {
		t.Errorf("%+v", st)
	}
}

// stall makes a file whose disk has stalled: a pipe, filled, that nobody reads before the disk is to answer again.
func stall(t *testing.T, path string) (answer func(until <-chan struct{})) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	for err == nil {
		_, err = syscall.Write(fd, make([]byte, 4096))
	}
	return func(until <-chan struct{}) {
		b := make([]byte, 1<<20)
		for {
			select {
			case <-until:
				return
			case <-time.After(time.Millisecond):
				_, _ = syscall.Read(fd, b)
			}
		}
	}
}

// A disk that does not answer makes nobody wait: the queue fills up, the rest is counted, and Close comes back.
func TestWriterStalled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sql.log")
	answer := stall(t, path)
	w := openWriter(t, path, Rotation{})
	line := []byte(strings.Repeat("x", 1023) + "\n")
	const lines = 3 * queueMax / 1024
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range lines {
			_, _ = w.Write(line)
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("Write waits for the disk")
	}
	if st := w.Stats(); st.Lines != lines || st.Dropped < lines/3 || st.Dropped == lines {
		t.Errorf("%+v of %d", st, lines)
	}
	if err := w.Close(); !errors.Is(err, errStalled) {
		t.Errorf("Close: %v", err)
	}
	answer(w.done)
}

func TestWriterRotatesBySize(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sql.log")
	if err := os.WriteFile(filepath.Join(dir, "sql-other.log"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := file{path: path}
	for k := range 10 {
		if err := f.write(fmt.Appendf(nil, "line %d of ten bytes\n", k), Rotation{Size: 50, Keep: 3}); err != nil {
			t.Fatal(err)
		}
	}
	f.close()
	names, _ := filepath.Glob(filepath.Join(dir, "sql-2*.log"))
	if len(names) != 3 {
		t.Fatalf("%d files put aside: %v", len(names), names)
	}
	text := ""
	for _, name := range append(names, path) {
		text += read(t, name)
	}
	want := ""
	for k := 2; k < 10; k++ {
		want += fmt.Sprintf("line %d of ten bytes\n", k)
	}
	if text != want {
		t.Errorf("left over:\n%s", text)
	}
	if _, err := os.Stat(filepath.Join(dir, "sql-other.log")); err != nil {
		t.Error("a file that is not ours was removed")
	}
}

func TestWriterRotatesByAge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sql.log")
	if err := os.WriteFile(path, []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
	w := openWriter(t, path, Rotation{Age: time.Hour})
	fmt.Fprintln(w, "new")
	_ = w.Close()
	if text := read(t, path); text != "new\n" {
		t.Errorf("%q", text)
	}
	if names, _ := filepath.Glob(strings.Replace(path, ".log", "-*.log", 1)); len(names) != 1 || read(t, names[0]) != "old\n" {
		t.Errorf("put aside: %v", names)
	}
}

// After Reopen lines go to a new file: a tool such as logrotate has renamed the old one.
func TestWriterReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sql.log")
	w := openWriter(t, path, Rotation{})
	fmt.Fprintln(w, "one")
	for deadline := time.Now().Add(10 * time.Second); read(t, path) == "" && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	w.Reopen()
	fmt.Fprintln(w, "two")
	_ = w.Close()
	if a, b := read(t, path+".1"), read(t, path); a != "one\n" || b != "two\n" {
		t.Errorf("%q, %q", a, b)
	}
}

// A file that cannot be written loses its lines, is counted and tried again.
func TestWriterFailure(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	if _, err := OpenWriter(filepath.Join(dir, "sql.log"), Rotation{}); err == nil {
		t.Error("opened in a folder that is not there")
	}
	w := &Writer{file: file{path: filepath.Join(dir, "sql.log")}, wake: make(chan struct{}, 1)}
	w.Rotate(Rotation{})
	fmt.Fprintln(w, "one")
	w.flush(nil)
	if st := w.Stats(); st.Failures != 1 {
		t.Errorf("%+v", st)
	}
	if err := os.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(w, "two")
	w.flush(nil)
	w.file.close()
	if text := read(t, w.file.path); text != "two\n" {
		t.Errorf("%q", text)
	}
}

func TestWriteAllocatesNothing(t *testing.T) {
	w := &Writer{waiting: make([]byte, 0, 1<<20), wake: make(chan struct{}, 1)}
	line := []byte("a line\n")
	if n := testing.AllocsPerRun(1000, func() { _, _ = w.Write(line) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
