package twophase

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Refusal is why an operator's decision is not carried out.
type Refusal uint8

// The refusals.
const (
	// RefusedNothing is of a transaction of which no branch is prepared on the nodes that answered: there is nothing to decide.
	RefusedNothing Refusal = iota + 1
	// RefusedOtherwise is of one that the anchor has decided otherwise.
	RefusedOtherwise
	// RefusedUndecided is of one whose anchor answers, has no decision, and so will have one without an operator.
	RefusedUndecided
	// RefusedUnread is of one whose anchor answers, but with an error.
	RefusedUnread
	// RefusedMeanwhile is of one that was decided otherwise while it was to be rolled back.
	RefusedMeanwhile
)

// String tells an operator.
func (r Refusal) String() string {
	switch r {
	case RefusedNothing:
		return "no branch of it is prepared on the nodes that answer"
	case RefusedOtherwise:
		return "the node that decides it has decided otherwise"
	case RefusedUndecided:
		return "the node that decides it answers and has no decision, so that proxies will end it by themselves"
	case RefusedUnread:
		return "the node that decides it answers with an error"
	case RefusedMeanwhile:
		return "it was decided otherwise just now"
	}
	return ""
}

// Resolved is what became of a branch of which an operator has decided.
type Resolved struct {
	Node NodeID
	// State is Committed or Aborted, or 0 where the branch is not known to be either.
	State State
	// Result and Code are the last answer where State is 0. OK says that the branch is gone, and that its row does not tell what the operator decided.
	Result Result
	Code   uint16
}

// Resolution ends the prepared branches of a transaction whose decision cannot be learned, as an operator decides.
//
//	listing ──> peeking, the branches' rows ──> asking, the anchor's ──> ending
//	   │                                          │   ^  │
//	   │                                          v   │  └──> refused
//	   └──> refused                              fencing, before a rollback where the anchor answers and has no row
//
// An anchor that does not answer is taken for lost: that is what the operator says. With force a decision that is there is gone against, which leaves the
// transaction on a part of its nodes; the audits find that. It is told of XA RECOVER of each node that answers by [Resolution.Listed]; then [Resolution.Begin]
// begins, with the key of rows that the nodes have which listed a branch, and each [Answer] is told.
type Resolution struct {
	gtrid    GTRID
	verdict  State
	force    bool
	tooOld   bool
	resolver Resolver
	branches []*found
	ends     []Resolved
	pending  int // branches whose rows are read
	fenced   bool
	refusal  Refusal
	code     uint16 // of RefusedUnread
}

// NewResolution returns the resolution of the transaction g, as committed or as rolled back. wall is the time in seconds since 1970.
func NewResolution(g GTRID, commit, force bool, timing Timing, wall int64) *Resolution {
	o := &Resolution{gtrid: g, verdict: Aborted, force: force, resolver: Resolver{timing: timing}}
	o.tooOld = wall-int64(g.Start) > int64(timing.Retention/time.Second)
	if commit {
		o.verdict = Committed
	}
	return o
}

// Listed takes the answer to XA RECOVER of the primary of the node n, and reports whether a branch of the transaction is there.
func (o *Resolution) Listed(n NodeID, rows []Prepared) (there bool) {
	for _, row := range rows {
		x, err := ParseXID(row.FormatID, row.GTRIDLength, row.BQUALLength, row.Data)
		if err == nil && x.Node == n && x.GTRID == o.gtrid {
			o.branches = append(o.branches, &found{xid: x})
			there = true
		}
	}
	return there
}

// Begin returns what to do first. Nodes that are listed later are too late.
func (o *Resolution) Begin(secret Secret) []Action {
	o.resolver.secret = secret
	if len(o.branches) == 0 {
		o.refusal = RefusedNothing
		return nil
	}
	slices.SortFunc(o.branches, func(a, b *found) int { return cmp.Compare(a.xid.Node, b.xid.Node) })
	o.pending = len(o.branches)
	var todo []Action
	for _, f := range o.branches {
		todo = append(todo, f.ask(peeking, Action{Do: DoPeek, Node: f.xid.Node, Row: Row{Key: o.gtrid.BranchKey(f.xid.Node)}}))
	}
	return todo
}

// Refused returns why nothing is done, and 0 if something is.
func (o *Resolution) Refused() (Refusal, uint16) { return o.refusal, o.code }

// Branches returns what became of the branches, in the order of their nodes' ids.
func (o *Resolution) Branches() []Resolved {
	slices.SortFunc(o.ends, func(a, b Resolved) int { return cmp.Compare(a.Node, b.Node) })
	return o.ends
}

// Answered takes the answer to an action.
func (o *Resolution) Answered(a Answer) []Action {
	if a.Node == o.gtrid.Anchor {
		return o.anchorAnswered(a)
	}
	k := slices.IndexFunc(o.branches, func(f *found) bool { return f.xid.Node == a.Node })
	if k < 0 || o.branches[k].step == waiting {
		return nil
	}
	f := o.branches[k]
	if f.step == peeking {
		f.step = waiting
		if a.Result == OK && a.Row != nil && o.resolver.secret.Genuine(*a.Row) {
			f.own = a.Row
		}
		if o.pending--; o.pending > 0 {
			return nil
		}
		return o.ask(DoRead, Row{Key: o.gtrid.String()})
	}
	was := f.step
	todo := o.resolver.answered(f, a)
	if f.step == waiting { // what is left to do, if anything, is a report
		o.ends = append(o.ends, o.ended(f, was, a))
	}
	return todo
}

// ask is for the anchor.
func (o *Resolution) ask(do Do, row Row) []Action {
	return []Action{{Do: do, Node: o.gtrid.Anchor, XID: XID{GTRID: o.gtrid}, Row: row}}
}

// anchorAnswered takes what the anchor says.
func (o *Resolution) anchorAnswered(a Answer) []Action {
	switch {
	case a.Do == DoFence && a.Result == OK:
		return o.end()
	case a.Do == DoFence && a.Code == errDuplicate:
		o.fenced = true
		return o.ask(DoRead, Row{Key: o.gtrid.String()})
	case a.Do == DoFence, o.fenced && a.Result != OK:
		// Somebody may be about to decide.
		return o.refuse(RefusedUnread, a.Code)
	case a.Result == NoAnswer, a.Result == Rejected && o.force:
		return o.end()
	case a.Result == Rejected:
		return o.refuse(RefusedUnread, a.Code)
	case a.Row != nil:
		state, _ := o.resolver.secret.verdict(*a.Row)
		switch {
		case state == o.verdict, o.force && !o.fenced:
			return o.end()
		case o.fenced:
			return o.refuse(RefusedMeanwhile, 0)
		}
		return o.refuse(RefusedOtherwise, 0)
	case o.fenced:
		return o.refuse(RefusedUnread, 0) // the row in the fence's way was deleted since
	case !o.tooOld && !o.force:
		return o.refuse(RefusedUndecided, 0)
	case o.verdict == Committed:
		return o.end()
	}
	return o.ask(DoFence, o.resolver.secret.fence(o.gtrid, o.own()))
}

// own returns the row of a branch, nil if none is known.
func (o *Resolution) own() *Row {
	for _, f := range o.branches {
		if f.own != nil {
			return f.own
		}
	}
	return nil
}

func (o *Resolution) refuse(r Refusal, code uint16) []Action {
	o.refusal, o.code = r, code
	return nil
}

// end ends the branches.
func (o *Resolution) end() []Action {
	var todo []Action
	for _, f := range o.branches {
		todo = append(todo, f.finish(o.verdict)...)
	}
	return todo
}

// ended returns what the last answer of a branch says of it, which was asked for in the step was.
func (o *Resolution) ended(f *found, was step, a Answer) Resolved {
	r := Resolved{Node: f.xid.Node, Result: a.Result, Code: a.Code}
	there := a.Row != nil && o.resolver.secret.Genuine(*a.Row)
	switch {
	case a.Result != OK:
	case was == finishing, was == checking && there == (o.verdict == Committed): // somebody else was first
		r.State = o.verdict
	}
	return r
}

// String tells an operator.
func (r Resolved) String() string {
	switch {
	case r.State == Committed:
		return "committed"
	case r.State == Aborted:
		return "rolled back"
	case r.Result == OK:
		return "gone: somebody else has ended it otherwise"
	case r.Result == Rejected:
		return fmt.Sprintf("error %d", r.Code)
	}
	return "no answer"
}
