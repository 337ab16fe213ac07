// Package stored knows what a server's stored objects - triggers, stored functions and procedures, views over these, tables that
// draw from sequences - leave behind in the session of a statement that reaches them. [Ask] asks a server; what it finds is an
// immutable [Objects]. MySQL manual: "Stored Objects".
package stored

import (
	"slices"
	"strings"

	"kingshard/mysql/sqltext"
)

// Effects are what reaching a stored object may do to a session.
type Effects uint8

const (
	// UserVariables: user variables may be written.
	UserVariables Effects = 1 << iota
	// State: anything else may stay in the session: system variables, temporary tables, locks, last values of sequences.
	State
	// LastInsertID: the session's LAST_INSERT_ID() is read.
	LastInsertID
)

// Unknown are the effects of what nothing is known of.
const Unknown = UserVariables | State | LastInsertID

// Objects are the stored objects of a server that have effects, by name. It is immutable. A nil Objects knows nothing yet: every
// statement about tables may have any effect.
type Objects struct {
	hidden bool // the server does not tell
	byName map[string][]entry
	// blind are the databases whose triggers the account cannot see.
	blind []string
	// Fresh is what a fresh session answers to Traces.
	Fresh string
	// Blind says why: rights that the account lacks, with the databases. Empty if it lacks none.
	Blind []string
	all   []object // for Amended
	asked asked
	// system says that all that has effects is in the servers' own databases.
	system bool
}

// entry is an object with effects.
type entry struct {
	schema      string
	read, write Effects // of a statement that reads, or writes, by this name
}

// wide stands for every name with a byte beyond ASCII: servers compare such names by a collation.
const wide = "\x80"

// fold gives the name under which an identifier is looked up.
func fold(name string) string {
	upper := false
	for k := range len(name) {
		if name[k] >= 0x80 {
			return wide
		}
		upper = upper || name[k] >= 'A' && name[k] <= 'Z'
	}
	if !upper {
		return name
	}
	return strings.ToLower(name)
}

// Plain reports whether no statement can leave anything behind by way of stored objects.
func (o *Objects) Plain() bool {
	return o != nil && len(o.byName) == 0 && len(o.blind) == 0 && !o.hidden
}

// PlainOutside reports whether nothing has effects that can be reached by statements that do not name any of the servers' own databases, and whose current database is none of them:
// MariaDB has routines with effects in mysql, which such a statement does not reach.
func (o *Objects) PlainOutside() bool { return o.Plain() || o != nil && o.system }

// Hidden returns the Objects of a server that does not tell: like nil, but for good.
func Hidden() *Objects { return &Objects{hidden: true} }

// Reach gives the effects that a statement may have by what its text names, in the current database db. writes tells
// whether it may change rows: a query reaches no trigger.
func (o *Objects) Reach(text, db string, m sqltext.Mode, writes bool) (e Effects) {
	if o == nil || o.hidden {
		return Unknown
	}
	if o.Plain() {
		return 0
	}
	db = fold(db)
	if writes && slices.Contains(o.blind, db) {
		return Unknown
	}
	for l := sqltext.NewLexer(text, m); ; {
		t := l.Next()
		if t.Kind == sqltext.KindEOF {
			if l.Doubt() {
				return Unknown
			}
			return e
		}
		if t.Kind == sqltext.KindWord && o.indifferent(text[t.Pos:t.End]) {
			continue
		}
		name, ok := identifier(text, t)
		if !ok {
			continue
		}
		if writes && slices.Contains(o.blind, name) {
			return Unknown
		}
		for _, list := range [...][]entry{o.byName[name], o.byName[wide]} {
			for _, x := range list {
				effects := x.read
				if writes {
					effects |= x.write
				}
				if effects&^e != 0 && (x.schema == db || x.schema == wide || mentions(text, x.schema, m)) {
					e |= effects
				}
			}
		}
		if name == wide {
			return e | o.any()
		}
	}
}

// indifferent reports whether an unquoted word is no name that matters. It allocates nothing, as most words are none.
func (o *Objects) indifferent(word string) bool {
	var room [64]byte
	if len(word) > len(room) || len(o.blind) > 0 || len(o.byName[wide]) > 0 {
		return false
	}
	for k := range len(word) {
		c := word[k]
		if c >= 0x80 {
			return false
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		room[k] = c
	}
	_, matters := o.byName[string(room[:len(word)])]
	return !matters
}

// any gives all effects that there are.
func (o *Objects) any() (e Effects) {
	for _, list := range o.byName {
		for _, x := range list {
			e |= x.read | x.write
		}
	}
	return e
}

// mentions reports whether a text has an identifier.
func mentions(text, name string, m sqltext.Mode) bool {
	for l := sqltext.NewLexer(text, m); ; {
		t := l.Next()
		if t.Kind == sqltext.KindEOF {
			return false
		}
		if found, ok := identifier(text, t); ok && found == name {
			return true
		}
	}
}

// identifier gives the folded name of a token that may be one.
func identifier(text string, t sqltext.Token) (name string, ok bool) {
	switch t.Kind {
	case sqltext.KindWord:
		return fold(text[t.Pos:t.End]), true
	case sqltext.KindQuotedIdent:
		if t.End-t.Pos < 2 {
			return "", false
		}
		quote := text[t.Pos : t.Pos+1]
		return fold(strings.ReplaceAll(text[t.Pos+1:t.End-1], quote+quote, quote)), true
	}
	return "", false
}

// Called gives the effects of functions of the server's own that a text calls, and of those that come with it in sys.
func Called(text string, m sqltext.Mode) (e Effects) {
	last := ""
	for l := sqltext.NewLexer(text, m); ; {
		t := l.Next()
		if t.Kind == sqltext.KindEOF {
			return e
		}
		name, _ := identifier(text, t)
		switch {
		case name == "nextval", name == "setval", last == "next" && name == "value":
			e |= State
		case name == Sys:
			e |= UserVariables
		}
		last = name
	}
}

// Covers reports whether whatever has effects by other has them by o, too.
func (o *Objects) Covers(other *Objects) bool {
	if o == nil || o.hidden {
		return true
	}
	if other == nil || other.hidden {
		return false
	}
	for name, list := range other.byName {
		for _, x := range list {
			if !slices.ContainsFunc(o.byName[name], func(y entry) bool { return y.schema == x.schema && x.read&^y.read == 0 && x.write&^y.write == 0 }) {
				return false
			}
		}
	}
	return true
}
