package rule

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSetVectors(t *testing.T) {
	a, b := NewSet(4, 1, 2, 2), NewSet(2, 3)
	if got := a.Intersect(b); !slices.Equal(got, Set{2}) {
		t.Errorf("intersection %v", got)
	}
	if got := a.Union(NewSet(3)); !slices.Equal(got, Set{1, 2, 3, 4}) {
		t.Errorf("union %v", got)
	}
	if got := All(3); !slices.Equal(got, Set{0, 1, 2}) {
		t.Errorf("all %v", got)
	}
}

func TestSetLaws(t *testing.T) {
	positions := rapid.SliceOfN(rapid.IntRange(0, 12), 0, 10)
	rapid.Check(t, func(t *rapid.T) {
		a, b := NewSet(positions.Draw(t, "a")...), NewSet(positions.Draw(t, "b")...)
		both, either := a.Intersect(b), a.Union(b)
		for _, s := range []Set{both, either} {
			if !slices.Equal(s, NewSet(s...)) {
				t.Fatalf("%v is not ascending", s)
			}
		}
		for p := range 13 {
			inA, inB := slices.Contains(a, p), slices.Contains(b, p)
			if slices.Contains(both, p) != (inA && inB) || slices.Contains(either, p) != (inA || inB) {
				t.Fatalf("%d in %v and %v: %v, %v", p, a, b, both, either)
			}
		}
	})
}
