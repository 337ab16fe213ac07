package sqlparse

import (
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
)

// The query block around a table is the one whose FROM names it, to its end.
func TestBlockAround(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT a FROM t WHERE b = 1":                                              "SELECT a FROM t WHERE b = 1",
		"SELECT a FROM (SELECT * FROM t WHERE b = (1)) d WHERE c = 2":              "SELECT * FROM t WHERE b = (1)",
		"SELECT a FROM u WHERE a IN (SELECT b FROM (t JOIN v USING (x)) LIMIT 1)":  "SELECT b FROM (t JOIN v USING (x)) LIMIT 1",
		"SELECT a FROM t WHERE EXISTS (SELECT * FROM u WHERE u.a = 1)":             "SELECT a FROM t WHERE EXISTS (SELECT * FROM u WHERE u.a = 1)",
		"SELECT (SELECT MAX(a) FROM u), b FROM t":                                  "SELECT (SELECT MAX(a) FROM u), b FROM t",
		"WITH c AS (SELECT a FROM t WHERE b = 1) SELECT * FROM c":                  "SELECT a FROM t WHERE b = 1",
		"WITH c AS (SELECT 1) SELECT a FROM t WHERE b = 1":                         "SELECT a FROM t WHERE b = 1",
		"SELECT a FROM (WITH c AS (SELECT 1) SELECT a FROM t WHERE b = 1) d":       "SELECT a FROM t WHERE b = 1",
		"SELECT a FROM ((t)) WHERE b = 1":                                          "SELECT a FROM ((t)) WHERE b = 1",
		"(SELECT a FROM t WHERE b = 1)":                                            "SELECT a FROM t WHERE b = 1",
		"SELECT 1 UNION SELECT a FROM t":                                           "",
		"SELECT a FROM (SELECT 1 UNION SELECT a FROM t) d":                         "",
		"(SELECT 1) UNION (SELECT a FROM t WHERE b = 1)":                           "SELECT a FROM t WHERE b = 1",
		"SELECT '(', ')' FROM t WHERE b = ')'":                                     "SELECT '(', ')' FROM t WHERE b = ')'",
		"SELECT a FROM t WHERE b = 1)":                                             "",
		"SELECT a FROM u LEFT JOIN (SELECT * FROM t /* ) */ WHERE b) d ON d.a = 1": "SELECT * FROM t /* ) */ WHERE b",
	} {
		at := strings.Index(text, " t")
		if at < 0 {
			at = strings.Index(text, "(t") // with parentheses
		}
		at++
		block, ok := BlockAround(text, Span{at, at + 1}, sqltext.Mode{})
		if got := text[block.Pos:block.End]; ok != (want != "") || got != want {
			t.Errorf("%s: %q, %v, want %q", text, got, ok, want)
		}
	}
}
