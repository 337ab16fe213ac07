package rule

import "slices"

// Set is a set of shard positions, ascending and without repetition. Sets are shared: nobody changes one; operations
// give new ones or one of their operands.
type Set []int

// NewSet makes a set of positions in any order.
func NewSet(positions ...int) Set {
	s := slices.Clone(positions)
	slices.Sort(s)
	return slices.Compact(s)
}

// All is the set of n positions from 0.
func All(n int) Set {
	s := make(Set, n)
	for k := range s {
		s[k] = k
	}
	return s
}

// Intersect gives what is in both sets.
func (s Set) Intersect(t Set) Set {
	var both Set
	for len(s) > 0 && len(t) > 0 {
		switch {
		case s[0] < t[0]:
			s = s[1:]
		case s[0] > t[0]:
			t = t[1:]
		default:
			both = append(both, s[0])
			s, t = s[1:], t[1:]
		}
	}
	return both
}

// Union gives what is in either set.
func (s Set) Union(t Set) Set {
	if len(s) == 0 {
		return t
	}
	if len(t) == 0 {
		return s
	}
	either := make(Set, 0, len(s)+len(t))
	for len(s) > 0 && len(t) > 0 {
		least := min(s[0], t[0])
		either = append(either, least)
		if s[0] == least {
			s = s[1:]
		}
		if t[0] == least {
			t = t[1:]
		}
	}
	return append(append(either, s...), t...)
}
