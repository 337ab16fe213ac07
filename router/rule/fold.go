package rule

import (
	"strings"

	"kingshard/mysql/value"
)

// folded is a rule for string keys that a collation without case compares.
type folded struct{ Rule }

// FoldASCII makes a rule place strings without regard to the case of A to Z and to spaces at the end. Strings with other
// characters than printable ASCII are ErrConvert: how a collation compares them is not known here, and as none can be
// written, equal keys are together. That holds for every _ci collation but those that equate different letters of ASCII
// for the sake of a language, such as the roman, hungarian and lithuanian ones.
func FoldASCII(r Rule) Rule { return &folded{r} }

// Folds tells whether FoldASCII made the rule.
func Folds(r Rule) bool {
	_, ok := r.(*folded)
	return ok
}

// Unfolded is the rule that FoldASCII was given, and any other itself.
func Unfolded(r Rule) Rule {
	if f, ok := r.(*folded); ok {
		return f.Rule
	}
	return r
}

// Find places a row.
func (r *folded) Find(v value.Value) (int, error) {
	v, err := fold(r, v)
	if err != nil {
		return 0, err
	}
	return r.Rule.Find(v)
}

// fold brings a String to the form of all strings that equal it.
func fold(_ Rule, v value.Value) (value.Value, error) {
	if v.Kind() != value.String {
		return v, nil
	}
	text, upper := strings.TrimRight(v.Text(), " "), false
	for k := range len(text) {
		switch c := text[k]; {
		case c < ' ' || c > '~':
			return v, refuse(ErrConvert, "sharding key %s: only printable ASCII can be placed by a rule with strings: ascii_ci", shown(v))
		case c >= 'A' && c <= 'Z':
			upper = true
		}
	}
	if upper {
		text = strings.ToLower(text)
	}
	return value.NewString(text), nil
}
