package rule

import (
	"math"
	"strings"
	"unicode/utf8"

	"kingshard/mysql/value"
)

// Convert brings a value that is compared with a key column to the form in which rule r places it: equal values of the
// column get equal forms. NULL stays. [Store] is for values that are written.
//
// exact is false where the comparison also holds for keys that are placed elsewhere, such as 'Abc' and 'abc' under a
// collation without case, or '0' and 'x' for the number 0: then no error of Find says that there is no such row.
//
// Errors are of kind ErrNoShard (ErrNoMatch) for values that the column cannot equal, and ErrConvert.
func Convert(r Rule, v value.Value, c Column) (converted value.Value, exact bool, err error) {
	if v.IsNull() || r.Kind() == "single" || r.Kind() == "reference" {
		return v, true, nil
	}
	switch c.Class {
	case Unknown:
		return convertUnknown(r, v)
	case Integer, Unsigned:
		converted, err = convertInteger(v, c)
		return converted, true, err
	case Decimal:
		return convertDecimal(v, c)
	case CharBinary, CharCI:
		return convertChar(r, v, c)
	case Bytes:
		return convertBytes(v, c)
	case Date, DateTime, Timestamp:
		converted, err = convertMoment(v, c)
		return converted, true, err
	case Year:
		converted, err = convertYear(v)
		return converted, true, err
	}
	return v, false, cannot(v, c)
}

func cannot(v value.Value, c Column) error {
	return refuse(ErrConvert, "sharding key %s: cannot be placed for certain as a value of class %v", shown(v), c.Class)
}

func noMatch(v value.Value, c Column) error {
	return refuse(ErrNoMatch, "sharding key %s: no key of class %v equals it", shown(v), c.Class)
}

// convertUnknown lets pass what the predecessor placed, but for spaces at the end, as convertChar. A number with a point or an exponent, and a hexadecimal one, are
// compared in too many ways.
func convertUnknown(r Rule, v value.Value) (value.Value, bool, error) {
	switch v.Kind() {
	case value.Int, value.Uint:
		list, is := Unfolded(r).(*List)
		return v, !is || list.integers, nil // a column of text compares 0 with 'x'
	case value.String:
		if Folds(r) {
			folded, err := fold(r, v)
			return folded, true, err
		}
		if TakesText(r) && strings.HasSuffix(v.Text(), " ") {
			return v, false, cannot(v, Column{}) // a column that pads would be found to have it under another key
		}
		return v, true, nil
	case value.Temporal:
		return value.NewString(v.Text()), true, nil
	}
	return v, false, cannot(v, Column{})
}

// doubleMax is the least number from which on doubles skip integers, so that several keys compare equal to one.
const doubleMax = 1 << 53

func convertInteger(v value.Value, c Column) (value.Value, error) {
	n := v
	switch v.Kind() {
	case value.Float:
		switch f := v.Float(); {
		case math.IsNaN(f) || math.Abs(f) >= doubleMax || f != math.Trunc(f):
			return v, cannot(v, c) // no key equals a fraction, but MariaDB finds 1 for 0.5 in an index
		default:
			n = value.NewInt(int64(f))
		}
	case value.Decimal:
		d, ok := parseDecimal(v.Text())
		if !ok || d.beyond() || d.fraction != "" {
			return v, cannot(v, c)
		}
		n = d.value()
	case value.String:
		// Servers compare digits exactly, and everything else as a double or by its place in an index: MySQL takes
		// '4.99999999999999999999' for 5, and MariaDB '.5' for 1.
		text := strings.Trim(v.Text(), " ")
		d, ok := parseDecimal(text)
		if !ok || strings.IndexByte(text, '.') >= 0 {
			return v, cannot(v, c)
		}
		n = d.value()
	case value.Bytes, value.Temporal: // a hexadecimal literal is a number here, a parameter is text
		return v, cannot(v, c)
	}
	fits := n.Kind() == value.Int && (c.Class == Integer || n.Int() >= 0) || n.Kind() == value.Uint && c.Class == Unsigned
	if !fits {
		return v, noMatch(v, c)
	}
	return n, nil
}

func convertDecimal(v value.Value, c Column) (value.Value, bool, error) {
	switch v.Kind() {
	case value.Int, value.Uint:
		return v, true, nil
	case value.Decimal:
		d, ok := parseDecimal(v.Text())
		if !ok || d.beyond() || len(d.fraction) > c.Scale {
			break
		}
		return d.value(), true, nil
	}
	return v, false, cannot(v, c) // a string is compared as a double
}

// convertChar refuses spaces at the end: most collations compare them as if they were not there, and CHAR drops them.
func convertChar(r Rule, v value.Value, c Column) (value.Value, bool, error) {
	switch v.Kind() {
	case value.String, value.Bytes:
		text := v
		if v.Kind() == value.Bytes {
			text = value.NewString(v.Text())
		}
		if !readable(text.Text(), c) {
			return v, false, refuse(ErrConvert, "sharding key %s: has characters beyond ASCII in a text that is not in UTF-8", shown(v))
		}
		if v.Kind() == value.Bytes && !plain(text.Text()) {
			return v, false, cannot(v, c)
		}
		if !c.Characters.have(text.Text()) {
			// Such a text is compared in its own character set and by its own collation, under which others are equal.
			return v, false, cannot(v, c)
		}
		if Folds(r) {
			folded, err := fold(r, text)
			return folded, err == nil && Together(r, c), err
		}
		if strings.HasSuffix(text.Text(), " ") {
			return v, false, cannot(v, c)
		}
		return text, c.Class == CharBinary, nil
	}
	return v, false, cannot(v, c) // numbers and dates are compared as such: 0 equals 'x', and a date '2024-1-1'
}

// readable tells whether a client's text is in UTF-8, in which text is placed.
func readable(text string, c Column) bool {
	if c.Foreign {
		return ascii(text)
	}
	return utf8.ValidString(text)
}

func ascii(text string) bool {
	for k := range len(text) {
		if text[k] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// plain tells whether a text has printable characters of ASCII only: bytes that are the same text in nearly every
// character set.
func plain(text string) bool {
	for k := range len(text) {
		if text[k] < ' ' || text[k] > '~' {
			return false
		}
	}
	return true
}

func convertBytes(v value.Value, c Column) (value.Value, bool, error) {
	switch v.Kind() {
	case value.String, value.Bytes:
		if c.Length > 0 && len(v.Text()) != c.Length {
			return v, false, noMatch(v, c)
		}
		return value.NewBytes(v.Text()), true, nil
	}
	return v, false, cannot(v, c)
}
