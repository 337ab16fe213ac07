package sqlparse

import "testing"

func TestSingleDelete(t *testing.T) {
	for _, c := range [][2]string{
		{"delete m from t m where m.a = 1", "t m|where m.a = 1"},
		{"DELETE IGNORE d.t.* FROM d.t WHERE a IN (SELECT a FROM x)", "d.t|WHERE a IN (SELECT a FROM x)"},
		{"delete from t where a = 1", "t|where a = 1"},
	} {
		p, ok := FindChangeClauses(SingleDelete(c[0], mysql8), mysql8)
		if got := c[0][p.Table.Pos:p.Table.End] + "|" + c[0][p.Where.Pos:p.Where.End]; !ok || got != c[1] {
			t.Errorf("%s\n got %s\nwant %s", c[0], got, c[1])
		}
	}
	for _, text := range []string{"delete", "delete t", "update t set a = 1", "select 1"} {
		if got := SingleDelete(text, mysql8); got != text {
			t.Errorf("%s: %s", text, got)
		}
	}
}
