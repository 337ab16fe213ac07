package router

import "testing"

func TestSameColumn(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"id", "ID", true}, {"id", "İd", true}, {"İD", "iD", true}, {"\u212ay", "ky", true}, {"id", "íd", false}, {"id", "ıd", false}, {"id", "i\u0307d", false}, {"größe", "GRÖSSE", false}} {
		if got := SameColumn(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}
