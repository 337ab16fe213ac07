package sqlparse

import (
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
)

func TestTableClauses(t *testing.T) {
	for _, c := range [...]struct{ text, partition, hints string }{
		{"FROM t", "", ""},
		{"FROM t JOIN u USE INDEX (i)", "", ""},
		{"FROM t WHERE a", "", ""},
		{"FROM t PARTITION (p0, `)`) WHERE a", "PARTITION (p0, `)`)", ""},
		{"FROM t PARTITION(p0) AS x USE INDEX (i), u", "PARTITION(p0)", "USE INDEX (i)"},
		{"FROM t x FORCE KEY FOR GROUP BY (i, j) IGNORE INDEX FOR JOIN (k) JOIN u", "", "FORCE KEY FOR GROUP BY (i, j) IGNORE INDEX FOR JOIN (k)"},
		{"FROM t USE INDEX () ORDER BY a", "", "USE INDEX ()"},
		{"FROM t USE INDEX", "", ""},
		{"FROM t PARTITION", "", ""},
		{"FROM t AS", "", ""},
	} {
		partition, hints := TableClauses(c.text, strings.Index(c.text, "t")+1, sqltext.Mode{})
		if got := c.text[partition.Pos:partition.End]; got != c.partition {
			t.Errorf("%s: %q, want %q", c.text, got, c.partition)
		}
		if got := c.text[hints.Pos:hints.End]; got != c.hints {
			t.Errorf("%s: %q, want %q", c.text, got, c.hints)
		}
	}
}
