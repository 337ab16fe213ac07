// Package value holds typed MySQL values: the literals and parameters that statements carry, and the cells of result
// rows, with the comparisons and sums that merging rows of several shards needs.
package value

import (
	"fmt"
	"math"
	"strconv"
)

// Kind is the kind of a Value. It is what the value was written or bound as, before any conversion to a column's type.
type Kind uint8

// The kinds.
const (
	Null     Kind = iota
	Int           // signed 64 bit
	Uint          // unsigned 64 bit; only values above 2^63-1 where the source is a literal
	Decimal       // exact number with a point or of more than 64 bit, as text
	Float         // double
	String        // characters in the client's character set
	Bytes         // a string without a character set: X'..', b'..', BLOB parameters
	Temporal      // a parameter that is a date, a time or both, as text
)

// Value is one value. The zero Value is NULL. It is immutable, and shares the memory of the text that it was made from.
type Value struct {
	kind Kind
	n    uint64
	s    string
}

// NewInt makes a signed integer.
func NewInt(v int64) Value { return Value{kind: Int, n: uint64(v)} }

// NewUint makes an unsigned integer; one that fits into int64 becomes an Int.
func NewUint(v uint64) Value {
	if v <= math.MaxInt64 {
		return NewInt(int64(v))
	}
	return Value{kind: Uint, n: v}
}

// NewDecimal makes an exact number from its text: sign, digits, point, digits.
func NewDecimal(text string) Value { return Value{kind: Decimal, s: text} }

// NewFloat makes a double.
func NewFloat(v float64) Value { return Value{kind: Float, n: math.Float64bits(v)} }

// NewString makes a string of characters.
func NewString(s string) Value { return Value{kind: String, s: s} }

// NewBytes makes a binary string.
func NewBytes(s string) Value { return Value{kind: Bytes, s: s} }

// NewTemporal makes a date, a time or both from its text.
func NewTemporal(text string) Value { return Value{kind: Temporal, s: text} }

// Kind tells the kind.
func (v Value) Kind() Kind { return v.kind }

// IsNull tells whether the value is NULL.
func (v Value) IsNull() bool { return v.kind == Null }

// Int is the number of an Int.
func (v Value) Int() int64 { return int64(v.n) }

// Uint is the number of a Uint, and the two's complement of an Int.
func (v Value) Uint() uint64 { return v.n }

// Float is the number of a Float.
func (v Value) Float() float64 { return math.Float64frombits(v.n) }

// Text is the text of a Decimal, a String, Bytes or a Temporal.
func (v Value) Text() string { return v.s }

// String shows the value as it is written in SQL, for EXPLAIN and tests; strings are quoted with double quotes, as Go does.
func (v Value) String() string {
	switch v.kind {
	case Int:
		return strconv.FormatInt(v.Int(), 10)
	case Uint:
		return strconv.FormatUint(v.n, 10)
	case Decimal:
		return v.s
	case Float:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64) + "e0"
	case String, Temporal:
		return strconv.Quote(v.s)
	case Bytes:
		return fmt.Sprintf("X'%X'", v.s)
	}
	return "NULL"
}
