package session

import (
	"maps"
	"slices"

	"kingshard/mysql"
	"kingshard/router"
	"kingshard/router/plan"
)

// Ruled lists the tables that rules of the configuration name, always in the same order, those that several users see more than once.
func (s *Snapshot) Ruled() (tables []*router.Table) {
	for _, user := range slices.Sorted(maps.Keys(s.Schemas)) {
		schema := s.Schemas[user]
		if schema.Plans == nil {
			continue
		}
		for _, t := range schema.Plans.router().Tables() {
			if t.Keeps == nil {
				tables = append(tables, t)
			}
		}
	}
	return tables
}

// keptByProxy refuses a client's change of a table that keeps an index.
func keptByProxy(r *plan.Ref) *mysql.SQLError {
	x := r.Table.Keeps
	return newError(KSRefusedSharding, "a change of the table "+r.Parsed.Name+", which the proxy keeps the index "+x.Name+" of "+x.Table.Name+" in: SELECT may read it")
}
