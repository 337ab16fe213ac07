package sqlparse

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// JoinConditions finds the ON clauses of a FROM clause, whose first word is included, in the order of the text: those of its own joins, not of subqueries. Each begins with the word ON, as
// TakeApart wants it. ok is false where they are not certain.
func JoinConditions(text string, from Span, m sqltext.Mode) (list []Span, ok bool) {
	tokens, ok := lex(text[from.Pos:from.End], m)
	if !ok {
		return nil, false
	}
	var joined []bool       // of each open parenthesis: tables are within, not an expression or a subquery
	outside, on := 0, -1    // open parentheses around expressions and subqueries; the ON clause that goes on
	depth, table := 0, true // how many parentheses are open where that began; a table comes next
	end := func(k int) {
		if on >= 0 {
			list = append(list, Span{from.Pos + tokens[on].Pos, from.Pos + tokens[k-1].End})
			on = -1
		}
	}
	for k, t := range tokens {
		word := ""
		if t.Kind == sqltext.KindWord && (k == 0 || tokens[k-1].word != ".") {
			word = strings.ToLower(t.word)
		}
		switch n := t.nesting(); {
		case n > 0:
			next := k+1 < len(tokens) && !is(tokens[k+1], "select") && !is(tokens[k+1], "with") && !is(tokens[k+1], "values") && !is(tokens[k+1], "table")
			joined = append(joined, table && outside == 0 && next)
			if !joined[len(joined)-1] {
				outside++
				table = false
			}
			continue
		case n < 0:
			last := len(joined) - 1
			if last < 0 {
				return nil, false
			}
			if on >= 0 && last < depth {
				end(k)
			}
			if !joined[last] {
				outside--
			}
			joined, table = joined[:last], false
			continue
		case outside > 0:
			continue
		}
		switch {
		case word == "from" && k == 0, t.word == ",", word == "join", word == "straight_join":
			end(k)
			table = true
			continue
		case word == "inner", word == "cross", word == "natural", word == "using", (word == "left" || word == "right") && k+1 < len(tokens) && (is(tokens[k+1], "join") || is(tokens[k+1], "outer")):
			end(k)
		case word == "on":
			end(k)
			on, depth = k, len(joined)
		}
		table = table && word == "lateral"
	}
	if len(joined) > 0 {
		return nil, false
	}
	end(len(tokens))
	return list, true
}
