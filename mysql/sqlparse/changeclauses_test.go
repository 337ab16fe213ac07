package sqlparse

import (
	"strings"
	"testing"
)

func TestChangeValues(t *testing.T) {
	for _, c := range [][2]string{
		{"update t set a = 1", "1"},
		{"update t as x set x.a = b = c, `set` = (select 1, 2 from y where a = b), d := f(a, b) where a = 1", "b = c|(select 1, 2 from y where a = b)|f(a, b)"},
		{"update t set a = 1, b = '=' order by a limit 1;", "1|'='"},
		{"update t set a = -1,b=default limit 1", "-1|default"},
		{"update t set a = case when b = 1 then 2 else 3 end", "case when b = 1 then 2 else 3 end"},
		{"delete from t where a = 1", ""},
	} {
		p, ok := FindChangeClauses(c[0], mysql8)
		var got []string
		for _, s := range p.Values {
			got = append(got, c[0][s.Pos:s.End])
		}
		if !ok || strings.Join(got, "|") != c[1] {
			t.Errorf("%s\n got %q\nwant %s", c[0], got, c[1])
		}
	}
}

func TestChangeClauses(t *testing.T) {
	for _, c := range [][2]string{
		{"update t set a = 1", "t|||"},
		{"UPDATE LOW_PRIORITY IGNORE `t` AS x PARTITION (p) SET a = (select 1 from y where z limit 1), `order` = 2 WHERE a = 'limit 3' ORDER BY a, b DESC LIMIT 5;",
			"`t` AS x PARTITION (p)|WHERE a = 'limit 3'|ORDER BY a, b DESC|LIMIT 5|ignore"},
		{"delete ignore quick from t", "t||||ignore"},
		{"update t set a = 1 order by b limit 2", "t||order by b|limit 2"},
		{"delete quick from d.t limit ?", "d.t|||limit ?"},
		{"delete from t as x where x.limit = 1 and (b or c) limit 3", "t as x|where x.limit = 1 and (b or c)||limit 3"},
		{"delete from t limit 3 returning a", "no"},
		{"delete t from t", "no"},
		{"delete from t where a where b", "no"},
		{"update t", "no"},
		{"select 1", "no"},
		{"delete", "no"},
	} {
		got := "no"
		if p, ok := FindChangeClauses(c[0], mysql8); ok {
			piece := func(s Span) string { return c[0][s.Pos:s.End] }
			got = piece(p.Table) + "|" + piece(p.Where) + "|" + piece(p.OrderBy) + "|" + piece(p.Limit)
			if p.Ignore {
				got += "|ignore"
			}
		}
		if got != c[1] {
			t.Errorf("%s\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}
