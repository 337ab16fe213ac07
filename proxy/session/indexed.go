package session

import "kingshard/proxy/indexes"

// Indexed lists the tables with indexes over their shards, those that several users see more than once.
func (s *Snapshot) Indexed() (tables []indexes.Table) {
	for _, schema := range s.Schemas {
		if schema.Plans == nil {
			continue
		}
		for _, t := range schema.Plans.router().Tables() {
			if len(t.Indexes) > 0 {
				tables = append(tables, indexes.Table{Table: t, Nodes: s.Nodes})
			}
		}
	}
	return tables
}
