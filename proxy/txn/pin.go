package txn

import (
	"strings"
	"sync/atomic"
)

// Reason says why a session keeps its connection beyond a transaction: the connection has state that cannot be brought to another one.
type Reason uint8

// The reasons.
const (
	PinUserVariable    Reason = iota // a user variable got a value that the proxy does not know
	PinTempTable                     // CREATE TEMPORARY TABLE
	PinLockTables                    // LOCK TABLES, until UNLOCK TABLES
	PinUserLock                      // GET_LOCK
	PinPrepare                       // PREPARE ... FROM, until the last DEALLOCATE
	PinProcedure                     // CALL: what it did is not visible
	PinVariable                      // a system variable whose value cannot be carried over
	PinXA                            // XA START, until its end
	PinUnknown                       // a statement that the proxy does not understand
	PinCursor                        // an open cursor of a prepared statement
	PinFoundRows                     // SQL_CALC_FOUND_ROWS, for the next statement only
	PinTracker                       // the server reported a state change that was not asked for
	PinParameterTypes                // a prepared statement whose parameters, untyped by themselves, have had values of several kinds
	PinNextTransaction               // SET TRANSACTION, until the server says that a transaction is open, or one ended
	PinStored                        // a trigger, a stored function or a view that may leave something behind
	PinAutocommit                    // a transaction with autocommit off, until COMMIT, ROLLBACK or what commits by itself
	PinSavepoint                     // SAVEPOINT in such a transaction
	PinInsertID                      // SET insert_id
	PinRandSeed                      // SET rand_seed1, rand_seed2
	reasons
)

var reasonNames = [reasons]string{
	"user_variable", "temporary_table", "lock_tables", "get_lock", "prepare", "procedure", "variable", "xa", "unknown_statement",
	"cursor", "found_rows", "tracker", "parameter_types", "next_transaction", "stored_object", "autocommit", "savepoint", "insert_id", "rand_seed",
}

// Pins is a set of reasons. Zero is none.
type Pins uint32

// OfTransaction are the reasons that end with the transaction of a session with autocommit off.
const OfTransaction Pins = 1<<PinAutocommit | 1<<PinSavepoint

// Has reports whether r is one of them.
func (p Pins) Has(r Reason) bool { return p&(1<<r) != 0 }

// String lists the reasons, joined by commas.
func (p Pins) String() string {
	var names []string
	for r, name := range reasonNames {
		if p.Has(Reason(r)) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// PinCounts counts how often sessions began to keep a connection, by reason. Zero is ready; any goroutine may use it.
type PinCounts [reasons]atomic.Uint64

// Totals returns the counts by the reasons' names.
func (c *PinCounts) Totals() map[string]uint64 {
	counts := make(map[string]uint64, len(c))
	for r := range c {
		counts[reasonNames[r]] = c[r].Load()
	}
	return counts
}
