package rule

import "testing"

// TestFoldedListErrors folds lists that have several faults: the error is of the first shard with one.
func TestFoldedListErrors(t *testing.T) {
	for _, c := range []struct {
		fold string
		keys [][]string
		want string
	}{
		{"ascii_ci", [][]string{{"Ab"}, {"aB"}, {"AB", "Xy"}, {"xY"}}, `key "ab" is listed for shards 0 and 1, as strings: ascii_ci has it`},
		{"utf8mb4_unicode_ci_v1", [][]string{{"é"}, {"E", "x"}, {"e", "X"}}, `key "e" is listed for shards 0 and 1, as strings: utf8mb4_unicode_ci_v1 has it`},
		{"utf8mb4_unicode_ci_v1", [][]string{{"k"}, {"b\xff", "a\xff"}, {"c\xff"}}, `key "a\xff" cannot be placed with strings: utf8mb4_unicode_ci_v1: it is not in UTF-8`},
	} {
		for range 40 {
			l, err := NewList(c.keys)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = FoldBy(l, c.fold); err == nil || err.Error() != c.want {
				t.Fatalf("%q: got %v, want %s", c.keys, err, c.want)
			}
		}
	}
}
