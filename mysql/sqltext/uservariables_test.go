package sqltext

import (
	"slices"
	"testing"
)

func TestUserVariables(t *testing.T) {
	for _, c := range []struct {
		text string
		mode Mode
		want []string
		ok   bool
	}{
		{"SELECT 1", Mode{}, nil, true},
		{"SELECT @a, @B.c$_9, @`x y`, @'d', @\"e\", @A, @@f, @@session.g FROM t WHERE '@h' = `@i` /* @j */ -- @k", Mode{}, []string{"a", "b.c$_9", "x y", "d", "e"}, true},
		{"SELECT @\"e\" AND (SELECT MAX(@m) FROM t)", Mode{ANSIQuotes: true}, []string{"e", "m"}, true},
		{"SELECT @'it''s'", Mode{}, []string{"it's"}, true},
		{"SELECT @``", Mode{}, nil, false},
		{"SELECT @a + 'x", Mode{}, nil, false},
	} {
		got, ok := UserVariables(c.text, c.mode)
		if ok != c.ok || ok && !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v", c.text, got, ok)
		}
	}
}
