package rule

import (
	"fmt"
	"slices"
	"strings"

	"kingshard/mysql/collation"
	"kingshard/mysql/value"
)

// folded is a rule for string keys that a collation compares otherwise than byte by byte.
type folded struct {
	Rule
	by *Fold
}

// Fold brings strings to a form that is the same for all that the collations which it follows call equal; it may be the same
// for more. What a fold makes of a string never changes: another way is another fold.
type Fold struct {
	// Name is what the configuration has for strings.
	Name    string
	apply   func(text string) (string, error)
	follows func(collation string) bool
}

// foldNone is the name of no fold: texts are told apart by their bytes.
const foldNone = "exact"

// foldASCII is the fold of strings: ascii_ci.
var foldASCII = &Fold{"ascii_ci", foldToASCII, func(collation string) bool {
	return collation != "" && !slices.ContainsFunc(asciiElsewhere, func(part string) bool { return strings.Contains(collation, part) })
}}

// folds are all folds, those that follow more collations first.
var folds = allFolds()

func allFolds() []*Fold {
	all := []*Fold{foldASCII}
	for _, name := range collation.Names() {
		f := collation.ByName(name)
		all = append(all, &Fold{name, f.Apply, f.Follows})
	}
	return all
}

// FoldNames lists what a rule may say of its texts: exact first.
func FoldNames() []string {
	names := []string{foldNone}
	for _, f := range folds {
		names = append(names, f.Name)
	}
	return names
}

// asciiElsewhere are parts of the names of collations that call different printable characters of ASCII equal, beside
// letters and their capitals, or that pass over some: i and y in Lithuanian, Y and ~ in GBK's Chinese, ccs and cscs in MySQL's Hungarian.
var asciiElsewhere = []string{
	"_lithuanian_", "_lt_", "_lv_", "_la_", "_roman_", "_hu_0900_", "swe7_", "big5_chinese_", "gb2312_chinese_", "gbk_chinese_", "cp1251_ukrainian_", "koi8u_general_",
	"geostd8_general_", "macce_general_",
}

// FoldBy makes a rule place strings by a fold, as its name in the configuration says: exact leaves it as it is, ascii_ci
// places strings without regard to the case of A to Z and to spaces at the end, and the others are those of
// [collation.Names]. The keys of a list are folded, too. Strings that a fold does not know are ErrConvert: how a collation
// compares them is not known here, and as none can be written, equal keys are together.
func FoldBy(r Rule, name string) (Rule, error) {
	if name == "" || name == foldNone {
		return r, nil
	}
	at := slices.IndexFunc(folds, func(f *Fold) bool { return f.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("%q is no way to fold texts", name)
	}
	if list, ok := r.(*List); ok {
		var err error
		if r, err = list.folded(folds[at]); err != nil {
			return nil, err
		}
	}
	return &folded{r, folds[at]}, nil
}

// Folds tells whether a rule folds texts.
func Folds(r Rule) bool {
	_, ok := r.(*folded)
	return ok
}

// FoldName is the name of a rule's fold, exact without one.
func FoldName(r Rule) string {
	if f, ok := r.(*folded); ok {
		return f.by.Name
	}
	return foldNone
}

// FoldFor gives the fold to name for a key with collations: the one that knows the characters of all of them; "" without one.
func FoldFor(names ...string) string {
	for _, f := range slices.Backward(folds) {
		follows, binary := true, f != foldASCII && !strings.HasPrefix(f.Name, "utf8mb4_bin_")
		for _, name := range names {
			name = strings.ToLower(name)
			follows, binary = follows && f.follows(name), binary && collation.Binary(name)
		}
		if follows && !binary {
			return f.Name
		}
	}
	return ""
}

// ShortCollation reports whether a collation is named without its character set, as MariaDB has it.
func ShortCollation(name string) bool { return collation.Short(name) }

// Follows tells whether strings that a collation calls equal are always on one shard.
func Follows(r Rule, name string) bool {
	name = strings.ToLower(name)
	if f, ok := r.(*folded); ok {
		return f.by.follows(name)
	}
	return collation.Binary(name)
}

// Together tells whether keys of a column that are equal to the server are on one shard, by what is known of the column:
// 'abc' and 'ABC' are equal under a collation without case, and apart where the rule places text by its bytes.
func Together(r Rule, c Column) bool {
	switch {
	case c.Class != CharCI || c.Collation == 0 && Folds(r):
		return true
	case !Folds(r):
		return false
	}
	return Follows(r, collation.NameOf(c.Collation))
}

// TakesText tells whether texts as such can be keys of a rule.
func TakesText(r Rule) bool {
	switch r.Kind() {
	case "hash", "crc32", "murmur3", "slots", "list":
		return true
	}
	return false
}

// Unfolded is the rule without its fold and its pins.
func Unfolded(r Rule) Rule {
	if f, ok := r.(*folded); ok {
		r = f.Rule
	}
	if p, ok := r.(*pinned); ok {
		r = p.Rule
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

// fold brings a String to the form of all strings that equal it, for a rule that folds: a String that is its own form, or
// Bytes.
func fold(r Rule, v value.Value) (value.Value, error) {
	if v.Kind() != value.String {
		return v, nil
	}
	f := r.(*folded).by
	text, err := f.apply(v.Text())
	if err != nil {
		return v, refuse(ErrConvert, "sharding key %s cannot be placed by a rule with strings: %s: %v", shown(v), f.Name, err)
	}
	if !ascii(text) {
		return value.NewBytes(text), nil // weights, which are not to be folded again
	}
	return value.NewString(text), nil
}

var errNotASCII = fmt.Errorf("it has characters beyond printable ASCII")

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
