package plan

// Merge is a query on several shards and how their results become one. The shards' rows all have the same columns:
// those that the client sees first, hidden ones that only the merge looks at behind them.
//
// With neither Order, Group, Aggregates nor Distinct the results follow each other. OFFSET and LIMIT count rows of the
// merged result; they are known when a plan runs, not when it is made, and are given beside it.
type Merge struct {
	// Visible is the number of columns that the client sees, from 1 to the number the shards send; 0 is all but the hidden ones, whose numbers are
	// those of [HiddenColumn] then: how many a star hides is known when the result is there.
	Visible int
	// Hidden is the number of hidden columns where Visible is 0.
	Hidden int
	// Order is what each shard's rows are sorted by, and what the merged rows will be.
	Order []OrderKey
	// Group are the columns that make up a group; the same columns, in any order and direction, must be the first of
	// Order. Rows that agree in them become one row: the first one's cells, Aggregates in their columns' places. Empty
	// with Aggregates, all rows are one group, and there is a row even when the shards send none.
	Group      []int
	Aggregates []Aggregate
	// Distinct keeps one of several rows that are equal in all keys of Order, which must cover all visible columns.
	// It excludes Group and Aggregates.
	Distinct bool

	// shape is how the shards' statement differs from the client's.
	shape *mergeShape
}

// OrderKey is one column to compare by. NULL comes before all values, after them with Desc. Columns that have an order of
// their own are compared by it: numbers, temporal values, bits, binary strings. Characters have none: for a column of
// them, Column is a hidden one with its WEIGHT_STRING; for an ENUM or SET one with its number.
type OrderKey struct {
	Column int // in the shards' rows, hidden columns included
	Desc   bool
	// Space is set for weights under a PAD SPACE collation: the weight of one space, which the shorter value is taken to
	// be followed by. Nil compares the bytes as they are.
	Space []byte
}

// Aggregate is one aggregate function whose parts come from the shards and whose result takes the place of Column.
type Aggregate struct {
	Func   Func
	Column int // of a visible column; for all but Avg it is also where the shards' parts are
	// By is for Min and Max what decides which value is the least: Column itself, or a hidden column as for Order.
	// Desc has no meaning here.
	By OrderKey
	// Sum and Count are for Avg the columns of the shards' SUM and COUNT of the same expression. What the shards send in
	// Column itself is not looked at.
	Sum, Count int
}

// Func is an aggregate function.
type Func uint8

// The functions.
const (
	Count Func = iota // the sum of 64-bit counts
	Sum               // exact for DECIMAL, in double precision for DOUBLE
	Min
	Max
	Avg
)

// String gives the function's name in SQL.
func (f Func) String() string {
	names := [...]string{"COUNT", "SUM", "MIN", "MAX", "AVG"}
	if int(f) < len(names) {
		return names[f]
	}
	return "?"
}
