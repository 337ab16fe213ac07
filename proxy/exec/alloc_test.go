//go:build !race

package exec

import (
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/value"
)

// TestRowsAllocateNothing counts what a merge of many rows allocates more than one of few.
func TestRowsAllocateNothing(t *testing.T) {
	for name, test := range steady {
		t.Run(name, func(t *testing.T) {
			few := testing.AllocsPerRun(20, merger(t, &test.plan, 2, 50, columns(test.defs...), test.format))
			many := testing.AllocsPerRun(20, merger(t, &test.plan, 2, 4000, columns(test.defs...), test.format))
			// Pools drop buffers now and then.
			if many > few+10 {
				t.Errorf("%v allocations for 100 rows, %v for 8000", few, many)
			}
		})
	}
}

// TestDrainAllocatesNothing drops the rows behind a limit.
func TestDrainAllocatesNothing(t *testing.T) {
	drain := func(n int) float64 {
		s := &shard{defs: columns("id int")}
		for range n {
			s.rows = append(s.rows, []value.Cell{value.Cell("1")})
		}
		c := mysql.NewConn(&replay{wire: s.wire()}, mysql.BackendSide, payloadCap)
		c.Capabilities = withoutEOF
		return testing.AllocsPerRun(20, func() {
			c.ResetSequence()
			c.WritePacket(nil)
			_ = c.Flush()
			source := NewSource(c, value.TextRow)
			if _, err := source.open(false); err != nil {
				t.Fatal(err)
			}
			if done, err := source.Drain(1 << 20); !done || err != nil {
				t.Fatal(done, err)
			}
		})
	}
	if few, many := drain(10), drain(1000); many > few+5 {
		t.Errorf("%v allocations for 10 rows, %v for 1000", few, many)
	}
}
