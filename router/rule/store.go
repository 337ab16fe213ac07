package rule

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"kingshard/mysql/value"
)

// Store brings a value that is written to a key column to the form in which rule r places it: that of the value which the
// column keeps. An integer column rounds '4.9999' to 5. NULL stays.
//
// Errors are of kind ErrConvert, for values of which a server may keep another one in some mode, as it does with those that
// do not fit the column, and of kind ErrNoShard.
func Store(r Rule, v value.Value, c Column) (value.Value, error) {
	if v.IsNull() || r.Kind() == "single" || r.Kind() == "reference" {
		return v, nil
	}
	switch c.Class {
	case Integer, Unsigned:
		return storeInteger(v, c)
	case Decimal:
		return storeDecimal(v, c)
	case CharBinary, CharCI:
		return storeChar(r, v, c)
	case Bytes:
		return storeBytes(v, c)
	}
	stored, _, err := Convert(r, v, c)
	return stored, err
}

func misfit(v value.Value, c Column) error {
	return refuse(ErrConvert, "sharding key %s: does not fit its column of class %v, which may keep another value", shown(v), c.Class)
}

// WholeNumber gives what an integer column keeps of a value, if it has room for it; ok is false where that is not known.
func WholeNumber(v value.Value) (n value.Value, ok bool) {
	switch v.Kind() {
	case value.Int, value.Uint:
		return v, true
	case value.Float:
		f := math.RoundToEven(v.Float())
		return value.NewInt(int64(f)), math.Abs(f) < doubleMax
	case value.Decimal, value.String:
		d, ok := parseDecimal(strings.Trim(v.Text(), " "))
		if !ok || d.beyond() {
			return v, false
		}
		n := d.rounded(0).value()
		return n, n.Kind() != value.Decimal
	}
	return v, false
}

func storeInteger(v value.Value, c Column) (value.Value, error) {
	n, ok := WholeNumber(v)
	if !ok {
		return v, cannot(v, c)
	}
	if n.Kind() == value.Int && n.Int() < 0 {
		if c.Class == Unsigned || c.Room > 0 && n.Int() < -1<<(c.Room-1) {
			return v, misfit(v, c)
		}
		return n, nil
	}
	bits := c.Room
	if bits == 0 {
		bits = 64
	}
	if c.Class == Integer {
		bits--
	}
	if n.Uint()>>bits != 0 { // shifts by 64 give 0
		return v, misfit(v, c)
	}
	return n, nil
}

func storeDecimal(v value.Value, c Column) (value.Value, error) {
	text := v.Text()
	switch v.Kind() {
	case value.Int:
		text = strconv.FormatInt(v.Int(), 10)
	case value.Uint:
		text = strconv.FormatUint(v.Uint(), 10)
	case value.Decimal, value.String:
		text = strings.Trim(text, " ")
	default:
		return v, cannot(v, c)
	}
	d, ok := parseDecimal(text)
	if !ok || d.beyond() {
		return v, cannot(v, c)
	}
	d = d.rounded(c.Scale)
	if c.Room > 0 && len(d.whole) > c.Room || d.negative && c.NoSign {
		return v, misfit(v, c)
	}
	return d.value(), nil
}

func storeChar(r Rule, v value.Value, c Column) (value.Value, error) {
	switch v.Kind() {
	case value.Int, value.Uint:
		v = value.NewString(v.String())
	case value.Decimal, value.Float, value.Temporal:
		return v, cannot(v, c) // each server has its own way to write it
	}
	stored, _, err := convertChar(r, v, c)
	if err == nil && (c.Room > 0 && utf8.RuneCountInString(v.Text()) > c.Room || !c.Characters.have(v.Text())) {
		return v, misfit(v, c)
	}
	return stored, err
}

// have tells whether all characters of a text in UTF-8 are among those of a set.
func (c Characters) have(text string) bool {
	if c == AnyCharacter {
		return true
	}
	for _, x := range text {
		switch {
		case x < utf8.RuneSelf:
		case c == ASCIICharacter, c == BasicPlane && x > 0xffff:
			return false
		case c == WesternLatin && (x < 0xa0 || x > 0xff) && !strings.ContainsRune(windows1252, x):
			return false
		}
	}
	return true
}

// windows1252 are the characters of 0x80 to 0x9f in the set that MySQL calls latin1.
const windows1252 = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"

// storeBytes writes the zeros that a BINARY(n) column adds.
func storeBytes(v value.Value, c Column) (value.Value, error) {
	text := v.Text()
	switch v.Kind() {
	case value.Int, value.Uint:
		text = v.String()
	case value.String, value.Bytes:
	default:
		return v, cannot(v, c)
	}
	if c.Room > 0 && len(text) > c.Room {
		return v, misfit(v, c)
	}
	return value.NewBytes(text + strings.Repeat("\x00", max(0, c.Length-len(text)))), nil
}
