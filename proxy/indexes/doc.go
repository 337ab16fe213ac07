// Package indexes knows how far the keys over all shards of tables are: whether the tables that keep them are there and complete. [States] is what a
// process believes, [States.Built] and [States.Kept] are for who reads and writes; what all proxies agree on is in ks_meta.indexes of the first node of the
// indexed table.
package indexes
