package session_test

import (
	"fmt"
	"testing"
)

// Sums of doubles of several shards that are too large are shown as one server shows them.
func TestSumsToInfinity(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c := namesRig(t, kind)
			for _, large := range []string{"1.7e308", "-1.7e308"} {
				for _, form := range []string{"SELECT SUM(IF(id IN (1, 2), %s, 0e0)) FROM u", "SELECT id > 4, SUM(IF(id IN (1, 2), %s, 1e0)) FROM u GROUP BY id > 4 ORDER BY 1"} {
					sql := fmt.Sprintf(form, large)
					if w, g := rowsOrError(must(t, one, sql)), rowsOrError(must(t, c, sql)); w != g {
						t.Errorf("%s: %s instead of %s", sql, g, w)
					}
				}
			}
		})
	}
}
