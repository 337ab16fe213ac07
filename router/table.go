package router

import (
	"fmt"

	"kingshard/mysql/value"
	"kingshard/router/rule"
)

// Kind is how a table lies on the nodes.
type Kind uint8

// The kinds.
const (
	Sharded   Kind = iota // every row on one shard, by its key
	Reference             // all rows on every shard
	Single                // all rows on the one shard
)

// String is sharded, reference or single.
func (k Kind) String() string {
	switch k {
	case Sharded:
		return "sharded"
	case Reference:
		return "reference"
	}
	return "single"
}

// Table is a logical table with its rule. It is not changed after New.
type Table struct {
	DB, Name string
	Kind     Kind
	// Keys are the key columns in lower case, in the order of the rule; none where the table is not sharded.
	Keys []string
	// Rule places rows; its positions are those of Shards.
	Rule rule.Rule
	// Shards are the physical tables, one at least.
	Shards []Shard
	// Nodes are those of Shards in the order of their first shard, each once.
	Nodes []string
	// AutoCreate tells that shards of date rules are made on their nodes when they are missing.
	AutoCreate bool
	// Indexes are the keys over all shards, those that are unique first.
	Indexes []*Index
	// LocalUnique: DDL may make UNIQUE keys that hold inside each shard only.
	LocalUnique bool
	// GlobalUnique: UNIQUE keys that DDL makes hold over all shards, and Indexes has those that it has made.
	GlobalUnique bool
	// CrossShard is the cross_shard of the table's rule; "" for allow.
	CrossShard string
	// Keeps is the index that this table of the proxy's own keeps; nil of others.
	Keeps *Index
}

// Shard is a physical table.
type Shard struct {
	Node, DB, Table string
}

// String is node/db.table.
func (s Shard) String() string { return s.Node + "/" + s.DB + "." + s.Table }

// Place gives the position of the shard for a row whose key is written: one value for each of Keys, as they stand in a
// statement. columns tell the columns' types, in the same order; without one a column's is not known. Errors are those of
// rule.Store and of Rule.Find.
func (t *Table) Place(key []value.Value, columns []rule.Column) (position int, err error) {
	v, err := t.Stored(key, columns)
	if err != nil {
		return 0, err
	}
	return t.Rule.Find(v)
}

// Stored gives the one value by which Rule places a row whose key is written, as Place takes it: keys that are equal have the same.
func (t *Table) Stored(key []value.Value, columns []rule.Column) (v value.Value, err error) {
	if len(key) == 1 {
		return rule.Store(t.Rule, key[0], columnAt(columns, 0))
	}
	stored := make([]value.Value, len(key))
	for k, v := range key {
		if stored[k], err = rule.Store(t.Rule, v, columnAt(columns, k)); err != nil {
			return v, err
		}
	}
	return rule.Join(t.Rule, stored)
}

// Seek gives the position of the only shard that can have rows whose key equals a value: one for each of Keys, as they
// stand in a statement. Errors are of kind rule.ErrNoShard where no row's key equals it, and of kind rule.ErrConvert where
// such rows may be on any shard.
func (t *Table) Seek(key []value.Value, columns []rule.Column) (position int, err error) {
	v, err := t.Sought(key, columns)
	if err != nil {
		return 0, err
	}
	return t.Rule.Find(v)
}

// Sought gives the one value by which Rule finds rows whose key equals a value, as Seek takes it: that which Stored gives for them.
func (t *Table) Sought(key []value.Value, columns []rule.Column) (v value.Value, err error) {
	exact := true
	if len(key) == 1 {
		v, exact, err = rule.Convert(t.Rule, key[0], columnAt(columns, 0))
	} else {
		converted := make([]value.Value, len(key))
		for k := range key {
			var one bool
			if converted[k], one, err = rule.Convert(t.Rule, key[k], columnAt(columns, k)); err != nil {
				break
			}
			exact = exact && one
		}
		if err == nil {
			v, err = rule.Join(t.Rule, converted)
		}
	}
	if err == nil && !exact {
		err = errInexact
	}
	return v, err
}

var errInexact = fmt.Errorf("%w: keys that equal it may be on any shard", rule.ErrConvert)

// Between gives at least the shards of keys from lo to hi, as they stand in a statement, of which the only key column is
// c; nil is an open end.
func (t *Table) Between(lo, hi *rule.Bound, c rule.Column) rule.Set {
	if len(t.Keys) != 1 {
		return t.Rule.Between(nil, nil)
	}
	return rule.Interval(t.Rule, lo, hi, c)
}

func columnAt(columns []rule.Column, k int) rule.Column {
	if k < len(columns) {
		return columns[k]
	}
	return rule.Column{}
}

// Colocated tells that rows of both tables with equal keys are on the same node at the same position, if the key
// columns' types agree (rule.Column.Joins), so that shards are joined one by one. Tables that are not sharded are
// colocated with none here.
func (t *Table) Colocated(other *Table) bool {
	if t.Kind != Sharded || other.Kind != Sharded || len(t.Keys) != len(other.Keys) || len(t.Shards) != len(other.Shards) {
		return false
	}
	for k := range t.Shards {
		if t.Shards[k].Node != other.Shards[k].Node {
			return false
		}
	}
	return rule.Equal(t.Rule, other.Rule)
}
