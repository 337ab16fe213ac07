//go:build !race

package exec

import "testing"

// TestRowsAllocateNothing counts what a merge of many rows allocates more than one of few.
func TestRowsAllocateNothing(t *testing.T) {
	for name, test := range steady {
		t.Run(name, func(t *testing.T) {
			few := testing.AllocsPerRun(20, merger(t, &test.plan, 50, columns(test.defs...), test.format))
			many := testing.AllocsPerRun(20, merger(t, &test.plan, 4000, columns(test.defs...), test.format))
			// Pools drop buffers now and then.
			if many > few+10 {
				t.Errorf("%v allocations for 100 rows, %v for 8000", few, many)
			}
		})
	}
}
