package twophase

import (
	"slices"
	"time"
)

// step is where a [Resolver] is with a branch.
//
//	waiting ──> peeking ──> resolving ──> asking ──> finishing ──> waiting, until XA RECOVER does not list it any more
//	                │           (the fence was in)     ^   │
//	                └────────> asking                  │   v
//	                  (too old for a fence)         killing <── checking
//
// An answer that says neither yes nor no leads back to waiting, and the next XA RECOVER begins anew.
type step uint8

const (
	waiting   step = iota
	peeking        // the branch's own row is read, which tells whose connections it and its anchor are on
	resolving      // the anchor's row is inserted
	asking         // the anchor's row is read
	finishing      // the branch is ended
	checking       // the server does not know the branch, or another connection holds it: its row tells
	killing        // the connection that holds it is closed
)

// found is a branch that XA RECOVER has listed.
type found struct {
	xid      XID
	first    time.Duration // when it was listed first
	listed   bool          // by the last XA RECOVER
	step     step
	waits    Wait
	tooOld   bool
	verdict  State
	own      *Row // the branch's row, nil if there was none
	killed   bool
	reported IncidentKind // an incident is told once
}

// Resolver ends branches that are prepared and that nobody else ends. It needs to know nothing but what is on the servers, and does no harm to
// what a coordinator or another resolver does at the same time: all of them follow the anchor's row, which is written once. It is told of each
// XA RECOVER by [Resolver.Listed], and of each answer by [Resolver.Answered].
type Resolver struct {
	timing  Timing
	secret  Secret
	found   map[XID]*found
	foreign map[NodeID]bool // a foreign format id was reported
}

// NewResolver returns the resolver of a process.
func NewResolver(timing Timing, secret Secret) *Resolver {
	return &Resolver{timing: timing, secret: secret, found: map[XID]*found{}, foreign: map[NodeID]bool{}}
}

// InDoubt returns how many branches were listed by the last XA RECOVER of their node, and for how long the oldest one was.
func (r *Resolver) InDoubt(now time.Duration) (n int, oldest time.Duration) {
	for _, f := range r.found {
		if f.listed {
			n, oldest = n+1, max(oldest, now-f.first)
		}
	}
	return n, oldest
}

// Due returns how long it is until the next one of the branches that were listed has waited for long enough, and whether there is one that has not yet.
func (r *Resolver) Due(now time.Duration) (after time.Duration, is bool) {
	for _, f := range r.found {
		if wait := f.first + r.timing.ResolveAfter - now; f.listed && wait > 0 && (!is || wait < after) {
			after, is = wait, true
		}
	}
	return after, is
}

// Prepared is a row of XA RECOVER.
type Prepared struct {
	FormatID                 int64
	GTRIDLength, BQUALLength int
	Data                     string
}

// Listed takes the answer to XA RECOVER of the primary of the node n. now is of a clock that does not jump, wall is the time in seconds since
// 1970. Where two nodes are one server, each takes the branches that are its own.
func (r *Resolver) Listed(n NodeID, rows []Prepared, now time.Duration, wall int64) []Action {
	for x, f := range r.found {
		if x.Node == n {
			f.listed = false
		}
	}
	var todo []Action
	for _, row := range rows {
		x, err := ParseXID(row.FormatID, row.GTRIDLength, row.BQUALLength, row.Data)
		switch {
		case err == ErrNotOurs || err == nil && x.Node != n:
		case err != nil:
			if !r.foreign[n] {
				r.foreign[n] = true
				todo = append(todo, Action{Do: DoReport, Node: n, Incident: Incident{Kind: IncidentFormatID, XID: XID{Node: n}, Text: err.Error()}})
			}
		default:
			f := r.found[x]
			if f == nil {
				f = &found{xid: x, first: now}
				r.found[x] = f
			}
			f.listed = true
			if f.step == waiting && now-f.first >= r.timing.ResolveAfter {
				f.tooOld = wall-int64(x.Start) > int64(r.timing.Retention/time.Second)
				f.killed, f.own = false, nil
				todo = append(todo, f.ask(peeking, Action{Do: DoPeek, Node: n, Row: Row{Key: x.BranchKey(n)}}))
			}
		}
	}
	for x, f := range r.found {
		if x.Node == n && !f.listed && f.step == waiting {
			delete(r.found, x)
		}
	}
	return todo
}

// Answered takes the answer to an action about the branch x.
func (r *Resolver) Answered(x XID, a Answer) []Action {
	f := r.found[x]
	if f == nil {
		return nil
	}
	return r.answered(f, a)
}

func (r *Resolver) answered(f *found, a Answer) []Action {
	was := f.step
	f.step = waiting
	switch {
	case was == peeking && a.Do == DoPeek && a.Result == OK:
		return r.peeked(f, a)
	case was == resolving && a.Do == DoFence && a.Result == OK:
		return f.finish(Aborted)
	case was == resolving && a.Do == DoFence && a.Result == Rejected && a.Code == errDuplicate:
		return []Action{f.ask(asking, Action{Do: DoRead, Node: f.xid.Anchor, Row: Row{Key: f.xid.GTRID.String()}})}
	case was == asking && a.Do == DoRead && a.Result == OK:
		return r.decided(f, a)
	case was == finishing && (a.Do == DoCommitBranch || a.Do == DoRollbackBranch) && a.Result == OK:
		f.waits = WaitNothing
	case was == finishing && (a.Do == DoCommitBranch || a.Do == DoRollbackBranch) && a.Result == Rejected:
		return r.refused(f, a)
	case was == checking && a.Do == DoReadLocked && a.Result != NoAnswer:
		return r.checked(f, a)
	case was == killing && a.Do == DoKill && (a.Result == OK || a.Result == Rejected && a.Code == errNoSuchThread):
		return f.finish(f.verdict)
	}
	return nil
}

// peeked goes on to the decision. An Aborted row says, as the branch's does, which connection could still try to decide Committed; see [Auditor].
func (r *Resolver) peeked(f *found, a Answer) []Action {
	if a.Row != nil && r.secret.Genuine(*a.Row) {
		f.own = a.Row
	}
	key := f.xid.GTRID.String()
	if f.tooOld {
		return []Action{f.ask(asking, Action{Do: DoRead, Node: f.xid.Anchor, Row: Row{Key: key}})}
	}
	return []Action{f.ask(resolving, Action{Do: DoFence, Node: f.xid.Anchor, Row: r.secret.fence(f.xid.GTRID, f.own)})}
}

// fence returns the Aborted row of a transaction, of which own is the row of a branch, nil if none is known.
func (s Secret) fence(g GTRID, own *Row) Row {
	row := Row{Key: g.String(), State: Aborted}
	if own != nil {
		row.Parts, row.Conns = own.Parts, conns(Branch{Node: g.Anchor, Holder: holderOf(own.Conns, g.Anchor)})
	}
	return s.sign(row)
}

// decided takes the anchor's row.
func (r *Resolver) decided(f *found, a Answer) []Action {
	if a.Row == nil {
		if f.tooOld {
			f.waits = WaitOperator
			return f.report(IncidentOld, nil)
		}
		return nil // it was deleted between the fence and now; the next fence tells
	}
	state, forged := r.secret.verdict(*a.Row)
	todo := f.finish(state)
	if forged {
		todo = f.report(IncidentForged, todo)
	}
	return todo
}

// refused takes an error of XA COMMIT or XA ROLLBACK. Without xa_detach_on_prepare a server tells others than the connection that prepared the
// branch that it does not know it. The branch's row is locked then. Whether a committed branch is lost, the audit tells.
func (r *Resolver) refused(f *found, a Answer) []Action {
	if a.Code != errUnknownXID {
		return nil
	}
	return []Action{f.ask(checking, Action{Do: DoReadLocked, Node: f.xid.Node, Row: Row{Key: f.xid.BranchKey(f.xid.Node)}})}
}

// checked takes the branch's row of a branch that XA COMMIT or XA ROLLBACK did not find.
func (r *Resolver) checked(f *found, a Answer) []Action {
	there := a.Row != nil && r.secret.Genuine(*a.Row)
	switch {
	case a.Result == Rejected && a.Code == errLockWait:
		holder := Holder("")
		if f.own != nil {
			holder = holderOf(f.own.Conns, f.xid.Node)
		}
		if f.killed || holder.Connection() == 0 {
			f.waits = WaitHolder
			return nil
		}
		f.killed = true
		return []Action{f.ask(killing, Action{Do: DoKill, Node: f.xid.Node, Holder: holder})}
	case a.Result == OK && there && f.verdict == Aborted:
		return f.report(IncidentHalf, nil)
	}
	return nil
}

// finish ends the branch as decided.
func (f *found) finish(verdict State) []Action {
	f.verdict = verdict
	do := DoRollbackBranch
	if verdict == Committed {
		do = DoCommitBranch
	}
	return []Action{f.ask(finishing, Action{Do: do, Node: f.xid.Node})}
}

func (f *found) ask(s step, a Action) Action {
	f.step, f.waits = s, WaitBranch
	switch s {
	case resolving, asking:
		f.waits = WaitAnchor
	case killing:
		f.waits = WaitHolder
	}
	a.XID = f.xid
	return a
}

func (f *found) report(kind IncidentKind, todo []Action) []Action {
	if f.reported == kind {
		return todo
	}
	f.reported = kind
	return append(slices.Clip(todo), Action{Do: DoReport, Node: f.xid.Node, Incident: Incident{Kind: kind, XID: f.xid}})
}
