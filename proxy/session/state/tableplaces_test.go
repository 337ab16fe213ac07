package state

import (
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
)

// A table is told from a column, an alias and the name of a query by where it stands, at any depth.
func TestTablePlaces(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // for each x of the query: whether it is a table
	}{
		{"SELECT 1, x FROM x", "no yes"}, {"SELECT x, (x), f(x, x) FROM x, x JOIN x", "no no no no yes yes yes"}, {"SELECT * FROM (x, x) JOIN (x)", "yes yes yes"},
		{"SELECT * FROM ((x))", "yes"}, {"SELECT * FROM a JOIN b ON a.i = b.i, x WHERE a.j IN (1, x)", "yes no"}, {"SELECT * FROM a JOIN b ON f(a.i, x) = (x), x", "no no yes"},
		{"SELECT * FROM a JOIN b USING (i, x), x", "no yes"}, {"SELECT * FROM a USE INDEX (i, x), x", "no yes"}, {"SELECT TRIM(a FROM x), EXTRACT(YEAR FROM x), x FROM x", "no no no yes"},
		{"SELECT 1 FROM x GROUP BY i, x ORDER BY i, x", "yes no no"}, {"SELECT (SELECT 1, x FROM x), x FROM (SELECT i, x FROM x) d, x", "no yes no no yes yes"},
		{"SELECT 1, x FROM x UNION SELECT 2, x FROM y, x LIMIT 1, x", "no yes no yes no"}, {"SELECT * FROM a STRAIGHT_JOIN x LEFT JOIN x ON 1", "yes yes"},
		{"SELECT 'from', x, `from`, x FROM x", "no no yes"}, {"(SELECT 1, x FROM x) UNION (SELECT 1, x FROM x)", "no yes no yes"},
		{"WITH a AS (SELECT 1, x FROM x) SELECT 1, x FROM a, x", "no yes no yes"}, {"SELECT * FROM JSON_TABLE(x, x) j, LATERAL (SELECT i, x FROM x) l", "no no no yes"},
		{"SELECT count(*), x OVER (PARTITION BY i, x) FROM x WINDOW w AS (ORDER BY i, x)", "no no yes no"},
	} {
		var got []string
		p := newTablePlaces()
		before := ""
		l := sqltext.NewLexer(c.text, sqltext.Mode{})
		for tok := l.Next(); tok.Kind != sqltext.KindEOF; tok = l.Next() {
			token := strings.ToLower(c.text[tok.Pos:tok.End])
			is := p.next(before, token, strings.Trim(token, "`"))
			before = token
			if token == "x" {
				got = append(got, map[bool]string{true: "yes", false: "no"}[is])
			}
		}
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %v, want %s", c.text, got, c.want)
		}
	}
	for text, want := range map[string]bool{"WITH x AS (SELECT 1) SELECT * FROM x": true, "WITH RECURSIVE a (i) AS (SELECT 1), `x` (i) AS (SELECT 2) SELECT * FROM x": true, "SELECT a, x AS y FROM x": false,
		"SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x) d": true, "WITH a AS (SELECT 1), b AS (SELECT 1, x FROM y) SELECT 1, x FROM a": false} {
		p := newTablePlaces()
		before := ""
		l := sqltext.NewLexer(text, sqltext.Mode{})
		for tok := l.Next(); tok.Kind != sqltext.KindEOF; tok = l.Next() {
			token := strings.ToLower(text[tok.Pos:tok.End])
			p.next(before, token, strings.Trim(token, "`"))
			before = token
		}
		if p.common["x"] != want {
			t.Errorf("%s: %v, want %v", text, p.common, want)
		}
	}
}
