package rule

import (
	"math"
	"strings"

	"kingshard/mysql/value"
)

// Convert brings a value that is compared with a key column, or written to it, to the form in which rule r places it:
// equal values of the column get equal forms. NULL stays.
//
// exact is false where a row written with the value goes where Find says, but where a comparison with it also holds for
// keys that are placed elsewhere, such as 'Abc' and 'abc' under a collation without case: reads then go to all shards.
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

// convertUnknown lets pass what the predecessor placed. A number with a point or an exponent, and a hexadecimal one, are
// compared in too many ways.
func convertUnknown(r Rule, v value.Value) (value.Value, bool, error) {
	switch v.Kind() {
	case value.Int, value.Uint:
		return v, true, nil
	case value.String:
		if Folds(r) {
			folded, err := fold(v)
			return folded, true, err
		}
		return v, true, nil
	}
	return v, false, cannot(v, Column{})
}

func convertInteger(v value.Value, c Column) (value.Value, error) {
	n := v
	switch v.Kind() {
	case value.Float:
		const exactMax = 1 << 53 // above it doubles skip integers, and several keys compare equal to one
		switch f := v.Float(); {
		case math.IsNaN(f) || math.Abs(f) > exactMax:
			return v, cannot(v, c)
		case f != math.Trunc(f):
			return v, noMatch(v, c)
		default:
			n = value.NewInt(int64(f))
		}
	case value.Decimal, value.String:
		d, ok := parseDecimal(strings.Trim(v.Text(), " "))
		if !ok {
			return v, cannot(v, c)
		}
		n = d.value()
	case value.Bytes: // a hexadecimal literal is a number here, a parameter is text
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
	case value.Decimal, value.String:
		d, ok := parseDecimal(strings.Trim(v.Text(), " "))
		if !ok {
			break
		}
		if len(d.fraction) > c.Scale {
			return v, false, noMatch(v, c)
		}
		return d.value(), v.Kind() == value.Decimal, nil // a string is compared as a double
	}
	return v, false, cannot(v, c)
}

// convertChar refuses spaces at the end: most collations compare them as if they were not there, and CHAR drops them.
func convertChar(r Rule, v value.Value, c Column) (value.Value, bool, error) {
	switch v.Kind() {
	case value.String, value.Bytes:
		text := v
		if v.Kind() == value.Bytes {
			text = value.NewString(v.Text())
		}
		if Folds(r) {
			folded, err := fold(text)
			return folded, err == nil, err
		}
		if strings.HasSuffix(text.Text(), " ") {
			return v, false, cannot(v, c)
		}
		return text, c.Class == CharBinary, nil
	case value.Int, value.Uint: // written as its digits, compared as a double
		return value.NewString(v.String()), false, nil
	}
	return v, false, cannot(v, c)
}

func convertBytes(v value.Value, c Column) (value.Value, bool, error) {
	exact := true
	text := v.Text()
	switch v.Kind() {
	case value.String, value.Bytes:
	case value.Int, value.Uint:
		text, exact = v.String(), false
	default:
		return v, false, cannot(v, c)
	}
	if c.Length > 0 && len(text) != c.Length {
		return v, false, noMatch(v, c)
	}
	return value.NewBytes(text), exact, nil
}
