package router

import "strings"

// physical is a shard with its table.
type physical struct {
	shard Shard
	table *Table
}

// named makes the index of physical tables that have another name than their logical table, by that name. A Router makes it when the
// first message asks.
func (r *Router) named() map[string][]physical {
	index := map[string][]physical{}
	for _, t := range r.sorted {
		for _, shard := range t.Shards {
			if shard.Table != t.Name || shard.DB != t.DB {
				index[shard.Table] = append(index[shard.Table], physical{shard, t})
			}
		}
	}
	return index
}

// Named gives the logical table of a physical one of that name in a database on a node, if its name is another.
func (r *Router) Named(node, db, table string) (shard Shard, t *Table, ok bool) {
	for _, n := range r.names()[table] {
		if n.shard.Node == node && strings.EqualFold(n.shard.DB, db) {
			return n.shard, n.table, true
		}
	}
	return shard, nil, false
}
