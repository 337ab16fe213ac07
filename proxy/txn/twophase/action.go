package twophase

import "time"

// Do is what an [Action] asks for.
type Do uint8

// What is done on a branch's own connection. Each has one [Answer].
const (
	// DoClock reads the anchor's time, and answers with the deadline in Answer.Text.
	DoClock Do = iota + 1
	// DoPrepare inserts the branch's row and prepares the branch. Where the branch stays with its connection it is not prepared without a row,
	// as the row tells which connection that is; see Action.Compound and Action.Stepwise.
	DoPrepare
	// DoDecide inserts the anchor's row and commits.
	DoDecide
	// DoCommit and DoRollback end the anchor's transaction.
	DoCommit
	DoRollback
	// DoOnePhase ends a branch that was not prepared.
	DoOnePhase
	// DoCommitBranch commits a prepared branch. The coordinator's is for the branch's connection, the resolver's for one of its own.
	DoCommitBranch
	// DoRollbackBranch rolls a branch back, whatever its state. The coordinator's is for the branch's connection, the resolver's for one of its own.
	DoRollbackBranch
)

// What is done on connections of the proxy's own account, to the server that is the node's primary now. Each has one [Answer].
const (
	// DoFence inserts an Aborted row: who gets it in has decided.
	DoFence Do = iota + 32
	// DoRead reads a row.
	DoRead
	// DoReadLocked reads a row behind those who change it: the error is 1205 while a branch is prepared.
	DoReadLocked
	// DoPeek reads a row whether it is committed or not.
	DoPeek
	// DoKill ends the connection Action.Holder, if the server is the one that it names; otherwise the answer is error 1094.
	DoKill
	// DoFind asks whether there is a connection Action.Holder, which there is not on another server than it names; Answer.Found tells.
	DoFind
	// DoMark makes Committed Done.
	DoMark
	// DoDelete deletes a row, if it is in the state of Action.Row.
	DoDelete
	// DoFinish notes when a Done row has become what is only kept for those who ask; see [Expire].
	DoFinish
)

// What is not sent to a server, and has no [Answer].
const (
	// DoRelease gives a branch's connection back: nothing of the transaction is on it.
	DoRelease Do = iota + 64
	// DoClose closes a branch's connection. The answer that it may owe is no longer waited for.
	DoClose
	// DoTimer has [Coordinator.Expired] called after Action.After.
	DoTimer
	// DoReport tells the operator of an [Incident].
	DoReport
)

// String returns the name, for logs.
func (d Do) String() string {
	names := map[Do]string{DoClock: "clock", DoPrepare: "prepare", DoDecide: "decide", DoCommit: "commit", DoRollback: "rollback", DoOnePhase: "one phase",
		DoCommitBranch: "commit branch", DoRollbackBranch: "rollback branch", DoFence: "fence", DoRead: "read", DoReadLocked: "read locked", DoPeek: "peek",
		DoKill: "kill", DoFind: "find", DoMark: "mark", DoDelete: "delete", DoFinish: "finish", DoRelease: "release", DoClose: "close", DoTimer: "timer",
		DoReport: "report"}
	return names[d]
}

// Action is one thing to do. Which fields have a meaning, Do says.
type Action struct {
	Do       Do
	Node     NodeID // where; to one that is not in the configuration any more the answer is NoAnswer
	XID      XID    // the branch
	Row      Row    // what is inserted or, by its key, read, changed or deleted
	Compound bool   // the statements are one, which ends at the first error
	Stepwise bool   // each statement is sent when the one before was answered with OK, and otherwise not at all
	Deadline string // of DoDecide, as DoClock's answer has it
	Within   time.Duration
	Holder   Holder
	Timer    Timer
	After    time.Duration
	Incident Incident
}

// Result is what came of an action.
type Result uint8

// The results.
const (
	OK       Result = iota + 1 // the server did it
	Rejected                   // the server answered with the error Answer.Code, the first one where there are several
	NoAnswer                   // the connection broke, or the caller gave up waiting and closed it: the server may have done it or may yet do it
)

// Answer is what came of an [Action]: Do, Node and Key are the action's.
type Answer struct {
	Do     Do
	Node   NodeID
	Key    string // the key of the action's Row
	Result Result
	Code   uint16
	Text   string // of DoClock
	Row    *Row   // of the reading ones, nil where there is no such row
	Found  bool   // of DoFind
}

// Timer says what a [Coordinator] waits for.
type Timer uint8

// The timers.
const (
	TimerPrepare Timer = iota + 1
	TimerDecideAnswer
	TimerDecide
	TimerComplete
	TimerRetry
)

// IncidentKind is what an operator has to look at, as no proxy can mend it.
type IncidentKind uint8

// The kinds.
const (
	// IncidentLost is a branch of a transaction that was committed, and that its server has lost.
	IncidentLost IncidentKind = iota + 1
	// IncidentHalf is a branch that was committed although the transaction was rolled back.
	IncidentHalf
	// IncidentForged is a row that no proxy made.
	IncidentForged
	// IncidentOld is a prepared branch that has no decision and is older than decisions are kept.
	IncidentOld
	// IncidentFormatID is a foreign format id on the server.
	IncidentFormatID
	// IncidentUndecided is a branch that was committed, and whose anchor has no decision.
	IncidentUndecided
	// IncidentStranded is a branch that a replica keeps prepared and its primary does not have.
	IncidentStranded
)

// Name is a word for it.
func (k IncidentKind) Name() string {
	return [...]string{"unknown", "lost", "half", "forged", "old", "format_id", "undecided", "stranded"}[k]
}

// String tells an operator.
func (k IncidentKind) String() string {
	switch k {
	case IncidentLost:
		return "the transaction was committed, and the server has lost its branch"
	case IncidentHalf:
		return "the transaction was rolled back, and its branch was committed"
	case IncidentForged:
		return "a row of ks_meta.dtx was not made by a proxy; the transaction was rolled back"
	case IncidentOld:
		return "a prepared branch is older than decisions are kept, and there is no decision"
	case IncidentUndecided:
		return "a branch was committed, and the node that decided it has no decision any more: it may have lost its part"
	case IncidentStranded:
		return "a replica keeps a branch prepared that its primary does not have, as after a crash of that: its rows are locked there, and it stops when they change"
	case IncidentFormatID:
		return "an XA transaction has a foreign format id, which can make MySQL lose prepared branches when it crashes (bug #120125)"
	}
	return "unknown"
}

// Incident is a kind and whom it is about.
type Incident struct {
	Kind IncidentKind
	XID  XID    // the branch; its Node is 0 where it is about the anchor's row
	Text string // more, for the operator
}
