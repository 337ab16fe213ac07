package main

import (
	"database/sql/driver"
	"fmt"
	"strings"
)

// Money is an amount in cents, kept as a DECIMAL with two digits after the point.
type Money int64

func (m Money) String() string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	return fmt.Sprintf("%s%d.%02d", sign, m/100, m%100)
}

// Value implements [driver.Valuer].
func (m Money) Value() (driver.Value, error) { return m.String(), nil }

// Scan implements sql.Scanner.
func (m *Money) Scan(value any) error {
	text, ok := value.([]byte)
	if !ok {
		return fmt.Errorf("money comes as %T", value)
	}
	whole, cents, _ := strings.Cut(string(text), ".")
	if len(cents) != 2 {
		return fmt.Errorf("money is %q", text)
	}
	var n int64
	if _, err := fmt.Sscan(whole+cents, &n); err != nil {
		return fmt.Errorf("money is %q: %w", text, err)
	}
	*m = Money(n)
	return nil
}
