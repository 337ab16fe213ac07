package value

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kingshard/mysql"
)

func decimalType(scale uint8) Type {
	return TypeOf(&mysql.ColumnDefinition41{Type: mysql.TypeNewDecimal, Decimals: scale})
}

func sumOf(t testing.TB, typ Type, cells ...string) string {
	t.Helper()
	s, err := NewSum(typ, TextRow)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		if err := s.Add(cellOf(c)); err != nil {
			t.Fatal(err)
		}
	}
	return textOf(t, s)
}

func cellOf(s string) Cell {
	if s == "NULL" {
		return nil
	}
	return Cell(s)
}

func textOf(t testing.TB, a interface{ Cell() (Cell, error) }) string {
	t.Helper()
	c, err := a.Cell()
	if err != nil {
		return err.Error()
	}
	if c == nil {
		return "NULL"
	}
	return string(c)
}

func TestSum(t *testing.T) {
	nines := strings.Repeat("9", 65)
	for _, test := range []struct {
		t     Type
		cells []string
		want  string
	}{
		{decimalType(2), nil, "NULL"},
		{decimalType(2), []string{"NULL", "NULL"}, "NULL"},
		{decimalType(2), []string{"NULL", "1.50", "-0.25"}, "1.25"},
		{decimalType(2), []string{"1.50", "-1.50"}, "0.00"},
		{decimalType(0), []string{"-3", "1"}, "-2"},
		{decimalType(2), []string{"99999999999999999.01", "99999999999999999.01", "99999999999999999.01", "99999999999999999.01"}, "399999999999999996.04"},
		{decimalType(0), []string{nines, nines}, "1" + strings.Repeat("9", 64) + "8"},
		{decimalType(30), []string{"0.000000000000000000000000000001", "0.1"}, "0.100000000000000000000000000001"},
		{decimalType(4), []string{"0.9999", "0.0001"}, "1.0000"},
		{decimalType(1), []string{"-0.0"}, "0.0"},
		{column(mysql.TypeDouble, 0), []string{"1.5", "NULL", "2"}, "4"}, // 0 decimals: rounded to even
		{TypeOf(&mysql.ColumnDefinition41{Type: mysql.TypeDouble, Decimals: 31}), []string{"1.5", "2.25"}, "3.75"},
		{TypeOf(&mysql.ColumnDefinition41{Type: mysql.TypeDouble, Decimals: 31}), []string{"1e20", "1"}, "1e20"},
	} {
		if got := sumOf(t, test.t, test.cells...); got != test.want {
			t.Errorf("sum of %v: %s, want %s", test.cells, got, test.want)
		}
	}
}

// TestSumIsExact compares with math/big.
func TestSumIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.IntRange(0, 30).Draw(t, "scale")
		s, _ := NewSum(decimalType(uint8(scale)), TextRow)
		want := new(big.Int)
		for range rapid.IntRange(1, 30).Draw(t, "cells") {
			digits := rapid.StringMatching(`-?[0-9]{1,34}`).Draw(t, "digits")
			n, _ := new(big.Int).SetString(digits, 10)
			want.Add(want, n)
			if err := s.Add(Cell(pointed(n, scale))); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.Cell(); err != nil || string(got) != pointed(want, scale) {
			t.Fatalf("%s, %v, want %s", got, err, pointed(want, scale))
		}
	})
}

// pointed writes n divided by 10 to the power of scale.
func pointed(n *big.Int, scale int) string {
	d := new(big.Int).Abs(n).String()
	if len(d) <= scale {
		d = strings.Repeat("0", scale-len(d)+1) + d
	}
	if scale > 0 {
		d = d[:len(d)-scale] + "." + d[len(d)-scale:]
	}
	if n.Sign() < 0 {
		d = "-" + d
	}
	return d
}

func TestSumOutOfRange(t *testing.T) {
	s, _ := NewSum(decimalType(0), TextRow)
	if err := s.Add(Cell(strings.Repeat("9", 81))); err != nil {
		t.Fatal(err)
	}
	if got := textOf(t, s); got != strings.Repeat("9", 81) {
		t.Errorf("81 digits: %s", got)
	}
	_ = s.Add(Cell("1"))
	if got := textOf(t, s); got != ErrRange.Error() {
		t.Errorf("82 digits: %s", got)
	}
	if err := s.Add(Cell(strings.Repeat("9", 91))); err != ErrRange {
		t.Errorf("91 digits: %v", err)
	}
	if err := s.Add(Cell("1e3")); err != mysql.ErrMalformedPacket {
		t.Errorf("an exponent: %v", err)
	}
}

func TestAverage(t *testing.T) {
	for _, test := range []struct {
		from, to uint8
		sum      string
		count    string
		want     string
	}{
		{0, 4, "10", "3", "3.3333"},
		{0, 4, "20", "3", "6.6667"},
		{0, 4, "-20", "3", "-6.6667"},
		{0, 4, "1", "100000", "0.0000"},
		{0, 4, "1", "20000", "0.0001"},
		{0, 4, "-1", "30000", "0.0000"},
		{2, 6, "1.00", "8", "0.125000"},
		{5, 9, "0.00002", "3", "0.000006666"}, // the servers cut off at the end of a word
		{0, 4, "NULL", "0", "NULL"},
		{0, 4, "5", "0", "NULL"},
		{0, 4, "99999999999999999999999999999999999999999999999999999999999999999", "1", "99999999999999999999999999999999999999999999999999999999999999999.0000"},
		{0, 4, "99999999999999999999999999999999999999999999999999999999999999999", "9223372036854775807", "10842021724855044341250022359521704622353996390.1128"},
	} {
		a, err := NewAverage(AverageTypes{decimalType(test.to), decimalType(test.from), column(mysql.TypeLongLong, 0)}, TextRow)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Add(cellOf(test.sum), Cell(test.count)); err != nil {
			t.Fatal(err)
		}
		if got := textOf(t, a); got != test.want {
			t.Errorf("%s / %s: %s, want %s", test.sum, test.count, got, test.want)
		}
	}
}

func TestCount(t *testing.T) {
	n, err := NewCount(column(mysql.TypeLongLong, 0), TextRow)
	if err != nil {
		t.Fatal(err)
	}
	if got := textOf(t, n); got != "0" {
		t.Errorf("no rows: %s", got)
	}
	for _, c := range []string{"9223372036854775800", "NULL", "7"} {
		if err := n.Add(cellOf(c)); err != nil {
			t.Fatal(err)
		}
	}
	if got := textOf(t, n); got != "9223372036854775807" {
		t.Errorf("sum %s", got)
	}
	if err := n.Add(Cell("1")); err != ErrRange {
		t.Errorf("one more: %v", err)
	}
	if err := n.Add(Cell("-1")); err != mysql.ErrMalformedPacket {
		t.Errorf("a negative count: %v", err)
	}
	b, _ := NewCount(column(mysql.TypeLongLong, 0), BinaryRow)
	_ = b.Add(Cell("\x01\x01\x00\x00\x00\x00\x00\x00"))
	_ = b.Add(Cell("\xff\x00\x00\x00\x00\x00\x00\x00"))
	if got := textOf(t, b); got != "\x00\x02\x00\x00\x00\x00\x00\x00" {
		t.Errorf("binary: %q", got)
	}
}

func TestExtremes(t *testing.T) {
	weights := column(mysql.TypeVarString, 0).PadSpace([]byte{0x20})
	for _, greatest := range []bool{false, true} {
		e, err := NewExtreme(weights, TextRow, greatest)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			e.Reset()
			if got := textOf(t, e); got != "NULL" {
				t.Errorf("no rows: %s", got)
			}
			reused := []byte("b")
			for _, c := range [][2]string{{"NULL", "NULL"}, {"b", "B"}, {"B ", "B "}, {"a", "A"}, {"c", "C"}, {"C", "C"}} {
				reused = append(reused[:0], c[1]...)
				by := Cell(reused)
				if c[1] == "NULL" {
					by = nil
				}
				if err := e.Add(cellOf(c[0]), by); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := textOf(t, e), map[bool]string{false: "a", true: "c"}[greatest]; got != want {
				t.Errorf("greatest %v: %s, want %s", greatest, got, want)
			}
		}
	}
	e, _ := NewExtreme(column(mysql.TypeBlob, 0), TextRow, false)
	_ = e.Add(Cell{}, Cell{})
	if c, _ := e.Cell(); c == nil {
		t.Error("an empty string became NULL")
	}
}

func TestRefusedAggregates(t *testing.T) {
	if _, err := NewSum(column(mysql.TypeLong, 0), TextRow); err != ErrAggregate {
		t.Errorf("sum of integers: %v", err)
	}
	if _, err := NewCount(decimalType(0), TextRow); err != ErrAggregate {
		t.Errorf("count in a decimal: %v", err)
	}
	if _, err := NewExtreme(Type{}, TextRow, true); err != ErrAggregate {
		t.Errorf("max of characters: %v", err)
	}
	if _, err := NewAverage(AverageTypes{decimalType(4), column(mysql.TypeDouble, 0), column(mysql.TypeLongLong, 0)}, TextRow); err != ErrAggregate {
		t.Errorf("a decimal average of doubles: %v", err)
	}
}

func TestAggregatesAllocateNothing(t *testing.T) {
	a, _ := NewAverage(AverageTypes{decimalType(6), decimalType(2), column(mysql.TypeLongLong, 0)}, TextRow)
	e, _ := NewExtreme(decimalType(2), TextRow, true)
	d, _ := NewSum(TypeOf(&mysql.ColumnDefinition41{Type: mysql.TypeDouble, Decimals: 31}), TextRow)
	amount, count, double := Cell("-12345678901234567890.12"), Cell("17"), Cell("1.25")
	if n := testing.AllocsPerRun(100, func() {
		a.Reset()
		e.Reset()
		for range 10 {
			_ = a.Add(amount, count)
			_ = e.Add(amount, amount)
			_ = d.Add(double)
		}
		_, _ = a.Cell()
		_, _ = e.Cell()
		_, _ = d.Cell()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
