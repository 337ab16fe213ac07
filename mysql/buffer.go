package mysql

import "sync"

// Sizes of pooled buffers in bytes. The small one holds nearly every request and response whole; a result that goes
// on is moved in large ones. Commands that are longer still are read into the next sizes.
const (
	bufferSmall = 16 << 10
	bufferLarge = 64 << 10
	bufferMax   = 1 << 20
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
	k := 0
	for size := bufferSmall; size < len(b.b); size *= bufferGrowth {
		k++
	}
	buffers[k].Put(b)
}

// Buffers are small buffers that lie ready for the connections of one goroutine, which has them with less ado than from the pools for
// all. Zero is ready.
type Buffers struct {
	free  []*buffer
	least int // the fewest that lay ready since Trim
}

// buffersMax is how many lie ready at most.
const buffersMax = 64

// take gives a small buffer.
func (s *Buffers) take() *buffer {
	n := len(s.free) - 1
	if n < 0 {
		return newBuffer(bufferSmall)
	}
	b := s.free[n]
	s.free[n], s.free = nil, s.free[:n]
	s.least = min(s.least, n)
	return b
}

// put takes any buffer back.
func (s *Buffers) put(b *buffer) {
	if len(b.b) != bufferSmall || len(s.free) == buffersMax {
		b.free()
		return
	}
	s.free = append(s.free, b)
}

// Trim gives those away that have not been used since the last call, and tells whether some are left.
func (s *Buffers) Trim() (left bool) {
	for range s.least {
		n := len(s.free) - 1
		s.free[n].free()
		s.free[n], s.free = nil, s.free[:n]
	}
	s.least = len(s.free)
	return s.least > 0
}
