package sqlparse

import (
	"errors"
	"runtime"
	"strings"
	"testing"
)

// TestNestingHasABound parses texts of kinds that end the process when they are long enough, and wide ones that do not.
func TestNestingHasABound(t *testing.T) {
	const many = 500_000
	for _, c := range []struct {
		name, begin, part, end string
		count                  int
		deep                   bool
	}{
		{"or", "select 1 from u where 1", " or 1", "", many, true},
		{"not", "select ", "not ", "1 from u", many, true},
		{"minus", "select ", "-", "1 from u", many, true},
		{"parentheses", "select ", "(", "1", many, true},
		{"joins", "select 1 from u", " join u", "", many, true},
		{"tables", "select 1 from u", ",u", "", many, true},
		{"tables in parentheses", "select 1 from (u)", ",(u)", "", many, true},
		{"tables named by reserved words", "select 1 from u", ",d.where", "", many, true},
		{"tables to update", "update u", ",u", " set a = 1", many, true},
		{"union", "select 1 from u", " union select 1", "", many, true},
		{"cases", "select ", "case ", "1 from u", many, true},
		{"a hundred parentheses", "select " + strings.Repeat("(", 100), "1", strings.Repeat(")", 100) + " from u", 1, false},
		{"conditions", "select 1 from u where 1", " or a = 1", "", 20_000, false},
		{"groups of conditions", "select 1 from u where 1", " or (a = 1 and b = 2 and c = 3)", "", 20_000, false},
		{"rows", "insert into u (a, b) values (1, 'x')", ",(2, 'y')", "", 120_000, false},
		{"a list", "select 1 from u where a in (1", ",2", ")", 300_000, false},
		{"assignments", "update u set a = 1", ", b = 2", " where id = 1", 120_000, false},
	} {
		text := c.begin + strings.Repeat(c.part, c.count) + c.end
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		st, err := Parse(text, mysql8, watchedNames("u"))
		runtime.ReadMemStats(&after)
		if c.deep && !errors.Is(err, ErrNested) {
			t.Errorf("%s: %v", c.name, err)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; c.deep && taken > 4<<20 {
			t.Errorf("%s: %d KB to refuse %d KB", c.name, taken>>10, len(text)>>10)
		}
		if !c.deep && (err != nil || len(st.Tables) == 0) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestDeepestIsRead walks trees at the bounds.
func TestDeepestIsRead(t *testing.T) {
	for _, text := range []string{
		"select 1 from u where 1" + strings.Repeat(" or 1", chainMax/2-4),
		"select " + strings.Repeat("not ", chainMax-8) + "1 from u",
		"select " + strings.Repeat("(", parenthesesMax-2) + "1" + strings.Repeat(")", parenthesesMax-2) + " from u",
		"select " + strings.Repeat("(select ", parenthesesMax-2) + "1" + strings.Repeat(")", parenthesesMax-2) + " from u",
		"select " + strings.Repeat("f(", parenthesesMax-2) + "1" + strings.Repeat(")", parenthesesMax-2) + " from u",
		"select 1 from u" + strings.Repeat(",u", chainMax/2-4),
	} {
		if _, err := Parse(text, mysql8, watchedNames("u")); err != nil {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}
