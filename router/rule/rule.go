package rule

import (
	"errors"
	"fmt"
	"reflect"

	"kingshard/mysql/value"
)

// Rule places rows by the value of their key.
type Rule interface {
	// Kind is the rule's type in the configuration, such as hash.
	Kind() string
	// Shards is the number of shards, 1 or more; positions are 0 to Shards()-1.
	Shards() int
	// Number is the index that the names of the shard at a position carry: the position itself, or the year, month or
	// day of date rules.
	Number(position int) int
	// Find gives the position of the shard that holds, and for an INSERT must hold, the rows whose key is v. Errors are
	// of kind ErrNoShard or ErrConvert.
	Find(v value.Value) (int, error)
	// Between gives at least the shards that hold keys from lo to hi; a nil bound is an open end, and so is one that
	// cannot be placed. The set is the rule's own: it must not be changed.
	Between(lo, hi *Bound) Set
}

// Bound is an end of an interval of keys.
type Bound struct {
	Value     value.Value
	Inclusive bool
}

var (
	// ErrNoShard is the kind of error of a value that is a fine key but belongs to no shard: no row has it, and a row
	// with it is refused.
	ErrNoShard = errors.New("no shard for the key")
	// ErrNoMatch is the ErrNoShard of a value that no row's key column can equal, such as 5.5 for an integer.
	ErrNoMatch = fmt.Errorf("%w: no key equals the value", ErrNoShard)
	// ErrConvert is the kind of error of a value that cannot be placed for certain: rows that equal it may be on any
	// shard, and a row with it is refused.
	ErrConvert = errors.New("key value cannot be placed")
)

// refusal is an error of one of the kinds above.
type refusal struct {
	kind error
	text string
}

func (e *refusal) Error() string { return e.text }
func (e *refusal) Unwrap() error { return e.kind }

func refuse(kind error, format string, args ...any) error {
	return &refusal{kind, fmt.Sprintf(format, args...)}
}

// noPlace is the error of a value of a kind that a rule cannot place.
func noPlace(kind string, v value.Value) error {
	if v.IsNull() {
		return refuse(ErrNoShard, "the sharding key must not be NULL")
	}
	return refuse(ErrConvert, "sharding key %s: a rule of type %s cannot place it", shown(v), kind)
}

// shown is a value as errors show it.
func shown(v value.Value) string {
	const most = 64
	if text := v.String(); len(text) <= most {
		return text
	}
	return v.String()[:most] + "..."
}

// Equal tells whether two rules put equal keys on the same position.
func Equal(a, b Rule) bool { return reflect.DeepEqual(a, b) }

// spread is the part that is the same in rules that know no order of keys.
type spread struct{ all Set }

func newSpread(shards int) (spread, error) {
	if shards < 1 {
		return spread{}, fmt.Errorf("a rule needs 1 shard at least, not %d", shards)
	}
	return spread{All(shards)}, nil
}

func (s spread) Shards() int             { return len(s.all) }
func (s spread) Number(position int) int { return position }
func (s spread) Between(_, _ *Bound) Set { return s.all }
