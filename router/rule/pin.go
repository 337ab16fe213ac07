package rule

import (
	"fmt"
	"maps"
	"slices"

	"kingshard/mysql/value"
)

// pinned is a rule of which some keys are placed by hand: each on one of a set of shards, whatever the rule says of it. It lies
// below a fold, so that its keys are those that the fold makes.
type pinned struct {
	Rule
	at map[value.Value]Set
	// texts are the keys as they were given, in order; reach is the shard of each that an interval may hold.
	texts []string
	reach []pinnedKey
}

type pinnedKey struct {
	key      value.Value
	position int
}

// Pinned places keys by hand: at gives for the text of a key the shards of which one is to have its rows, one at least. A key that
// the rule has on one of them stays there; of the others the rule's own position, modulo their number, says which it is. As in a list,
// a text of digits is the number that it spells, too. Errors are of keys that the rule can place nowhere, and of two that are one.
func Pinned(r Rule, at map[string]Set) (Rule, error) {
	if len(at) == 0 {
		return r, nil
	}
	if f, ok := r.(*folded); ok {
		inner, err := newPinned(f.Rule, at, func(v value.Value) (value.Value, error) { return fold(f, v) })
		if err != nil {
			return nil, err
		}
		return &folded{inner, f.by}, nil
	}
	return newPinned(r, at, func(v value.Value) (value.Value, error) {
		if TakesText(r) && v.Text()[max(0, len(v.Text())-1):] == " " {
			return v, refuse(ErrConvert, "a rule with strings: exact places no key with a space at the end")
		}
		return v, nil
	})
}

func newPinned(r Rule, at map[string]Set, fold func(value.Value) (value.Value, error)) (*pinned, error) {
	p := &pinned{Rule: r, at: map[value.Value]Set{}, texts: slices.Sorted(maps.Keys(at))}
	given := map[value.Value]string{}
	for _, text := range p.texts {
		folded, err := fold(value.NewString(text))
		if err != nil {
			return nil, fmt.Errorf("key %q cannot be pinned: %w", text, err)
		}
		forms := pinForms(folded)
		placed := 0
		for _, form := range forms {
			if _, failed := r.Find(form); failed != nil {
				err = failed
				continue
			}
			placed++
			key := pinKey(form)
			if other, dup := given[key]; dup && other != text {
				return nil, fmt.Errorf("key %q cannot be pinned: it is the same as %q", text, other)
			}
			given[key], p.at[key] = text, at[text]
			position, _ := p.Find(form)
			p.reach = append(p.reach, pinnedKey{key, position})
		}
		if placed == 0 {
			return nil, fmt.Errorf("key %q cannot be pinned: %w", text, err)
		}
	}
	return p, nil
}

// pinForms are the values that a text stands for: a whole number, or a text and the Decimal that it spells.
func pinForms(v value.Value) []value.Value {
	if n := integerOf(v); !n.IsNull() {
		return []value.Value{n}
	}
	forms := []value.Value{v}
	if d, ok := parseDecimal(v.Text()); ok {
		forms = append(forms, d.value())
	}
	return forms
}

// pinKey is a value as a key of the map, where equal numbers are one, as are a text and its bytes; NULL if it cannot be one.
func pinKey(v value.Value) value.Value {
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
			return d.value()
		}
	}
	return value.Value{}
}

// Find places a row.
func (r *pinned) Find(v value.Value) (int, error) {
	position, err := r.Rule.Find(v)
	if err != nil {
		return position, err
	}
	set, is := r.at[pinKey(v)]
	if !is {
		return position, nil
	}
	if _, stays := slices.BinarySearch(set, position); stays {
		return position, nil
	}
	return set[position%len(set)], nil
}

// Between adds the shards of pinned keys in the interval to those of the rule.
func (r *pinned) Between(lo, hi *Bound) Set {
	set := r.Rule.Between(lo, hi)
	if len(set) == r.Shards() {
		return set
	}
	var more []int
	for _, k := range r.reach {
		if _, has := slices.BinarySearch(set, k.position); !has && mayHold(lo, hi, k.key) {
			more = append(more, k.position)
		}
	}
	return set.Union(NewSet(more...))
}

// mayHold reports whether a key can be in an interval; it is sure of whole numbers that are not negative only, which are the keys of
// the rules that know intervals.
func mayHold(lo, hi *Bound, key value.Value) bool {
	n, whole, ok := floor(key)
	if !ok || !whole || n < 0 {
		return true
	}
	if lo != nil {
		if least, _, ok := floor(lo.Value); ok && n < least {
			return false
		}
	}
	if hi != nil {
		if most, _, ok := floor(hi.Value); ok && n > most {
			return false
		}
	}
	return true
}

// Pins reports whether a rule places the key at v by hand. v is as Find takes it.
func Pins(r Rule, v value.Value) bool {
	if f, ok := r.(*folded); ok {
		var err error
		if v, err = fold(f, v); err != nil {
			return false
		}
		r = f.Rule
	}
	p, ok := r.(*pinned)
	if !ok {
		return false
	}
	_, is := p.at[pinKey(v)]
	return is
}
