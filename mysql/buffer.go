package mysql

import (
	"sync"

	"kingshard/mysql/spare"
)

// Sizes of pooled buffers in bytes. The small one holds nearly every request and response whole; a result that goes
// on is moved in large ones, and in those of bufferResult in the end. Commands that are longer still are read into the next sizes.
const (
	bufferSmall  = 16 << 10
	bufferLarge  = 64 << 10
	bufferResult = 256 << 10
	bufferMax    = 1 << 20
	// bufferBegun is that of a client's packet of which a few bytes have come, beginMax at most.
	bufferBegun = 256
	beginMax    = 64
)

// bufferGrowth is the ratio of one size to the next.
const bufferGrowth = 4

// buffer is a byte array from one of the pools.
type buffer struct{ b []byte }

// buffers are the pools, the smallest size first, up to bufferMax.
var buffers [4]sync.Pool

// newBuffer gives a buffer of at least n bytes, n being at most bufferMax.
func newBuffer(n int) *buffer {
	size, k := bufferSmall, 0
	for size < n {
		size *= bufferGrowth
		k++
	}
	if b, ok := buffers[k].Get().(*buffer); ok {
		return b
	}
	return &buffer{make([]byte, size)}
}

func (b *buffer) free() {
	if len(b.b) < bufferSmall {
		return // of begun
	}
	k := 0
	for size := bufferSmall; size < len(b.b); size *= bufferGrowth {
		k++
	}
	buffers[k].Put(b)
}

// begun gives the buffer for the first n bytes of a command, which lie in b. A client that sends a few bytes of a packet, and the rest when it
// likes, does not hold a buffer from the pools: crowds of those who never log in do so.
func (c *Conn) begun(b *buffer, n int) *buffer {
	if c.side != ClientSide || n > beginMax || n >= headerLen && n >= headerLen+(int(b.b[0])|int(b.b[1])<<8|int(b.b[2])<<16) {
		return b
	}
	own := &buffer{make([]byte, bufferBegun)}
	copy(own.b, b.b[:n])
	b.free()
	return own
}

// Buffers are small buffers that lie ready for the connections of one goroutine. Zero is ready.
type Buffers struct{ free spare.Stack[buffer] }

// take gives a buffer of at least n bytes; s may be nil.
func (s *Buffers) take(n int) *buffer {
	if s != nil && n == bufferSmall {
		if b := s.free.Take(); b != nil {
			return b
		}
	}
	return newBuffer(n)
}

// put takes any buffer back; s may be nil.
func (s *Buffers) put(b *buffer) {
	if s == nil || len(b.b) != bufferSmall || !s.free.Put(b) {
		b.free()
	}
}

// Trim gives those away that have not been used since the last call, and tells whether some are left.
func (s *Buffers) Trim() (left bool) { return s.free.Trim((*buffer).free) }
