package plan

import (
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/value"
)

// sumDigitsMax is how many digits a number may have whose sums any server holds in a column: a DECIMAL has 65, and as many rows
// as 15 digits count are more than there are.
const sumDigitsMax = 50

// scaleMax is how many digits behind the point every server shows.
const scaleMax = 30

// formDigits are how many characters a literal may have in the place of a form's parameter that is added up, and how many where sums of longer ones might be too long.
var formDigits = [...]int{8, 4}

// digits bounds the exact numbers that an expression gives.
type digits struct {
	whole, scale int // digits ahead of the point and behind it
	double       bool
	// hidden says that there are more digits than are shown: MariaDB's quotients, a product of long fractions. A sum within one
	// server has them, one that is sent to another has not.
	hidden bool
}

// precision bounds the numbers that expressions of a query block give.
type precision struct {
	scope *scope
	// form says that the statement is a text's form: short are the parameters of it that were taken for literals of so many characters.
	form  bool
	short []int
	chars int
}

// newPrecision bounds the numbers of a query block; form says that it is of a text's form.
func newPrecision(s *scope, form bool) *precision {
	return &precision{scope: s, form: form, chars: formDigits[0]}
}

// addsUp tells whether what the shards' sums of an expression come to is the sum of all rows' values.
func (n *precision) addsUp(e *sqlparse.Expr) bool {
	had, chars := len(n.short), n.chars
	for {
		d, ok := n.digitsOf(e)
		if ok && (d.double || !d.hidden && d.scale <= scaleMax && d.whole+d.scale <= sumDigitsMax) {
			return true
		}
		if !n.form || len(n.short) == had || n.chars == formDigits[1] {
			n.chars = chars
			return false
		}
		n.short, n.chars = n.short[:had], formDigits[1]
	}
}

// decimalDigitsMax is how many digits a DECIMAL has at most, and decimalScaleMax how many of them MariaDB has behind the point.
const decimalDigitsMax, decimalScaleMax = 65, 38

// fits tells whether the values of a call are not cut where they go through a column, as of a UNION or of a scratch table:
// servers give some calls a type that has not all of their values.
func (n *precision) fits(e *sqlparse.Expr) bool {
	switch {
	case e.Name == "ord": // INT, and the number of a character of four bytes is more
		return false
	case e.Name == "abs" && len(e.Args) == 1: // INT of an INT, and -(-2147483648) is more
		if d, ok := n.digitsOf(e.Args[0]); !ok || !d.double && d.scale == 0 {
			return false
		}
	case (e.Name == "date" || e.Name == "last_day") && len(e.Args) == 1: // of a number it is none
		d := n.scope.definition(e.Args[0])
		return d == nil || !isNumber(d)
	case writes[e.Name]: // 22 characters for a DOUBLE, which may have 24
		for _, arg := range e.Args {
			if d, ok := n.digitsOf(arg); ok && d.double && !n.scope.isText(arg) {
				return false
			}
		}
		return true
	case !arithmetic[e.Name]:
		return true
	}
	d, ok := n.digitsOf(e)
	switch e.Name {
	case "floor", "ceil", "ceiling", "round": // 17 digits for a DOUBLE, which may have 309
		return ok && !d.double && d.whole <= decimalDigitsMax
	}
	return ok && (d.double || d.whole+min(d.scale, decimalScaleMax) <= decimalDigitsMax)
}

// writes are functions that write their arguments.
var writes = map[string]bool{
	"upper": true, "lower": true, "ucase": true, "lcase": true, "left": true, "right": true, "substring": true, "substr": true, "mid": true,
	"concat": true,
}

// isText tells whether an expression is a column of text.
func (s *scope) isText(e *sqlparse.Expr) bool {
	d := s.definition(e)
	return d != nil && d.Type != mysql.TypeDouble && d.Type != mysql.TypeFloat || e.Op == sqlparse.Const
}

func (d digits) or(x digits) digits {
	return digits{max(d.whole, x.whole), max(d.scale, x.scale), d.double || x.double, d.hidden || x.hidden}
}

// integers are the digits of whole numbers of 64 bits.
var integers = digits{whole: 20}

// digitsOf bounds the values of an expression; ok is false where nothing is known of them.
func (n *precision) digitsOf(e *sqlparse.Expr) (d digits, ok bool) {
	switch {
	case e.Op == sqlparse.Column:
		def := n.scope.definition(e)
		if def == nil {
			return d, false
		}
		return columnDigits(def), true
	case e.Op == sqlparse.Const:
		return literalDigits(e.Value), true
	case e.Op == sqlparse.Param:
		// What the literals of a text are its form does not say: those of a usual length are taken for granted.
		if !n.form {
			return d, false
		}
		n.short = append(n.short, e.Index)
		return digits{whole: n.chars, scale: n.chars - 1}, true
	case truths[e.Op]:
		return digits{whole: 1}, true
	case e.Op != sqlparse.Call:
		return d, false
	case whole[e.Name]:
		return integers, true
	case e.Name == "sqrt" || e.Name == "pow" || e.Name == "power":
		return digits{double: true}, true
	case !arithmetic[e.Name] && !chosen[e.Name] || len(e.Args) == 0:
		return d, false
	}
	for k, arg := range e.Args {
		x, known := n.digitsOf(arg)
		switch {
		case !known:
			return d, false
		case k == 0:
			d = x
		case e.Name == "mul":
			d.whole, d.scale, d.double = d.whole+x.whole, d.scale+x.scale, d.double || x.double
		case e.Name == "div":
			d.whole, d.scale, d.double, d.hidden = d.whole+x.scale, decimalScaleMax, d.double || x.double, true
		case (e.Name == "round") && k == 1:
			d.whole++
		default:
			d = d.or(x)
		}
	}
	switch e.Name {
	case "plus", "minus":
		d.whole++
	case "floor", "ceil", "ceiling", "round":
		d.whole++
	case "intdiv", "sign", "bit_count":
		d = integers
	}
	d.hidden = d.hidden || d.scale > scaleMax
	return d, true
}

// whole are functions that give whole numbers of 64 bits.
var whole = map[string]bool{
	"length": true, "char_length": true, "year": true, "month": true, "day": true, "dayofmonth": true, "hour": true, "minute": true,
	"second": true, "field": true, "locate": true, "instr": true, "datediff": true, "crc32": true, "ascii": true, "ord": true,
	"find_in_set": true, "dayofweek": true, "dayofyear": true, "weekday": true, "week": true, "quarter": true,
	"bitand": true, "bitor": true, "bitxor": true, "leftshift": true, "rightshift": true,
}

// columnDigits bounds what a column adds up to.
func columnDigits(d *mysql.ColumnDefinition41) digits {
	switch d.Type {
	case mysql.TypeDecimal, mysql.TypeNewDecimal:
		return digits{whole: int(d.Length) - int(d.Decimals) - signs(d), scale: int(d.Decimals)}
	case mysql.TypeYear, mysql.TypeTiny, mysql.TypeShort:
		return digits{whole: 5}
	case mysql.TypeInt24, mysql.TypeLong:
		return digits{whole: 10}
	case mysql.TypeLongLong, mysql.TypeBit:
		return integers
	case mysql.TypeDate, mysql.TypeNewDate, mysql.TypeTime, mysql.TypeDatetime, mysql.TypeTimestamp:
		return digits{whole: 14, scale: 6}
	}
	if isLong(d) {
		return digits{whole: int(d.Length)}
	}
	return digits{double: true}
}

// signs is how many characters of the length of a DECIMAL are no digits: its sign and its point.
func signs(d *mysql.ColumnDefinition41) (n int) {
	if d.Flags&mysql.UnsignedFlag == 0 {
		n++
	}
	if d.Decimals > 0 {
		n++
	}
	return n
}

// isLong tells of a DOUBLE(255, 30), whose values are written with more digits than servers give room for where it goes through a
// column.
func isLong(d *mysql.ColumnDefinition41) bool {
	return (d.Type == mysql.TypeDouble || d.Type == mysql.TypeFloat) && d.Decimals != notFixed && int(d.Length)-int(d.Decimals) > 15
}

// literalDigits bounds a literal.
func literalDigits(v value.Value) digits {
	switch v.Kind() {
	case value.Int, value.Uint:
		return digits{whole: len(v.String())}
	case value.Decimal:
		text := v.Text()
		for k := range text {
			if text[k] == '.' {
				return digits{whole: k, scale: len(text) - k - 1}
			}
		}
		return digits{whole: len(text)}
	}
	return digits{double: !v.IsNull()}
}
