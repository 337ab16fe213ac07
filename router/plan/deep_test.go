package plan

import (
	"strings"
	"testing"
)

// TestDeepStatements plans statements near the deepest that are read.
func TestDeepStatements(t *testing.T) {
	r := testRouter(t)
	for _, sql := range []string{
		"select id from u where id = 1" + strings.Repeat(" or id = 1", 45_000),
		"select id from u where id = 1" + strings.Repeat(" and a = 1", 45_000),
		"select id from u where " + strings.Repeat("not ", 190_000) + "id = 1",
		"select id from u where id in " + strings.Repeat("(select id from u where id in ", 2_000) + "(1)" + strings.Repeat(")", 2_000),
		"select id from u" + strings.Repeat(", u", 60),
	} {
		p, err := build(sql, r, typed)
		if err != nil {
			t.Errorf("%.40s: %v", sql, err)
			continue
		}
		if _, err := p.Route(nil); err != nil && !IsRefusal(err) {
			t.Errorf("%.40s: %v", sql, err)
		}
	}
}
