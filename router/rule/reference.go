package rule

import "kingshard/mysql/value"

// Reference is the rule of a table that is whole on every node: any one shard has all rows, and a change goes to all.
type Reference struct{ spread }

// NewReference makes the rule for a table with so many copies.
func NewReference(copies int) (*Reference, error) {
	s, err := newSpread(copies)
	return &Reference{s}, err
}

// Kind is reference.
func (r *Reference) Kind() string { return "reference" }

// Find gives the first of the shards, which all hold the row.
func (r *Reference) Find(value.Value) (int, error) { return 0, nil }
