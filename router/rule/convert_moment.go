package rule

import (
	"strconv"

	"kingshard/mysql/value"
)

// convertMoment gives a date as YYYY-MM-DD, a date with a time as YYYY-MM-DD hh:mm:ss[.ffffff] and a timestamp as its
// seconds since 1970 UTC. The time in a value for a DATE column is cut: no row equals it, and it is written without.
func convertMoment(v value.Value, c Column) (value.Value, error) {
	text := v.Text()
	switch v.Kind() {
	case value.String, value.Temporal:
	case value.Int: // YYYYMMDD or YYYYMMDDhhmmss
		text = strconv.FormatInt(v.Int(), 10)
	default:
		return v, cannot(v, c)
	}
	m, ok := parseMoment(text)
	if !ok {
		return v, cannot(v, c)
	}
	switch {
	case c.Class == Date:
		return value.NewString(m.dateText()), nil
	case len(m.fraction) > c.Scale:
		return v, cannot(v, c)
	case c.Class == DateTime:
		return value.NewString(m.text()), nil
	case c.Zone == nil:
		return v, cannot(v, c)
	}
	seconds, ok := m.seconds(c.Zone)
	if !ok || seconds < 0 {
		return v, cannot(v, c)
	}
	if m.fraction != "" {
		return value.NewDecimal(strconv.FormatInt(seconds, 10) + "." + m.fraction), nil
	}
	return value.NewInt(seconds), nil
}

// convertYear gives the year as its four digits.
func convertYear(v value.Value) (value.Value, error) {
	n := integerOf(v)
	if n.Kind() != value.Int || v.Kind() == value.Bytes || n.Int() < 1901 || n.Int() > 2155 {
		return v, cannot(v, Column{Class: Year})
	}
	return value.NewString(strconv.FormatInt(n.Int(), 10)), nil
}

// Interval gives at least the shards of r that hold keys of a column of class c from lo to hi, both as they stand in the
// statement; a nil bound is an open end.
func Interval(r Rule, lo, hi *Bound, c Column) Set {
	if !c.Class.ordered() || mixed(lo, hi, c) {
		return r.Between(nil, nil)
	}
	return r.Between(convertBound(r, lo, c), convertBound(r, hi, c))
}

// mixed tells that the ends of an interval are compared together in a type that neither of them has, as doubles or as
// numbers of dates.
func mixed(lo, hi *Bound, c Column) bool {
	if lo == nil || hi == nil || kindred(lo.Value.Kind()) == kindred(hi.Value.Kind()) {
		return false
	}
	switch c.Class {
	case Integer, Unsigned:
		return !small(lo.Value) || !small(hi.Value)
	}
	return true
}

// kindred is a kind that stands for all that are compared alike.
func kindred(k value.Kind) value.Kind {
	if k == value.Uint || k == value.Decimal {
		return value.Int
	}
	return k
}

// small tells whether a value is a whole number that is the same as a double.
func small(v value.Value) bool {
	n, err := convertInteger(v, Column{Class: Integer})
	return err == nil && n.Int() < doubleMax && n.Int() > -doubleMax
}

// convertBound gives nil for what cannot be converted. A value that no key equals is a bound all the same.
func convertBound(r Rule, b *Bound, c Column) *Bound {
	if b == nil {
		return nil
	}
	v, exact, err := Convert(r, b.Value, c)
	switch {
	case err == nil && exact:
		return &Bound{v, b.Inclusive}
	case isNumber(b.Value) && (c.Class == Integer || c.Class == Unsigned || c.Class == Decimal):
		return b
	}
	return nil
}

func isNumber(v value.Value) bool {
	return v.Kind() == value.Int || v.Kind() == value.Uint || v.Kind() == value.Decimal
}
