package sqlparse

import (
	"errors"
	"strings"

	"kingshard/mysql/sqltext"
)

// ErrNested says that the text may be a tree so deep that walking it would end the process: the stack of a goroutine has a
// limit, and nothing recovers from reaching it.
var ErrNested = errors.New("the statement is nested too deeply for the proxy to read")

const (
	// parenthesesMax bounds open parentheses. A server gives up on about as many.
	parenthesesMax = 10_000
	// chainMax bounds the tokens of which each may be a level of the tree: a OR b OR c is a tree of two levels, 1, 2, 3 is
	// none. 600,000 levels take a quarter of the largest stack.
	chainMax = 200_000
)

// level is what is known of an open parenthesis; the outermost has none.
type level struct {
	chain int  // tokens since the last comma that ends an expression
	from  bool // in a list of tables, whose commas are joins: each makes the tree deeper
}

// nested reports whether a text is deeper than it may be. It takes trees for deeper than they are, and keeps nothing: the tokens of a long text
// take seventy times its length.
func nested(text string, m sqltext.Mode) bool {
	if len(text) < parenthesesMax {
		return false
	}
	n := nesting{levels: []level{{}}}
	deep := false
	eachToken(text, m, func(t token) bool {
		deep = n.deeper(t)
		return !deep
	})
	return deep
}

// nesting is how deep a text is at a token.
type nesting struct {
	levels []level
	total  int  // of all chains
	dotted bool // the last token was a dot
}

// deeper goes on by a token, and reports whether that is deeper than may be.
func (n *nesting) deeper(t token) bool {
	dotted := n.dotted
	n.dotted = t.word == "."
	top := &n.levels[len(n.levels)-1]
	switch t.word {
	case ",":
		if !top.from {
			n.total -= top.chain
			top.chain = 0
			return false
		}
	case ")":
		if len(n.levels) > 1 {
			n.total -= top.chain
			n.levels = n.levels[:len(n.levels)-1]
			return false
		}
	}
	top.chain++
	if n.total++; n.total > chainMax {
		return true
	}
	if t.word == "(" {
		if n.levels = append(n.levels, level{}); len(n.levels) > parenthesesMax {
			return true
		}
	}
	if t.Kind == sqltext.KindWord && !dotted {
		top.from = listsTables(t.word, top.from)
	}
	return false
}

// listsTables tells whether a list of tables may follow a word; was is the answer ahead of it.
func listsTables(word string, was bool) bool {
	if len(word) > len("having") {
		return was
	}
	switch strings.ToLower(word) {
	case "from", "update", "using":
		return true
	case "select", "set", "values", "where", "group", "having", "order", "limit":
		return false
	}
	return was
}
