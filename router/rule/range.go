package rule

import (
	"fmt"
	"math"

	"kingshard/mysql/value"
)

// Range places a number by ranges of equal width: shard i holds [i*width, (i+1)*width). Keys outside have no shard.
type Range struct {
	all   Set
	width int64
}

// NewRange makes the rule for so many shards of width keys each.
func NewRange(shards int, width int64) (*Range, error) {
	s, err := newSpread(shards)
	if err != nil {
		return nil, err
	}
	if width < 1 || width > math.MaxInt64/int64(shards) {
		return nil, fmt.Errorf("%d ranges cannot be %d keys wide", shards, width)
	}
	return &Range{s.all, width}, nil
}

// Kind is range.
func (r *Range) Kind() string { return "range" }

// Shards is the number of ranges.
func (r *Range) Shards() int { return len(r.all) }

// Number is the position.
func (r *Range) Number(position int) int { return position }

// Find places a row.
func (r *Range) Find(v value.Value) (int, error) {
	n, _, ok := floor(v)
	if !ok {
		return 0, noPlace("range", v)
	}
	if end := r.width * int64(len(r.all)); n < 0 || n >= end {
		return 0, refuse(ErrNoShard, "sharding key %s is outside the ranges of the table, 0 to %d", shown(v), end-1)
	}
	return int(n / r.width), nil
}

// Between gives the ranges that the interval meets.
func (r *Range) Between(lo, hi *Bound) Set {
	from, to := int64(0), int64(len(r.all))
	if lo != nil {
		if n, _, ok := floor(lo.Value); ok && n >= 0 {
			from = min(n/r.width, to)
		}
	}
	if hi != nil {
		if n, whole, ok := floor(hi.Value); ok && n < 0 {
			to = 0
		} else if ok {
			last := n / r.width
			if whole && !hi.Inclusive && n%r.width == 0 {
				last-- // a range holds nothing below its first key
			}
			to = min(last+1, to)
		}
	}
	if from >= to {
		return nil
	}
	return r.all[from:to]
}

// floor is the greatest integer not above a number or a string of digits, any negative one for numbers below 0 and
// MaxInt64 for those above; whole tells that it is the number itself.
func floor(v value.Value) (n int64, whole, ok bool) {
	if v.Kind() == value.Decimal {
		d, ok := parseDecimal(v.Text())
		if d.negative {
			return -1, false, ok
		}
		if d.whole == "" {
			return 0, d.fraction == "", ok
		}
		u, fits := parseUint(d.whole)
		if !fits || u > math.MaxInt64 {
			return math.MaxInt64, false, ok
		}
		return int64(u), d.fraction == "", ok
	}
	switch i := integerOf(v); i.Kind() {
	case value.Int:
		return i.Int(), true, true
	case value.Uint:
		return math.MaxInt64, false, true
	}
	return 0, false, false
}
