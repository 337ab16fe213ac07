package sqlparse

import (
	"fmt"
	"testing"
)

func TestCutInto(t *testing.T) {
	for _, c := range [][2]string{
		{"select a into @x from t", "select a   from t [x]from"},
		{"select a, b from t where c = 1 limit 1 into @x, @`y``z`", "select a, b from t where c = 1 limit 1   [x y`z]"},
		{"select a from t INTO @'q' for update;", "select a from t   for update; [q]for"},
		{"with c as (select 1) select 1 into @x", "with c as (select 1) select 1   [x]"},
		{"select t.into, `into` from t", "no"},
		{"select a into outfile 'x' from t", "no"},
		{"select a into @x, y from t", "no"},
		{"select a into @x from t into @y", "no"},
		{"select (select 1 into @x)", "no"},
		{"select a into", "no"},
		{"select a from t", "no"},
	} {
		got := "no"
		if into, ok := CutInto(c[0], mysql8); ok {
			got = fmt.Sprint(into.Text, " ", into.Names, into.Before)
		}
		if got != c[1] {
			t.Errorf("%s\n got %q\nwant %q", c[0], got, c[1])
		}
	}
	for text, want := range map[string]string{
		"select a from t": "select a from t LIMIT", "select a from t where b order by c for update": "select a from t where b order by c LIMIT for update",
		"select a from t limit 5": "", "select a from t union select 1": "", "select count(*) from t;": "select count(*) from t LIMIT;",
	} {
		got := ""
		if at, ok := LimitAt(text, mysql8); ok {
			got = text[:at]
			if got[len(got)-1] != ' ' {
				got += " "
			}
			got += "LIMIT"
			if at < len(text) && text[at] != ';' {
				got += " "
			}
			got += text[at:]
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
