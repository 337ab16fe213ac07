package sqltext

import (
	"testing"

	"kingshard/mysql/value"
)

func TestLiteralValue(t *testing.T) {
	for _, c := range []struct {
		text string
		want value.Value
	}{
		{"0", value.NewInt(0)},
		{"-007", value.NewInt(-7)},
		{"+7", value.NewInt(7)},
		{"9223372036854775807", value.NewInt(1<<63 - 1)},
		{"9223372036854775808", value.NewUint(1 << 63)},
		{"-9223372036854775808", value.NewInt(-1 << 63)},
		{"-9223372036854775809", value.NewDecimal("-9223372036854775809")},
		{"18446744073709551615", value.NewUint(1<<64 - 1)},
		{"18446744073709551616", value.NewDecimal("18446744073709551616")},
		{"+99999999999999999999", value.NewDecimal("99999999999999999999")},
		{"1.50", value.NewDecimal("1.50")},
		{"-.5", value.NewDecimal("-.5")},
		{"1e3", value.NewFloat(1000)},
		{"-1.5E-1", value.NewFloat(-0.15)},
		{"'a''b\\n'", value.NewString("a'b\n")},
		{"\"x\"", value.NewString("x")},
		{"''", value.NewString("")},
		{"X'4a4B'", value.NewBytes("JK")},
		{"x''", value.NewBytes("")},
		{"0x4a4b", value.NewBytes("JK")},
		{"0xa4b", value.NewBytes("\x0aK")},
		{"b'101'", value.NewBytes("\x05")},
		{"0b100000001", value.NewBytes("\x01\x01")},
		{"B''", value.NewBytes("")},
	} {
		sql := "select a from t where b = " + c.text
		var d Digest
		if !d.Scan(sql, mysql84) || len(d.Literals) != 1 {
			t.Errorf("%s: %+v", c.text, d.Literals)
			continue
		}
		if got, ok := d.Literals[0].Value(sql, mysql84); !ok || got != c.want {
			t.Errorf("%s: %v, want %v", c.text, got, c.want)
		}
	}
	for _, l := range []Literal{
		{Pos: 0, End: 1, Kind: LiteralParam}, {Pos: 0, End: 5, Kind: LiteralFloat}, {Pos: 3, End: 9}, {Pos: 2, End: 2}, {Pos: -1, End: 1},
	} {
		if v, ok := l.Value("1e999", mysql84); ok {
			t.Errorf("%+v has the value %v", l, v)
		}
	}
}

func TestUnquoteIdent(t *testing.T) {
	ansi := Mode{ANSIQuotes: true}
	for _, c := range []struct {
		text, want string
		m          Mode
	}{
		{"a", "a", mysql84},
		{"", "", mysql84},
		{"`a``b\\`", "a`b\\", mysql84},
		{"``", "", mysql84},
		{"`a", "`a", mysql84},
		{`"a"`, `"a"`, mysql84},
		{`"a""b\"`, `a"b\`, ansi},
		{"'a'", "'a'", ansi},
		{"`\x95\x60`", "\x95\x60", Mode{Charset: SJIS}},
	} {
		if got := UnquoteIdent(c.text, c.m); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
