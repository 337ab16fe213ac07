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

// Used is how many bytes are held now.
func (m *Memory) Used() int64 { return m.used.Load() }

// Refused is how often there was no room.
func (m *Memory) Refused() uint64 { return m.refused.Load() }

// take counts n bytes more, or refuses.
func (m *Memory) take(n int) bool {
	used := m.used.Add(int64(n))
	if most := m.most.Load(); most > 0 && used > most {
		m.used.Add(-int64(n))
		m.refused.Add(1)
		return false
	}
	return true
}

// Take counts n bytes that others than connections hold, until Give. It reports whether there is room for them.
func (m *Memory) Take(n int) bool { return m.take(n) }

// Give counts n bytes of Take as free.
func (m *Memory) Give(n int) { m.used.Add(-int64(n)) }

// SetMemory has the bound of m hold for what the connection reads, before its first packet.
func (c *Conn) SetMemory(m *Memory) { c.memory = m }

// hold counts n bytes more for the packet under way.
func (c *Conn) hold(n int) error {
	if c.memory == nil {
		return nil
	}
	if !c.memory.take(n) {
		return &ConnError{c.side, "read", ErrMemory}
	}
	c.holds.Add(int64(n))
	return nil
}

// letGo counts what was held as free. Any goroutine may call it.
func (c *Conn) letGo() {
	if c.memory != nil && c.holds.Load() > 0 {
		c.memory.used.Add(-c.holds.Swap(0))
	}
}
