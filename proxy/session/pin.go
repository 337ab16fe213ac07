package session

import (
	"strings"
	"sync/atomic"
)

// pinReason says why a session keeps its backend connection beyond a transaction: the connection has state that cannot
// be brought to another one.
type pinReason uint8

// The reasons.
const (
	pinUserVariable    pinReason = iota // a user variable got a value that the proxy does not know
	pinTempTable                        // CREATE TEMPORARY TABLE
	pinLockTables                       // LOCK TABLES, until UNLOCK TABLES
	pinUserLock                         // GET_LOCK
	pinPrepare                          // PREPARE ... FROM, until the last DEALLOCATE
	pinProcedure                        // CALL: what it did is not visible
	pinVariable                         // a system variable whose value cannot be carried over
	pinXA                               // XA START, until its end
	pinUnknown                          // a statement that the proxy does not understand
	pinCursor                           // an open cursor of a prepared statement
	pinFoundRows                        // SQL_CALC_FOUND_ROWS, for the next statement only
	pinTracker                          // the server reported a state change that was not asked for
	pinParameterTypes                   // a prepared statement whose parameters, untyped by themselves, have had values of several kinds
	pinNextTransaction                  // SET TRANSACTION, until the server says that a transaction is open, or one ended
	pinStored                           // a trigger, a stored function or a view that may leave something behind
	pinAutocommit                       // a transaction with autocommit off, until COMMIT, ROLLBACK or what commits by itself
	pinSavepoint                        // SAVEPOINT in such a transaction
	pinInsertID                         // SET insert_id
	pinRandSeed                         // SET rand_seed1, rand_seed2
	pinReasons
)

var pinNames = [pinReasons]string{
	"user_variable", "temporary_table", "lock_tables", "get_lock", "prepare", "procedure", "variable", "xa", "unknown_statement",
	"cursor", "found_rows", "tracker", "parameter_types", "next_transaction", "stored_object", "autocommit", "savepoint", "insert_id", "rand_seed",
}

// PinCounts counts how often sessions came to keep a connection, by why. Zero is ready.
type PinCounts [pinReasons]atomic.Uint64

// Totals returns the counts by the names of the reasons, all of them.
func (c *PinCounts) Totals() map[string]uint64 {
	t := make(map[string]uint64, len(c))
	for r := range c {
		t[pinNames[r]] = c[r].Load()
	}
	return t
}

// pinSet is a set of reasons.
type pinSet uint32

func (p pinSet) has(r pinReason) bool { return p&(1<<r) != 0 }

// String lists the reasons, joined by commas.
func (p pinSet) String() string {
	var names []string
	for r, name := range pinNames {
		if p.has(pinReason(r)) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// PinNames lists the reasons of a row of the process list, joined by commas.
func PinNames(pins uint32) string { return pinSet(pins).String() }

// pin keeps the backend connection for the reason given.
func (s *Session) pin(r pinReason) {
	if !s.pins.has(r) {
		s.pins |= 1 << r
		s.shared.Pins[r].Add(1)
	}
}

// unpin takes a reason away; the connection is given back after the command when none is left.
func (s *Session) unpin(r pinReason) { s.pins &^= 1 << r }
