package plan

import "fmt"

// Operator is what a plan does where a statement concerns several shards. It is one of Refused, Forward, *Merge, *Finish, Change, *Insert,
// *InsertSelect, *Transfer, *Load, *Choose, *Pick, *Move and *Each. Operators are immutable, as their plan is; what the values of one execution make of them is in its Route.
type Operator interface {
	// Name is the word that EXPLAIN and SHOW KS PLANS have for the operator.
	Name() string
	// String shows what the operator does, whatever the values of an execution are.
	String() string

	operator()
}

// Refused is the operator of a statement that runs on one shard only. The plan's Reason says why.
type Refused struct{}

// Forward sends the statement to any one of the shards, which answers for all: descriptions of a table.
type Forward struct{}

// Change runs on every shard that may have rows to change, all or nothing.
type Change struct{}

// Name is refuse.
func (Refused) Name() string { return "refuse" }

// Name is first.
func (Forward) Name() string { return "first" }

// Name is write.
func (Change) Name() string { return "write" }

// Name is merge.
func (*Merge) Name() string { return "merge" }

// Name is finish.
func (*Finish) Name() string { return "finish" }

// Name is insert.
func (*Insert) Name() string { return "insert" }

// Name is number.
func (*InsertSelect) Name() string { return "number" }

// Name is transfer.
func (*Transfer) Name() string { return "transfer" }

// Name is load.
func (*Load) Name() string { return "load" }

// Name is choose.
func (*Choose) Name() string { return "choose" }

// Name is pick.
func (*Pick) Name() string { return "pick" }

// Name is move.
func (*Move) Name() string { return "move" }

// Name is each.
func (*Each) Name() string { return "each" }

// String is the name.
func (o Refused) String() string { return o.Name() }

// String is the name.
func (o Forward) String() string { return o.Name() }

// String is the name.
func (o Change) String() string { return o.Name() }

// String shows what is done with the shards' rows.
func (m *Merge) String() string {
	b := fmt.Appendf(nil, "merge hidden %d", m.Hidden)
	for _, o := range m.Order {
		b = fmt.Appendf(b, " by %s", columnName(o.Column))
		if o.Desc {
			b = append(b, " desc"...)
		}
		if o.Space != nil {
			b = append(b, " space"...)
		}
	}
	for _, g := range m.Group {
		b = fmt.Appendf(b, " group %s", columnName(g))
	}
	if m.Distinct {
		b = append(b, " distinct"...)
	}
	for _, a := range m.Aggregates {
		b = fmt.Appendf(b, " %v(%s)", a.Func, columnName(a.Column))
		if a.Func == Avg {
			b = fmt.Appendf(b, " of %s/%s", columnName(a.Sum), columnName(a.Count))
		}
		if a.By.Column != a.Column {
			b = fmt.Appendf(b, " by %s", columnName(a.By.Column))
		}
	}
	return string(b)
}

// columnName shows the number of a column.
func columnName(n int) string {
	if k, hidden := HiddenColumn(n); hidden {
		return fmt.Sprintf("hidden %d", k)
	}
	return fmt.Sprint(n)
}

// String shows what is collected: the tables with their columns, or that it is the shards' groups.
func (f *Finish) String() string {
	b := []byte("finish")
	if f.partial != nil {
		b = fmt.Appendf(b, " groups by %d keys with %d parts", len(f.partial.keys), len(f.partial.parts))
	}
	for _, g := range f.gathers {
		b = fmt.Appendf(b, " collect %s %v", g.Ref.Parsed.Label(), g.Columns)
		if len(g.Key) > 0 {
			b = fmt.Appendf(b, " key %v", g.Key)
		}
		if len(g.Indexes) > 0 {
			b = fmt.Appendf(b, " indexes %v", g.Indexes)
		}
		if len(g.Where) > 0 {
			b = fmt.Appendf(b, " where %d conditions hold", len(g.Where))
		}
	}
	for _, g := range f.rest {
		b = fmt.Appendf(b, " beside %s", g.Ref.Parsed.Label())
	}
	return string(b)
}

// String shows the AUTO_INCREMENT column.
func (o *InsertSelect) String() string { return "number " + o.Column }

// String is the name.
func (t *Transfer) String() string { return t.Name() }

// String shows how many rows the text has, which may stand for more, and the AUTO_INCREMENT column that they must have a value for.
func (shape *Insert) String() string {
	text := fmt.Sprintf("insert %d rows", shape.count)
	if shape.auto != nil {
		text += " counted by " + shape.auto.column
	}
	return text
}

// String shows which fields of a line are looked at, from 0.
func (shape *Load) String() string {
	text := fmt.Sprintf("load %d fields, key %v", shape.Fields, shape.Keys)
	if shape.Auto >= 0 {
		text += fmt.Sprintf(", counted by %d", shape.Auto)
	}
	for _, v := range shape.Variables {
		text += fmt.Sprintf(", @%s is %d", v.Name, v.Field)
	}
	return text
}

// String shows the columns of the primary key and how the rows are found.
func (c *Choose) String() string { return fmt.Sprintf("choose %v by %v", c.Keys, c.Merge) }

// String shows the columns by which the rows are found.
func (o *Pick) String() string {
	text := "pick"
	for k := range o.Targets {
		text += fmt.Sprintf(" by %v", o.Targets[k].Keys)
	}
	return text
}

// String is the name.
func (m *Move) String() string { return m.Name() }

// String shows the key columns whose collations are left to defaults.
func (o *Each) String() string {
	text := "each"
	if !o.drop.Empty() {
		text = "each node"
	}
	for _, u := range o.Unnamed {
		text += " default collation of " + u.Column
	}
	return text
}

func (Refused) operator()       {}
func (Forward) operator()       {}
func (Change) operator()        {}
func (*Merge) operator()        {}
func (*Finish) operator()       {}
func (*Insert) operator()       {}
func (*InsertSelect) operator() {}
func (*Transfer) operator()     {}
func (*Load) operator()         {}
func (*Choose) operator()       {}
func (*Pick) operator()         {}
func (*Move) operator()         {}
func (*Each) operator()         {}
