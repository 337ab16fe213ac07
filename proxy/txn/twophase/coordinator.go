package twophase

import "time"

// Phase is where a [Coordinator] is.
//
//	reading ──> ending ──────────────────────────────> over        at most one changed branch
//	preparing ──> deciding ──> completing ──────────-> over
//	   │            │  │           ^   (Committed)       ^
//	   │            │  └> fencing ─┤                     │
//	   │            │              v   (Aborted)         │
//	   └────────────┴──────────> aborting ───────────────┘
//
// From fencing, which is where an answer was lost, it may also be over with the outcome unknown.
type Phase uint8

const (
	reading    Phase = iota // branches without changes end ahead of the changed one; strict transactions alone
	ending                  // all end by a commit of one phase
	preparing               // nothing is decided
	deciding                // the anchor is asked
	undoing                 // the anchor answered with an error that does not tell how far it came: its transaction is ended, then fencing
	fencing                 // the anchor's row is asked for
	completing              // committed; branches are told
	aborting                // rolled back; branches are told
	over
)

// Phases is how many there are, that of what is over not counted.
const Phases = over

// String tells an operator what goes on.
func (p Phase) String() string {
	return [...]string{"committing", "committing", "preparing", "deciding", "asking", "asking", "completing", "rolling back", "over"}[p]
}

// part is a branch, and what was said to it.
type part struct {
	Branch
	waits Do   // the action whose answer is awaited, 0 for none
	ended bool // nothing of the transaction is on its connection, or the connection is gone
}

// Coordinator ends one transaction. [Coordinator.Commit] or [Coordinator.Rollback] begins; then each [Answer] and each timer that went off is
// told, and each call returns what to do next. It is over when [Coordinator.Over] says so; the client hears [Coordinator.Outcome] as soon as
// there is one.
//
// A timer that is due is told ahead of an answer that comes later, also where the process has stood still in between: what a fence answers is of
// use only while the anchor's row, if there was one, is certain to be there. The timers are for what the client waits for. Answers to a commit of one phase of what was changed and, behind TimerComplete, to any other commit are waited for as long
// as the caller waits for any answer: then it closes the connection, and tells NoAnswer.
//
// It may be dropped at any moment, as a process that dies drops it, together with the connections of its branches.
type Coordinator struct {
	gtrid    GTRID
	timing   Timing
	secret   Secret
	strict   bool
	phase    Phase
	parts    []part // the anchor first
	row      Row    // the anchor's
	deadline string
	cause    Cause
	asked    bool // an admin's answer is awaited
	told     bool
	outcome  Outcome
	todo     []Action
	unsure   int // branches that the resolvers have still to commit
}

// NewCoordinator returns the coordinator that ends t. With strict, branches that were only read end ahead of the decision even where only
// one was changed: their locks are then known to have been there until all others were taken, which makes the transaction serializable.
func NewCoordinator(t *Transaction, timing Timing, secret Secret, strict bool) *Coordinator {
	c := &Coordinator{gtrid: t.GTRID, timing: timing, secret: secret, strict: strict, deadline: t.Deadline, cause: t.doomed}
	for _, b := range t.branches {
		c.parts = append(c.parts, part{Branch: b})
	}
	return c
}

// Commit begins to commit, or to roll back what may not be committed any more.
func (c *Coordinator) Commit() []Action {
	changed, at := 0, 0
	for k, p := range c.parts {
		if p.Changed {
			changed, at = changed+1, k
		}
	}
	switch {
	case c.cause.Reason != 0:
		c.abort(c.cause)
	case changed > BranchesMax:
		c.abort(Cause{Reason: TooMany})
	case changed > 1:
		c.prepare()
	case changed == 1 && c.strict && len(c.parts) > 1:
		c.phase = reading
		for k := range c.parts {
			if k != at {
				c.onePhase(k)
			}
		}
	default:
		c.phase = ending
		for k := range c.parts {
			c.onePhase(k)
		}
	}
	return c.flush()
}

// Rollback begins to roll back.
func (c *Coordinator) Rollback() []Action {
	c.abort(c.cause)
	return c.flush()
}

// Over reports whether nothing is left to do.
func (c *Coordinator) Over() bool { return c.phase == over }

// Phase returns where it is.
func (c *Coordinator) Phase() Phase { return c.phase }

// Outcome returns what the client hears, and whether that is known yet.
func (c *Coordinator) Outcome() (Outcome, bool) { return c.outcome, c.told }

// Answered takes an answer. One that nobody waits for any more is ignored.
func (c *Coordinator) Answered(a Answer) []Action {
	if a.Do >= DoFence {
		if c.asked {
			c.asked = false
			c.adminAnswered(a)
		} else if p := c.find(a.Node); p != nil && p.waits == a.Do {
			c.branchRead(p, a)
		}
		return c.flush()
	}
	p := c.find(a.Node)
	if p == nil || p.waits != a.Do {
		return nil
	}
	p.waits = 0
	if a.Result == NoAnswer {
		p.ended = true
	}
	c.partAnswered(p, a)
	return c.flush()
}

func (c *Coordinator) partAnswered(p *part, a Answer) {
	switch c.phase {
	case reading, ending:
		c.endingAnswered(p, a)
	case preparing:
		c.preparingAnswered(p, a)
	case deciding:
		c.decidingAnswered(p, a)
	case undoing:
		if a.Result == OK {
			c.release(p)
		} else {
			c.close(p)
		}
		c.fence()
	case completing:
		c.completingAnswered(p, a)
	case aborting:
		c.abortingAnswered(p, a)
	}
}

// endingAnswered takes the answer of a branch that was to commit in one phase.
func (c *Coordinator) endingAnswered(p *part, a Answer) {
	if a.Result == OK {
		c.release(p)
		if p.Changed && c.anyWaits() {
			c.timer(TimerComplete, c.timing.Complete) // the session's state may be on a connection that has not answered
		}
	} else {
		cause := causeOf(a)
		switch {
		case p.Changed && a.Result == NoAnswer:
			c.tell(Outcome{End: Unknown, Cause: cause})
		case c.phase == reading || p.Changed || !c.anyChanged():
			c.abort(cause)
			return
		}
		c.close(p) // it was read only, and the changed one decides
	}
	if c.anyWaits() {
		return
	}
	if c.phase == reading {
		c.phase = ending
		for k := range c.parts {
			if c.parts[k].Changed {
				c.onePhase(k)
			}
		}
		return
	}
	c.tell(Outcome{End: Commit})
	c.phase = over
}

// prepare begins the first phase. Branches without changes end: that they can says that what they read was still locked. An anchor without
// changes has a decision to carry.
func (c *Coordinator) prepare() {
	c.phase = preparing
	var branches []NodeID
	for _, p := range c.parts[1:] {
		if p.Changed {
			branches = append(branches, p.Node)
		}
	}
	anchor := c.parts[0].Branch
	parts := Parts(anchor.Node, branches)
	c.row = c.secret.sign(Row{Key: c.gtrid.String(), State: Committed, Parts: parts, Conns: conns(anchor)})
	if c.deadline == "" {
		c.ask(0, Action{Do: DoClock, Within: c.timing.Deadline})
	}
	for k, p := range c.parts[1:] {
		if p.Changed {
			row := Row{Key: c.gtrid.BranchKey(p.Node), State: BranchRow, Parts: parts, Conns: conns(anchor, p.Branch)}
			c.ask(k+1, Action{Do: DoPrepare, Row: c.secret.sign(row), Compound: p.Holds && p.Compounds, Stepwise: p.Holds && !p.Compounds})
		} else {
			c.onePhase(k + 1)
		}
	}
	c.timer(TimerPrepare, c.timing.Prepare)
}

func (c *Coordinator) preparingAnswered(p *part, a Answer) {
	if a.Result != OK {
		c.abort(causeOf(a))
		return
	}
	switch a.Do {
	case DoClock:
		c.deadline = a.Text
	case DoOnePhase:
		c.release(p)
	}
	if c.anyWaits() {
		return
	}
	c.phase = deciding
	c.ask(0, Action{Do: DoDecide, Row: c.row, Deadline: c.deadline})
	c.timer(TimerDecideAnswer, c.timing.DecideAnswer)
	c.timer(TimerDecide, c.timing.Decide)
}

// decidingAnswered takes the anchor's answer. Two errors say that the row was not inserted, and no COMMIT behind it was carried out. Of others
// nobody knows whether they were of the INSERT or of the COMMIT.
func (c *Coordinator) decidingAnswered(p *part, a Answer) {
	switch {
	case a.Result == OK:
		c.release(p)
		c.complete()
	case a.Result == NoAnswer:
		c.close(p)
		c.cause = causeOf(a)
		c.fence()
	case a.Code == errDuplicate:
		c.abort(Cause{Reason: Fenced, Node: p.Node})
	case a.Code == errNull:
		c.abort(Cause{Reason: Late, Node: p.Node})
	default:
		c.cause = causeOf(a)
		c.phase = undoing // the row, if it is there and not committed, would have the fence wait
		c.ask(0, Action{Do: DoRollback})
	}
}

// fence asks for the decision by trying to decide otherwise.
func (c *Coordinator) fence() {
	c.phase = fencing
	c.asked = true
	row := Row{Key: c.row.Key, State: Aborted, Parts: c.row.Parts, Conns: c.row.Conns}
	c.todo = append(c.todo, Action{Do: DoFence, Node: c.gtrid.Anchor, Row: c.secret.sign(row)})
}

// adminAnswered takes the answer to a fence or to the question for the row that was in its way.
func (c *Coordinator) adminAnswered(a Answer) {
	if c.phase != fencing {
		return
	}
	switch {
	case a.Do == DoFence && a.Result == OK:
		c.abort(c.cause)
	case a.Do == DoFence && a.Result == Rejected && a.Code == errDuplicate:
		c.asked = true
		c.todo = append(c.todo, Action{Do: DoRead, Node: c.gtrid.Anchor, Row: Row{Key: c.row.Key}})
	case a.Do == DoRead && a.Result == OK && a.Row != nil:
		state, forged := c.secret.verdict(*a.Row)
		switch {
		case state == Committed:
			c.complete()
		case forged:
			c.report(IncidentForged, XID{GTRID: c.gtrid})
			c.abort(Cause{Reason: Forged, Node: c.gtrid.Anchor})
		default:
			c.abort(c.cause)
		}
	default:
		c.timer(TimerRetry, c.timing.Retry)
	}
}

// complete begins the second phase.
func (c *Coordinator) complete() {
	c.phase = completing
	for k := range c.parts {
		if p := &c.parts[k]; k > 0 && p.Changed && !p.ended {
			c.ask(k, Action{Do: DoCommitBranch})
		}
	}
	c.timer(TimerComplete, c.timing.Complete)
	c.completed()
}

func (c *Coordinator) completingAnswered(p *part, a Answer) {
	switch {
	case a.Result == OK:
		c.release(p)
	case a.Result == Rejected && a.Code == errUnknownXID: // a resolver was here first, or the server has lost it
		c.close(p)
		p.waits = DoReadLocked
		c.todo = append(c.todo, Action{Do: DoReadLocked, Node: p.Node, Row: Row{Key: c.gtrid.BranchKey(p.Node)}})
	default:
		c.close(p)
		c.unsure++
	}
	c.completed()
}

// branchRead takes what a branch's row says of one that its server does not know any more. A row that is missing is found again, and
// reported, by the audit.
func (c *Coordinator) branchRead(p *part, a Answer) {
	p.waits = 0
	if a.Result != OK || a.Row == nil || !c.secret.Genuine(*a.Row) {
		c.unsure++
	}
	c.completed()
}

// completed ends the second phase when all branches have answered.
func (c *Coordinator) completed() {
	if c.anyWaits() {
		return
	}
	c.committed()
	c.phase = over
}

func (c *Coordinator) committed() {
	background := c.unsure
	for _, p := range c.parts {
		if p.waits != 0 {
			background++
		}
	}
	c.tell(Outcome{End: Commit, GTRID: c.gtrid, Recorded: true, Background: background})
}

// abort tells all branches to roll back, as soon as they have answered what they were asked before. Nobody decides Committed any more.
func (c *Coordinator) abort(cause Cause) {
	c.phase, c.cause = aborting, cause
	for k := range c.parts {
		c.rollBack(k)
	}
	c.timer(TimerComplete, c.timing.Complete)
	c.aborted()
}

func (c *Coordinator) rollBack(k int) {
	p := &c.parts[k]
	switch {
	case p.ended || p.waits != 0:
	case p.Node == c.gtrid.Anchor:
		c.ask(k, Action{Do: DoRollback})
	default:
		c.ask(k, Action{Do: DoRollbackBranch})
	}
}

func (c *Coordinator) abortingAnswered(p *part, a Answer) {
	switch {
	case p.ended:
	case a.Do == DoRollback && a.Result == OK, a.Do == DoOnePhase && a.Result == OK && !p.Changed,
		a.Do == DoRollbackBranch && (a.Result == OK || rolledBack(a.Code)):
		c.release(p)
	case a.Do == DoRollback || a.Do == DoRollbackBranch:
		c.close(p)
	default:
		for k := range c.parts {
			if &c.parts[k] == p {
				c.rollBack(k)
			}
		}
	}
	c.aborted()
}

// rolledBack reports whether an error of XA ROLLBACK says that nothing is left to roll back.
func rolledBack(code uint16) bool {
	switch code {
	case errUnknownXID, errXARolledBack, errXADeadlock, errXATimeout:
		return true
	}
	return false
}

func (c *Coordinator) aborted() {
	if c.anyWaits() {
		return
	}
	c.tell(Outcome{End: Rollback, Cause: c.cause})
	c.phase = over
}

// Expired takes a timer that went off. One that is of an earlier phase is ignored.
func (c *Coordinator) Expired(t Timer) []Action {
	switch {
	case t == TimerPrepare && c.phase == preparing:
		for k := range c.parts {
			if p := &c.parts[k]; p.waits != 0 {
				c.cause = Cause{Reason: TimedOut, Node: p.Node}
				c.close(p)
			}
		}
		c.abort(c.cause)
	case t == TimerDecideAnswer && (c.phase == deciding || c.phase == undoing):
		if c.phase == deciding {
			c.cause = Cause{Reason: TimedOut, Node: c.gtrid.Anchor}
		}
		c.close(&c.parts[0])
		c.fence()
	case t == TimerRetry && c.phase == fencing && !c.asked:
		c.fence()
	case t == TimerDecide && (c.phase == deciding || c.phase == fencing || c.phase == undoing):
		for k := range c.parts {
			c.close(&c.parts[k]) // for the resolvers
		}
		c.tell(Outcome{End: Unknown, Cause: c.cause, GTRID: c.gtrid, Recorded: true})
		c.phase = over
	case t == TimerComplete && c.phase == ending:
		c.tell(Outcome{End: Commit})
	case t == TimerComplete && c.phase == completing:
		c.committed()
	case t == TimerComplete && c.phase == aborting:
		for k := range c.parts {
			if p := &c.parts[k]; p.waits != 0 {
				c.close(p)
			}
		}
		c.aborted()
	}
	return c.flush()
}

func (c *Coordinator) onePhase(k int) {
	if k == 0 {
		c.ask(k, Action{Do: DoCommit})
	} else {
		c.ask(k, Action{Do: DoOnePhase})
	}
}

// ask sends a to the branch.
func (c *Coordinator) ask(k int, a Action) {
	p := &c.parts[k]
	a.Node, a.XID = p.Node, XID{c.gtrid, p.Node}
	p.waits = a.Do
	c.todo = append(c.todo, a)
}

func (c *Coordinator) release(p *part) { c.leave(p, DoRelease) }

// close closes the branch's connection, whatever it waits for.
func (c *Coordinator) close(p *part) { c.leave(p, DoClose) }

func (c *Coordinator) leave(p *part, do Do) {
	p.waits = 0
	if !p.ended {
		p.ended = true
		c.todo = append(c.todo, Action{Do: do, Node: p.Node})
	}
}

func (c *Coordinator) timer(t Timer, after time.Duration) {
	c.todo = append(c.todo, Action{Do: DoTimer, Timer: t, After: after})
}

func (c *Coordinator) report(kind IncidentKind, x XID) {
	c.todo = append(c.todo, Action{Do: DoReport, Incident: Incident{Kind: kind, XID: x}})
}

func (c *Coordinator) tell(o Outcome) {
	if !c.told {
		c.told, c.outcome = true, o
	}
}

func (c *Coordinator) flush() []Action {
	list := c.todo
	c.todo = nil
	return list
}

func (c *Coordinator) find(n NodeID) *part {
	for k := range c.parts {
		if c.parts[k].Node == n {
			return &c.parts[k]
		}
	}
	return nil
}

func (c *Coordinator) anyWaits() bool {
	for _, p := range c.parts {
		if p.waits != 0 {
			return true
		}
	}
	return false
}

func (c *Coordinator) anyChanged() bool {
	for _, p := range c.parts {
		if p.Changed {
			return true
		}
	}
	return false
}

func causeOf(a Answer) Cause {
	if a.Result == NoAnswer {
		return Cause{Reason: Vanished, Node: a.Node}
	}
	return Cause{Reason: Refused, Node: a.Node, Code: a.Code}
}
