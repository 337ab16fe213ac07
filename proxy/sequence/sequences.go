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
	// workers are those of the nodes that lease them, by name.
	workers map[string]*worker
	owner   string
}

type name struct {
	db, table string
	leases    string // the node that leases worker numbers, for snowflake ids
}

// Table is a table with several sub-tables, as one configuration has it. It is not changed.
type Table struct {
	DB, Name string
	// Node keeps the sequence.
	Node *backend.Node
	// Placed says that the configuration names the node: another may have kept the sequence before.
	Placed bool
	// Shards are all physical tables.
	Shards []Shard
	// Step is how many ids a block has, at least 1.
	Step uint64
	// Snowflake says that ids are made of the time and a worker number, which the node leases, and not taken from blocks.
	Snowflake bool
}

// Shard is a physical table.
type Shard struct {
	Node      *backend.Node
	DB, Table string
}

// Of returns the sequence of a table, by its logical name.
func (s *Sequences) Of(t *Table) *Sequence {
	n := name{db: t.DB, table: t.Name}
	if t.Snowflake {
		n.leases = t.Node.Name
	}
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
		s.byName, s.workers, s.owner = map[name]*Sequence{}, map[string]*worker{}, newOwner()
	}
	q = &Sequence{owner: s.owner, log: s.Log}
	if t.Snowflake {
		if s.workers[n.leases] == nil {
			s.workers[n.leases] = &worker{owner: s.owner}
		}
		q.worker = s.workers[n.leases]
	}
	s.byName[n] = q
	return q
}

// newOwner makes a name for this process that no other has.
func newOwner() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // which never fails
	return hex.EncodeToString(b[:])
}
