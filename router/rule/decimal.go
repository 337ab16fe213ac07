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
