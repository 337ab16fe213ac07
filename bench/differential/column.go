package differential

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// class is what can be done with a column's values.
type class int

const (
	integer class = iota
	decimal
	double
	text
	bytes
	temporal
	label // ENUM and SET
	bits
	document // JSON: selected, but neither compared nor sorted
)

// column is a column of a table.
type column struct {
	name, decl string
	class      class
	// small says that values are few and near to 0, so that arithmetic and sums of squares on them are exact.
	small bool
	// folds says that values that look different may be equal: which of them stands for a group is open.
	folds     bool
	indexable bool
	notNull   bool
	counted   bool // ids are drawn for it
	// pool are the values; the first ones are drawn more often, so that there are ties.
	pool []value
}

// pick draws a value: NULL now and then.
func (c *column) pick(r *rand.Rand) value {
	if !c.notNull && r.IntN(8) == 0 {
		return null
	}
	return c.pool[min(r.IntN(len(c.pool)), r.IntN(len(c.pool)))]
}

// sortable tells whether ORDER BY, GROUP BY and comparisons with the column are the same on every server.
func (c *column) sortable() bool { return c.class != document }

// fixedOrder tells whether values that are equal also look equal.
func (c *column) fixedOrder() bool { return c.sortable() && !c.folds }

func keyColumn(r *rand.Rand, t *table, name string, d dialect) *column {
	c := &column{name: name, decl: "BIGINT NOT NULL", class: integer, notNull: true}
	switch {
	case name == "code":
		return codeColumn(r, t, d)
	case name == t.drawn:
		return drawnColumn(r, t)
	case name == "day":
		c.class, c.decl = temporal, []string{"DATE NOT NULL", "DATETIME NOT NULL"}[r.IntN(2)]
		for range 24 {
			month := months[r.IntN(len(months))]
			day := fmt.Sprintf("%04d-%02d-%02d", month/100, month%100, []int{1, 2, 15, 29, 28}[r.IntN(5)])
			if c.decl == "DATETIME NOT NULL" {
				day += []string{" 00:00:00", " 23:59:59", " 12:00:00"}[r.IntN(3)]
			}
			c.pool = append(c.pool, moments(day, day)[r.IntN(2)])
		}
	case t.kind == ranged:
		for range 48 {
			c.pool = append(c.pool, intValue(int64(r.IntN(rangeKeys))))
		}
	case t.kind == hashed && name == t.shardKey:
		for k := range int64(36) {
			c.pool = append(c.pool, intValue(k))
		}
		for _, k := range []int64{-1, -2, -7, 1 << 62, 1<<63 - 1, -1 << 63, 1000003} {
			c.pool = append(c.pool, intValue(k))
		}
	default:
		for k := range int64(40) {
			c.pool = append(c.pool, intValue(k+1))
		}
		if t.counts() {
			c.decl += " AUTO_INCREMENT"
		}
	}
	return c
}

// drawnColumn has ids that the proxy draws, of any type that holds those of a scenario. NULL, and mostly 0, asks for one.
func drawnColumn(r *rand.Rand, t *table) *column {
	c := &column{name: t.drawn, class: integer, notNull: true, counted: true}
	c.decl = []string{"SMALLINT", "MEDIUMINT", "INT", "BIGINT", "SMALLINT UNSIGNED", "INT UNSIGNED", "BIGINT UNSIGNED"}[r.IntN(7)]
	for k := range int64(40) {
		c.pool = append(c.pool, intValue(k+1))
	}
	if t.kind == hashed && !strings.HasSuffix(c.decl, "UNSIGNED") {
		c.pool = append(c.pool, intValue(-1))
	}
	c.decl += " NOT NULL AUTO_INCREMENT"
	return c
}

func smallColumn(name string) *column {
	c := &column{name: name, decl: "INT", class: integer, small: true, indexable: true}
	for _, v := range []int64{1, 2, 0, 3, 5, -1, 7, 9} {
		c.pool = append(c.pool, intValue(v))
	}
	return c
}

// doubleColumn has multiples of a quarter only, whose sums are exact in any order.
func doubleColumn(name string) *column {
	c := &column{name: name, decl: "DOUBLE", class: double, small: true, indexable: true}
	for _, v := range []float64{0, 0.25, 1.5, -2.75, 10, 1024.5, -3} {
		c.pool = append(c.pool, floatValue(v))
	}
	return c
}

// randomColumn makes a column of one of all types.
func randomColumn(r *rand.Rand, name string, d dialect) *column {
	if r.IntN(3) == 0 {
		return stringColumn(r, name, []string{"CHAR(10)", "VARCHAR(20)", "TEXT", "TINYTEXT"}[r.IntN(4)], d)
	}
	if r.IntN(3) == 0 {
		return intColumn(r, name)
	}
	c := randomTypes[r.IntN(len(randomTypes))]
	c.name = name
	return &c
}

// intColumn is of any width, with the extremes of its type.
func intColumn(r *rand.Rand, name string) *column {
	width := r.IntN(5)
	bitsOf := []int{8, 16, 24, 32, 64}[width]
	c := &column{name: name, decl: []string{"TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT"}[width], class: integer, indexable: true}
	c.pool = []value{intValue(1), intValue(0), intValue(2), intValue(3)}
	if r.IntN(2) == 0 {
		c.decl += " UNSIGNED"
		c.pool = append(c.pool, uintValue(1<<(bitsOf-1)), uintValue(1<<bitsOf-1))
		return c
	}
	c.pool = append(c.pool, intValue(-1), intValue(-1<<(bitsOf-1)), intValue(1<<(bitsOf-1)-1))
	return c
}

// randomTypes are columns of the other types, without names.
var randomTypes = []column{
	{decl: "DECIMAL(10,2)", class: decimal, small: true, indexable: true, pool: decimals("1.50", "0.00", "-2.25", "99999999.99", "-99999999.99", "0.01")},
	{decl: "DECIMAL(30,10)", class: decimal, indexable: true, pool: decimals("0.0000000001", "1.0000000000", "99999999999999999999.9999999999", "-99999999999999999999.9999999999", "5.5000000000")},
	{decl: "DECIMAL(12,0) UNSIGNED", class: decimal, indexable: true, pool: decimals("0", "7", "999999999999", "10")},
	{decl: "FLOAT", class: double, pool: []value{floatValue(0.5), floatValue(0), floatValue(-1.25), floatValue(100)}},
	{decl: "DOUBLE", class: double, indexable: true, pool: []value{floatValue(0.5), floatValue(-8), floatValue(3)}},
	{decl: "BINARY(4)", class: bytes, indexable: true, pool: hexValues("61000000", "61200000", "00000000", "ffffffff", "41000000")},
	{decl: "VARBINARY(8)", class: bytes, indexable: true, pool: hexValues("61", "6120", "", "ff00", "41", "610a")},
	{decl: "BLOB", class: bytes, pool: hexValues("61", "", "00ff", "6120", "c3a1")},
	{decl: "DATE", class: temporal, indexable: true, pool: moments("2024-01-31", "2024-02-01", "1000-01-01", "9999-12-31", "2024-02-29")},
	{decl: "DATETIME(6)", class: temporal, indexable: true, pool: moments("2024-01-31 10:00:00.000001", "2024-01-31 10:00:00", "1000-01-01 00:00:00", "9999-12-31 23:59:59.999999")},
	{decl: "DATETIME", class: temporal, indexable: true, pool: moments("2024-02-01 00:00:00", "2024-02-01 00:00:01", "1970-01-01 00:00:00")},
	{decl: "TIME(3)", class: temporal, indexable: true, pool: append(texts("10:00:00.500", "-838:59:59.000", "00:00:00"),
		value{"'838:59:59.000'", 838*time.Hour + 59*time.Minute + 59*time.Second}, value{"'-00:00:01.001'", -1001 * time.Millisecond})},
	{decl: "TIMESTAMP NULL", class: temporal, indexable: true, pool: moments("2024-01-01 00:00:00", "2024-06-01 12:30:45", "1971-01-01 00:00:01", "2038-01-18 03:14:07")},
	{decl: "TIMESTAMP NULL", class: temporal, indexable: true, pool: moments(nearChanges...)},
	{decl: "TIMESTAMP(3) NULL", class: temporal, indexable: true, pool: moments(nearChanges...)},
	{decl: "YEAR", class: temporal, indexable: true, pool: []value{intValue(2024), intValue(1901), intValue(2155), intValue(1999)}},
	{decl: "ENUM('b','a','C','zz')", class: label, indexable: true, pool: texts("a", "b", "C", "zz")},
	{decl: "SET('y','x','z')", class: label, indexable: true, pool: texts("x", "y", "x,y", "", "z", "y,z")},
	{decl: "BIT(8)", class: bits, pool: []value{intValue(1), intValue(0), intValue(255), intValue(97)}},
	{decl: "BIT(64)", class: bits, pool: []value{intValue(1), uintValue(1<<64 - 1), uintValue(1 << 63), intValue(2)}},
	{decl: "JSON", class: document, pool: texts(`{"a": 1}`, `{"a": 2, "b": [1, 2]}`, `[1, "x"]`, `"t"`, `{}`)},
}
