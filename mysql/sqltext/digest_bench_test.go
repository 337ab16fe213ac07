package sqltext

import (
	"strings"
	"testing"
)

// wideInsert is an INSERT of 1000 rows.
func wideInsert() string {
	return "INSERT INTO t (a, b, c) VALUES " + strings.Repeat("(12345, 'some text', NULL), ", 999) + "(1, 'x', 2.5)"
}

func BenchmarkDigest(b *testing.B) {
	for _, c := range []struct{ name, sql string }{
		{"point", pointSelect}, {"insert", smallInsert}, {"wide", wideSelect()}, {"quoted", quotedSelect()}, {"rows", wideInsert()},
		{"list=1k", numberList(1000)}, {"list=17k", numberList(17_000)}, {"list=170k", numberList(170_000)},
		{"list", "SELECT a FROM t WHERE id IN (" + strings.Repeat("12345, ", 999) + "1)"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.sql)))
			m := Mode{ServerVersion: 80400}
			var d Digest
			for b.Loop() {
				if !d.Scan(c.sql, m) {
					b.Fatal("no digest")
				}
			}
		})
	}
}

func TestDigestAllocatesNothing(t *testing.T) {
	for _, sql := range []string{pointSelect, smallInsert, wideSelect(), wideInsert(), "/*node1*/ select a from t where b in ((1, 2), (3, 4)) -- x"} {
		var d Digest
		m := Mode{ServerVersion: 80400}
		if n := testing.AllocsPerRun(100, func() { d.Scan(sql, m) }); n != 0 {
			t.Errorf("%.40s: %v allocations", sql, n)
		}
	}
	l := Literal{Pos: 31, End: 36}
	if n := testing.AllocsPerRun(100, func() { l.Value(pointSelect, Mode{}) }); n != 0 {
		t.Errorf("the value of an integer: %v allocations", n)
	}
	l = Literal{Pos: 0, End: 5, Kind: LiteralString}
	if n := testing.AllocsPerRun(100, func() { l.Value("'abc'", Mode{}) }); n != 0 {
		t.Errorf("the value of a string: %v allocations", n)
	}
}
