package sequence

import (
	"cmp"
	"slices"
)

// Status is how a sequence stands in this process.
type Status struct {
	DB, Table string
	// Node keeps the sequence; "" before the first block.
	Node string
	// Kind is block or snowflake.
	Kind string
	// Next is the id that is handed out next, 0 where a block is to be reserved first, or ids follow the clock; Left is how many follow without a round trip.
	Next, Left uint64
	// Drawn counts ids that were handed out, Blocks the reservations, or the leases of a worker number, and Collisions the ids that were in a shard already.
	Drawn, Blocks, Collisions uint64
}

// List returns the sequences that were used since the process began, by database and table.
func (s *Sequences) List() []Status {
	s.mu.RLock()
	all := make([]Status, 0, len(s.byName))
	for n, q := range s.byName {
		all = append(all, q.status(n))
	}
	s.mu.RUnlock()
	slices.SortFunc(all, func(a, b Status) int { return cmp.Or(cmp.Compare(a.DB, b.DB), cmp.Compare(a.Table, b.Table)) })
	return all
}

// Next returns the id that is handed out next, 0 where this process does not know it.
func (q *Sequence) Next() uint64 { return q.status(name{}).Next }

func (q *Sequence) status(n name) Status {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := Status{DB: n.db, Table: n.table, Node: q.node, Drawn: q.drawn, Blocks: q.blocks, Collisions: q.collisions}
	if s.Kind = "block"; q.worker != nil {
		s.Kind = "snowflake"
	} else if q.known {
		s.Left = q.use.left() + q.ahead.left()
		if q.use.left() > 0 {
			s.Next = q.use.next
		} else if s.Left > 0 {
			s.Next = q.ahead.next
		}
	}
	return s
}
