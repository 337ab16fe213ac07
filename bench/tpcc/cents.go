package tpcc

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
)

// cents is an amount of money. It is sent as a decimal text, and read from one.
type cents int64

// String returns the amount as a decimal with two digits behind the point.
func (c cents) String() string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	return fmt.Sprintf("%s%d.%02d", sign, c/100, c%100)
}

// Value implements [driver.Valuer].
func (c cents) Value() (driver.Value, error) { return c.String(), nil }

// Scan implements [database/sql.Scanner]: it takes a decimal with up to two digits behind the point.
func (c *cents) Scan(value any) error {
	text, ok := value.([]byte)
	if !ok {
		return fmt.Errorf("an amount comes as %T", value)
	}
	whole, fraction, _ := strings.Cut(string(text), ".")
	if len(fraction) > 2 {
		return fmt.Errorf("%s is no amount", text)
	}
	n, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
	*c = cents(n)
	return err
}
