package twophase

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// State is what a row of ks_meta.dtx says.
type State byte

// The states. The first three are of anchors' rows, whose key is the gtrid; the key of a branch's row is that of [GTRID.BranchKey].
const (
	// Committed is decided: the row was inserted by the anchor's own transaction, and is visible with what that has changed.
	Committed State = 'C'
	// Aborted is decided, too: while the row is there nobody can insert Committed.
	Aborted State = 'A'
	// Done is Committed where all branches' rows were seen a while ago; those rows may be gone.
	Done State = 'D'
	// BranchRow is a branch's, visible with what the branch has changed.
	BranchRow State = 'B'
)

// BranchesMax is how many nodes a transaction may change: what the column parts has room for.
const BranchesMax = PartsLen / (nodeLen + 1)

// The lengths of the columns of ks_meta.dtx.
const (
	PartsLen = 512
	ConnsLen = 512
)

// Row is a row of ks_meta.dtx.
type Row struct {
	Key   string
	State State
	Parts string // the anchor, and the nodes whose branches have rows; see Parts
	Conns string // the holders of the anchor's transaction and, in a branch's row, of the branch; see Conns
	MAC   string
}

// Secret is the key that rows are signed with, which the proxies have and clients have not.
type Secret []byte

// sign returns the row with its MAC. What is signed of Done is Committed: it comes of that by an UPDATE, which clients cannot send.
func (s Secret) sign(r Row) Row {
	r.MAC = s.mac(r)
	return r
}

func (s Secret) mac(r Row) string {
	h := hmac.New(sha256.New, s)
	state := r.State
	if state == Done {
		state = Committed
	}
	// None of the texts has a line feed, so that each sum is of one row.
	h.Write([]byte(r.Key + "\n" + string(rune(state)) + "\n" + r.Parts + "\n" + r.Conns + "\n"))
	return hex.EncodeToString(h.Sum(nil))
}

// Genuine reports whether a proxy has made the row.
func (s Secret) Genuine(r Row) bool { return hmac.Equal([]byte(s.mac(r)), []byte(r.MAC)) }

// verdict is what an anchor's row means for the branches. A row that is not genuine means Aborted: the key is taken, so that no proxy can
// have decided Committed before and none can from now on; forged says so.
func (s Secret) verdict(r Row) (state State, forged bool) {
	switch r.State {
	case Committed, Done:
		if s.Genuine(r) {
			return Committed, false
		}
	case Aborted:
		return Aborted, !s.Genuine(r)
	}
	return Aborted, true
}

// Parts returns the text of the column: the anchor's id, then those of the branches that have rows.
func Parts(anchor NodeID, branches []NodeID) string {
	b := append(make([]byte, 0, (nodeLen+1)*(len(branches)+1)), anchor.String()...)
	for _, n := range branches {
		b = append(append(b, ','), n.String()...)
	}
	return string(b)
}

// ParseParts undoes Parts.
func ParseParts(s string) (anchor NodeID, branches []NodeID, ok bool) {
	for k, part := range strings.Split(s, ",") {
		n, good := parseHex(part)
		switch {
		case !good || len(part) != nodeLen:
			return 0, nil, false
		case k == 0:
			anchor = NodeID(n)
		case NodeID(n) == anchor || slices.Contains(branches, NodeID(n)):
			return 0, nil, false
		default:
			branches = append(branches, NodeID(n))
		}
	}
	return anchor, branches, true
}

// Holder is the connection that a transaction or branch is on: what the server calls itself, a colon, and the connection's id there. A
// server that is replaced calls itself otherwise: @@server_uuid does, in MariaDB what the caller makes of the server's address.
type Holder string

// Server returns what is ahead of the colon.
func (h Holder) Server() string {
	if k := strings.LastIndexByte(string(h), ':'); k >= 0 {
		return string(h[:k])
	}
	return ""
}

// Connection returns the connection's id, 0 where there is none.
func (h Holder) Connection() uint64 {
	id, err := strconv.ParseUint(string(h[strings.LastIndexByte(string(h), ':')+1:]), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// conns returns the text of the column.
func conns(branches ...Branch) string {
	var list []string
	for _, b := range branches {
		list = append(list, b.Node.String()+"="+string(b.Holder))
	}
	return strings.Join(list, ",")
}

// holderOf returns a node's entry of conns, "" if there is none.
func holderOf(conns string, n NodeID) Holder {
	for _, entry := range strings.Split(conns, ",") {
		if holder, ok := strings.CutPrefix(entry, n.String()+"="); ok {
			return Holder(holder)
		}
	}
	return ""
}
