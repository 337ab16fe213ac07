package twophase

import "time"

// audit is where an [Auditor] is with a row.
//
//	Committed: looking ──> counting ──> (a rest of Timing.Settle) ──> marking: it is Done
//	              ^           └──> rereading, if a branch's row is missing ──> reported
//	Done:      clearing, the branches' rows ──> closing: it is only kept for those who ask
//	Aborted:   finding, whether somebody may still try to commit ──> clearing
type audit uint8

const (
	looking   audit = iota // the next list of rows begins anew
	counting               // the branches' rows are read
	rereading              // the anchor's row is read again, as another auditor may have deleted those
	marking
	clearing
	closing
	finding
	ended // nothing more is done about it
)

// audited is an anchor's row.
type audited struct {
	gtrid   GTRID
	row     Row
	first   time.Duration // when it was seen first in its state
	checked time.Duration // when all branches' rows had been seen; 0 is not yet
	at      audit
	listed  bool
	pending int
	unsure  bool   // a branch's row could not be read or deleted
	missing NodeID // a branch that has no row
}

// Auditor follows what was decided until all nodes have it, finds branches that servers have lost, and deletes rows in an order that no reader
// and no other auditor takes for something else. Each proxy has one, and they need not know of each other. It measures how long it has seen a
// row itself: clocks of servers decide nothing.
type Auditor struct {
	timing Timing
	secret Secret
	rows   map[GTRID]*audited
}

// NewAuditor returns the auditor of a process.
func NewAuditor(timing Timing, secret Secret) *Auditor {
	return &Auditor{timing: timing, secret: secret, rows: map[GTRID]*audited{}}
}

// Listed takes the anchors' rows of the node n; see [List]. last says that there are no more: rows that were seen before and are not among
// those listed since are gone.
func (u *Auditor) Listed(n NodeID, rows []Row, last bool, now time.Duration) []Action {
	var todo []Action
	for _, row := range rows {
		g, err := ParseGTRID(row.Key)
		if err != nil || g.Anchor != n {
			continue
		}
		r := u.rows[g]
		if r == nil || r.row.State != row.State && (r.at == looking || r.at == ended) {
			r = &audited{gtrid: g, first: now}
			u.rows[g] = r
		}
		r.listed = true
		if r.at == looking {
			r.row = row
			todo = append(todo, u.look(r, now)...)
		}
	}
	if !last {
		return todo
	}
	for g, r := range u.rows {
		if g.Anchor != n {
			continue
		}
		if !r.listed && (r.at == looking || r.at == ended) {
			delete(u.rows, g)
		}
		r.listed = false
	}
	return todo
}

// look does what is next for a row.
func (u *Auditor) look(r *audited, now time.Duration) []Action {
	anchor, branches, ok := ParseParts(r.row.Parts)
	genuine := u.secret.Genuine(r.row)
	seen := now - r.first
	switch {
	case !genuine || r.row.State != Aborted && (!ok || anchor != r.gtrid.Anchor || len(branches) == 0):
		r.at = ended
		return []Action{u.report(r, IncidentForged, 0)}
	case r.row.State == Committed && r.checked == 0 && seen >= u.timing.Settle:
		return u.each(r, counting, branches, DoReadLocked, 0)
	case r.row.State == Committed && r.checked != 0 && now-r.checked >= u.timing.Settle:
		return []Action{u.ask(r, marking, Action{Do: DoMark, Row: Row{State: Committed}})}
	case r.row.State == Done:
		return u.each(r, clearing, branches, DoDelete, BranchRow)
	case r.row.State == Aborted && seen >= u.timing.FenceKeep:
		// Who could still try to commit does so on the connection that has the anchor's transaction. Without a branch's row there is nobody:
		// the coordinator has not heard that the branch is prepared.
		holder := holderOf(r.row.Conns, r.gtrid.Anchor)
		if holder == "" {
			return []Action{u.ask(r, clearing, Action{Do: DoDelete, Row: Row{State: Aborted}})}
		}
		return []Action{u.ask(r, finding, Action{Do: DoFind, Holder: holder})}
	}
	return nil
}

// Answered takes the answer to an action about the transaction g.
func (u *Auditor) Answered(g GTRID, a Answer, now time.Duration) []Action {
	r := u.rows[g]
	if r == nil || r.pending == 0 {
		return nil
	}
	r.pending--
	switch r.at {
	case counting:
		switch {
		case a.Result != OK:
			r.unsure = true
		case a.Row == nil || !u.secret.Genuine(*a.Row):
			r.missing = a.Node
		}
	case clearing:
		r.unsure = r.unsure || a.Result != OK
	}
	if r.pending > 0 {
		return nil
	}
	return u.next(r, a, now)
}

// next goes on when the last answer of a step is there.
func (u *Auditor) next(r *audited, a Answer, now time.Duration) []Action {
	at := r.at
	r.at = looking
	switch {
	case at == counting && r.missing != 0:
		return []Action{u.ask(r, rereading, Action{Do: DoRead})}
	case at == counting && !r.unsure:
		r.checked = now
	case at == rereading && a.Result == OK && a.Row != nil && a.Row.State == Committed:
		r.at = ended
		return []Action{u.report(r, IncidentLost, r.missing)}
	case at == clearing && !r.unsure && r.row.State == Done:
		return []Action{u.ask(r, closing, Action{Do: DoFinish, Row: Row{State: Done}})}
	case at == finding && a.Result == OK && !a.Found:
		return []Action{u.ask(r, clearing, Action{Do: DoDelete, Row: Row{State: Aborted}})}
	case at == finding:
		r.first = now // it is asked again later
	}
	return nil
}

// each asks for the rows of the branches.
func (u *Auditor) each(r *audited, at audit, branches []NodeID, do Do, state State) []Action {
	r.at, r.unsure, r.missing, r.pending = at, false, 0, len(branches)
	list := make([]Action, 0, len(branches))
	for _, n := range branches {
		list = append(list, Action{Do: do, Node: n, XID: XID{r.gtrid, n}, Row: Row{Key: r.gtrid.BranchKey(n), State: state}})
	}
	return list
}

// ask is for the anchor's row.
func (u *Auditor) ask(r *audited, at audit, a Action) Action {
	r.at, r.unsure, r.pending = at, false, 1
	a.Node, a.XID, a.Row.Key = r.gtrid.Anchor, XID{GTRID: r.gtrid}, r.row.Key
	return a
}

func (u *Auditor) report(r *audited, kind IncidentKind, n NodeID) Action {
	return Action{Do: DoReport, Node: r.gtrid.Anchor, Incident: Incident{Kind: kind, XID: XID{r.gtrid, n}}}
}
