package mysql

import (
	"errors"
	"sync/atomic"
)

// ErrMemory says that the connections of a Memory have no more room for a long packet.
var ErrMemory = errors.New("no memory for a packet of that length")

// Memory bounds what connections hold together in packets that are too long for a small or a large buffer, and what else is counted by
// Take. Zero has no bound. Any goroutine may use it.
type Memory struct {
	most, used atomic.Int64
	refused    atomic.Uint64
}

// SetMost sets the bound in bytes; 0: none. What is held already stays.
func (m *Memory) SetMost(bytes int64) { m.most.Store(bytes) }

// Most is the bound in bytes; 0: none.
func (m *Memory) Most() int64 { return m.most.Load() }

// Used is how many bytes are held now.
func (m *Memory) Used() int64 { return m.used.Load() }

// Refused is how often there was no room.
func (m *Memory) Refused() uint64 { return m.refused.Load() }

// take counts n bytes more, or refuses.
func (m *Memory) take(n int) bool {
	for {
		used := m.used.Load()
		if most := m.most.Load(); most > 0 && used+int64(n) > most {
			m.refused.Add(1)
			return false
		}
		if m.used.CompareAndSwap(used, used+int64(n)) {
			return true
		}
	}
}

// Take counts n bytes that others than connections hold, until Give. It reports whether there is room for them.
func (m *Memory) Take(n int) bool { return m.take(n) }

// Give counts n bytes of Take as free.
func (m *Memory) Give(n int) { m.used.Add(-int64(n)) }

// SetMemory has the bound of m hold for what the connection reads, before its first packet.
func (c *Conn) SetMemory(m *Memory) { c.held.memory = m }

// held is what a connection has of a Memory, which is nil where nobody counts.
type held struct {
	memory *Memory
	bytes  atomic.Int64
}

// hold counts n bytes more for the packet under way. It reports whether there is room for them.
func (h *held) hold(n int) bool {
	if h.memory == nil {
		return true
	}
	if !h.memory.take(n) {
		return false
	}
	h.bytes.Add(int64(n))
	return true
}

// letGo counts what was held as free. Any goroutine may call it.
func (h *held) letGo() {
	if h.memory != nil && h.bytes.Load() > 0 {
		h.memory.used.Add(-h.bytes.Swap(0))
	}
}
