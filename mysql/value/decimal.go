package value

import (
	"bytes"
	"math/bits"
)

// IsDecimal reports whether c is an exact number as servers write it: sign, digits, point, digits.
func IsDecimal[T ~string | ~[]byte](c T) bool {
	if len(c) > 0 && (c[0] == '-' || c[0] == '+') {
		c = c[1:]
	}
	digits, points := 0, 0
	for k := range len(c) {
		switch d := c[k]; {
		case d >= '0' && d <= '9':
			digits++
		case d == '.':
			points++
		default:
			return false
		}
	}
	return digits > 0 && points < 2
}

// splitDecimal takes a decimal apart; leading zeros of the whole part are left out.
func splitDecimal(c []byte) (negative bool, whole, fraction []byte) {
	if len(c) > 0 && (c[0] == '-' || c[0] == '+') {
		negative = c[0] == '-'
		c = c[1:]
	}
	whole = c
	if i := bytes.IndexByte(c, '.'); i >= 0 {
		whole, fraction = c[:i], c[i+1:]
	}
	for len(whole) > 0 && whole[0] == '0' {
		whole = whole[1:]
	}
	return negative, whole, trimZeros(fraction)
}

// trimZeros takes the zeros off the end of a fraction.
func trimZeros(fraction []byte) []byte {
	for len(fraction) > 0 && fraction[len(fraction)-1] == '0' {
		fraction = fraction[:len(fraction)-1]
	}
	return fraction
}

// compareDecimals compares two decimals of any scales, zeros of either sign being equal.
func compareDecimals(a, b []byte) int {
	aNegative, aWhole, aFraction := splitDecimal(a)
	bNegative, bWhole, bFraction := splitDecimal(b)
	aNegative = aNegative && len(aWhole)+len(aFraction) > 0
	bNegative = bNegative && len(bWhole)+len(bFraction) > 0
	if aNegative != bNegative {
		return int(boolByte(bNegative)) - int(boolByte(aNegative))
	}
	c := len(aWhole) - len(bWhole)
	if c == 0 {
		c = bytes.Compare(aWhole, bWhole)
	}
	if c == 0 {
		c = bytes.Compare(aFraction, bFraction) // without zeros at the end, a prefix is the smaller one
	}
	if aNegative {
		c = -c
	}
	return min(max(c, -1), 1)
}

// Room of a fixed. A server's decimal has 65 digits, 30 or 38 of them behind the point, and intermediate results of it 81.
const (
	limbDigits    = 9
	limbBase      = 1_000_000_000
	fractionLimbs = 5
	wholeLimbs    = 10
	limbs         = fractionLimbs + wholeLimbs
	// fixedDigits are all digits of a fixed, pointAt how many of them are before the point.
	fixedDigits = limbs * limbDigits
	pointAt     = wholeLimbs * limbDigits
	// sumDigitsMax is how many digits a sum may have, as many as the servers compute with.
	sumDigitsMax = 81
)

// fixed is a decimal without sign, in limbs of nine digits, the lowest first. It allocates nothing.
type fixed [limbs]uint64

// add adds a decimal's digits; false where they are no digits or too many.
func (x *fixed) add(whole, fraction []byte) bool {
	if len(whole) > pointAt || len(fraction) > fractionLimbs*limbDigits {
		return false
	}
	for i := fractionLimbs; len(whole) > 0; i++ {
		at := max(0, len(whole)-limbDigits)
		v, ok := digits(whole[at:])
		if !ok {
			return false
		}
		x[i] += v
		whole = whole[:at]
	}
	for i := fractionLimbs - 1; len(fraction) > 0; i-- {
		n := min(limbDigits, len(fraction))
		v, ok := digits(fraction[:n])
		if !ok {
			return false
		}
		for range limbDigits - n {
			v *= 10
		}
		x[i] += v
		fraction = fraction[n:]
	}
	return x.carry()
}

// carry brings every limb below limbBase; false when the number does not fit.
func (x *fixed) carry() bool {
	over := uint64(0)
	for i := range x {
		x[i] += over
		over = 0
		if x[i] >= limbBase {
			over, x[i] = x[i]/limbBase, x[i]%limbBase
		}
	}
	return over == 0
}

// less tells whether x < y.
func (x *fixed) less(y *fixed) bool {
	for i := limbs - 1; i >= 0; i-- {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

// minus gives x-y, where y is not greater.
func (x *fixed) minus(y *fixed) fixed {
	var z fixed
	borrow := uint64(0)
	for i := range z {
		z[i] = x[i] + limbBase - y[i] - borrow
		borrow = 1
		if z[i] >= limbBase {
			z[i] -= limbBase
			borrow = 0
		}
	}
	return z
}

// divide gives x/n, cut off behind the last digit; n is not 0.
func (x *fixed) divide(n uint64) fixed {
	var z fixed
	rest := uint64(0)
	for i := limbs - 1; i >= 0; i-- {
		high, low := bits.Mul64(rest, limbBase)
		low, carry := bits.Add64(low, x[i], 0)
		z[i], rest = bits.Div64(high+carry, low, n)
	}
	return z
}

// decimalText appends x with scale digits behind the point, rounded half up from those up to exact digits behind it; what
// is further behind is cut off before. False when it has more digits than a server computes with.
func (x *fixed) decimalText(dst []byte, negative bool, scale, exact int) ([]byte, bool) {
	var d [fixedDigits]byte
	for i, v := range x {
		for at := fixedDigits - i*limbDigits - 1; v > 0; at-- {
			d[at] = byte(v % 10)
			v /= 10
		}
	}
	end := pointAt + scale
	if exact > scale && end < fixedDigits && d[end] >= 5 {
		i := end - 1
		for ; i >= 0 && d[i] == 9; i-- {
			d[i] = 0
		}
		if i < 0 {
			return dst, false
		}
		d[i]++
	}
	start := 0
	for start < pointAt-1 && d[start] == 0 {
		start++
	}
	if end-start > sumDigitsMax {
		return dst, false
	}
	if negative && !allZero(d[start:end]) {
		dst = append(dst, '-')
	}
	for i, v := range d[start:end] {
		if start+i == pointAt {
			dst = append(dst, '.')
		}
		dst = append(dst, '0'+v)
	}
	return dst, true
}

func allZero(d []byte) bool {
	for _, v := range d {
		if v != 0 {
			return false
		}
	}
	return true
}
