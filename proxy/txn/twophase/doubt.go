package twophase

import (
	"cmp"
	"slices"
	"time"
)

// Wait is what a [Resolver] waits for before it can end a branch.
type Wait uint8

// What it waits for.
const (
	WaitCoordinator Wait = iota // who prepared the branch, for Timing.ResolveAfter
	WaitBranch                  // an answer of the branch's node
	WaitAnchor                  // an answer of the anchor's node, which has the decision
	WaitHolder                  // the end of the connection that holds the branch
	WaitOperator                // an operator's decision: there is none, and the branch is older than decisions are kept
	WaitNothing                 // the branch was ended, and is gone when the server is asked next
)

// Doubt is a branch that is prepared on a server.
type Doubt struct {
	XID   XID
	Seen  time.Duration // since when this process has found it prepared
	Waits Wait
}

// Doubts lists the branches that the last XA RECOVER of their node has listed and that were not ended since, in the order of their transactions.
func (r *Resolver) Doubts(now time.Duration) []Doubt {
	var list []Doubt
	for _, f := range r.found {
		if f.listed && f.waits != WaitNothing {
			list = append(list, Doubt{XID: f.xid, Seen: now - f.first, Waits: f.waits})
		}
	}
	slices.SortFunc(list, func(a, b Doubt) int {
		return cmp.Or(cmp.Compare(a.XID.GTRID.String(), b.XID.GTRID.String()), cmp.Compare(a.XID.Node, b.XID.Node))
	})
	return list
}
