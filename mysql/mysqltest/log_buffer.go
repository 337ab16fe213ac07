package mysqltest

import (
	"bytes"
	"sync"
)

// LogBuffer collects a log that several goroutines write. Zero is ready.
type LogBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds to the log; it never fails.
func (l *LogBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String gives what has been written so far.
func (l *LogBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
