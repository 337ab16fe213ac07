package sqlparse

import (
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
)

// outline writes a condition with its parts in brackets: & between those of an AND, | of an OR.
func outline(text string, c ConditionText) string {
	if c.Parts == nil {
		return text[c.Pos:c.End]
	}
	sign := " & "
	if c.Op == Or {
		sign = " | "
	}
	var parts []string
	for _, p := range c.Parts {
		parts = append(parts, outline(text, p))
	}
	return "[" + strings.Join(parts, sign) + "]"
}

func TestTakeApart(t *testing.T) {
	for _, c := range [...]struct{ condition, want string }{
		{"a = 1", "a = 1"},
		{"a = 1 AND b = 2 && c", "[a = 1 & b = 2 & c]"},
		{"a OR b AND c", "[a | [b & c]]"},
		{"(a OR b) AND (c)", "[[a | b] & (c)]"},
		{"((a AND b)) AND c AND (d AND (e OR (f OR g)))", "[a & b & c & d & [e | f | g]]"},
		{"a BETWEEN 1 AND 2 AND b NOT BETWEEN (1 AND 2) AND 3 OR c", "[[a BETWEEN 1 AND 2 & b NOT BETWEEN (1 AND 2) AND 3] | c]"},
		{"NOT EXISTS (SELECT 1 FROM t WHERE a AND b) AND NOT c", "[NOT EXISTS (SELECT 1 FROM t WHERE a AND b) & NOT c]"},
		{"(SELECT a AND b FROM t) OR (WITH c AS (SELECT 1) SELECT 1 OR 2) OR (TABLE t)", "[(SELECT a AND b FROM t) | (WITH c AS (SELECT 1) SELECT 1 OR 2) | (TABLE t)]"},
		{"(a) = (b) AND (c)", "[(a) = (b) & (c)]"},
		{"CASE WHEN a AND b THEN c OR d END AND e", "[CASE WHEN a AND b THEN c OR d END & e]"},
		{"t.and AND t.`or` = 'x OR y'", "[t.and & t.`or` = 'x OR y']"},
		{"a AND b XOR c", "a AND b XOR c"},
		{"(a AND b XOR c) AND d", "[(a AND b XOR c) & d]"},
		{"a || b AND c", "a || b AND c"},
		{"a AND @x := b", "a AND @x := b"},
		{"f(a, b AND c) AND (a, b) IN ((1, 2))", "[f(a, b AND c) & (a, b) IN ((1, 2))]"},
	} {
		text := "WHERE " + c.condition
		got, ok := TakeApart(text, Span{0, len(text)}, sqltext.Mode{})
		if !ok || outline(text, got) != c.want {
			t.Errorf("%s: %s, want %s", c.condition, outline(text, got), c.want)
		}
	}
	if _, ok := TakeApart("WHERE", Span{0, 5}, sqltext.Mode{}); ok {
		t.Error("a condition without text is taken apart")
	}
}
