package differential

import (
	"math/rand/v2"
	"strings"
)

// dialect is what a kind of server has that others have not.
type dialect struct {
	mariaDB bool
}

// collation is a collation of columns with words that its character set has.
type collation struct {
	charset, name string
	folds         bool
	words         []string
}

// Words that are equal in some collations, and words that padding, accents and bytes put in another order.
var (
	asciiWords  = []string{"a", "b", "A", "B", "a ", "", "ab", "aB", "ab  ", "10", "9", "a\t", "o'clock", `back\slash`, "%", "null"}
	plainWords  = []string{"a", "b", "A", "B", "a ", "", "ab", "aB", "ab  ", "10", "9", "o'clock", `back\slash`, "%", "null", "i", "I", "ch", "Ch", "ss", "a-b", "a_b", "x y", "~", "zz"}
	latinWords  = append([]string{"á", "Á", "ß", "ss", "ñ", "n", "Ü", "u", "é "}, asciiWords...)
	wideWords   = append([]string{"日本", "ａ", "😀", "ﬁ", "e\u0301"}, latinWords...)
	gbkWords    = append([]string{"中", "文", "中文", "啊"}, asciiWords...)
	foldLetters = strings.NewReplacer("á", "a", "ñ", "n", "ü", "u", "é", "e", "ß", "s", "ss", "s", "ａ", "a", "ﬁ", "fi", "\u0301", "", "\t", "", "\x00", "")
)

func collations(d dialect) []collation {
	list := []collation{
		{"utf8mb4", "utf8mb4_general_ci", true, wideWords},
		{"utf8mb4", "utf8mb4_unicode_ci", true, wideWords},
		{"utf8mb4", "utf8mb4_bin", true, wideWords}, // pads: 'a' and 'a ' are equal
		{"latin1", "latin1_swedish_ci", true, latinWords},
		{"latin1", "latin1_bin", true, latinWords},
		{"gbk", "gbk_chinese_ci", true, gbkWords},
	}
	if d.mariaDB {
		return append(list, collation{"utf8mb4", "utf8mb4_uca1400_ai_ci", true, wideWords}, collation{"utf8mb4", "utf8mb4_nopad_bin", false, wideWords})
	}
	return append(list, collation{"utf8mb4", "utf8mb4_0900_ai_ci", true, wideWords}, collation{"utf8mb4", "utf8mb4_0900_bin", false, wideWords})
}

// stringColumn is a column of characters in a random collation.
func stringColumn(r *rand.Rand, name, decl string, d dialect) *column {
	list := collations(d)
	in := list[r.IntN(len(list))]
	c := &column{
		name: name, decl: decl + " CHARACTER SET " + in.charset + " COLLATE " + in.name, class: text, folds: in.folds,
		indexable: !strings.HasSuffix(decl, "TEXT"),
	}
	c.pool = texts(in.words...)
	r.Shuffle(len(c.pool), func(i, j int) { c.pool[i], c.pool[j] = c.pool[j], c.pool[i] })
	c.pool = c.pool[:6+r.IntN(len(c.pool)-6)]
	return c
}

// fold makes words the same that are equal in any of the collations. It may make more the same than one collation does:
// it is used only where either word is a right answer.
func fold(s string) string {
	return strings.TrimRight(foldLetters.Replace(strings.ToLower(s)), " ")
}

// codeColumn is a sharding key that is text, in a collation that its table's rule follows.
func codeColumn(r *rand.Rand, t *table, d dialect) *column {
	list := []collation{{"utf8mb4", "utf8mb4_nopad_bin", false, wideWords}, {"latin1", "latin1_nopad_bin", false, latinWords}}
	if !d.mariaDB {
		list = []collation{{"utf8mb4", "utf8mb4_0900_bin", false, wideWords}}
	}
	list = append(list, collation{"utf8mb4", "utf8mb4_bin", true, wideWords}, collation{"latin1", "latin1_bin", true, latinWords}, collation{"gbk", "gbk_bin", true, gbkWords})
	if t.kind == foldedText {
		list = []collation{
			{"utf8mb4", "utf8mb4_general_ci", true, plainWords}, {"utf8mb4", "utf8mb4_unicode_ci", true, plainWords}, {"latin1", "latin1_swedish_ci", true, plainWords},
			{"latin1", "latin1_general_ci", true, plainWords}, {"utf8mb4", "utf8mb4_german2_ci", true, plainWords}, {"latin1", "latin1_general_cs", true, plainWords},
			{"utf8mb4", "utf8mb4_spanish_ci", true, plainWords}, {"ascii", "ascii_general_ci", true, plainWords}, {"utf8mb4", "utf8mb4_turkish_ci", true, plainWords},
			{"utf8mb3", "utf8mb3_general_ci", true, plainWords}, {"ucs2", "ucs2_general_ci", true, plainWords}, {"utf16", "utf16_unicode_ci", true, plainWords},
		}
		if d.mariaDB {
			list = append(list, collation{"utf8mb4", "utf8mb4_uca1400_ai_ci", true, plainWords}, collation{"utf8mb4", "utf8mb4_nopad_bin", false, plainWords})
		} else {
			list = append(list, collation{"utf8mb4", "utf8mb4_0900_ai_ci", true, plainWords}, collation{"utf8mb4", "utf8mb4_0900_as_cs", true, plainWords}, collation{"utf8mb4", "utf8mb4_de_pb_0900_ai_ci", true, plainWords})
		}
	}
	in := list[r.IntN(len(list))]
	return &column{
		name: t.shardKey, decl: "VARCHAR(20) CHARACTER SET " + in.charset + " COLLATE " + in.name + " NOT NULL", class: text, folds: in.folds, notNull: true, pool: texts(in.words...),
	}
}
