package twophase

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// FormatID is the formatID that the xid of each branch has. MySQL 8.0.30 and later can lose prepared branches when a binary log has several (bug #120125).
const FormatID = 1

// gtridPrefix begins all gtrids; a format of another kind is to have another one of the same length.
const gtridPrefix = "ks1"

// branchPrefix begins the keys of branches' rows, which lie in one table with the anchors' where two nodes are one server.
const branchPrefix = "ksb"

// The lengths are fixed, as servers have compared the bytes of two xids without their lengths.
const (
	gtridLen = len(gtridPrefix) + 8 + 8 + 8 + 10
	nodeLen  = 8
)

// SequenceMax is the largest sequence number that a GTRID has room for.
const SequenceMax = 1<<40 - 1

// Errors of [ParseXID].
var (
	// ErrNotOurs says that somebody else than a proxy has made the xid.
	ErrNotOurs = errors.New("twophase: the xid is not one of this protocol")
	// ErrFormatID says that a format id other than [FormatID] is in use on the server: branches can get lost when it crashes.
	ErrFormatID = errors.New("twophase: the xid has a foreign format id")
)

// NodeID stands for a node in xids and rows: the first 32 bits of the SHA-256 of its configured name.
type NodeID uint32

// NodeIDOf returns the id of the node with the name given.
func NodeIDOf(name string) NodeID {
	sum := sha256.Sum256([]byte(name))
	return NodeID(binary.BigEndian.Uint32(sum[:]))
}

// SameID returns two names with one id. Such nodes cannot be in one configuration.
func SameID(names []string) (one, other string, found bool) {
	seen := make(map[NodeID]string, len(names))
	for _, name := range names {
		id := NodeIDOf(name)
		if before, ok := seen[id]; ok && before != name {
			return before, name, true
		}
		seen[id] = name
	}
	return "", "", false
}

// String returns the id as it is in xids, 8 hexadecimal digits.
func (n NodeID) String() string { return string(appendHex(nil, uint64(n), nodeLen)) }

// GTRID names a transaction, and tells where its decision is: on its anchor.
type GTRID struct {
	Anchor   NodeID
	Proxy    uint32 // differs among the proxies that run
	Start    uint32 // when it began, in seconds since 1970 by the proxy's clock
	Sequence uint64 // at most SequenceMax; a process begins at a random one
}

// String returns the gtrid as servers have it.
func (g GTRID) String() string { return g.text(gtridPrefix, g.Anchor) }

// BranchKey returns the key of the row that a branch on the node n leaves there.
func (g GTRID) BranchKey(n NodeID) string { return g.text(branchPrefix, n) }

func (g GTRID) text(prefix string, n NodeID) string {
	b := append(make([]byte, 0, gtridLen), prefix...)
	b = appendHex(b, uint64(n), nodeLen)
	b = appendHex(b, uint64(g.Proxy), 8)
	b = appendHex(b, uint64(g.Start), 8)
	return string(appendHex(b, g.Sequence&SequenceMax, 10))
}

// ParseGTRID returns the transaction whose String is s, or [ErrNotOurs].
func ParseGTRID(s string) (GTRID, error) {
	n, g, ok := parseText(s, gtridPrefix)
	if !ok {
		return GTRID{}, ErrNotOurs
	}
	g.Anchor = n
	return g, nil
}

// parseText undoes GTRID.text, but for the anchor, which the key of a branch does not have.
func parseText(s, prefix string) (NodeID, GTRID, bool) {
	if len(s) != gtridLen || !strings.HasPrefix(s, prefix) {
		return 0, GTRID{}, false
	}
	n, ok1 := parseHex(s[3:11])
	proxy, ok2 := parseHex(s[11:19])
	start, ok3 := parseHex(s[19:27])
	sequence, ok4 := parseHex(s[27:])
	return NodeID(n), GTRID{Proxy: uint32(proxy), Start: uint32(start), Sequence: sequence}, ok1 && ok2 && ok3 && ok4
}

// XID names a branch: that of a transaction on a node other than its anchor.
type XID struct {
	GTRID
	Node NodeID
}

// String returns the xid as XA statements take it.
func (x XID) String() string { return "'" + x.GTRID.String() + "','" + x.Node.String() + "',1" }

// ParseXID returns the branch that a row of XA RECOVER is about; data is the column's gtrid and bqual, one behind the other. The error is
// [ErrNotOurs] for an xid of somebody else's with the usual format id, and wraps [ErrFormatID] for all that have another one.
func ParseXID(formatID int64, gtridLength, bqualLength int, data string) (XID, error) {
	if formatID != FormatID {
		return XID{}, fmt.Errorf("%w, %d: %x", ErrFormatID, formatID, data)
	}
	if gtridLength != gtridLen || bqualLength != nodeLen || len(data) != gtridLen+nodeLen {
		return XID{}, ErrNotOurs
	}
	g, err := ParseGTRID(data[:gtridLen])
	n, ok := parseHex(data[gtridLen:])
	if err != nil || !ok || NodeID(n) == g.Anchor { // an anchor's branch is no XA transaction
		return XID{}, ErrNotOurs
	}
	return XID{GTRID: g, Node: NodeID(n)}, nil
}

// appendHex appends the last digits of v in lower case.
func appendHex(b []byte, v uint64, digits int) []byte {
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[v>>shift&15])
	}
	return b
}

// parseHex is strconv's without signs, underscores and capitals, so that each number has one text.
func parseHex(s string) (v uint64, ok bool) {
	for k := range len(s) {
		switch c := s[k]; {
		case '0' <= c && c <= '9':
			v = v<<4 | uint64(c-'0')
		case 'a' <= c && c <= 'f':
			v = v<<4 | uint64(c-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}
