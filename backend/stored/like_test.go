package stored

import "testing"

func TestLike(t *testing.T) {
	for pattern, want := range map[string]bool{"shop": true, "sh%": true, "%": true, "s_op": true, `s\_op`: false, "shop%": true, "shop_": false, "": false, "SHOP": false, `shop\`: false} {
		if Like(pattern, "shop") != want {
			t.Errorf("%q: not %v", pattern, want)
		}
	}
}
