package sqlparse

import (
	"testing"

	"kingshard/mysql/sqltext"
)

func TestLockingClause(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT a FROM t FOR UPDATE;":                                   "FOR UPDATE",
		"SELECT a FROM t WHERE a = 1 LIMIT 2 for share skip locked":     "for share skip locked",
		"SELECT a FROM t USE INDEX FOR ORDER BY (x) LOCK IN SHARE MODE": "LOCK IN SHARE MODE",
		"SELECT a FROM (SELECT 1 FOR UPDATE) t":                         "",
		"SELECT a FROM t, u FOR UPDATE OF t":                            "",
		"SELECT a FROM t":                                               "",
	} {
		clause, ok := LockingClause(text, sqltext.Mode{})
		got := ""
		if ok {
			got = text[clause.Pos:clause.End]
		}
		if got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
