package collation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"kingshard/mysql/mysqltest"
)

// followed are collations that each fold must follow where a server has them.
var followed = map[string][]string{
	"utf8mb4_bin_v1":            {"utf8mb4_bin", "utf8mb3_bin", "utf8mb4_0900_bin", "utf8mb4_nopad_bin", "latin1_bin"},
	"utf8mb4_general_ci_v1":     {"utf8mb4_general_ci", "utf8mb3_general_ci", "utf8mb4_general_nopad_ci", "utf8mb3_general_nopad_ci", "utf8mb4_bin", "utf8mb4_0900_bin"},
	"utf8mb4_unicode_ci_v1":     {"utf8mb4_unicode_ci", "utf8mb3_unicode_ci", "utf8mb4_unicode_nopad_ci", "utf8mb4_bin"},
	"utf8mb4_unicode_520_ci_v1": {"utf8mb4_unicode_520_ci", "utf8mb3_unicode_520_ci", "utf8mb4_unicode_520_nopad_ci", "utf8mb4_bin"},
	"utf8mb4_0900_ai_ci_v1":     {"utf8mb4_0900_ai_ci", "utf8mb4_0900_as_ci", "utf8mb4_0900_as_cs", "utf8mb4_0900_bin", "utf8mb4_bin"},
	"utf8mb4_uca1400_ai_ci_v1": {
		"utf8mb4_uca1400_ai_ci", "utf8mb4_uca1400_nopad_ai_ci", "utf8mb3_uca1400_ai_ci", "utf8mb4_uca1400_as_ci", "utf8mb4_uca1400_as_cs", "utf8mb4_uca1400_ai_cs", "utf8mb4_uca1400_nopad_as_cs",
	},
	"latin1_swedish_ci_v1": {"latin1_swedish_ci", "latin1_swedish_nopad_ci", "latin1_bin"},
}

// ends are what pairs of texts end in, beside characters: what some collations pass over at the end of a text.
var ends = []string{"", " ", "  ", "\u00a0", "\x00", "\u0301", " \u00ad", "\u3000", "\t"}

// spelled are texts that many collations call equal though their characters are others.
var spelled = [][]string{
	{"ß", "ss", "SS", "s", "ſs", "ẞ"}, {"æ", "ae", "AE", "Æ", "a"}, {"é", "e", "É", "e\u0301", "E\u0301"}, {"ﬁ", "fi", "FI"}, {"１２", "12", "①②"}, {"Å", "A\u030a", "\u212b", "å", "a"},
	{"ö", "o", "oe", "Ø", "ø"}, {"ü", "y", "u", "ue"}, {"ð", "d", "đ"}, {"þ", "th"}, {"Σ", "σ", "ς"}, {"İ", "i", "ı", "I"}, {"가", "\u1100\u1161"}, {"が", "か\u3099", "カ", "ｶ", "ガ", "か"},
	{"😀", "😁", "\U00020000"}, {"\u0344", "\u0308\u0301"}, {"ǆ", "dž", "dz", "DŽ"}, {"½", "1⁄2", "1/2"}, {"…", "..."}, {"l·", "ŀ", "l\u00b7"}, {"й", "и\u0306", "и"}, {"เก", "กเ"},
	{"\u0627\u0653", "\u0622", "\u0627"}, {"\ufdfa", "\u0635\u0644\u0649"}, {"A", "a", "ａ", "Ａ", "𝐀"}, {"-", "\u2010", "\u00ad", ""}, {"Ñ", "n", "N\u0303"}, {"\ufb03", "ffi"}, {"№", "no"}, {"℀", "a/c"},
}

// pairs makes pairs of texts of which many are equal under some collation.
func pairs(r *rand.Rand, count int) (all [][2]string) {
	near := func() rune { // a character of those scripts that have several forms of letters
		from := [...]rune{0x20, 0xa0, 0x100, 0x250, 0x370, 0x400, 0x530, 0x900, 0xe00, 0x1100, 0x1e00, 0x2000, 0x2100, 0x2460, 0x3040, 0x3300, 0xac00, 0xfb00, 0xff00, 0x1d400, 0x1f100, 0x20000, 0xe0100}
		return from[r.IntN(len(from))] + r.Int32N(0x80)
	}
	word := func() (a, b string) {
		for range r.IntN(4) {
			switch r.IntN(5) {
			case 0, 1, 2:
				s := spelled[r.IntN(len(spelled))]
				a, b = a+s[r.IntN(len(s))], b+s[r.IntN(len(s))]
			case 3:
				x := string(near())
				a, b = a+x, b+strings.ToUpper(x)
			case 4:
				a, b = a+string(near()), b+string(near())
			}
		}
		return a + ends[r.IntN(len(ends))], b + ends[r.IntN(len(ends))]
	}
	for range count {
		a, b := word()
		if utf8.ValidString(a) && utf8.ValidString(b) {
			all = append(all, [2]string{a, b})
		}
	}
	return all
}

// TestEqualTexts asks servers which texts are equal, and checks that folds which follow the collation give these one form.
func TestEqualTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("asks servers")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, kind := range mysqltest.Kinds() {
		a := ask(t, kind)
		for _, name := range Names() {
			f := ByName(name)
			for _, collation := range followed[name] {
				if !f.Follows(collation) {
					t.Fatalf("%s does not follow %s", name, collation)
				}
				if !a.has(collation) {
					continue
				}
				equal, folded := 0, 0
				for part := range slices.Chunk(pairs(r, 2500), 500) {
					for _, p := range a.equal(collation, part) {
						equal++
						x, err := f.Apply(p[0])
						y, err2 := f.Apply(p[1])
						if err != nil || err2 != nil {
							continue
						}
						folded++
						if x != y {
							t.Errorf("%s on %s: %q and %q are equal, and %s makes %q and %q of them", collation, kind, p[0], p[1], name, x, y)
						}
					}
				}
				t.Logf("%s on %s: %d equal pairs, %d of them with forms", collation, kind, equal, folded)
				if equal < 40 || folded < equal/2 {
					t.Errorf("%s on %s: %d equal pairs, %d of them with forms", collation, kind, equal, folded)
				}
			}
		}
	}
}

// equal gives those of pairs that are equal under a collation; those with characters that it has not are left out.
func (a *asked) equal(collation string, all [][2]string) (equal [][2]string) {
	a.t.Helper()
	charset, _, _ := strings.Cut(collation, "_")
	var q strings.Builder
	fmt.Fprintf(&q, "SELECT k FROM (")
	for k, p := range all {
		if k > 0 {
			q.WriteString(" UNION ALL ")
		}
		fmt.Fprintf(&q, "SELECT %d k, CONVERT(X'%x' USING utf8mb4) a, CONVERT(X'%x' USING utf8mb4) b", k, p[0], p[1])
	}
	in := func(c string) string { return "CONVERT(" + c + " USING " + charset + ")" }
	fmt.Fprintf(&q, ") pairs WHERE %s COLLATE %s = %s COLLATE %s", in("a"), collation, in("b"), collation)
	for _, c := range []string{"a", "b"} {
		fmt.Fprintf(&q, " AND CONVERT(%s USING utf8mb4) = %s COLLATE utf8mb4_bin", in(c), c)
	}
	rows, err := a.db.Query(q.String())
	if err != nil {
		a.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var k int
		if err := rows.Scan(&k); err != nil {
			a.t.Fatal(err)
		}
		equal = append(equal, all[k])
	}
	if err := rows.Err(); err != nil {
		a.t.Fatal(err)
	}
	return equal
}

// TestForms checks what folds make of a few texts: it never changes, as rows are placed by it.
func TestForms(t *testing.T) {
	for _, c := range []struct{ fold, text, want string }{
		{"utf8mb4_bin_v1", "Aé ", "Aé"},
		{"utf8mb4_general_ci_v1", "AbC[ ", "abc["},
		{"utf8mb4_general_ci_v1", "Éß", "es"},
		{"utf8mb4_general_ci_v1", "😀", "\U0001fffd"},
		{"utf8mb4_general_ci_v1", "中", "\U00014e2d"},
		{"utf8mb4_unicode_ci_v1", "Straße\u00a0", "strasse"},
		{"utf8mb4_unicode_ci_v1", "中", "\U0001fb40\U0001ce2d"},
		{"utf8mb4_0900_ai_ci_v1", "E\u0301\x00", "e"},
		{"utf8mb4_0900_ai_ci_v1", "가", "\U00013bf5\U00013c73"},
		{"utf8mb4_uca1400_ai_ci_v1", "ﬁ１", "fi1"},
		{"latin1_swedish_ci_v1", "Äü\u20ac", `\y` + "\U00010080"},
	} {
		if got, err := ByName(c.fold).Apply(c.text); got != c.want || err != nil {
			t.Errorf("%s of %q: %q, %v", c.fold, c.text, got, err)
		}
	}
	for _, c := range [][2]string{{"latin1_swedish_ci_v1", "中"}, {"utf8mb4_uca1400_ai_ci_v1", "\u0e40ก"}, {"utf8mb4_general_ci_v1", "\xff"}, {"utf8mb4_bin_v1", "a\xff"}, {"utf8mb4_0900_ai_ci_v1", "a\xed\xa0\x80"}} {
		if got, err := ByName(c[0]).Apply(c[1]); err == nil {
			t.Errorf("%s of %q: %q", c[0], c[1], got)
		}
	}
}

// TestPrintable checks that the way for texts of printable ASCII alone gives what the tables do.
func TestPrintable(t *testing.T) {
	for _, f := range folds {
		if f.load == nil {
			continue
		}
		for c := ' '; c <= '~'; c++ {
			for _, text := range []string{string(c), "x" + string(c) + "x"} {
				want, err := f.load().fold(text)
				if got, err2 := f.Apply(text); got != want || err != nil || err2 != nil {
					t.Errorf("%s of %q: %q, %q, %v, %v", f.name, text, got, want, err, err2)
				}
			}
		}
	}
}

func BenchmarkApply(b *testing.B) {
	for _, text := range []string{"anna.smith@example.com", "Anna", "Müller"} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = ByName("utf8mb4_0900_ai_ci_v1").Apply(text)
			}
		})
	}
}
