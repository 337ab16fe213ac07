package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kingshard/mysql/sqlparse"
	"kingshard/mysql/value"
	"kingshard/router"

	"pgregory.net/rapid"
)

// truth is what a condition is for a row: MySQL's three values.
type truth int8

const (
	no truth = iota - 1
	unknown
	yes
)

// integer is one or NULL.
type integer struct {
	n    int64
	null bool
}

// row is a row of a table: its key and another column.
type row struct{ id, a integer }

// logic is a condition as SQL and as a function of a row.
type logic struct {
	sql  string
	eval func(row) truth
}

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// compare is l op r for two integers that may be NULL.
func compare(op string, l, r integer) truth {
	if op == "<=>" {
		return truthOf(l == r)
	}
	if l.null || r.null {
		return unknown
	}
	switch op {
	case "=":
		return truthOf(l.n == r.n)
	case "<>", "!=":
		return truthOf(l.n != r.n)
	case "<":
		return truthOf(l.n < r.n)
	case "<=":
		return truthOf(l.n <= r.n)
	case ">":
		return truthOf(l.n > r.n)
	}
	return truthOf(l.n >= r.n)
}

func both(a, b truth) truth   { return min(a, b) }
func either(a, b truth) truth { return max(a, b) }

// conditions makes conditions on the keys of a table. Some of their values are parameters, which go to args.
type conditions struct {
	t    *rapid.T
	args []value.Value
}

// keys are values at which the shards of h and r begin and end.
var keys = []int64{-10001, -10000, -1, 0, 1, 2, 3, 5, 11, 12, 13, 24, 9999, 10000, 10001, 19999, 20000, 50000, 119999, 120000, 120001, 1 << 40}

// value draws an integer and how it is written.
func (c *conditions) value() (integer, string) {
	n := rapid.SampledFrom(keys).Draw(c.t, "n")
	v, text := integer{n: n}, strconv.FormatInt(n, 10)
	if rapid.IntRange(0, 9).Draw(c.t, "null") == 0 {
		v, text = integer{null: true}, "NULL"
	}
	switch rapid.IntRange(0, 5).Draw(c.t, "form") {
	case 0:
		arg := value.NewInt(n)
		if v.null {
			arg = value.Value{}
		}
		c.args = append(c.args, arg)
		text = "?"
	case 1:
		text = "(" + text + ")"
	case 2:
		if !v.null && n > -1<<20 && n < 1<<20 {
			text = fmt.Sprintf("%d - 7", n+7)
		}
	}
	return v, text
}

var columnNames = []string{"id", "id", "id", "h.id", "ID", "a"}

// column draws a column.
func (c *conditions) column() (string, func(row) integer) {
	name := rapid.SampledFrom(columnNames).Draw(c.t, "column")
	if name == "a" {
		return name, func(r row) integer { return r.a }
	}
	return name, func(r row) integer { return r.id }
}

// leaf draws a condition without others inside.
func (c *conditions) leaf() logic {
	name, of := c.column()
	switch rapid.IntRange(0, 8).Draw(c.t, "leaf") {
	case 0:
		not := rapid.Bool().Draw(c.t, "is not")
		return logic{name + map[bool]string{false: " IS NULL", true: " IS NOT NULL"}[not], func(r row) truth { return truthOf(of(r).null != not) }}
	case 1:
		return rapid.SampledFrom([]logic{
			{"0", func(row) truth { return no }}, {"1", func(row) truth { return yes }}, {"NULL", func(row) truth { return unknown }},
			{"1 = 2", func(row) truth { return no }}, {"2 + 1 > 2", func(row) truth { return yes }},
		}).Draw(c.t, "constant")
	case 2, 3:
		return c.in(name, of)
	case 4, 5:
		lo, low := c.value()
		hi, high := c.value()
		l := logic{name + " BETWEEN " + low + " AND " + high, func(r row) truth {
			return both(compare(">=", of(r), lo), compare("<=", of(r), hi))
		}}
		if rapid.Bool().Draw(c.t, "not") {
			return logic{strings.Replace(l.sql, " BETWEEN", " NOT BETWEEN", 1), func(r row) truth { return -l.eval(r) }}
		}
		return l
	case 6:
		v, text := c.value()
		w, other := c.value()
		return logic{"(" + name + ", a) = (" + text + ", " + other + ")", func(r row) truth {
			return both(compare("=", of(r), v), compare("=", r.a, w))
		}}
	}
	op := rapid.SampledFrom([]string{"=", "=", "<>", "!=", "<", "<=", ">", ">=", "<=>"}).Draw(c.t, "op")
	v, text := c.value()
	if rapid.Bool().Draw(c.t, "value first") {
		return logic{text + " " + op + " " + name, func(r row) truth { return compare(op, v, of(r)) }}
	}
	return logic{name + " " + op + " " + text, func(r row) truth { return compare(op, of(r), v) }}
}

func (c *conditions) in(name string, of func(row) integer) logic {
	var values []integer
	var texts []string
	for range rapid.IntRange(1, 4).Draw(c.t, "values") {
		v, text := c.value()
		values, texts = append(values, v), append(texts, text)
	}
	word, sign := " IN (", truth(1)
	if rapid.Bool().Draw(c.t, "not") {
		word, sign = " NOT IN (", -1
	}
	return logic{name + word + strings.Join(texts, ", ") + ")", func(r row) truth {
		found := no
		for _, v := range values {
			found = either(found, compare("=", of(r), v))
		}
		return sign * found
	}}
}

// tree draws a condition of some depth.
func (c *conditions) tree(depth int) logic {
	if depth == 0 || rapid.IntRange(0, 3).Draw(c.t, "stop") == 0 {
		return c.leaf()
	}
	l := c.tree(depth - 1)
	if rapid.IntRange(0, 3).Draw(c.t, "negate") == 0 {
		return logic{"NOT (" + l.sql + ")", func(r row) truth { return -l.eval(r) }}
	}
	r := c.tree(depth - 1)
	switch rapid.IntRange(0, 5).Draw(c.t, "join") {
	case 0:
		return logic{"(" + l.sql + ") XOR (" + r.sql + ")", func(x row) truth { return -l.eval(x) * r.eval(x) }}
	case 1, 2:
		return logic{"(" + l.sql + " OR " + r.sql + ")", func(x row) truth { return either(l.eval(x), r.eval(x)) }}
	}
	return logic{"(" + l.sql + ") AND (" + r.sql + ")", func(x row) truth { return both(l.eval(x), r.eval(x)) }}
}

// TestShardsHoldEveryRow draws conditions and rows: a row that meets the condition is on one of the shards that a SELECT,
// an UPDATE and a DELETE go to.
func TestShardsHoldEveryRow(t *testing.T) {
	r := testRouter(t)
	narrow := 0
	rapid.Check(t, func(t *rapid.T) {
		c := conditions{t: t}
		where := c.tree(3)
		name := rapid.SampledFrom([]string{"h", "r AS h"}).Draw(t, "table")
		sql := rapid.SampledFrom([]string{"SELECT * FROM %s WHERE %s", "SELECT * FROM %s WHERE %s", "UPDATE %s SET a = 1 WHERE %s"}).Draw(t, "statement")
		catalog := rapid.SampledFrom([]Catalog{typed, untyped}).Draw(t, "catalog")
		sql = fmt.Sprintf(sql, name, where.sql)
		p, err := build(sql, r, catalog)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		set := p.Refs[0].Shards(c.args)
		if len(set) < len(p.Refs[0].Table.Shards) {
			narrow++
		}
		for _, id := range keys {
			at, ok := p.shardOf(id)
			if !ok {
				continue
			}
			for _, a := range []integer{{n: id}, {n: 5}, {null: true}} {
				if x := (row{integer{n: id}, a}); where.eval(x) == yes && !slices.Contains(set, at) {
					t.Fatalf("%s %v: row %+v is on shard %d, not in %v", sql, c.args, x, at, set)
				}
			}
		}
		route, err := p.Route(c.args)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if route.One == nil && !slices.Equal(route.Positions, set) {
			t.Fatalf("%s: goes to %v, not %v", sql, route.Positions, set)
		}
	})
	if narrow == 0 {
		t.Error("no condition narrowed the shards")
	}
}

// shardOf is where a row with a key is.
func (p *Plan) shardOf(id int64) (int, bool) {
	table := p.Refs[0].Table
	at, err := table.Place([]value.Value{value.NewInt(id)}, p.Refs[0].key)
	return at, err == nil && table.Kind == router.Sharded
}

// A reference whose place in the text is not known would go to the servers by its logical name.
func TestNameWithoutPlaceIsRefused(t *testing.T) {
	r := testRouter(t)
	st, err := parse("alter table u add column x int", r, mysql8)
	if err != nil {
		t.Fatal(err)
	}
	st.Tables[0].At = sqlparse.Span{}
	if _, err := Build(st, mysql8, r, "kingshard", typed); !IsRefusal(err) {
		t.Errorf("%v", err)
	}
}
