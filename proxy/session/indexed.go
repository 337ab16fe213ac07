package session

import (
	"kingshard/mysql"
	"kingshard/proxy/indexes"
	"kingshard/router/plan"
)

// Indexed lists the tables with indexes over their shards, and those that DDL may give some, those that several users see more than once.
func (s *Snapshot) Indexed() (tables []indexes.Table) {
	for _, schema := range s.Schemas {
		if schema.Plans == nil {
			continue
		}
		for _, t := range schema.Plans.router().Tables() {
			if len(t.Indexes) > 0 || t.GlobalUnique {
				tables = append(tables, indexes.Table{Table: t, Nodes: s.Nodes})
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
