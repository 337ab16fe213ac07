package sqlparse

import (
	"slices"
	"testing"

	"kingshard/mysql/sqltext"
)

func TestJoinConditions(t *testing.T) {
	for _, c := range [...]struct {
		from string
		want []string
	}{
		{"FROM a", nil},
		{"FROM a, b JOIN c USING (x)", nil},
		{"FROM a JOIN b ON a.x = b.x", []string{"ON a.x = b.x"}},
		{"FROM a LEFT JOIN b ON a.x = b.x AND LEFT(b.y, 2) = 'on' INNER JOIN c ON (c.x = a.x) , d", []string{"ON a.x = b.x AND LEFT(b.y, 2) = 'on'", "ON (c.x = a.x)"}},
		{"FROM a JOIN (b CROSS JOIN c RIGHT OUTER JOIN d ON d.x = c.x) ON b.on = `on`.`join`", []string{"ON d.x = c.x", "ON b.on = `on`.`join`"}},
		{"FROM ((a JOIN b ON 1)) LEFT JOIN (SELECT 1 FROM x JOIN y ON x.a = y.a) AS d ON d.a IN (SELECT x.b FROM x JOIN y ON 2)", []string{"ON 1", "ON d.a IN (SELECT x.b FROM x JOIN y ON 2)"}},
		{"FROM a JOIN b JOIN c ON b.x = c.x ON a.x = b.x NATURAL JOIN d STRAIGHT_JOIN e ON e.x", []string{"ON b.x = c.x", "ON a.x = b.x", "ON e.x"}},
		{"FROM a JOIN LATERAL (SELECT 1 FROM b JOIN c ON 1) AS l ON TRUE", []string{"ON TRUE"}},
		{"FROM a USE INDEX FOR JOIN (i) JOIN b ON f(a.x, b.x)", []string{"ON f(a.x, b.x)"}},
	} {
		list, ok := JoinConditions("SELECT 1 "+c.from, Span{9, 9 + len(c.from)}, sqltext.Mode{})
		var got []string
		for _, s := range list {
			got = append(got, ("SELECT 1 " + c.from)[s.Pos:s.End])
		}
		if !ok || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q (%v), want %q", c.from, got, ok, c.want)
		}
	}
	if _, ok := JoinConditions("FROM (a", Span{0, 7}, sqltext.Mode{}); ok {
		t.Error("the joins of an open parenthesis are certain")
	}
}
