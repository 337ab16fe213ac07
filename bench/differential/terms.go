package differential

import "math/rand/v2"

// dice decide.
type dice struct{ *rand.Rand }

// one tells true once in n times.
func (d dice) one(n int) bool { return d.IntN(n) == 0 }

func pickOne[T any](d dice, list []T) T { return list[d.IntN(len(list))] }

// terms make what statements are made of: tables, expressions, conditions, orders.
type terms struct {
	dice
	schema   *schema
	dialect  dialect
	mode     string // sql_mode
	names    int    // for names that must differ
	folds    bool   // a text column whose equal values may look different was shown in this statement
	converts bool   // texts are compared with numbers in this statement
	calls    []function
}
