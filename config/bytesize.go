package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// ByteSize is a number of bytes, written as in "64M"; K, M and G are powers of 1024, as in MySQL's option files.
type ByteSize int64

const sizeUnits = "KMG"

// String writes the size in its largest whole unit, as UnmarshalText reads it.
func (b ByteSize) String() string {
	unit := ""
	for _, u := range sizeUnits {
		if b == 0 || b%1024 != 0 {
			break
		}
		b /= 1024
		unit = string(u)
	}
	return strconv.FormatInt(int64(b), 10) + unit
}

// MarshalText writes what String does.
func (b ByteSize) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads digits and one of K, M and G in either case, or none for bytes.
func (b *ByteSize) UnmarshalText(text []byte) error {
	errForm := errors.New("must be a size such as 65536, 512K, 64M or 1G")
	digits, shift := string(text), 0
	if n := len(digits); n > 0 {
		if k := strings.IndexByte(sizeUnits, digits[n-1]&^0x20); k >= 0 {
			digits, shift = digits[:n-1], 10*(k+1)
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || n > math.MaxInt64>>shift {
		return errForm
	}
	*b = ByteSize(n << shift)
	return nil
}
