package collation

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Fold brings a text to a form that is the same for all texts which the collations that it follows call equal; it may be
// the same for more. What a fold makes of a text never changes: another way is another fold, with another version in its
// name.
//
// Spaces at the end never count, as they do not under PAD SPACE collations, nor in CHAR columns. Printable ASCII is brought
// to lower case, and to nothing else, by all folds but those of binary collations: of such texts they make the same.
type Fold struct {
	name    string
	follows func(collation string) bool
	load    func() *weights // nil: texts are told apart by their characters
}

// folds are those that there are.
var folds = []*Fold{
	{name: "utf8mb4_bin_v1", follows: Binary},
	{name: "utf8mb4_general_ci_v1", follows: among("general_ci", "general_nopad_ci"), load: table("utf8mb4_general_ci_v1")},
	{name: "utf8mb4_unicode_ci_v1", follows: among("unicode_ci", "unicode_nopad_ci"), load: table("utf8mb4_unicode_ci_v1")},
	{name: "utf8mb4_unicode_520_ci_v1", follows: among("unicode_520_ci", "unicode_520_nopad_ci"), load: table("utf8mb4_unicode_520_ci_v1")},
	{name: "utf8mb4_0900_ai_ci_v1", follows: among("0900_ai_ci", "0900_as_ci", "0900_as_cs"), load: table("utf8mb4_0900_ai_ci_v1")},
	{
		name: "utf8mb4_uca1400_ai_ci_v1", load: table("utf8mb4_uca1400_ai_ci_v1"),
		follows: among("uca1400_ai_ci", "uca1400_ai_cs", "uca1400_as_ci", "uca1400_as_cs", "uca1400_nopad_ai_ci", "uca1400_nopad_ai_cs", "uca1400_nopad_as_ci", "uca1400_nopad_as_cs"),
	},
	{name: "latin1_swedish_ci_v1", load: table("latin1_swedish_ci_v1"), follows: func(collation string) bool {
		return collation == "latin1_swedish_ci" || collation == "latin1_swedish_nopad_ci" || Binary(collation)
	}},
}

// among tells of a collation whether it is one of those of UTF-8 with such names behind the character set's, or a binary one.
func among(names ...string) func(collation string) bool {
	return func(collation string) bool {
		charset, name, _ := strings.Cut(collation, "_")
		return strings.HasPrefix(charset, "utf8") && slices.Contains(names, name) || Binary(collation)
	}
}

// Binary tells whether only texts of the same characters are equal under a collation, spaces at the end aside.
func Binary(collation string) bool {
	return collation == "binary" || strings.HasSuffix(collation, "_bin") && !strings.HasPrefix(collation, "swe7_")
}

// ByName gives a fold; nil where there is none of the name.
func ByName(name string) *Fold {
	for _, f := range folds {
		if f.name == name {
			return f
		}
	}
	return nil
}

// Names lists the folds.
func Names() (names []string) {
	for _, f := range folds {
		names = append(names, f.name)
	}
	return names
}

// Collation is the one that the fold is made from.
func (f *Fold) Collation() string { return strings.TrimSuffix(f.name, "_v1") }

// Follows tells whether texts that are equal under a collation have one form.
func (f *Fold) Follows(collation string) bool { return f.follows(strings.ToLower(collation)) }

// Apply gives the form of a text in UTF-8. Texts with characters that the fold does not know are errors: those that are not
// in the collation's character set, and those that the collation does not compare one by one.
func (f *Fold) Apply(text string) (string, error) {
	text = strings.TrimRight(text, " ")
	switch plain, upper := printable(text); {
	case f.load == nil:
		if !utf8.ValidString(text) {
			return "", fmt.Errorf("it is not in UTF-8")
		}
		return text, nil
	case !plain:
		return f.load().fold(text)
	case upper:
		return strings.ToLower(text), nil
	}
	return text, nil
}

// printable tells whether a text has printable characters of ASCII only, and whether a capital is among them.
func printable(text string) (plain, upper bool) {
	for k := range len(text) {
		switch c := text[k]; {
		case c < ' ' || c > '~':
			return false, false
		case c >= 'A' && c <= 'Z':
			upper = true
		}
	}
	return true, upper
}
