// Package exec merges the results of one statement on several shards into one result for the client. Call [Merge] with a
// [Source] for each shard, after the statement was sent to all of them.
//
// It knows no SQL: what is to be done with the rows is data, a plan.Merge. Rows stream through the goroutine of the
// caller, which reads a shard only when the client took what was merged before, so memory is bounded by the connections'
// buffers and one row of each shard. Shards that wait for their turn wait in a write to their connection: their
// net_write_timeout must be longer than the client may take for the whole result.
package exec
