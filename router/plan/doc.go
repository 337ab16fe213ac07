// Package plan decides how a statement on sharded tables is run. A Plan is immutable: it is made from the text once, and
// Route then says for the values of one execution which shards it goes to. Where they are several, the plan's Operator is
// what is done with them. Nothing here has a connection, a clock or a goroutine.
package plan
