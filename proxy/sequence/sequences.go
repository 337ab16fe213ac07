package sequence

import (
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"sync"

	"kingshard/backend"
)

// Sequences are those of all tables. The zero value is ready, without a log. Its methods may be called from any goroutine.
type Sequences struct {
	Log *slog.Logger // set before the first use; nil: nothing is logged

	mu     sync.RWMutex
	byName map[name]*Sequence
	owner  string
}

type name struct{ db, table string }

// Table is a table with several sub-tables, as one configuration has it. It is not changed.
type Table struct {
	DB, Name string
	// Node keeps the sequence.
	Node *backend.Node
	// Shards are all physical tables.
	Shards []Shard
	// Step is how many ids a block has, at least 1.
	Step uint64
}

// Shard is a physical table.
type Shard struct {
	Node      *backend.Node
	DB, Table string
}

// Of returns the sequence of a table, by its logical name.
func (s *Sequences) Of(t *Table) *Sequence {
	n := name{t.DB, t.Name}
	s.mu.RLock()
	q := s.byName[n]
	s.mu.RUnlock()
	if q != nil {
		return q
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if q = s.byName[n]; q != nil {
		return q
	}
	if s.byName == nil {
		s.byName, s.owner = map[name]*Sequence{}, newOwner()
	}
	q = &Sequence{owner: s.owner, log: s.Log}
	s.byName[n] = q
	return q
}

// newOwner makes a name for this process that no other has.
func newOwner() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // which never fails
	return hex.EncodeToString(b[:])
}
