package rule

import (
	"fmt"
	"slices"
	"strings"

	"kingshard/mysql/value"
)

// folded is a rule for string keys that a collation compares otherwise than byte by byte.
type folded struct {
	Rule
	fold string // name of one of folds
}

// foldASCII is the fold of strings: ascii_ci.
const foldASCII = "ascii_ci"

// foldNone is the name of no fold: texts are told apart by their bytes.
const foldNone = "exact"

// folds are the folds by name. A fold brings strings to a form that is the same for all that the collations which it
// follows call equal; it may be the same for more. What a fold makes of a string never changes: another way is another fold.
var folds = map[string]struct {
	apply   func(text string) (string, error)
	follows func(collation string) bool
}{
	foldASCII: {foldToASCII, func(collation string) bool { return !slices.ContainsFunc(asciiElsewhere, foldsLike(collation)) }},
}

// FoldNames lists what a rule may say of its texts: exact first.
func FoldNames() []string { return []string{foldNone, foldASCII} }

// asciiElsewhere are parts of the names of collations that call different printable characters of ASCII equal, beside
// letters and their capitals, or that pass over some: i and y in Lithuanian, Y and ~ in GBK's Chinese.
var asciiElsewhere = []string{
	"_lithuanian_", "_lt_", "_lv_", "_la_", "_roman_", "swe7_", "big5_chinese_", "gb2312_chinese_", "gbk_chinese_", "cp1251_ukrainian_", "koi8u_general_",
	"geostd8_general_", "macce_general_",
}

func foldsLike(collation string) func(part string) bool {
	return func(part string) bool { return strings.Contains(strings.ToLower(collation), part) }
}

// FoldBy makes a rule place strings by a fold, as its name in the configuration says: exact leaves it as it is, and
// ascii_ci places strings without regard to the case of A to Z and to spaces at the end. Strings that a fold does not know
// are ErrConvert: how a collation compares them is not known here, and as none can be written, equal keys are together.
func FoldBy(r Rule, name string) (Rule, error) {
	if name == "" || name == foldNone {
		return r, nil
	}
	if _, ok := folds[name]; !ok {
		return nil, fmt.Errorf("%q is no way to fold texts", name)
	}
	return &folded{r, name}, nil
}

// FoldASCII is FoldBy with ascii_ci.
func FoldASCII(r Rule) Rule { return &folded{r, foldASCII} }

// Folds tells whether a rule folds texts.
func Folds(r Rule) bool {
	_, ok := r.(*folded)
	return ok
}

// FoldName is the name of a rule's fold, exact without one.
func FoldName(r Rule) string {
	if f, ok := r.(*folded); ok {
		return f.fold
	}
	return foldNone
}

// FoldFor gives a fold that follows a collation; "" without one.
func FoldFor(collation string) string {
	for _, name := range FoldNames() {
		if followed(name, collation) {
			return name
		}
	}
	return ""
}

// Follows tells whether strings that a collation calls equal are always on one shard.
func Follows(r Rule, collation string) bool { return followed(FoldName(r), collation) }

func followed(fold, collation string) bool {
	if f, ok := folds[fold]; ok {
		return f.follows(collation)
	}
	name := strings.ToLower(collation)
	return name == "binary" || strings.HasSuffix(name, "_bin") && !strings.HasPrefix(name, "swe7_")
}

// TakesText tells whether texts as such can be keys of a rule.
func TakesText(r Rule) bool {
	switch r.Kind() {
	case "hash", "crc32", "murmur3", "slots", "list":
		return true
	}
	return false
}

// Unfolded is the rule without its fold.
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

// fold brings a String to the form of all strings that equal it, for a rule that folds.
func fold(r Rule, v value.Value) (value.Value, error) {
	if v.Kind() != value.String {
		return v, nil
	}
	text, err := folds[r.(*folded).fold].apply(v.Text())
	if err != nil {
		return v, refuse(ErrConvert, "sharding key %s: %v", shown(v), err)
	}
	return value.NewString(text), nil
}

var errNotASCII = fmt.Errorf("only printable ASCII can be placed by a rule with strings: %s", foldASCII)

func foldToASCII(text string) (string, error) {
	text, upper := strings.TrimRight(text, " "), false
	for k := range len(text) {
		switch c := text[k]; {
		case c < ' ' || c > '~':
			return "", errNotASCII
		case c >= 'A' && c <= 'Z':
			upper = true
		}
	}
	if upper {
		text = strings.ToLower(text)
	}
	return text, nil
}
