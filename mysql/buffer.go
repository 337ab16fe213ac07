package mysql

import "sync"

// Sizes of pooled buffers in bytes. The small one holds nearly every request and response whole; a result that goes
// on is moved in large ones.
const (
	bufferSmall = 16 << 10
	bufferLarge = 64 << 10
)

// buffer is a byte array from one of two pools.
type buffer struct{ b []byte }

var (
	smallBuffers = sync.Pool{New: func() any { return &buffer{make([]byte, bufferSmall)} }}
	largeBuffers = sync.Pool{New: func() any { return &buffer{make([]byte, bufferLarge)} }}
)

// newBuffer gives a buffer of at least n bytes, n being at most bufferLarge.
func newBuffer(n int) *buffer {
	if n <= bufferSmall {
		return smallBuffers.Get().(*buffer)
	}
	return largeBuffers.Get().(*buffer)
}

func (b *buffer) free() {
	if len(b.b) == bufferSmall {
		smallBuffers.Put(b)
	} else {
		largeBuffers.Put(b)
	}
}
