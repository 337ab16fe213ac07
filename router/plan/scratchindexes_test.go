package plan

import (
	"fmt"
	"testing"
)

// Scratch tables have indexes of the columns that the statement compares with others, wherever it does so.
func TestScratchIndexes(t *testing.T) {
	r := testRouter(t)
	for sql, want := range map[string]string{
		"SELECT u.id FROM u JOIN o ON u.name = o.item":                                            "[[[name]] [[item]]]",
		"SELECT u.id FROM u, o WHERE u.name = o.item AND u.id > 5":                                "[[[name]] [[item]]]",
		"SELECT u.id FROM u WHERE u.name IN (SELECT o.item FROM o)":                               "[[[name]] [[item]]]",
		"SELECT u.id FROM u WHERE NOT EXISTS (SELECT 1 FROM o WHERE o.item = u.name)":             "[[[name]] [[item]]]",
		"SELECT u.id FROM u WHERE u.name = (SELECT MAX(o.item) FROM o)":                           "[[[name]] []]",
		"SELECT u.id FROM u JOIN o ON u.name + 1 = o.item":                                        "[[] [[item]]]",
		"SELECT u.id FROM u JOIN o ON u.name > o.item":                                            "[[] []]",
		"SELECT u.id FROM u JOIN o ON (u.name, u.age) = (o.item, 7)":                              "[[[name] [age]] [[item]]]",
		"SELECT * FROM (SELECT u.name FROM u) d JOIN o ON d.name = o.item":                        "[[[name]] [[item]]]",
		"SELECT u.id FROM u WHERE u.name IN (1, 2) AND u.name <=> 3 AND 1 < (SELECT 1 FROM o)":    "[[] []]",
		"SELECT u.id FROM u JOIN u v ON u.name = v.name WHERE (SELECT 1 FROM o WHERE o.item = 5)": "[[[name]] [[name]] []]",
	} {
		p, err := build(sql, r, typed)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		f, is := p.Operator.(*Finish)
		if !is {
			t.Errorf("%s: %v", sql, p.Operator)
			continue
		}
		var got [][][]string
		for _, g := range f.gathers {
			got = append(got, g.Indexes)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s:\n got %v\nwant %s", sql, got, want)
		}
	}
}
