package sqlparse

import (
	"slices"
	"strings"

	"kingshard/mysql/sqltext"
)

// ConditionText is the text of a condition, taken apart at its ANDs and ORs as far as parentheses go.
type ConditionText struct {
	Span
	// Op is And or Or, for a condition that is taken apart.
	Op Op
	// Parts are two at the least; none if the condition is not taken apart.
	Parts []ConditionText
}

// TakeApart takes the condition of a WHERE clause apart, whose first word is included. What has operators that bind looser, XOR and := and ||, is left whole.
func TakeApart(text string, where Span, m sqltext.Mode) (c ConditionText, ok bool) {
	tokens, ok := lex(text[where.Pos:where.End], m)
	if !ok || len(tokens) < 2 {
		return c, false
	}
	return takeApart(tokens[1:], where.Pos), true
}

// takeApart takes the condition of tokens apart, one at the least. Spans count from at, where the tokens' text begins.
func takeApart(tokens []token, at int) ConditionText {
	whole := ConditionText{Span: Span{at + tokens[0].Pos, at + tokens[len(tokens)-1].End}}
	if inside := unwrapped(tokens); len(inside) > 0 {
		if c := takeApart(inside, at); c.Parts != nil {
			c.Span = whole.Span
			return c
		}
		return whole
	}
	ands, ors, ok := connectives(tokens)
	cuts, op := ands, And
	if len(ors) > 0 {
		cuts, op = ors, Or
	}
	if !ok || len(cuts) == 0 {
		return whole
	}
	whole.Op = op
	begin := 0
	for _, end := range append(cuts, len(tokens)) {
		if begin == end {
			return ConditionText{Span: whole.Span}
		}
		part := takeApart(tokens[begin:end], at)
		if part.Parts != nil && part.Op == op {
			whole.Parts = append(whole.Parts, part.Parts...)
		} else {
			whole.Parts = append(whole.Parts, part)
		}
		begin = end + 1
	}
	return whole
}

// unwrapped returns what is within the parentheses around a condition; nil where there are none, or a subquery's.
func unwrapped(tokens []token) []token {
	last := len(tokens) - 1
	if last < 2 || tokens[0].nesting() != 1 || slices.ContainsFunc([]string{"select", "with", "values", "table"}, func(w string) bool { return is(tokens[1], w) }) {
		return nil
	}
	depth := 0
	for k, t := range tokens {
		if depth += t.nesting(); depth == 0 && k < last {
			return nil
		}
	}
	return tokens[1:last]
}

// connectives finds the ANDs and ORs of a condition's outermost level; ok is false where others bind looser than one of them.
func connectives(tokens []token) (ands, ors []int, ok bool) {
	depth, cases, betweens := 0, 0, 0
	for k, t := range tokens {
		word := ""
		if t.Kind == sqltext.KindWord && (k == 0 || tokens[k-1].word != ".") { // behind a point it is a name
			word = strings.ToLower(t.word)
		}
		depth += t.nesting()
		switch {
		case depth > 0:
		case word == "case":
			cases++
		case word == "end" && cases > 0:
			cases--
		case cases > 0:
		case word == "xor" || t.word == "||" || t.word == ":=":
			return nil, nil, false
		case word == "between":
			betweens++
		case word == "or":
			ors = append(ors, k)
		case (word == "and" || t.word == "&&") && betweens > 0:
			betweens--
		case word == "and" || t.word == "&&":
			ands = append(ands, k)
		}
	}
	return ands, ors, true
}
