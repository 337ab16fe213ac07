package plan

import (
	"strings"
	"testing"

	"kingshard/mysql/sqlparse"
)

// TestUsing plans joins USING a column that several tables of a side have. A plan is the same each time that it is made, and a condition
// holds for the tables only whose rows it concerns.
func TestUsing(t *testing.T) {
	r := testRouter(t)
	for sql, want := range map[string]string{
		// d meets the rows of a, which are there with every id: the condition is one of those of b, c and e.
		"SELECT a.name FROM u a LEFT JOIN (u b JOIN u c USING (id) JOIN o e ON c.id = e.u_id AND c.id = 5) USING (id) JOIN u d USING (id)": "merge: a 0 1, b 1, c 1, e 1, d 0 1",
		// Rows of b stay, and it is b's id that d meets.
		"SELECT b.name FROM (u c JOIN o e ON c.id = e.u_id AND c.id = 5) RIGHT JOIN u b USING (id) JOIN u d USING (id)": "merge: c 1, e 1, b 0 1, d 0 1",
		"SELECT a.name FROM u a LEFT JOIN u b USING (id) JOIN u d USING (id) WHERE d.id = 5":                            "merge: a 1, b 1, d 1",
		"SELECT a.name FROM u a RIGHT JOIN u b USING (id) JOIN u d USING (id) WHERE d.id = 5":                           "merge: a 1, b 1, d 1",
		// h is placed otherwise, u is beside u.
		"SELECT h.name FROM h JOIN u a USING (id) JOIN u b USING (id) WHERE h.id = 5": "finish: h 5, a 1, b 1",
		"SELECT 1 FROM h JOIN u a USING (id) JOIN u b USING (id) JOIN h g USING (id)": "finish: h 0 1 2 3 4 5 6 7 8 9 10 11, a 0 1, b 0 1, g 0 1 2 3 4 5 6 7 8 9 10 11",
		"SELECT s.n FROM seq s NATURAL JOIN v NATURAL JOIN v w WHERE w.id = 3":        "merge: s 1, v 1, w 1",
		// v has no column n: that of s and of x is the same.
		"SELECT s.n FROM seq s NATURAL LEFT JOIN (v JOIN o ON v.id = o.u_id AND v.id = 3) NATURAL JOIN seq x": "merge: s 0 1, v 1, o 1, x 0 1",
		"SELECT 1 FROM p a JOIN p b USING (at, id) JOIN p c USING (id, at)":                                   "merge: a 0 1 2 3, b 0 1 2 3, c 0 1 2 3",
		"SELECT 1 FROM p a JOIN p b USING (id) JOIN p c USING (id)":                                           "finish: a 0 1 2 3, b 0 1 2 3, c 0 1 2 3",
	} {
		var first string
		for range 40 {
			p, err := build(sql, r, typed)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			var tables []string
			for _, ref := range p.Refs {
				tables = append(tables, ref.Parsed.Label()+" "+positions(ref.Shards(nil)))
			}
			if got := p.Operator.Name() + ": " + strings.Join(tables, ", "); got != want {
				t.Errorf("%s:\n got %s\nwant %s", sql, got, want)
				break
			}
			shown := golden{sql: sql}.show(r)
			if first == "" {
				first = shown
			}
			if shown != first {
				t.Errorf("%s: planned as\n%sand as\n%s", sql, first, shown)
				break
			}
		}
	}
}

// TestNaturalPassesOverInvisible joins on the columns that a star shows.
func TestNaturalPassesOverInvisible(t *testing.T) {
	a := &analyzer{byTable: map[*sqlparse.Table]*Ref{}}
	from := func(columns, invisible string) *sqlparse.From {
		r := &Ref{Parsed: &sqlparse.Table{}}
		r.Columns, r.invisible = columnsNamed(columns), columnsNamed(invisible)
		a.byTable[r.Parsed] = r
		return &sqlparse.From{Table: r.Parsed}
	}
	for _, c := range []struct {
		left, right *sqlparse.From
		want        bool
	}{
		{from("id a", ""), from("ID b", ""), true},
		{from("id a", ""), from("b", "id"), false},
		{from("id a", ""), from("b", ""), false},
		{from("id a", ""), &sqlparse.From{Table: &sqlparse.Table{Name: "unknown"}}, true},
		{from("id a", ""), &sqlparse.From{Derived: &sqlparse.Query{}}, true},
	} {
		if got := a.common(&sqlparse.Join{Left: c.left, Right: c.right, Natural: true}, "id"); got != c.want {
			t.Errorf("%v and %v: %v", c.left, c.right, got)
		}
	}
}
