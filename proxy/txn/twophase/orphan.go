package twophase

import "strconv"

// orphan is where a [BranchAuditor] is with a branch's row.
//
//	deciding, the anchor's row is read ──> there, or not known
//	     └──> still, if it is missing: the branch's row is read again ──> reported, if that is there
type orphan uint8

const (
	orphanDeciding orphan = iota
	orphanStill
)

// BranchAuditor finds branches that were committed and whose anchor does not say so: what an [Auditor], which follows the anchors' rows, cannot see. A branch's
// row is there only once the branch is committed, and is deleted ahead of the anchor's, so that an anchor without one, between two looks at the same branch's,
// has lost its transaction, or never had it. No clock decides anything, and no auditor need know of another.
type BranchAuditor struct {
	secret Secret
	rows   map[XID]orphan
}

// NewBranchAuditor returns that of a process.
func NewBranchAuditor(secret Secret) *BranchAuditor {
	return &BranchAuditor{secret: secret, rows: map[XID]orphan{}}
}

// ListBranches returns the query for the next branches' rows of the node n behind the key after; the first ones come with "". Rows that are younger than
// olderThan, in seconds by the server's clock, are left to the [Auditor], which looks at them soon.
func ListBranches(n NodeID, after string, olderThan, limit int) string {
	prefix := branchPrefix + n.String()
	return columns + "gtrid > " + quote(max(after, prefix)) + " AND gtrid < " + quote(prefix+"g") +
		" AND state = 'B' AND ts < NOW(6) - INTERVAL " + strconv.Itoa(olderThan) + " SECOND ORDER BY gtrid LIMIT " + strconv.Itoa(limit)
}

// Listed takes branches' rows of the node n; see [ListBranches].
func (u *BranchAuditor) Listed(n NodeID, rows []Row) []Action {
	var todo []Action
	for _, row := range rows {
		node, g, ok := parseText(row.Key, branchPrefix)
		anchor, _, known := ParseParts(row.Parts)
		if !ok || node != n {
			continue
		}
		g.Anchor = anchor
		x := XID{g, n}
		switch {
		case !known || !u.secret.Genuine(row):
			todo = append(todo, u.report(IncidentForged, x))
		default:
			u.rows[x] = orphanDeciding
			todo = append(todo, Action{Do: DoRead, Node: anchor, XID: x, Row: Row{Key: g.String()}})
		}
	}
	return todo
}

// Answered takes the answer to an action about the branch x.
func (u *BranchAuditor) Answered(x XID, a Answer) []Action {
	at, asked := u.rows[x]
	if !asked || (at == orphanStill) != (a.Key == x.BranchKey(x.Node)) {
		return nil // it is the answer to what was asked behind an earlier list
	}
	delete(u.rows, x)
	if a.Result != OK {
		return nil // the next list begins anew
	}
	if at == orphanStill {
		if a.Row == nil {
			return nil
		}
		return []Action{u.report(IncidentUndecided, x)}
	}
	if a.Row == nil {
		u.rows[x] = orphanStill
		return []Action{{Do: DoRead, Node: x.Node, XID: x, Row: Row{Key: x.BranchKey(x.Node)}}}
	}
	if state, _ := u.secret.verdict(*a.Row); state == Aborted {
		return []Action{u.report(IncidentHalf, x)}
	}
	return nil
}

func (u *BranchAuditor) report(kind IncidentKind, x XID) Action {
	return Action{Do: DoReport, Node: x.Node, Incident: Incident{Kind: kind, XID: x}}
}
