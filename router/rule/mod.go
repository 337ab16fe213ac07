package rule

import "kingshard/mysql/value"

// Mod places an integer by its remainder, which is never negative: -1 is on the last shard.
type Mod struct{ spread }

// NewMod makes the rule for so many shards.
func NewMod(shards int) (*Mod, error) {
	s, err := newSpread(shards)
	return &Mod{s}, err
}

// Kind is mod.
func (r *Mod) Kind() string { return "mod" }

// Find places a row.
func (r *Mod) Find(v value.Value) (int, error) {
	shards := len(r.all)
	switch n := integerOf(v); n.Kind() {
	case value.Int:
		return int((n.Int()%int64(shards) + int64(shards)) % int64(shards)), nil
	case value.Uint:
		return int(n.Uint() % uint64(shards)), nil
	}
	return 0, noPlace("mod", v)
}
