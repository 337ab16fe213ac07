package rule

import (
	"cmp"
	"math"
	"strconv"

	"kingshard/mysql/value"
)

// keyTextMax is room for the digits of any 64 bit number with its sign.
const keyTextMax = 20

// keyText gives the text that stands for a key in a hash: digits, appended to buf, for integers, and text otherwise.
func keyText(buf []byte, v value.Value) (digits []byte, text string, ok bool) {
	switch v.Kind() {
	case value.Int:
		return strconv.AppendInt(buf, v.Int(), 10), "", true
	case value.Uint:
		return strconv.AppendUint(buf, v.Uint(), 10), "", true
	case value.String, value.Bytes:
		return nil, withoutZeros(v.Text()), true
	case value.Decimal:
		d, ok := parseDecimal(v.Text())
		return nil, d.String(), ok
	}
	return nil, "", false
}

// withoutZeros cuts the zeros before a string of digits.
func withoutZeros(text string) string {
	if len(text) < 2 || text[0] != '0' || !allDigits(text) {
		return text
	}
	for len(text) > 1 && text[0] == '0' {
		text = text[1:]
	}
	return text
}

func allDigits(text string) bool {
	for k := range len(text) {
		if !isDigit(text[k]) {
			return false
		}
	}
	return text != ""
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// integerOf is a value as an Int or a Uint, NULL if it is neither an integer nor a string of digits with or without a
// minus.
func integerOf(v value.Value) value.Value {
	switch v.Kind() {
	case value.Int, value.Uint:
		return v
	case value.String, value.Bytes:
		return parseInteger(v.Text())
	}
	return value.Value{}
}

func parseInteger(text string) value.Value {
	if len(text) > 0 && text[0] == '-' {
		n, ok := parseUint(text[1:])
		if !ok || n > 1<<63 {
			return value.Value{}
		}
		return value.NewInt(-int64(n)) // -2^63 is its own negative
	}
	n, ok := parseUint(text)
	if !ok {
		return value.Value{}
	}
	return value.NewUint(n)
}

// parseUint reads digits alone. Not strconv's, because its error for every other string is an allocation.
func parseUint(text string) (n uint64, ok bool) {
	for k := range len(text) {
		digit := uint64(text[k] - '0')
		if digit > 9 || n > (math.MaxUint64-digit)/10 {
			return 0, false
		}
		n = n*10 + digit
	}
	return n, text != ""
}

// compareIntegers compares an Int or Uint with another.
func compareIntegers(a, b value.Value) int {
	switch {
	case a.Kind() == value.Int && b.Kind() == value.Int:
		return cmp.Compare(a.Int(), b.Int())
	case a.Kind() == value.Int:
		return -1
	case b.Kind() == value.Int:
		return 1
	}
	return cmp.Compare(a.Uint(), b.Uint())
}
