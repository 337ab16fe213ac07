package querylog

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// queueMax is how many bytes of lines wait for the disk at most, not counting those being written.
const queueMax = 4 << 20

// flushPause is how long the writer rests after each write, so that lines of a busy time are written many at once.
const flushPause = 20 * time.Millisecond

// closeTimeout bounds the wait for a disk that does not answer at the end.
const closeTimeout = 2 * time.Second

// Writer writes lines to a file on a goroutine of its own. Write never waits for the file.
type Writer struct {
	file     file
	rotation atomic.Pointer[Rotation]

	mu      sync.Mutex
	waiting []byte
	closed  bool

	wake   chan struct{}
	stop   chan struct{}
	done   chan struct{}
	reopen atomic.Bool

	lines, dropped, failures atomic.Uint64
}

// WriterStats are counts since the start.
type WriterStats struct {
	Lines    uint64 // given to the queue
	Dropped  uint64 // not taken: the queue was full
	Failures uint64 // writes that failed, each with all lines that were waiting
}

// OpenWriter opens path, or standard output if it is empty, and starts the writer. The caller closes it.
func OpenWriter(path string, r Rotation) (*Writer, error) {
	w := &Writer{file: file{path: path}, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	w.Rotate(r)
	if err := w.file.open(); err != nil {
		return nil, err
	}
	go w.run()
	return w, nil
}

// Rotate sets the rotation from the next write on.
func (w *Writer) Rotate(r Rotation) { w.rotation.Store(&r) }

// Reopen has the file closed and opened again before the next write: somebody else has renamed it.
func (w *Writer) Reopen() { w.reopen.Store(true) }

// Write queues one line, its newline included. It copies the line, and fails never: what there is no room for is dropped.
func (w *Writer) Write(line []byte) (int, error) {
	w.lines.Add(1)
	w.mu.Lock()
	first := len(w.waiting) == 0
	full := w.closed || len(w.waiting)+len(line) > queueMax
	if !full {
		w.waiting = append(w.waiting, line...)
	}
	w.mu.Unlock()
	switch {
	case full:
		w.dropped.Add(1)
	case first:
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
	return len(line), nil
}

// Stats gives the counts.
func (w *Writer) Stats() WriterStats {
	return WriterStats{w.lines.Load(), w.dropped.Load(), w.failures.Load()}
}

// run writes what is queued until Close.
func (w *Writer) run() {
	defer close(w.done)
	var lines []byte
	pause := time.NewTimer(0)
	for {
		select {
		case <-w.wake:
		case <-w.stop:
			w.flush(lines)
			w.file.close()
			return
		}
		lines = w.flush(lines)
		pause.Reset(flushPause)
		select {
		case <-pause.C:
		case <-w.stop:
		}
	}
}

// flush writes what waits, and gives the memory of it to be used again. spare takes the lines that come meanwhile.
func (w *Writer) flush(spare []byte) []byte {
	w.mu.Lock()
	lines := w.waiting
	w.waiting = spare[:0]
	w.mu.Unlock()
	if w.reopen.Swap(false) {
		w.file.close()
	}
	if len(lines) == 0 {
		return lines
	}
	if err := w.file.write(lines, *w.rotation.Load()); err != nil {
		w.failures.Add(1)
		w.file.close() // the next write begins with opening it
	}
	return lines
}

// errStalled says that lines may be missing.
var errStalled = errors.New("the disk does not answer: the last lines are lost")

// Close writes what is queued and closes the file; a disk that does not answer is not waited for beyond two seconds. Lines
// written later are dropped.
func (w *Writer) Close() error {
	w.mu.Lock()
	was := w.closed
	w.closed = true
	w.mu.Unlock()
	if was {
		return nil
	}
	close(w.stop)
	select {
	case <-w.done:
		return nil
	case <-time.After(closeTimeout):
		return fmt.Errorf("%s: %w", w.file.path, errStalled)
	}
}
