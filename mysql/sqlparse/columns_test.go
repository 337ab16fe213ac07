package sqlparse

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"kingshard/mysql/sqltext"
)

// A statement names columns, or all of them by a star; that of EXISTS (SELECT * ...) asks for none.
func TestColumns(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT a FROM t WHERE B = 1 ORDER BY c": "[a b c] false",
		"SELECT * FROM t":                        "[] true",
		"SELECT t.* FROM t":                      "[] true",
		"SELECT a FROM t NATURAL JOIN u":         "[a] true",
		"SELECT a FROM t WHERE EXISTS (SELECT * FROM u WHERE u.b = t.c)":                     "[a b c] false",
		"SELECT a FROM t WHERE NOT EXISTS (SELECT u.* FROM u WHERE u.b = t.c)":               "[a b c] false",
		"SELECT * FROM t WHERE EXISTS (SELECT * FROM u)":                                     "[] true",
		"SELECT a FROM t WHERE EXISTS (SELECT * FROM (SELECT * FROM u) d)":                   "[a] true",
		"SELECT a FROM t WHERE EXISTS (SELECT * FROM u UNION SELECT * FROM v)":               "[a] true",
		"SELECT a FROM t WHERE EXISTS (SELECT DISTINCT * FROM u)":                            "[a] true",
		"SELECT a FROM t WHERE EXISTS (SELECT * FROM u GROUP BY b)":                          "[a b] true",
		"SELECT a FROM t WHERE EXISTS (SELECT * FROM u WHERE EXISTS (SELECT * FROM v))":      "[a] false",
		"SELECT a FROM t WHERE (SELECT COUNT(*) FROM u) > 1 AND b IN (SELECT * FROM v)":      "[a b] true",
		"SELECT EXISTS (SELECT * FROM u), a FROM t":                                          "[a] false",
		"SELECT a FROM t WHERE EXISTS (SELECT * FROM u NATURAL JOIN v)":                      "[a] true",
		"SELECT a FROM t WHERE EXISTS (SELECT * FROM u HAVING b > 1)":                        "[a b] true",
		"SELECT a FROM t WHERE EXISTS (WITH d AS (SELECT * FROM u) SELECT * FROM d LIMIT 1)": "[a] true",
	} {
		st, err := Parse(text, sqltext.Mode{}, func(string) bool { return true })
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		names, every := st.Columns()
		if got := fmt.Sprint(slices.Sorted(maps.Keys(names)), every); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
