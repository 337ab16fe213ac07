package plan

import (
	"kingshard/mysql/value"
	"kingshard/router"
	"kingshard/router/rule"
)

// RoutedKey is a value of a sharding key that brings a statement to one shard.
type RoutedKey struct {
	Table *router.Table
	Shard router.Shard
	// Values are those of the key's columns as they stand in the statement. They live until the next Bind or BindText.
	Values []value.Value
	// Placed is the one value that the table's rule places: keys that are equal have the same.
	Placed value.Value
	// Pinned tells that the rule places the key by hand.
	Pinned bool
}

// Refs is the number of references to tables in the plan.
func (e *Execution) Refs() int { return len(e.plan.Refs) }

// RoutedKey gives the key of one of the plan's Refs, by its number, for an execution whose Route is for one server. ok is false where
// no single key was asked for: by a list or an interval, by no condition, or for another reference of the same table. Of an INSERT
// of several rows it is the last row's.
func (e *Execution) RoutedKey(ref int) (k RoutedKey, ok bool) {
	r := e.plan.Refs[ref]
	if r.Table.Kind != router.Sharded {
		return k, false
	}
	for _, before := range e.plan.Refs[:ref] {
		if before.Table == r.Table {
			return k, false
		}
	}
	k.Table = r.Table
	var err error
	if _, inserts := e.plan.Operator.(*Insert); inserts {
		if r != e.plan.Target {
			return k, false
		}
		k.Values = e.tuple // placeRows left it there
		k.Placed, err = r.Table.Stored(k.Values, r.key)
	} else {
		if ok = e.askedFor(r); !ok {
			return k, false
		}
		k.Values = e.tuple
		k.Placed, err = r.Table.Sought(k.Values, r.key)
	}
	if err != nil {
		return k, false
	}
	at, err := r.Table.Rule.Find(k.Placed)
	if err != nil {
		return k, false
	}
	k.Shard, k.Pinned = r.Table.Shards[at], rule.Pins(r.Table.Rule, k.Placed)
	return k, true
}

// askedFor puts the one key that a reference asks for into the tuple.
func (e *Execution) askedFor(r *Ref) bool {
	if e.keyOf(r) {
		return true
	}
	for _, f := range r.from {
		if len(f.Table.Keys) == len(r.Table.Keys) && e.keyOf(f) {
			return true
		}
	}
	return false
}

// keyOf puts the one key that a reference's own conditions ask for into the tuple.
func (e *Execution) keyOf(r *Ref) bool {
	e.tuple = e.tuple[:0]
	if len(r.Table.Keys) == 1 {
		for _, c := range r.own {
			if v, ok := c.single(e); ok {
				e.tuple = append(e.tuple, v)
				return true
			}
		}
		return false
	}
	if len(r.tuple) != len(r.Table.Keys) {
		return false
	}
	for _, values := range r.tuple {
		if len(values) == 0 {
			return false
		}
		v, ok := values[0].of(&e.values, 0)
		if !ok || v.IsNull() {
			return false
		}
		e.tuple = append(e.tuple, v)
	}
	return true
}

// single gives the value that a condition says the key equals, if it is one.
func (c *cond) single(e *Execution) (v value.Value, ok bool) {
	switch {
	case c.op == condIn && len(c.values) == 1 && e.count(c.values[0].param) == 1:
		v, ok = c.values[0].of(&e.values, 0)
		return v, ok && !v.IsNull()
	case c.op == condAnd:
		for _, a := range c.args {
			if v, ok = a.single(e); ok {
				return v, true
			}
		}
	}
	return v, false
}
