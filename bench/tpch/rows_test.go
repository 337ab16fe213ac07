package tpch

import (
	"strings"
	"testing"
)

// Rows are the same for the same seed, their keys differ, and there are as many as the scale says.
func TestRows(t *testing.T) {
	draw := func(seed uint64, scale float64) (counts map[string]int, all map[string]bool) {
		counts, all = map[string]int{}, map[string]bool{}
		if err := newGenerator(scale, seed).rows(func(table, row string) error {
			counts[table]++
			all[table+row] = true
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return counts, all
	}
	counts, one := draw(1, 0.003)
	_, again := draw(1, 0.003)
	_, other := draw(2, 0.003)
	for row := range one {
		if !again[row] {
			t.Fatalf("%s is not drawn again", row)
		}
	}
	if len(other) == 0 || other[firstOf(one, "customer")] {
		t.Error("another seed has the same rows")
	}
	if counts["region"] != 5 || counts["nation"] != 25 || counts["supplier"] != 30 || counts["part"] != 600 || counts["partsupp"] != 2400 || counts["customer"] != 450 || counts["orders"] != 4500 {
		t.Errorf("%v", counts)
	}
	if lines := counts["lineitem"]; lines < 17000 || lines > 19000 {
		t.Errorf("%d lines", lines)
	}
	for _, suppliers := range []float64{0.0001, 0.003, 0.01, 0.1} {
		g := newGenerator(suppliers, 1)
		for part := 1; part <= 3000; part++ {
			of := map[int]bool{}
			for k := range 4 {
				s := g.supplierOf(part, k)
				if of[s] = true; s < 1 || s > g.suppliers {
					t.Fatalf("part %d has supplier %d of %d", part, s, g.suppliers)
				}
			}
			if len(of) != 4 {
				t.Fatalf("part %d has %d suppliers of %d", part, len(of), g.suppliers)
			}
		}
	}
}

// firstOf returns the first of the rows of a table in their order.
func firstOf(rows map[string]bool, table string) (first string) {
	for row := range rows {
		if strings.HasPrefix(row, table+"(") && (first == "" || row < first) {
			first = row
		}
	}
	return first
}
