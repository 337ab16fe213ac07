package sqlparse

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
)

func TestPieces(t *testing.T) {
	calls := map[string]bool{"sum": true, "count": true, "group_concat": true}
	for _, test := range []struct{ text, want string }{
		{"a", "a"},
		{"`a``b`.c + 'x' + @v", "a`b.c"},
		{"SUM(a * (b + 1)) / count(*)", "sum{a * (b + 1)} count{*}"},
		{"Count( DISTINCT  a, b )", "count!{  a, b }"},
		{"group_concat(distinct a order by b separator ')')", "group_concat!{ a order by b separator ')'}"},
		{"count (a)", "count{a}"},
		{"round(sum(a), 2)", "sum{a}"},
		{"db.sum(a)", "a"},
		{"x.sum + `sum`(a)", "x.sum sum a"},
		{"case when a > 1 then sum(b) end", "case when a then sum{b} end"},
		{"s.t.c IS NULL", "s.t.c IS NULL"},
		{"sum(a", "unclear"},
		{"'a", "unclear"},
	} {
		var got []string
		text := "  " + test.text + "  "
		pieces, ok := Pieces(text, Span{2, 2 + len(test.text)}, calls, sqltext.Mode{})
		for _, p := range pieces {
			if p.Call == "" {
				got = append(got, strings.Join(p.Path, "."))
				continue
			}
			distinct := map[bool]string{true: "!"}[p.Distinct]
			got = append(got, fmt.Sprintf("%s%s{%s}", p.Call, distinct, text[p.Inside.Pos:p.Inside.End]))
			if inner := text[p.Pos:p.End]; !strings.HasSuffix(inner, ")") || !strings.EqualFold(inner[:len(p.Call)], p.Call) {
				t.Errorf("%s: the call is %q", test.text, inner)
			}
		}
		if !ok {
			got = []string{"unclear"}
		}
		if shown := strings.Join(got, " "); shown != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.text, shown, test.want)
		}
	}
}

func TestSameText(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"YEAR(at)", "year( at /* x */ )", true},
		{"`at`", "at", false}, // a keyword is no name
		{"f('A')", "f('a')", false},
		{"f(?)", "f(?)", false},
		{"a + 1", "a + 2", false},
		{"a", "a b", false},
		{"'a", "'a", false},
	} {
		text := test.a + "\n" + test.b
		if got := SameText(text, Span{0, len(test.a)}, Span{len(test.a) + 1, len(text)}, sqltext.Mode{}); got != test.want {
			t.Errorf("%s and %s: %v", test.a, test.b, got)
		}
	}
}
