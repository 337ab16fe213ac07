package sqlparse

import (
	"fmt"
	"testing"

	"kingshard/mysql/sqltext"
)

func TestCommonTables(t *testing.T) {
	for text, want := range map[string]string{
		"WITH a AS (SELECT 1) SELECT * FROM a": "a: a AS (SELECT 1); ",
		"with recursive `a b` (x, y) as (select (1), 2 union select 3, (4)), c AS (SELECT ')') SELECT 1": "a b: `a b` (x, y) as (select (1), 2 union select 3, (4)); c: c AS (SELECT ')'); ",
		"SELECT 1":                               "none",
		"(WITH a AS (SELECT 1) SELECT * FROM a)": "none",
		"WITH a AS":                              "none",
		"WITH":                                   "none",
	} {
		list, _, ok := CommonTables(text, sqltext.Mode{})
		got := ""
		for _, c := range list {
			got += fmt.Sprintf("%s: %s; ", c.Name, text[c.Definition.Pos:c.Definition.End])
		}
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("%s: %s, not %s", text, got, want)
		}
	}
}

func TestWithClauses(t *testing.T) {
	for text, want := range map[string]string{
		"WITH a AS (SELECT 1) SELECT * FROM a":                                                        "0-36 a",
		"SELECT * FROM (WITH RECURSIVE a AS (SELECT 1), b AS (SELECT 2) SELECT * FROM a) c":           "15-78 recursive a b",
		"WITH a AS (WITH b AS (SELECT 1) SELECT 2) SELECT (WITH c AS (SELECT 3) SELECT 4) FROM a":     "0-87 a; 11-40 b; 50-79 c",
		"SELECT 'WITH a AS (', `with` FROM t GROUP BY x WITH ROLLUP":                                  "",
		"(WITH a AS (SELECT 1) SELECT * FROM a) UNION (WITH b AS (SELECT 2) SELECT * FROM b) LIMIT 1": "1-37 a; 46-82 b",
		"WITH a AS (SELECT 1) SELECT * FROM a)":                                                       "not read",
		"WITH a AS (SELECT 1":                                                                         "not read",
	} {
		list, ok := WithClauses(text, sqltext.Mode{})
		got := ""
		for k, c := range list {
			if k > 0 {
				got += "; "
			}
			got += fmt.Sprintf("%d-%d", c.Scope.Pos, c.Scope.End)
			if c.Recursive {
				got += " recursive"
			}
			for _, table := range c.List {
				got += " " + table.Name
			}
		}
		if !ok {
			got = "not read"
		}
		if got != want {
			t.Errorf("%s: %s, not %s", text, got, want)
		}
	}
}

// A WITH clause within parentheses that are a part of a set operation is one clause, and its tables are named once.
func TestWithInParentheses(t *testing.T) {
	const text = "(WITH x AS (SELECT id FROM users) SELECT id FROM x) UNION (WITH y AS (SELECT id FROM orders) SELECT id FROM y)"
	st, err := Parse(text, sqltext.Mode{}, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, table := range st.Tables {
		names += table.Name + " "
	}
	st.Query.Each(func(q *Query) { names += fmt.Sprint(q.Names) }, func(*Expr) {})
	if want := "users x orders y [][][x][][][y][]"; names != want {
		t.Errorf("%s, not %s", names, want)
	}
}
