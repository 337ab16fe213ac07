package exec

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kingshard/mysql"
	"kingshard/mysql/value"
	"kingshard/router/plan"
)

// item is a row of the property tests: a nullable integer, a string as its own weight, and what it adds to a group.
type item struct {
	null bool
	n    int32
	s    string
	add  int64
}

// ordering is what the rows are sorted by.
type ordering struct{ nDesc, sDesc bool }

func (o ordering) compare(a, b item) int {
	c := cmp.Compare(boolInt(b.null), boolInt(a.null))
	if c == 0 && !a.null {
		c = cmp.Compare(a.n, b.n)
	}
	if o.nDesc {
		c = -c
	}
	if c != 0 {
		return c
	}
	c = strings.Compare(a.s, b.s)
	if o.sDesc {
		c = -c
	}
	return c
}

func boolInt(v bool) int {
	if v {
		return 1
	}
	return 0
}

// cells are those of the columns s (characters), add, and, hidden, n and the weight.
func (i item) cells(f value.Format) []value.Cell {
	row := []value.Cell{value.Cell(i.s), value.Cell(strconv.FormatInt(i.add, 10)), value.Cell(strconv.Itoa(int(i.n))), value.Cell("w" + i.s)}
	if f == value.BinaryRow {
		row[1] = binary.LittleEndian.AppendUint64(nil, uint64(i.add))
		row[2] = binary.LittleEndian.AppendUint32(nil, uint32(i.n))
	}
	if i.null {
		row[2] = nil
	}
	return row
}

func drawItems(t *rapid.T) []item {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) item {
		return item{
			null: rapid.IntRange(0, 4).Draw(t, "null") == 0, n: rapid.Int32Range(-3, 3).Draw(t, "n"),
			s: rapid.StringMatching(`[ab]{0,2}`).Draw(t, "s"), add: rapid.Int64Range(0, 9).Draw(t, "add"),
		}
	}), 0, 60).Draw(t, "items")
}

// TestMergeOfPartitions spreads random rows over shards, sorts each, and compares the merge with a sort of the whole: all
// rows, distinct ones, and groups.
func TestMergeOfPartitions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		items := drawItems(rt)
		o := ordering{rapid.Bool().Draw(rt, "n desc"), rapid.Bool().Draw(rt, "s desc")}
		format := value.Format(rapid.IntRange(0, 1).Draw(rt, "format"))
		mode := rapid.IntRange(0, 2).Draw(rt, "mode")
		p := plan.Merge{Visible: 2, Order: []plan.OrderKey{{Column: 2, Desc: o.nDesc}, {Column: 3, Desc: o.sDesc}}}
		switch mode {
		case 1:
			p.Distinct = true
		case 2:
			p.Group, p.Aggregates = []int{3, 2}, []plan.Aggregate{{Func: plan.Count, Column: 1}}
		}
		parts := make([][]item, rapid.IntRange(1, 9).Draw(rt, "shards"))
		for _, i := range items {
			k := rapid.IntRange(0, len(parts)-1).Draw(rt, "shard")
			parts[k] = append(parts[k], i)
		}
		var shards []*shard
		var all []item
		for _, part := range parts {
			slices.SortStableFunc(part, o.compare)
			all = append(all, part...)
			s := &shard{defs: columns("s chars", "add bigint", "n int", "w bytes"), format: format}
			for _, i := range part {
				s.rows = append(s.rows, i.cells(format))
			}
			shards = append(shards, s)
		}
		// Ties are in the order of the shards, which a stable sort of the shards' rows behind each other gives.
		slices.SortStableFunc(all, o.compare)
		want := collapse(all, o, mode)
		opts := Options{Offset: uint64(rapid.IntRange(0, 10).Draw(rt, "offset")), Limit: rapid.SampledFrom([]uint64{0, 1, 7, noLimit}).Draw(rt, "limit")}
		want = want[min(uint64(len(want)), opts.Offset):]
		want = want[:min(uint64(len(want)), opts.Limit)]
		r, _, err := run(t, &p, opts, shards...)
		if err != nil {
			rt.Fatal(err)
		}
		var b bytes.Buffer
		for _, i := range want {
			b.WriteString(i.s + "|" + strconv.FormatInt(i.add, 10) + "\n")
		}
		if got := show(r); got != b.String() {
			rt.Fatalf("rows\n%s\nwant\n%s", got, b.String())
		}
	})
}

// collapse makes one item of equal neighbours: the first as it is for mode 1, with the sum of all for mode 2.
func collapse(all []item, o ordering, mode int) []item {
	if mode == 0 {
		return all
	}
	var out []item
	for _, i := range all {
		if len(out) == 0 || o.compare(out[len(out)-1], i) != 0 {
			out = append(out, i)
		} else if mode == 2 {
			out[len(out)-1].add += i.add
		}
	}
	return out
}

// FuzzShard has a shard send anything: the merge ends with an error or a result that can be decoded, and no panic.
func FuzzShard(f *testing.F) {
	s := &shard{defs: columns("id int", "s bytes"), rows: rows([]string{"1", "a"}, []string{"2", "b"})}
	f.Add(s.wire(), false)
	s.format = value.BinaryRow
	s.rows = [][]value.Cell{{value.Cell("\x01\x00\x00\x00"), value.Cell("a")}}
	f.Add(s.wire(), true)
	plans := []plan.Merge{
		{Visible: 1, Order: []plan.OrderKey{{Column: 0}, {Column: 1}}},
		{Visible: 1, Order: []plan.OrderKey{{Column: 0}}, Group: []int{0}, Aggregates: []plan.Aggregate{{Func: plan.Min, By: plan.OrderKey{Column: 1}}}},
		{Visible: 2},
	}
	f.Fuzz(func(t *testing.T, wire []byte, isBinary bool) {
		format := value.TextRow
		if isBinary {
			format = value.BinaryRow
		}
		for i := range plans {
			good, _ := (&shard{defs: columns("id int", "s bytes"), format: format}).source()
			c := mysql.NewConn(&memConn{in: wire}, mysql.BackendSide, payloadCap)
			c.Capabilities = withoutEOF
			c.WritePacket(nil)
			dst := newClient(withoutEOF)
			_, err := mergeAndFlush(dst.conn, []*Source{good, NewSource(c, format)}, &plans[i], Options{Limit: noLimit})
			if err == nil && dst.mem.out.Len() == 0 {
				t.Error("neither an error nor a result")
			}
		}
	})
}
