package config

import (
	"errors"
	"strconv"
)

// Ratio is a share of a whole, 0 to 1.
type Ratio float64

// String writes the share as UnmarshalText reads it.
func (r Ratio) String() string { return strconv.FormatFloat(float64(r), 'g', -1, 64) }

// MarshalText writes what String does.
func (r Ratio) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a number of 0 to 1.
func (r *Ratio) UnmarshalText(text []byte) error {
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(v >= 0 && v <= 1) { // NaN is neither
		return errors.New("must be a number of 0 to 1 such as 0.01")
	}
	*r = Ratio(v)
	return nil
}
