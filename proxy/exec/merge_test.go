package exec

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/router/plan"
)

const noLimit = math.MaxUint64

type lines = [][]string

// TestMergedRows has plans and the rows that they make of those of several shards.
func TestMergedRows(t *testing.T) {
	count := plan.Aggregate{Func: plan.Count, Column: 1}
	byID := []plan.OrderKey{{Column: 0}}
	for _, test := range []struct {
		name    string
		columns []string
		plan    plan.Merge
		o       Options
		shards  []lines
		want    string
	}{
		{"concatenation", []string{"id int"}, plan.Merge{Visible: 1}, Options{Limit: noLimit},
			[]lines{{{"3"}, {"1"}}, {}, {{"NULL"}, {"2"}}}, "3 1 NULL 2"},
		{"nothing", []string{"id int"}, plan.Merge{Visible: 1}, Options{Limit: noLimit}, []lines{{}, {}}, ""},
		{"order, ties by shard", []string{"id int", "s chars"}, plan.Merge{Visible: 2, Order: byID}, Options{Limit: noLimit},
			[]lines{{{"NULL", "a"}, {"1", "b"}, {"10", "c"}}, {{"1", "d"}, {"1", "e"}, {"9", "f"}}, {{"NULL", "g"}, {"2", "h"}}, {}},
			"NULL|a NULL|g 1|b 1|d 1|e 2|h 9|f 10|c"},
		{"descending", []string{"id int"}, plan.Merge{Visible: 1, Order: []plan.OrderKey{{Column: 0, Desc: true}}}, Options{Limit: noLimit},
			[]lines{{{"10"}, {"NULL"}}, {{"11"}, {"9"}, {"-1"}}}, "11 10 9 -1 NULL"},
		{"two keys", []string{"a int", "b decimal 1"}, plan.Merge{Visible: 2, Order: []plan.OrderKey{{Column: 0}, {Column: 1, Desc: true}}}, Options{Limit: noLimit},
			[]lines{{{"1", "10.5"}, {"1", "NULL"}, {"2", "0.0"}}, {{"1", "9.5"}, {"2", "-1.0"}}}, "1|10.5 1|9.5 1|NULL 2|0.0 2|-1.0"},
		{"hidden key", []string{"s chars", "w bytes"}, plan.Merge{Visible: 1, Order: []plan.OrderKey{{Column: 1}}}, Options{Limit: noLimit},
			[]lines{{{"a", "A"}, {"c", "C"}}, {{"NULL", "NULL"}, {"B", "B"}}}, "NULL a B c"},
		{"padded weights", []string{"s chars", "w bytes"}, plan.Merge{Visible: 1, Order: []plan.OrderKey{{Column: 1, Space: []byte(" ")}}}, Options{Limit: noLimit},
			[]lines{{{"y", "Y"}}, {{"y-tab", "Y\t"}, {"y-space", "Y "}, {"y!", "Y!"}}}, "y-tab y y-space y!"},
		{"limit", []string{"id int"}, plan.Merge{Visible: 1, Order: byID}, Options{Offset: 1, Limit: 2},
			[]lines{{{"1"}, {"3"}}, {{"2"}, {"4"}}}, "2 3"},
		{"limit 0", []string{"id int"}, plan.Merge{Visible: 1, Order: byID}, Options{}, []lines{{{"1"}}, {{"2"}}}, ""},
		{"offset beyond the end", []string{"id int"}, plan.Merge{Visible: 1}, Options{Offset: 5, Limit: noLimit}, []lines{{{"1"}}, {{"2"}}}, ""},
		{"limit beyond the end", []string{"id int"}, plan.Merge{Visible: 1}, Options{Offset: 1, Limit: 5}, []lines{{{"1"}}, {{"2"}}}, "2"},
		{"distinct", []string{"id int"}, plan.Merge{Visible: 1, Order: byID, Distinct: true}, Options{Offset: 1, Limit: 2},
			[]lines{{{"NULL"}, {"1"}, {"2"}}, {{"NULL"}, {"1"}, {"3"}}}, "1 2"},
		{"distinct by hidden weights", []string{"s chars", "w bytes"}, plan.Merge{Visible: 1, Order: []plan.OrderKey{{Column: 1}}, Distinct: true}, Options{Limit: noLimit},
			[]lines{{{"a", "A"}}, {{"A", "A"}, {"b", "B"}}}, "a b"},
		{"group", []string{"id int", "n bigint"}, plan.Merge{Visible: 2, Order: byID, Group: []int{0}, Aggregates: []plan.Aggregate{count}}, Options{Limit: noLimit},
			[]lines{{{"NULL", "1"}, {"1", "2"}, {"3", "3"}}, {{"NULL", "10"}, {"2", "20"}, {"3", "30"}}, {{"3", "300"}}}, "NULL|11 1|2 2|20 3|333"},
		{"group with limit", []string{"id int", "n bigint"}, plan.Merge{Visible: 2, Order: byID, Group: []int{0}, Aggregates: []plan.Aggregate{count}}, Options{Offset: 1, Limit: 1},
			[]lines{{{"1", "1"}, {"2", "2"}}, {{"2", "3"}, {"3", "4"}}}, "2|5"},
		{"group with limit 0", []string{"id int", "n bigint"}, plan.Merge{Visible: 2, Order: byID, Group: []int{0}, Aggregates: []plan.Aggregate{count}}, Options{},
			[]lines{{{"1", "1"}}}, ""},
		{"group of nothing", []string{"id int", "n bigint"}, plan.Merge{Visible: 2, Order: byID, Group: []int{0}, Aggregates: []plan.Aggregate{count}}, Options{Limit: noLimit},
			[]lines{{}, {}}, ""},
		{"group without aggregates", []string{"id int", "s chars"}, plan.Merge{Visible: 2, Order: []plan.OrderKey{{Column: 0}}, Group: []int{0}}, Options{Limit: noLimit},
			[]lines{{{"1", "a"}}, {{"1", "b"}, {"2", "c"}}}, "1|a 2|c"},
		{"group in another order", []string{"n bigint", "a int", "b int"}, plan.Merge{Visible: 1, Order: []plan.OrderKey{{Column: 2, Desc: true}, {Column: 1}}, Group: []int{1, 2}, Aggregates: []plan.Aggregate{{Func: plan.Count}}}, Options{Limit: noLimit},
			[]lines{{{"1", "1", "2"}, {"2", "2", "2"}, {"4", "1", "1"}}, {{"8", "2", "2"}, {"16", "1", "1"}}}, "1 10 20"},
		{"over all", []string{"c bigint", "s decimal 2", "lo int", "hi int", "avg decimal 6", "hs decimal 2", "hc bigint"}, plan.Merge{Visible: 5, Aggregates: []plan.Aggregate{
			{Func: plan.Count, Column: 0}, {Func: plan.Sum, Column: 1}, {Func: plan.Min, Column: 2, By: plan.OrderKey{Column: 2}},
			{Func: plan.Max, Column: 3, By: plan.OrderKey{Column: 3}}, {Func: plan.Avg, Column: 4, Sum: 5, Count: 6}}}, Options{Limit: noLimit},
			[]lines{{{"3", "1.50", "-7", "10", "9.9", "1.50", "2"}}, {{"0", "NULL", "NULL", "NULL", "NULL", "NULL", "0"}}, {{"2", "0.50", "-10", "9", "0.0", "0.50", "1"}}},
			"5|2.00|-10|10|0.666667"},
		{"over nothing", []string{"c bigint", "s decimal 2"}, plan.Merge{Visible: 2, Aggregates: []plan.Aggregate{{Func: plan.Count}, {Func: plan.Sum, Column: 1}}}, Options{Limit: noLimit},
			[]lines{{}, {}}, "0|NULL"},
		{"over all, limit 0", []string{"c bigint"}, plan.Merge{Visible: 1, Aggregates: []plan.Aggregate{{Func: plan.Count}}}, Options{}, []lines{{{"1"}}}, ""},
		{"max by weight", []string{"s chars", "w bytes"}, plan.Merge{Visible: 1, Aggregates: []plan.Aggregate{{Func: plan.Max, By: plan.OrderKey{Column: 1}}}}, Options{Limit: noLimit},
			[]lines{{{"b", "B"}}, {{"C", "C"}}, {{"a", "A"}}}, "C"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var shards []*shard
			for _, l := range test.shards {
				shards = append(shards, &shard{defs: columns(test.columns...), rows: rows(l...)})
			}
			r, sum, err := run(t, &test.plan, test.o, shards...)
			if err != nil || sum.Err != nil {
				t.Fatal(err, sum.Err)
			}
			if got := strings.Join(strings.Fields(show(r)), " "); got != test.want {
				t.Errorf("rows\n%s\nwant\n%s", got, test.want)
			}
			if sum.Rows != uint64(len(r.Rows)) || len(r.Columns) != test.plan.Visible || !sum.Sent {
				t.Errorf("%+v with %d columns", sum, len(r.Columns))
			}
		})
	}
}

func TestEndOfResult(t *testing.T) {
	defs := columns("id int")
	a := &shard{defs: defs, rows: rows([]string{"1"}), warnings: 2, status: mysql.ServerStatusAutocommit | mysql.ServerStatusNoIndexUsed}
	b := &shard{defs: defs, warnings: 3, caps: withEOF, status: mysql.ServerStatusInTrans}
	for _, caps := range []mysql.Capability{withEOF, withoutEOF, withoutEOF | mysql.ClientOptionalResultsetMetadata} {
		c := newClient(caps)
		first, _ := a.source()
		second, _ := b.source()
		sum, err := mergeAndFlush(c.conn, []*Source{first, second}, &plan.Merge{Visible: 1}, Options{Limit: noLimit, Status: mysql.ServerStatusDBDropped, Warnings: 1})
		if err != nil {
			t.Fatal(err)
		}
		want := mysql.ServerStatusDBDropped | mysql.ServerStatusNoIndexUsed | mysql.ServerStatusInTrans
		r := c.result(t, 0)
		if r.Warnings != 6 || r.Status != want || sum.Warnings != 6 || sum.Status != want || show(r) != "1\n" {
			t.Errorf("caps %s: %+v, %+v", caps, r, sum)
		}
		if !first.Done() || !second.Done() || sum.Unread != nil || first.end.Status != a.status {
			t.Errorf("caps %s: unread %v, status %s", caps, sum.Unread, first.end.Status)
		}
	}
}

// The end of a result is left to the caller to send: with the next result, or when the connections are back in their pools.
func TestTheEndIsNotFlushed(t *testing.T) {
	c := newClient(withoutEOF)
	s, _ := (&shard{defs: columns("id int")}).source()
	if _, err := Merge(c.conn, []*Source{s}, &plan.Merge{Visible: 1}, Options{Limit: noLimit}); err != nil {
		t.Fatal(err)
	}
	if c.conn.Pending() == 0 {
		t.Error("the end was sent")
	}
}

func TestNames(t *testing.T) {
	defs := columns("id int", "x int", "y int", "z int")
	defs[1].Table = "a" // an alias
	defs[2].Schema, defs[2].Table, defs[2].OrgTable = "other", "t_0001", "t_0001"
	defs[3].Schema, defs[3].Table, defs[3].OrgTable = "", "", ""
	r, _, err := run(t, &plan.Merge{Visible: 4}, Options{Names: []mysql.TableName{{FromSchema: "shop_0001", FromTable: "t_0001", Schema: "shop", Table: "t"}}}, &shard{defs: defs})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range r.Columns {
		got = append(got, d.Schema+"."+d.Table+"."+d.OrgTable+"."+d.Name)
	}
	if want := []string{"shop.t.t.id", "shop.a.t.x", "other.t_0001.t_0001.y", "...z"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestUnread reads no further than the limit, says so, and drains.
func TestUnread(t *testing.T) {
	defs := columns("id int")
	shards := []*shard{
		{defs: defs, rows: rows([]string{"1"}, []string{"4"}, []string{"5"})},
		{defs: defs, rows: rows([]string{"2"})},
		{defs: defs, rows: rows([]string{"9"}), failed: mysql.NewSQLError(mysql.ERQueryInterrupted, "too late to matter")},
		{defs: defs},
	}
	var sources []*Source
	for _, s := range shards {
		source, _ := s.source()
		sources = append(sources, source)
	}
	c := newClient(withoutEOF)
	sum, err := mergeAndFlush(c.conn, sources, &plan.Merge{Visible: 1, Order: []plan.OrderKey{{}}}, Options{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got := show(c.result(t, 0)); got != "1\n2\n4\n" {
		t.Errorf("rows %q", got)
	}
	if !reflect.DeepEqual(sum.Unread, []int{0, 2}) {
		t.Fatalf("unread %v", sum.Unread)
	}
	if done, err := sources[0].Drain(1); done || err != nil {
		t.Errorf("a drain of a byte: %v, %v", done, err)
	}
	for _, i := range sum.Unread {
		if done, err := sources[i].Drain(100); !done || err != nil || sources[i].conn.Buffered() > 0 {
			t.Errorf("drain of %d: %v, %v", i, done, err)
		}
	}
}

func TestDefinitionsThatDiffer(t *testing.T) {
	for _, other := range [][]string{{"id int"}, {"id int", "s chars", "x int"}, {"id int", "s bytes"}, {"id decimal", "s chars"}} {
		r, sum, err := run(t, &plan.Merge{Visible: 2}, Options{Limit: noLimit}, &shard{defs: columns("id int", "s chars")}, &shard{defs: columns(other...)})
		if !errors.Is(err, ErrMismatch) || r != nil || sum.Sent || len(sum.Unread) != 2 {
			t.Errorf("%v: %v, %+v", other, err, sum)
		}
	}
	// A wider integer of the other shard does not matter in text, and would be misread in binary rows.
	wide, narrow := columns("id bigint"), columns("id int")
	if _, _, err := run(t, &plan.Merge{Visible: 1}, Options{}, &shard{defs: wide}, &shard{defs: narrow}); err != nil {
		t.Error(err)
	}
	if _, _, err := run(t, &plan.Merge{Visible: 1}, Options{}, &shard{defs: wide, format: 1}, &shard{defs: narrow, format: 1}); !errors.Is(err, ErrMismatch) {
		t.Error(err)
	}
}

func TestPlansThatDoNotFit(t *testing.T) {
	agg := func(a plan.Aggregate) plan.Merge { return plan.Merge{Visible: 2, Aggregates: []plan.Aggregate{a}} }
	for name, p := range map[string]plan.Merge{
		"nothing visible":     {Visible: -1},
		"too much visible":    {Visible: 4},
		"order by no column":  {Visible: 1, Order: []plan.OrderKey{{Column: 3}}},
		"negative column":     {Visible: 1, Order: []plan.OrderKey{{Column: -1}}},
		"order by characters": {Visible: 1, Order: []plan.OrderKey{{Column: 1}}},
		"padded integer":      {Visible: 1, Order: []plan.OrderKey{{Column: 0, Space: []byte(" ")}}},
		"distinct, no order":  {Visible: 1, Distinct: true},
		"distinct groups":     {Visible: 1, Distinct: true, Order: []plan.OrderKey{{}}, Group: []int{0}},
		"group, no order":     {Visible: 1, Group: []int{0}},
		"group behind order":  {Visible: 1, Order: []plan.OrderKey{{Column: 2}, {Column: 0}}, Group: []int{0}},
		"hidden aggregate":    agg(plan.Aggregate{Func: plan.Sum, Column: 2}),
		"count of characters": agg(plan.Aggregate{Func: plan.Count, Column: 1}),
		"sum of integers":     agg(plan.Aggregate{Func: plan.Sum}),
		"max of characters":   agg(plan.Aggregate{Func: plan.Max, Column: 1, By: plan.OrderKey{Column: 1}}),
		"average, no column":  agg(plan.Aggregate{Func: plan.Avg, Sum: 2, Count: 9}),
		"unknown function":    agg(plan.Aggregate{Func: 99}),
	} {
		r, sum, err := run(t, &p, Options{Limit: noLimit}, &shard{defs: columns("id int", "s chars", "d decimal 2")})
		if !errors.Is(err, ErrPlan) || r != nil || sum.Sent {
			t.Errorf("%s: %v, %+v", name, err, sum)
		}
	}
	if _, err := Merge(newClient(withEOF).conn, nil, &plan.Merge{Visible: 1}, Options{}); !errors.Is(err, ErrPlan) {
		t.Errorf("no sources: %v", err)
	}
}
