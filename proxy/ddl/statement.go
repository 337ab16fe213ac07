package ddl

import (
	"slices"
	"time"

	"kingshard/backend"
)

// Outcome is what became of a step.
type Outcome uint8

// The outcomes.
const (
	Waiting Outcome = iota // nothing was sent, or has arrived
	Done
	Failed  // the server answered with an error: nothing has changed
	Unknown // no answer came, or the server may have done a part of it
)

var outcomeNames = [...]string{"not tried", "done", "failed", "unknown"}

// String is how messages name the outcome.
func (o Outcome) String() string { return outcomeNames[o] }

// Step is what one server gets of a statement, for one physical table or for several that belong together.
type Step struct {
	Node, Text string
	Again      string   // the text for another try where that is not the same; else empty
	Tables     []string // physical, as node/db.table
	// Stage orders steps over all nodes: those of one begin when all of the stages below it are done.
	Stage int
	// Undo takes the step back, where all that was done can be taken back; "" of a step that stays.
	Undo string
	// Own says that the tables are the proxy's own, of whose warnings the client does not hear.
	Own     bool
	Outcome Outcome
	Error   string // of a step that failed or whose outcome is unknown
}

// Statement is a DDL statement with its steps, and what it needs to run again.
type Statement struct {
	User, Text string
	// Setting is the session state that it runs under, its database among it.
	Setting *backend.Setting
	// AsWanted are the error codes that say of a step whose outcome was unknown that it is done.
	AsWanted []uint16
	// Piecemeal says that a step which failed may have been done in part.
	Piecemeal bool
	Steps     []Step
}

// Entry is a record as ADMIN DDL LIST shows it. Done, Failed and Tables are numbers of physical tables; those that are neither
// done nor failed were not tried.
type Entry struct {
	ID                   uint64
	Started              time.Time
	User, Text           string
	Running              bool
	Tables, Done, Failed int
	FirstError           string
}

// Run is a record whose statement runs; the session that runs it owns it until End.
type Run struct {
	journal *Journal
	id      uint64
	started time.Time

	// Under the journal's mu.
	statement Statement
	running   bool
}

// ID is the number that ADMIN DDL names the record by, from 1.
func (r *Run) ID() uint64 { return r.id }

// Statement gives a copy; its steps are as they are now.
func (r *Run) Statement() Statement {
	r.journal.mu.Lock()
	defer r.journal.mu.Unlock()
	st := r.statement
	st.Steps = slices.Clone(st.Steps)
	return st
}

// Set notes the outcome of the step-th step, from 0. Steps of one run may be set by several goroutines.
func (r *Run) Set(step int, o Outcome, err error) {
	r.journal.mu.Lock()
	defer r.journal.mu.Unlock()
	s := &r.statement.Steps[step]
	s.Outcome, s.Error = o, ""
	if err != nil {
		s.Error = err.Error()
	}
	if o == Done {
		s.Text, s.Again = "", "" // not needed any more
	}
}

// End says that the run is over. The record stays if a part of the statement is done, or may be, and another is not: kept is
// true then. dropped are the ids of records of the same user that had to go for want of room; the record's own may be among
// them.
func (r *Run) End() (kept bool, dropped []uint64) {
	r.journal.mu.Lock()
	defer r.journal.mu.Unlock()
	r.running = false
	if !r.statement.partial() {
		r.journal.removeLocked(r.id)
		return false, nil
	}
	dropped = r.journal.makeRoomLocked(r.statement.User)
	return !slices.Contains(dropped, r.id), dropped
}

// partial tells whether the statement has changed something, or may have, and is not done.
func (st *Statement) partial() bool {
	changed, left := false, false
	for _, s := range st.Steps {
		changed = changed || s.Outcome == Done || s.Outcome == Unknown
		left = left || s.Outcome != Done
	}
	return changed && left
}

// size is about how many bytes the texts take.
func (st *Statement) size() int {
	n := len(st.Text)
	for _, s := range st.Steps {
		n += len(s.Text) + len(s.Again) + len(s.Error)
	}
	return n
}

func (r *Run) entry() Entry {
	e := Entry{ID: r.id, Started: r.started, User: r.statement.User, Text: r.statement.Text, Running: r.running}
	for _, s := range r.statement.Steps {
		e.Tables += len(s.Tables)
		switch s.Outcome {
		case Done:
			e.Done += len(s.Tables)
		case Failed, Unknown:
			e.Failed += len(s.Tables)
			if e.FirstError == "" {
				e.FirstError = s.Error
			}
		}
	}
	return e
}
