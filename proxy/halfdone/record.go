package halfdone

import (
	"slices"
	"strings"
	"time"
)

// What became of a change on a node.
const (
	Kept       = "kept"        // the server has it
	Unknown    = "unknown"     // the connection broke before the server said so
	RolledBack = "rolled back" // it was, or is when the server finds the connection closed
)

// Record is a change that is not known to be whole. It holds none of the statement's values.
type Record struct {
	ID        uint64    `json:"id"` // from 1; given by the book
	At        time.Time `json:"at"`
	User      string    `json:"user"`
	Client    string    `json:"client"`  // address and port
	Session   uint32    `json:"session"` // the connection id that the client saw
	DB        string    `json:"db,omitempty"`
	Statement string    `json:"statement"` // without its values
	Nodes     []Node    `json:"nodes"`
	Cause     string    `json:"cause,omitempty"`
	// OnDisk says that the record outlives the process.
	OnDisk bool `json:"-"`
}

// Node is what became of a change on one node.
type Node struct {
	Name    string `json:"name"`
	Addr    string `json:"addr"`
	Thread  uint32 `json:"thread"` // the connection id at the server, as its binary log may show it
	Outcome string `json:"outcome"`
}

// Names joins the names of the nodes with an outcome.
func (r *Record) Names(outcome string) string {
	var names []string
	for _, n := range r.Nodes {
		if n.Outcome == outcome {
			names = append(names, n.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Outcomes tells of all nodes, such as "kept: n1, n3; unknown: n2".
func (r *Record) Outcomes() string {
	var parts []string
	for _, outcome := range []string{Kept, Unknown, RolledBack} {
		if names := r.Names(outcome); names != "" {
			parts = append(parts, outcome+": "+names)
		}
	}
	return strings.Join(parts, "; ")
}

// Bounds of a record's texts, in bytes, and of its nodes.
const (
	StatementMax = 2000
	causeMax     = 500
	nodesMax     = 1000
)

// bounded is the record within the bounds, with memory of its own.
func (r Record) bounded() Record {
	cut := func(text string, most int) string {
		if len(text) > most {
			text = strings.ToValidUTF8(text[:most-len("...")], "") + "..."
		}
		return strings.Clone(text)
	}
	r.User, r.Client, r.DB = cut(r.User, causeMax), cut(r.Client, causeMax), cut(r.DB, causeMax)
	r.Statement, r.Cause = cut(r.Statement, StatementMax), cut(r.Cause, causeMax)
	r.Nodes = slices.Clone(r.Nodes[:min(len(r.Nodes), nodesMax)])
	return r
}
