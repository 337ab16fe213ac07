package fastlane

import (
	"sync/atomic"
	"syscall"
)

const (
	tableChunk  = 1 << 12
	tableChunks = 1 << 12
)

// table finds connections by file descriptor, without a lock. Chunks appear as descriptors rise and stay.
type table struct {
	chunks [tableChunks]atomic.Pointer[[tableChunk]atomic.Pointer[Conn]]
}

func (t *table) set(fd int, c *Conn) error {
	if fd >= tableChunk*tableChunks {
		return syscall.EMFILE
	}
	at := &t.chunks[fd/tableChunk]
	chunk := at.Load()
	if chunk == nil {
		at.CompareAndSwap(nil, new([tableChunk]atomic.Pointer[Conn]))
		chunk = at.Load()
	}
	chunk[fd%tableChunk].Store(c)
	return nil
}

// get gives the connection of an event; nil if it was closed since.
func (t *table) get(fd, seq int32) *Conn {
	chunk := t.chunks[fd/tableChunk].Load()
	if chunk == nil {
		return nil
	}
	if c := chunk[fd%tableChunk].Load(); c != nil && c.seq == seq {
		return c
	}
	return nil
}

func (t *table) drop(fd int, c *Conn) {
	if fd >= tableChunk*tableChunks {
		return
	}
	if chunk := t.chunks[fd/tableChunk].Load(); chunk != nil {
		chunk[fd%tableChunk].CompareAndSwap(c, nil)
	}
}
