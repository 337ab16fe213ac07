package rule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"kingshard/mysql/value"
)

// List places the keys that are listed, integers or strings. Others have no shard.
type List struct {
	spread
	positions map[value.Value]int
	integers  bool // all keys are
}

// NewList makes the rule: keys[i] are those of shard i. A string of digits is the integer it spells.
func NewList(keys [][]string) (*List, error) {
	s, err := newSpread(len(keys))
	if err != nil {
		return nil, err
	}
	r := &List{spread: s, positions: map[value.Value]int{}, integers: true}
	for position, texts := range keys {
		for _, text := range texts {
			key := listed(value.NewString(text))
			if other, dup := r.positions[key]; dup {
				return nil, fmt.Errorf("key %s is listed for shards %d and %d", key, other, position)
			}
			r.positions[key] = position
			r.integers = r.integers && key.Kind() != value.String
		}
	}
	return r, nil
}

// folded is the rule with the keys as a fold makes them.
func (r *List) folded(by *Fold) (*List, error) {
	f := &List{spread: r.spread, positions: map[value.Value]int{}, integers: r.integers}
	for _, key := range r.keys() {
		position := r.positions[key]
		if key.Kind() == value.String {
			text, err := by.apply(key.Text())
			if err != nil && by == foldASCII {
				text = key.Text() // no value has it
			} else if err != nil {
				return nil, fmt.Errorf("key %s cannot be placed with strings: %s: %v", key, by.Name, err)
			}
			key = listed(value.NewString(text))
		}
		if other, dup := f.positions[key]; dup && other != position {
			if as, ok := r.positions[key]; ok && by == foldASCII {
				f.positions[key] = as // the one that has been found all along
				continue
			}
			return nil, fmt.Errorf("key %s is listed for shards %d and %d, as strings: %s has it", key, other, position, by.Name)
		}
		f.positions[key] = position
	}
	return f, nil
}

// keys lists the keys in the order of their shards, those of one shard by their texts.
func (r *List) keys() []value.Value {
	return slices.SortedFunc(maps.Keys(r.positions), func(a, b value.Value) int {
		return cmp.Or(cmp.Compare(r.positions[a], r.positions[b]), cmp.Compare(a.String(), b.String()))
	})
}

// listed is a value as a key of the map; NULL if it cannot be one.
func listed(v value.Value) value.Value {
	if n := integerOf(v); !n.IsNull() {
		return n
	}
	switch v.Kind() {
	case value.String:
		return v
	case value.Bytes:
		return value.NewString(v.Text())
	case value.Decimal:
		if d, ok := parseDecimal(v.Text()); ok {
			return value.NewString(d.String())
		}
	}
	return value.Value{}
}

// Kind is list.
func (r *List) Kind() string { return "list" }

// Find places a row.
func (r *List) Find(v value.Value) (int, error) {
	key := listed(v)
	if key.IsNull() {
		return 0, noPlace("list", v)
	}
	if position, ok := r.positions[key]; ok {
		return position, nil
	}
	if r.integers && key.Kind() == value.String && v.Kind() != value.Decimal {
		return 0, noPlace("list", v) // an integer column compares 'x' as 0
	}
	return 0, refuse(ErrNoShard, "sharding key %s is not among the %d listed values of the table", shown(v), len(r.positions))
}

// Between gives the shards of the listed integers in the interval. Strings have no order here, as it is the collation's.
func (r *List) Between(lo, hi *Bound) Set {
	if !r.integers || !integerBound(lo) || !integerBound(hi) {
		return r.all
	}
	var positions []int
	for key, position := range r.positions {
		if (lo == nil || compareIntegers(integerOf(lo.Value), key) <= 0) && (hi == nil || compareIntegers(key, integerOf(hi.Value)) <= 0) {
			positions = append(positions, position)
		}
	}
	return NewSet(positions...)
}

func integerBound(b *Bound) bool {
	return b == nil || b.Value.Kind() == value.Int || b.Value.Kind() == value.Uint
}
