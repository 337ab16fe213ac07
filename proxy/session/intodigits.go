package session

import (
	"math/big"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/router/plan"
)

// lacking are the columns of an answer that show fewer digits than a variable would take.
type lacking struct {
	floats, averages []int
	scales           []int // of averages, as the answer shows them
}

// lackingOf finds those of the answer to a query.
func lackingOf(text string, mode sqltext.Mode, a *answer) (l lacking) {
	for k := range a.columns {
		switch d := &a.columns[k]; {
		case d.Type == mysql.TypeFloat:
			l.floats = append(l.floats, k)
		case d.Type == mysql.TypeNewDecimal && sqlparse.Divides(text, mode, k):
			l.averages, l.scales = append(l.averages, k), append(l.scales, int(d.Decimals))
		}
	}
	return l
}

// refused is why the columns cannot be known in full.
func (l lacking) refused(a *answer) error {
	if len(l.floats) > 0 {
		name := a.columns[l.floats[0]].Name
		return newError(KSRefusedSharding, "SELECT ... INTO of the FLOAT "+name+": its digits are not all known; use "+name+" + 0e0")
	}
	return newError(KSRefusedSharding, "SELECT ... INTO of "+a.columns[l.averages[0]].Name+": a variable takes more digits of a division or AVG than a result shows; ROUND it")
}

// inFull gives the answer to a text of a query with all digits of the columns that lack some: ask asks once more, in a form that shows them.
func inFull(ask func(*query) (answer, bool, error), mode sqltext.Mode, q *query, text string, a answer) (full answer, err error) {
	l := lackingOf(text, mode, &a)
	if a.rows == 0 || len(l.floats)+len(l.averages) == 0 {
		return a, nil
	}
	effects := sqltext.Classify(text, mode).Has(sqltext.EffectFunction) // it would have them twice
	text, ok := sqlparse.FullDigits(text, mode, l.floats, l.averages)
	if !ok || effects {
		return a, l.refused(&a)
	}
	again := query{text: text, info: sqltext.Classify(text, mode), attributes: q.attributes, verdict: q.verdict}
	full, handled, err := ask(&again)
	switch {
	case err != nil:
		return a, err
	case full.err != nil:
		return full, nil
	case !handled || len(full.columns) != len(a.columns)+2*len(l.averages):
		return a, l.refused(&a)
	}
	if full.rows > 0 {
		for n, k := range l.averages {
			further := len(a.columns) + 2*n
			sum, count := full.first[k], full.first[further]
			if sum == nil {
				continue
			}
			quotient, ok := average(string(sum), string(count), int(full.columns[k].Decimals), l.scales[n])
			of := &full.columns[further+1] // times are numbers of other digits than their sum shows
			if !ok || full.columns[k].Type != mysql.TypeNewDecimal || !plan.PlainNumber(of) && of.Type != mysql.TypeYear && of.Type != mysql.TypeBit {
				return a, l.refused(&a)
			}
			full.first[k] = value.Cell(quotient)
		}
	}
	full.columns = full.columns[:len(a.columns)]
	for n, k := range l.averages {
		full.columns[k].Decimals = byte(l.scales[n])
	}
	return full, nil
}

// digitsOfWord is how many decimal digits a server computes with at a time. MySQL manual: "DECIMAL Data Type Characteristics".
const digitsOfWord = 9

// average divides a sum of so many decimals by a count as a server does for a variable: with as many digits as AVG, of shown decimals, needs beyond those of the sum, up to a whole word, and
// the rest cut off. ok is false where its room for digits would be too small.
func average(sum, count string, decimals, shown int) (quotient string, ok bool) {
	words := func(digits int) int { return (digits + digitsOfWord - 1) / digitsOfWord }
	more := max(0, shown-decimals-(words(decimals)*digitsOfWord-decimals))
	scale := words(words(decimals)*digitsOfWord+more) * digitsOfWord
	whole, fraction, _ := strings.Cut(sum, ".")
	if shown >= 30 || scale > 3*digitsOfWord || words(len(whole))+words(scale) > 8 || len(fraction) > decimals {
		return "", false
	}
	n, ok := new(big.Int).SetString(whole+fraction+strings.Repeat("0", scale-len(fraction)), 10)
	d, fit := new(big.Int).SetString(count, 10)
	if !ok || !fit || d.Sign() == 0 {
		return "", false
	}
	n.Quo(n, d)
	digits := new(big.Int).Abs(n).String()
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale+1-len(digits)) + digits
	}
	if scale > 0 {
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if n.Sign() < 0 {
		digits = "-" + digits
	}
	return digits, true
}
