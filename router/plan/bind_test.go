package plan

import (
	"math"
	"testing"

	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
)

// TestBoundValuesStayValues checks that no value of an execution is read as more than one literal of the text that it is written into.
func TestBoundValuesStayValues(t *testing.T) {
	text := func(lead, trail string) value.Value { return value.NewString(lead + trail + "', 1 FROM t -- ") }
	for name, m := range map[string]sqltext.Mode{
		"utf8mb4": {}, "latin1": {Charset: sqltext.SingleByte}, "gbk": {Charset: sqltext.GBK}, "sjis": {Charset: sqltext.SJIS},
		"big5": {Charset: sqltext.Big5}, "gb18030": {Charset: sqltext.GB18030},
	} {
		values := []value.Value{
			value.NewDecimal("0) UNION SELECT 1 -- "), value.NewDecimal("1e2"), value.NewDecimal("-1.5"), value.NewFloat(1e300), value.NewFloat(-2.5), value.NewFloat(math.Inf(1)),
			value.NewTemporal("2026-01-01 00:00:00"), value.NewBytes("\x81\x5c'"),
		}
		for _, lead := range []string{"", "\x81", "\xbf", "\x95"} {
			for _, trail := range []string{"\\", "`", "'", "\"", ""} {
				values = append(values, text(lead, trail))
			}
		}
		for _, v := range values {
			bound, err := Bind("SELECT ?, tail", m, []int{0}, []value.Value{v})
			if err != nil {
				if !IsRefusal(err) {
					t.Errorf("%s, %v: %v", name, v, err)
				}
				continue
			}
			var kinds []sqltext.Kind
			l := sqltext.NewLexer(bound, m)
			for token := l.Next(); token.Kind != sqltext.KindEOF; token = l.Next() {
				if bound[token.Pos:token.End] != "-" {
					kinds = append(kinds, token.Kind)
				}
			}
			if len(kinds) != 4 || kinds[3] != sqltext.KindWord {
				t.Errorf("%s: %v became %q", name, v, bound)
			}
		}
	}
	if bound, err := Bind("SELECT ?", mysql8, []int{0}, []value.Value{value.NewFloat(1e300)}); err != nil || bound != "SELECT 1e+300" {
		t.Errorf("a large double: %s, %v", bound, err)
	}
	if _, err := Bind("SELECT ?", mysql8, []int{0}, []value.Value{value.NewDecimal("0) OR (1")}); !IsRefusal(err) {
		t.Errorf("a decimal that is none: %v", err)
	}
}
