// Package ddl remembers DDL statements on sharded tables that are not done on every physical table, so that they can be
// finished later. [Journal.Begin] starts a record, [Run.Set] notes what became of a step, [Run.End] tells whether the record
// stays. Records live in the process: a restart forgets them, and the log has them.
package ddl
