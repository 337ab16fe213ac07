package rule

import (
	"strings"

	"kingshard/mysql/value"
)

// decimal is an exact number as text, without zeros that say nothing: whole is "" below 1, fraction is "" for integers.
type decimal struct {
	negative        bool
	whole, fraction string
}

// parseDecimal reads sign, digits, point, digits.
func parseDecimal(text string) (d decimal, ok bool) {
	if text != "" && (text[0] == '-' || text[0] == '+') {
		d.negative = text[0] == '-'
		text = text[1:]
	}
	d.whole, d.fraction, _ = strings.Cut(text, ".")
	if !allDigits(d.whole) && d.whole != "" || !allDigits(d.fraction) && d.fraction != "" || d.whole+d.fraction == "" {
		return decimal{}, false
	}
	d.whole = strings.TrimLeft(d.whole, "0")
	d.fraction = strings.TrimRight(d.fraction, "0")
	d.negative = d.negative && d.whole+d.fraction != ""
	return d, true
}

// beyond tells that a number has more digits than servers keep, which round it or put another in its place: 65, of which
// 30 are behind the point.
func (d decimal) beyond() bool { return len(d.whole)+len(d.fraction) > 60 || len(d.fraction) > 30 }

// rounded is the number with so many digits behind the point at the most, halves away from zero.
func (d decimal) rounded(scale int) decimal {
	if len(d.fraction) <= scale {
		return d
	}
	up := d.fraction[scale] >= '5'
	digits := []byte("0" + d.whole + d.fraction[:scale])
	for k := len(digits) - 1; up; k-- {
		if up = digits[k] == '9'; up {
			digits[k] = '0'
		} else {
			digits[k]++
		}
	}
	whole := len(digits) - scale
	out := decimal{d.negative, strings.TrimLeft(string(digits[:whole]), "0"), strings.TrimRight(string(digits[whole:]), "0")}
	out.negative = out.negative && out.whole+out.fraction != ""
	return out
}

// String gives the shortest text.
func (d decimal) String() string {
	text := d.whole
	if text == "" {
		text = "0"
	}
	if d.fraction != "" {
		text += "." + d.fraction
	}
	if d.negative {
		text = "-" + text
	}
	return text
}

// value is an Int or Uint where the number is one, else a Decimal.
func (d decimal) value() value.Value {
	if d.fraction == "" {
		if n := parseInteger(d.String()); !n.IsNull() {
			return n
		}
	}
	return value.NewDecimal(d.String())
}
