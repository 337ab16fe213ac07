// Package querylog keeps what is known of the statements that ran: a table of digests with their times, the statement log
// (sql.log) and the audit log (audit.log) under log_path. Start with [Log.Open] and [Log.Statement].
//
// A statement never waits for a disk: lines go to a queue of bounded size, and are dropped and counted when it is full.
// Texts are shown without their values unless log_literals is on, and passwords not even then.
package querylog
