package value

import (
	"encoding/binary"
	"math"
	"strconv"
)

// A DOUBLE of fewer digits before the point or zeros behind it than these bounds have is written without an exponent.
const (
	withoutExponentMin = 1e-15
	withoutExponentEnd = 1e15
)

// appendDouble appends a DOUBLE as a cell. Text is as the servers write it: with a fixed number of decimals where the
// column has one, else with the fewest digits that give the same number.
func (t Type) appendDouble(dst []byte, v float64, f Format) []byte {
	if f == BinaryRow {
		if t.width == 4 {
			return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v)))
		}
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
	}
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return append(dst, '0') // as servers write a sum that is too large
	}
	if t.decimals < decimalsFloating {
		return strconv.AppendFloat(dst, v, 'f', int(t.decimals), 64)
	}
	if a := math.Abs(v); a == 0 || a >= withoutExponentMin && a < withoutExponentEnd {
		return strconv.AppendFloat(dst, v, 'f', -1, 64)
	}
	return appendExponent(dst, v)
}

// appendExponent writes 1e+20 as 1e20.
func appendExponent(dst []byte, v float64) []byte {
	start := len(dst)
	dst = strconv.AppendFloat(dst, v, 'e', -1, 64)
	for i := start; i < len(dst); i++ {
		if dst[i] != 'e' {
			continue
		}
		digits := i + 2
		if dst[i+1] == '-' {
			i++
		}
		for dst[digits] == '0' {
			digits++
		}
		return append(dst[:i+1], dst[digits:]...)
	}
	return dst
}
