package sqltext

// Traits are what a statement holds that bears on where it may run and on what it leaves in its session.
type Traits uint32

// The traits. Names in strings, comments and quotes do not count.
const (
	UserVarRead     Traits = 1 << iota // @x
	UserVarWrite                       // @x := ..., INTO @x, @x where a routine may write it; not the targets of SET
	IntoOutfile                        // INTO OUTFILE, INTO DUMPFILE
	ForUpdate                          // FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE
	GetLock                            // GET_LOCK()
	ReleaseLock                        // RELEASE_LOCK(), RELEASE_ALL_LOCKS()
	CalcFoundRows                      // SQL_CALC_FOUND_ROWS
	FoundRows                          // FOUND_ROWS()
	RowCount                           // ROW_COUNT()
	LastInsertID                       // LAST_INSERT_ID()
	LastInsertIDSet                    // LAST_INSERT_ID(expr)
	ConnectionID                       // CONNECTION_ID()
	CurrentUser                        // USER(), CURRENT_USER, SESSION_USER(), SYSTEM_USER()

	SysVarWarningCount // @@warning_count, @@error_count
	SysVarIdentity     // @@identity, @@last_insert_id
	SysVarPseudoThread // @@pseudo_thread_id
	SysVarOwn          // @@ks_x, one of the proxy's own
	SysVarRead         // any other @@x

	// EffectFunction: a call of what is not known to be free of effects: stored and loadable functions, sequences, locks,
	// UUID_SHORT(), LOAD_FILE(), waits for replication.
	EffectFunction
	Temporary      // TEMPORARY in CREATE or DROP
	Multi          // another statement follows; trust it only with SplitSafe
	MasterHint     // a comment /*master*/ or /*primary*/ at the start or behind SELECT
	VersionComment // /*!...*/, applied or not
	Hint           // an optimizer hint
	// HintClock: an optimizer hint with SET_VAR(timestamp = x), behind which the clock of its session stands still (MySQL 9.7), or
	// SET_VAR(insert_id = x), behind which the next id that it draws is an odd one. Names may be spelled with accents.
	HintClock
	Param // ?
	// Doubt: malformed or ambiguous text, or a statement that is not known. It may do anything.
	Doubt
	SetsState // a system variable assigned outside of SET
	Body      // a routine body, in which ';' ends no statement: CREATE PROCEDURE, BEGIN NOT ATOMIC
	Analyze   // EXPLAIN ANALYZE, and ANALYZE of MariaDB: the statement is carried out
	// SystemSchema: the name of one of the servers' own schemas, see SystemNames.
	SystemSchema
)

// Stateful are the traits of statements that use or leave state of their connection.
const Stateful = UserVarRead | UserVarWrite | GetLock | ReleaseLock | CalcFoundRows | FoundRows | RowCount | LastInsertIDSet | EffectFunction | Temporary |
	SetsState | HintClock | Doubt

// Info is what Classify found. NodeHint aliases the text.
type Info struct {
	Class Class
	// Target is the class of the statement within EXPLAIN and SET STATEMENT ... FOR.
	Target Class
	Traits Traits
	// NodeHint is the name in a first comment of the exact form /*name*/ ahead of the statement, of letters, digits, '_',
	// '.' and '-'; "" without one, and for master and primary.
	NodeHint string
	// First and End bound the first statement, in bytes: comments ahead, blanks, comments and ';' behind left out. A
	// version comment that applies belongs to it.
	First, End int
	// Next is where the text behind the first ';' goes on, with another statement if Multi, else with comments alone; the text's length
	// if it does not.
	Next int
	// Numbers is a long list of numbers, for AppendNormal.
	Numbers Numbers
}

// Has tells whether any of the traits t is there.
func (i Info) Has(t Traits) bool { return i.Traits&t != 0 }

// effects are the traits that keep a query on the primary.
const effects = UserVarWrite | IntoOutfile | ForUpdate | GetLock | ReleaseLock | LastInsertIDSet | EffectFunction | Multi |
	Doubt | SetsState | HintClock | Body

// ReadOnly tells whether a statement can have no effect, so that a replica may serve it: a query, SHOW, DESCRIBE, HELP, or
// EXPLAIN of a query. EXPLAIN of a change is not: servers refuse it under read_only.
func (i Info) ReadOnly() bool {
	if i.Traits&effects != 0 {
		return false
	}
	switch i.Class {
	case Show, ShowWarnings, ShowErrors, ShowProcesslist, Describe, Help:
		return true
	case Explain:
		return i.Target.query()
	}
	return i.Class.query()
}

// SplitSafe tells whether the end of the statement is certain, and so whether Multi is: false with a routine body, whose
// statements end in ';' too, and with any Doubt. Then First to End covers the whole text.
func SplitSafe(i Info) bool { return i.Traits&(Doubt|Body) == 0 }
