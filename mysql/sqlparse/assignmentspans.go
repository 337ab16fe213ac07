package sqlparse

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// AssignmentSpans are the places of the expressions of col = expr, ... behind SET of an UPDATE or INSERT, or with duplicate behind ON DUPLICATE KEY UPDATE, in
// their order; none where the text has no such list.
func AssignmentSpans(text string, m sqltext.Mode, duplicate bool) (exprs []Span) {
	tokens, ok := lex(text, m)
	if !ok {
		return nil
	}
	tokens = newScan(tokens).tokens
	k := listOfAssignments(tokens, duplicate)
	if k < 0 {
		return nil
	}
	for depth := 0; k < len(tokens); {
		for k < len(tokens) && tokens[k].word != "=" && tokens[k].word != ":=" {
			k++
		}
		begin := k + 1
		for k = begin; k < len(tokens); k++ {
			depth += tokens[k].nesting()
			if depth == 0 && (tokens[k].word == "," || endsAssignments(tokens, k)) {
				break
			}
		}
		if begin >= k {
			return nil
		}
		exprs = append(exprs, Span{tokens[begin].Pos, tokens[k-1].End})
		if k < len(tokens) && tokens[k].word != "," {
			break
		}
	}
	return exprs
}

// listOfAssignments returns the first token of the list, -1 without one.
func listOfAssignments(tokens []token, duplicate bool) int {
	depth := 0
	for k, t := range tokens {
		depth += t.nesting()
		switch {
		case depth > 0 || t.Kind != sqltext.KindWord || k > 0 && tokens[k-1].word == ".":
		case duplicate && k >= 3 && is(t, "update") && is(tokens[k-1], "key") && is(tokens[k-2], "duplicate"):
			return k + 1
		case !duplicate && is(t, "set"):
			return k + 1
		}
	}
	return -1
}

// endsAssignments reports whether the word at k begins what may follow assignments.
func endsAssignments(tokens []token, k int) bool {
	if tokens[k].Kind != sqltext.KindWord || tokens[k-1].word == "." {
		return false
	}
	switch strings.ToLower(tokens[k].word) {
	case "where", "order", "limit", "returning", "as":
		return true
	case "on":
		return k+1 < len(tokens) && is(tokens[k+1], "duplicate")
	}
	return false
}
