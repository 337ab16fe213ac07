package indexes

import (
	"sync/atomic"

	"kingshard/router"
)

// Counts are what is counted since the process began.
type Counts struct {
	// Found are the lookups that gave shards, Nowhere those of values that no row has, and Everywhere those that left all shards to be asked.
	Found, Nowhere, Everywhere atomic.Uint64
	// Changes are the statements that were carried out with entries.
	Changes atomic.Uint64
	// Builds are those that run in this process, and Rows those that all of its builds have seen.
	Builds atomic.Int64
	Rows   atomic.Uint64
}

// Faults sums up what the last verification of each of the tables' indexes has found and left.
func (s *States) Faults(tables []*router.Table) (faults uint64) {
	counted := map[router.Shard]bool{}
	for _, t := range tables {
		for _, x := range t.Indexes {
			if at := x.Lookup.Shards[0]; !counted[at] {
				counted[at] = true
				faults += s.Record(x).Faults
			}
		}
	}
	return faults
}
