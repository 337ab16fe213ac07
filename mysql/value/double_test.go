package value

import (
	"strconv"
	"testing"

	"kingshard/mysql"
)

// TestDoubleText has texts that MariaDB 10.11, MySQL 9 and MySQL 5.6 give alike.
func TestDoubleText(t *testing.T) {
	floating := TypeOf(&mysql.ColumnDefinition41{Type: mysql.TypeDouble, Decimals: decimalsFloating})
	for _, want := range []string{
		"0", "-1", "123456.5", "999999999999999", "100000000000000", "1e15", "-1e15", "1.2345678901234568e17", "1e100", "1.5e-300",
		"0.0001", "0.000000000000001", "0.0000000000000015", "0.000000000000012345678901234567", "1e-16",
	} {
		v, err := strconv.ParseFloat(want, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(floating.appendDouble(nil, v, TextRow)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	two := TypeOf(&mysql.ColumnDefinition41{Type: mysql.TypeDouble, Decimals: 2})
	if got := string(two.appendDouble(nil, 1e20, TextRow)); got != "100000000000000000000.00" {
		t.Errorf("with two decimals %s", got)
	}
	if got := string(floating.appendDouble(nil, 1, BinaryRow)); got != "\x00\x00\x00\x00\x00\x00\xf0\x3f" {
		t.Errorf("binary % x", got)
	}
}
