package exec

import (
	"fmt"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/value"
	"kingshard/router/plan"
)

// replay gives a shard's response again and again.
type replay struct {
	memConn
	wire []byte
}

func (c *replay) Read(p []byte) (int, error) {
	if len(c.in) == 0 {
		c.in = c.wire
	}
	return c.memConn.Read(p)
}

// discard is a client that takes everything.
type discard struct{ memConn }

func (c *discard) Write(p []byte) (int, error) { return len(p), nil }

// merger merges the same answers of so many shards each time it is called.
func merger(tb testing.TB, p *plan.Merge, shards, n int, defs []mysql.ColumnDefinition41, f value.Format) func() {
	var conns []*mysql.Conn
	l := value.Layout{Format: f, Visible: len(defs)}
	for i := range defs {
		l.Types = append(l.Types, value.TypeOf(&defs[i]))
	}
	for k := range shards {
		s := &shard{defs: defs, format: f}
		for i := range n {
			row := make([]value.Cell, len(defs))
			for j := range row {
				row[j] = value.Cell(fmt.Sprintf("%04d", shards*i+k))
			}
			s.rows = append(s.rows, row)
		}
		c := mysql.NewConn(&replay{wire: s.wire()}, mysql.BackendSide, payloadCap)
		c.Capabilities = withoutEOF
		conns = append(conns, c)
	}
	dst := mysql.NewConn(&discard{}, mysql.ClientSide, payloadCap)
	dst.Capabilities = withoutEOF
	return func() {
		var sources []*Source
		for _, c := range conns {
			c.ResetSequence()
			c.WritePacket(nil)
			_ = c.Flush()
			sources = append(sources, NewSource(c, f))
		}
		if sum, err := mergeAndFlush(dst, sources, p, Options{Limit: noLimit}); err != nil || sum.Unread != nil {
			tb.Fatal(err, sum)
		}
	}
}

var steady = map[string]struct {
	plan   plan.Merge
	defs   []string
	format value.Format
}{
	"in turn":             {plan.Merge{Visible: 2}, []string{"id int", "s bytes"}, value.TextRow},
	"in turn, hidden":     {plan.Merge{Visible: 1}, []string{"id int", "s bytes"}, value.TextRow},
	"integers":            {plan.Merge{Visible: 2, Order: []plan.OrderKey{{}}}, []string{"id int", "s bytes"}, value.TextRow},
	"integers, binary":    {plan.Merge{Visible: 1, Order: []plan.OrderKey{{}}}, []string{"id int", "s bytes"}, value.BinaryRow},
	"doubles and weights": {plan.Merge{Visible: 1, Order: []plan.OrderKey{{Column: 1}, {Column: 2}}}, []string{"id int", "d double", "w bytes"}, value.TextRow},
	"distinct decimals":   {plan.Merge{Visible: 1, Order: []plan.OrderKey{{}}, Distinct: true}, []string{"d decimal 0"}, value.TextRow},
	"sums of groups": {plan.Merge{Visible: 3, Order: []plan.OrderKey{{}}, Group: []int{0}, Aggregates: []plan.Aggregate{
		{Func: plan.Sum, Column: 1}, {Func: plan.Max, Column: 2, By: plan.OrderKey{Column: 2}}}}, []string{"id int", "d decimal 0", "s bytes"}, value.TextRow},
}

func BenchmarkMerge(b *testing.B) {
	const n = 5000
	for name, test := range steady {
		b.Run(name, func(b *testing.B) {
			f := merger(b, &test.plan, 2, n, columns(test.defs...), test.format)
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*n), "ns/row")
		})
	}
}

// BenchmarkMergeShort is a result of a hundred rows in order, and counts of eight shards.
func BenchmarkMergeShort(b *testing.B) {
	count := plan.Merge{Visible: 1, Aggregates: []plan.Aggregate{{Func: plan.Count}}}
	for _, test := range []struct {
		name   string
		plan   plan.Merge
		shards int
		rows   int
		defs   []string
	}{
		{"ordered", plan.Merge{Visible: 2, Order: []plan.OrderKey{{Column: 1}}}, 2, 50, []string{"id int", "amount int"}},
		{"count", count, 8, 1, []string{"n bigint"}},
	} {
		b.Run(test.name, func(b *testing.B) {
			f := merger(b, &test.plan, test.shards, test.rows, columns(test.defs...), value.TextRow)
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}
