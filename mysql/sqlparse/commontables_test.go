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
