package twophase

import "slices"

// Snapshot is what a reader has found on one node: the rows of ks_meta.dtx in the states Committed, Done and BranchRow that are visible to the
// transaction in which it reads the node's tables; see [Recent].
type Snapshot struct {
	Node NodeID
	Rows []Row
}

// Reading is what [Consistent] says.
type Reading uint8

// The readings.
const (
	// Whole is a set of snapshots in which each transaction is on all the nodes that it has changed, or on none.
	Whole Reading = iota + 1
	// Torn is one where that is not so, or not certain: all snapshots are to be dropped, and new ones to be taken.
	Torn
	// Ask is one that depends on the state of anchors that are not among the nodes.
	Ask
)

// Consistent tells whether the snapshots show all of each transaction or nothing, and with Ask the transactions whose anchors' rows are to be
// read, by a read of its own each. asked are the rows that were read so. What the snapshots were asked and the last answer may be Timing.Spread
// apart at most, by the reader's own clock; otherwise they are torn.
//
// A row is visible with what its transaction has changed on the same node, and so:
//   - Committed on an anchor wants the rows of all branches. Done does not: all of them have been there for longer than the snapshots are
//     apart, and may be deleted by now.
//   - A branch's row wants a row on the anchor, as that stays for longer than the snapshots are apart after the branch's is deleted. Where it
//     is not, the anchor's row is being deleted or was not there yet, which nobody can tell apart.
//   - Where the anchor is not among the nodes, a branch's row wants those of the other branches, unless the anchor's is Done.
func Consistent(secret Secret, snapshots []Snapshot, asked map[GTRID]*Row) (Reading, []GTRID) {
	nodes := make([]NodeID, len(snapshots))
	type key struct {
		node NodeID
		key  string
	}
	visible := map[key]State{}
	for k, s := range snapshots {
		nodes[k] = s.Node
		for _, row := range s.Rows {
			visible[key{s.Node, row.Key}] = row.State
		}
	}
	var ask []GTRID
	for _, s := range snapshots {
		for _, row := range s.Rows {
			anchor, branches, ok := ParseParts(row.Parts)
			_, g, branchRow := parseText(row.Key, branchPrefix)
			if !branchRow {
				if whole, err := ParseGTRID(row.Key); err == nil {
					g = whole
				}
			}
			if !ok || row.State == Done || branchRow != (row.State == BranchRow) {
				continue
			}
			g.Anchor = anchor
			scanned := slices.Contains(nodes, anchor)
			state := visible[key{anchor, g.String()}]
			if state == Done {
				continue
			}
			whole := !scanned || state == Committed
			for _, n := range branches {
				if slices.Contains(nodes, n) && visible[key{n, g.BranchKey(n)}] != BranchRow {
					whole = false
				}
			}
			switch anchors, known := asked[g]; {
			case whole || known && anchors != nil && anchors.State == Done && secret.Genuine(*anchors):
			case !secret.Genuine(row): // no proxy made it, so it is no transaction's; looked at last, as it takes the longest
			case scanned || known:
				return Torn, nil
			case !slices.Contains(ask, g):
				ask = append(ask, g)
			}
		}
	}
	if len(ask) > 0 {
		return Ask, ask
	}
	return Whole, nil
}
