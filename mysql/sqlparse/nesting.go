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

// nested tells whether a text is deeper than it may be. It takes trees for deeper than they are.
func nested(tokens []token) bool {
	levels := []level{{}}
	total := 0 // of all chains
	for k, t := range tokens {
		top := &levels[len(levels)-1]
		switch t.word {
		case ",":
			if !top.from {
				total -= top.chain
				top.chain = 0
				continue
			}
		case ")":
			if len(levels) > 1 {
				total -= top.chain
				levels = levels[:len(levels)-1]
				continue
			}
		}
		top.chain++
		if total++; total > chainMax {
			return true
		}
		if t.word == "(" {
			if levels = append(levels, level{}); len(levels) > parenthesesMax {
				return true
			}
		}
		if t.Kind == sqltext.KindWord && (k == 0 || tokens[k-1].word != ".") {
			top.from = listsTables(t.word, top.from)
		}
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
