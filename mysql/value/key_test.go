package value

import (
	"math"
	"testing"

	"kingshard/mysql"
)

func column(t mysql.ColumnType, flags uint16) Type {
	return TypeOf(&mysql.ColumnDefinition41{Type: t, Flags: flags, Charset: binaryCharset})
}

// TestOrder has cells in ascending order: each must come before all that follow it.
func TestOrder(t *testing.T) {
	for _, test := range []struct {
		name   string
		t      Type
		format Format
		cells  []string
	}{
		{"signed text", column(mysql.TypeLongLong, 0), TextRow, []string{"-9223372036854775808", "-10", "-9", "0", "00005", "10", "9223372036854775807"}},
		{"signed tiny", column(mysql.TypeTiny, 0), BinaryRow, []string{"\x80", "\xff", "\x00", "\x7f"}},
		{"signed short", column(mysql.TypeShort, 0), BinaryRow, []string{"\x00\x80", "\xff\xff", "\xff\x00", "\x00\x01"}},
		{"signed medium", column(mysql.TypeInt24, 0), BinaryRow, []string{"\xfe\xff\xff\xff", "\xff\xff\xff\xff", "\x01\x00\x00\x00"}},
		{"signed long", column(mysql.TypeLongLong, 0), BinaryRow, []string{"\x00\x00\x00\x00\x00\x00\x00\x80", "\xff\xff\xff\xff\xff\xff\xff\xff", "\x01\x00\x00\x00\x00\x00\x00\x00"}},
		{"unsigned text", column(mysql.TypeLongLong, mysql.UnsignedFlag), TextRow, []string{"0", "2", "10", "9223372036854775808", "18446744073709551615"}},
		{"unsigned", column(mysql.TypeTiny, mysql.UnsignedFlag), BinaryRow, []string{"\x00", "\x7f", "\x80", "\xff"}},
		{"year text", column(mysql.TypeYear, 0), TextRow, []string{"0000", "1901", "2155"}},
		{"year", column(mysql.TypeYear, 0), BinaryRow, []string{"\x00\x00", "\x6d\x07", "\x6b\x08"}},
		{"decimal", column(mysql.TypeNewDecimal, 0), TextRow, []string{"-100.5", "-99.99", "-0.01", "0.00", "0.001", ".01", "0.1", "1", "9.99", "10.0", "99999999999999999999999999999999999999999999999999999999999999999"}},
		{"double text", column(mysql.TypeDouble, 0), TextRow, []string{"-1.7976931348623157e308", "-2", "-1e-300", "0", "1e-300", "2", "1e15", "1e100"}},
		{"double", column(mysql.TypeDouble, 0), BinaryRow, []string{"\x00\x00\x00\x00\x00\x00\xf0\xbf", "\x00\x00\x00\x00\x00\x00\x00\x80", "\x00\x00\x00\x00\x00\x00\xf0\x3f"}},
		{"float", column(mysql.TypeFloat, 0), BinaryRow, []string{"\x00\x00\x80\xbf", "\x00\x00\x00\x00", "\x00\x00\x80\x3f"}},
		{"date text", column(mysql.TypeDate, 0), TextRow, []string{"0000-00-00", "1999-12-31", "2024-02-28", "2024-02-31", "2024-03-01"}},
		{"date", column(mysql.TypeDate, 0), BinaryRow, []string{"", "\xe7\x07\x0c\x1f", "\xe8\x07\x01\x01"}},
		{"datetime text", column(mysql.TypeDatetime, 0), TextRow, []string{"0000-00-00 00:00:00", "2024-01-01 00:00:00", "2024-01-01 00:00:00.000001", "2024-01-01 00:00:00.1", "2024-01-01 23:59:59", "2024-01-02 00:00:00"}},
		{"datetime", column(mysql.TypeTimestamp, 0), BinaryRow, []string{"", "\xe8\x07\x01\x01", "\xe8\x07\x01\x01\x00\x00\x01", "\xe8\x07\x01\x01\x00\x00\x01\x01\x00\x00\x00", "\xe8\x07\x01\x01\x00\x01\x00"}},
		{"time text", column(mysql.TypeTime, 0), TextRow, []string{"-838:59:59", "-24:00:00", "-00:00:01", "-00:00:00.5", "00:00:00", "00:00:00.000001", "09:00:00", "10:00:00", "100:00:00", "838:59:59"}},
		{"time", column(mysql.TypeTime, 0), BinaryRow, []string{"\x01\x01\x00\x00\x00\x00\x00\x00", "\x01\x00\x00\x00\x00\x17\x00\x00", "", "\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00", "\x00\x00\x00\x00\x00\x17\x00\x00", "\x00\x01\x00\x00\x00\x00\x00\x00"}},
		{"bit", column(mysql.TypeBit, 0), BinaryRow, []string{"\x00", "\x02", "\x01\x00", "\xff\xff\xff\xff\xff\xff\xff\xff"}},
		{"bytes", column(mysql.TypeVarString, 0), TextRow, []string{"", "\x00", "A", "A\x00", "AA", "a", "\xff"}},
		{"weights", column(mysql.TypeBlob, 0).PadSpace([]byte("\x00\x20")), TextRow, []string{"\x00Y\x00\x09", "\x00Y", "\x00Y\x00Z", "\x00Z"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			keys := []Key{{null: true}}
			for _, c := range test.cells {
				k, err := test.t.Key(Cell(c), test.format)
				if err != nil {
					t.Fatalf("%q: %v", c, err)
				}
				keys = append(keys, k)
			}
			for i := range keys {
				for j := range keys {
					want := min(max(i-j, -1), 1)
					if got := test.t.Compare(&keys[i], &keys[j]); got != want {
						t.Errorf("key %d against %d: %d, want %d", i, j, got, want)
					}
				}
			}
		})
	}
}

func TestEqual(t *testing.T) {
	for _, test := range []struct {
		t    Type
		a, b string
	}{
		{column(mysql.TypeNewDecimal, 0), "-0.00", "0"},
		{column(mysql.TypeNewDecimal, 0), "1.50", "0001.5"},
		{column(mysql.TypeNewDecimal, 0), "-.5", "-0.500"},
		{column(mysql.TypeDouble, 0), "-0", "0"},
		{column(mysql.TypeDouble, 0), "1e2", "100"},
		{column(mysql.TypeTime, 0), "-00:00:00", "00:00:00.000000"},
		{column(mysql.TypeDatetime, 0), "2024-01-01", "2024-01-01 00:00:00"},
		{column(mysql.TypeBit, 0), "\x00\x01", "\x01"},
		{column(mysql.TypeVarString, 0).PadSpace([]byte("\x00\x20")), "\x00Y\x00\x20\x00\x20", "\x00Y"},
		{column(mysql.TypeVarString, 0).PadSpace([]byte{0x20}), "", "  "},
	} {
		a, errA := test.t.Key(Cell(test.a), TextRow)
		b, errB := test.t.Key(Cell(test.b), TextRow)
		if errA != nil || errB != nil || test.t.Compare(&a, &b) != 0 || test.t.Compare(&b, &a) != 0 {
			t.Errorf("%q and %q differ (%v, %v)", test.a, test.b, errA, errB)
		}
	}
}

func TestMalformedCells(t *testing.T) {
	for _, test := range []struct {
		t      Type
		format Format
		cells  []string
	}{
		{column(mysql.TypeLong, 0), TextRow, []string{"", "-", "1x", "9223372036854775808", "-9223372036854775809", "18446744073709551616"}},
		{column(mysql.TypeLong, mysql.UnsignedFlag), TextRow, []string{"-1", "18446744073709551616", " 1"}},
		{column(mysql.TypeLong, 0), BinaryRow, []string{"", "123", "12345"}},
		{column(mysql.TypeNewDecimal, 0), TextRow, []string{"", ".", "-", "1.2.3", "1e5", "--1", "1-"}},
		{column(mysql.TypeDouble, 0), TextRow, []string{"", "x"}},
		{column(mysql.TypeDate, 0), TextRow, []string{"", "2024", "2024-01", "2024-13-01", "2024-01-01-01", "20240-1-1", "2024-01-01T00:00:00", "2024-01-01 24:00:00"}},
		{column(mysql.TypeDate, 0), BinaryRow, []string{"1", "12345", "\xff\xff\x01\x01"}},
		{column(mysql.TypeTime, 0), TextRow, []string{"", "1", "00:00", "00:60:00", "00:00:60", "00:00:00.", "00:00:00.1234567", "99999999999:00:00"}},
		{column(mysql.TypeTime, 0), BinaryRow, []string{"1", "\x00\xff\xff\xff\xff\x00\x00\x00"}},
		{column(mysql.TypeBit, 0), TextRow, []string{"123456789"}},
		{column(mysql.TypeJSON, 0), TextRow, []string{"{}"}},
	} {
		for _, c := range test.cells {
			if k, err := test.t.Key(Cell(c), test.format); err != mysql.ErrMalformedPacket {
				t.Errorf("%+v %q: %+v, %v", test.t, c, k, err)
			}
		}
	}
}

func TestTypesWithoutOrder(t *testing.T) {
	for _, d := range []mysql.ColumnDefinition41{
		{Type: mysql.TypeVarString, Charset: 45},
		{Type: mysql.TypeBlob, Charset: 255},
		{Type: mysql.TypeString, Charset: binaryCharset, Flags: enumFlag},
		{Type: mysql.TypeString, Charset: binaryCharset, Flags: setFlag},
		{Type: mysql.TypeJSON, Charset: binaryCharset},
		{Type: mysql.TypeGeometry, Charset: binaryCharset},
	} {
		if TypeOf(&d).Ordered() {
			t.Errorf("%+v has an order", d)
		}
	}
}

func FuzzKey(f *testing.F) {
	f.Add([]byte("-12.50"))
	f.Add([]byte("2024-01-01 00:00:00.5"))
	f.Add([]byte("-838:59:59"))
	types := []mysql.ColumnType{mysql.TypeTiny, mysql.TypeLongLong, mysql.TypeNewDecimal, mysql.TypeFloat, mysql.TypeDouble, mysql.TypeDatetime, mysql.TypeTime, mysql.TypeBit, mysql.TypeBlob}
	f.Fuzz(func(t *testing.T, c []byte) {
		for _, name := range types {
			for _, format := range []Format{TextRow, BinaryRow} {
				typ := column(name, 0)
				k, err := typ.Key(append(Cell{}, c...), format)
				if err == nil && typ.Compare(&k, &k) != 0 {
					t.Errorf("type %#x: %q differs from itself", name, c)
				}
			}
		}
	})
}

func TestFloatOrder(t *testing.T) {
	list := []float64{math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 1, math.MaxFloat64, math.Inf(1)}
	for i := 1; i < len(list); i++ {
		if floatOrder(list[i-1]) >= floatOrder(list[i]) {
			t.Errorf("%g does not come before %g", list[i-1], list[i])
		}
	}
}
