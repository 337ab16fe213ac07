// Package sequence draws the ids of AUTO_INCREMENT columns of tables with several sub-tables, which would each count for themselves.
//
// A [Sequence] hands out ids from blocks that it has reserved in the table ks_meta.sequence on one node: one row for each sharded table, with the
// id that follows all blocks. A block is reserved by one statement that commits by itself, so that no two proxies have the same one. The next block
// is reserved before the one in use runs out. What is left of blocks when the process ends is never used.
//
// [Sequence.Take] gives ids that are there, and never waits; where there are none, [Sequence.Fill] reserves some. [Sequence.Saw] tells of ids that
// a client brought.
package sequence
