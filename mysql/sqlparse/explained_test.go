package sqlparse

import (
	"testing"

	"kingshard/mysql/sqltext"
)

func TestExplained(t *testing.T) {
	for text, want := range map[string]string{
		"EXPLAIN SELECT 1":                                  "SELECT 1",
		"desc format=json select a from t":                  "select a from t",
		"EXPLAIN (SELECT 1) UNION ALL ((SELECT 2)) LIMIT 1": "(SELECT 1) UNION ALL ((SELECT 2)) LIMIT 1",
		"EXPLAIN ((SELECT 1))":                              "((SELECT 1))",
		"EXPLAIN /* a */ DELETE FROM t":                     "DELETE FROM t",
		"EXPLAIN FOR CONNECTION 5":                          "",
		"DESC t":                                            "",
	} {
		if got, ok := Explained(text, sqltext.Mode{}); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v, want %q", text, got, ok, want)
		}
	}
}
