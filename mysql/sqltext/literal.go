package sqltext

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"kingshard/mysql/value"
)

// Value gives a literal's value, of the text that its positions are in. Integers beyond 64 bit are Decimals, as the server
// takes them. The value may lie in the text, so that most need no memory of their own. ok is false for parameters, and for what no server reads,
// such as 1e999.
func (l Literal) Value(sql string, m Mode) (v value.Value, ok bool) {
	if l.Pos < 0 || l.End > len(sql) || l.Pos >= l.End {
		return v, false
	}
	text := sql[l.Pos:l.End]
	switch l.Kind {
	case LiteralInt:
		return integer(text), true
	case LiteralDecimal:
		return value.NewDecimal(strings.TrimPrefix(text, "+")), true
	case LiteralFloat:
		f, err := strconv.ParseFloat(text, 64)
		return value.NewFloat(f), err == nil
	case LiteralString:
		s, ok := Unquote(text, m)
		return value.NewString(s), ok
	case LiteralHex:
		return hexadecimal(text)
	case LiteralBit:
		return value.NewBytes(bits(text)), true
	case LiteralNull:
		return v, true
	}
	return v, false
}

// integer gives the value of digits with or without a sign.
func integer(text string) value.Value {
	digits := strings.TrimLeft(text, "+-")
	var u uint64
	for k := range len(digits) {
		d := uint64(digits[k] - '0')
		if u > (math.MaxUint64-d)/10 {
			return value.NewDecimal(strings.TrimPrefix(text, "+"))
		}
		u = u*10 + d
	}
	if text[0] != '-' {
		return value.NewUint(u)
	}
	if u > 1<<63 {
		return value.NewDecimal(text)
	}
	return value.NewInt(-int64(u))
}

// radixDigits gives the digits of 0x1f, X'1f', 0b1 or B'1'.
func radixDigits(text string) string {
	if text[1] == '\'' {
		return text[2 : len(text)-1]
	}
	return text[2:]
}

// hexadecimal gives the bytes of a hexadecimal literal. An odd digit stands alone in the first byte.
func hexadecimal(text string) (value.Value, bool) {
	digits := radixDigits(text)
	if len(digits)%2 != 0 {
		digits = "0" + digits
	}
	b, err := hex.DecodeString(digits)
	return value.NewBytes(string(b)), err == nil
}

// bits gives the bytes of a bit literal, whose last bit is the last of the last byte.
func bits(text string) string {
	digits := radixDigits(text)
	b := make([]byte, (len(digits)+7)/8)
	for k := range len(digits) {
		if bit := len(digits) - 1 - k; digits[k] == '1' {
			b[len(b)-1-bit/8] |= 1 << (bit % 8)
		}
	}
	return string(b)
}
