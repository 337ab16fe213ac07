package collation

import (
	"bytes"
	"compress/flate"
	"context"
	"database/sql"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"kingshard/mysql/mysqltest"
)

var update = flag.Bool("update", false, "make the tables from the servers")

func TestMain(m *testing.M) {
	code := m.Run()
	if err := mysqltest.StopShared(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// asked is a server that tells weights.
type asked struct {
	t  *testing.T
	db *sql.DB
}

func ask(t *testing.T, kind mysqltest.Kind) *asked {
	t.Helper()
	db, err := mysqltest.Shared(t, kind).DB("")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Exec("SET NAMES utf8mb4"); err != nil {
		t.Fatal(err)
	}
	return &asked{t, db}
}

// has tells whether the server has a collation.
func (a *asked) has(collation string) bool {
	charset, _, _ := strings.Cut(collation, "_")
	_, err := a.db.Exec("DO _" + charset + "'a' COLLATE " + collation + " = 'a'")
	return err == nil
}

// weigh gives the weight strings of texts.
func (a *asked) weigh(collation string, texts ...string) (all []string) {
	a.t.Helper()
	var q strings.Builder
	for k, text := range texts {
		if k > 0 {
			q.WriteString(" UNION ALL ")
		}
		fmt.Fprintf(&q, "SELECT %d k, WEIGHT_STRING(%s) w", k, Converted(text, collation))
	}
	all = make([]string, len(texts))
	rows, err := a.db.QueryContext(context.Background(), q.String())
	if err != nil {
		a.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var k int
		var w sql.RawBytes
		if err := rows.Scan(&k, &w); err != nil {
			a.t.Fatal(err)
		}
		if w == nil {
			a.t.Fatalf("no weights of %.20q", texts[k])
		}
		all[k] = string(w)
	}
	if err := rows.Err(); err != nil {
		a.t.Fatal(err)
	}
	return all
}

// cut makes weights of a weight string.
func cut(collation, text string) (all []uint16) {
	for k := 0; k < len(text); k += unit(collation) {
		if unit(collation) == 1 {
			all = append(all, uint16(text[k]))
		} else {
			all = append(all, binary.BigEndian.Uint16([]byte(text[k:])))
		}
	}
	return all
}

// TestTables compares the weights of all characters that the folds know with those that the servers tell. With -update it
// makes the tables that are missing, and looks at all for contractions anew.
func TestTables(t *testing.T) {
	if testing.Short() {
		t.Skip("asks servers")
	}
	for _, f := range folds {
		if f.load != nil {
			t.Run(f.name, func(t *testing.T) { tableOf(t, f) })
		}
	}
}

func tableOf(t *testing.T, f *Fold) {
	servers := 0
	for _, kind := range mysqltest.Kinds() {
		a := ask(t, kind)
		if !a.has(f.Collation()) {
			continue
		}
		if *update {
			a.make(f)
		}
		servers++
		known := 0
		for texts := range slices.Chunk(f.Samples(), 16) {
			for k, got := range a.weigh(f.Collation(), texts...) {
				known += utf8.RuneCountInString(texts[k]) / 2
				if got != f.Weights(texts[k]) {
					t.Fatalf("on %s the weights of %.40q are others", kind, texts[k])
				}
			}
		}
		t.Logf("%d characters on %s", known, kind)
		if known < 256 {
			t.Errorf("only %d characters on %s", known, kind)
		}
	}
	if servers == 0 {
		t.Errorf("no server has %s", f.Collation())
	}
}

// make writes the table of a fold, or compares it with the one that was made from another server.
func (a *asked) make(f *Fold) {
	all := a.everyCharacter(f.Collation())
	for _, x := range cover(a.contractions(f.Collation(), all)) {
		a.t.Logf("%s: %U is left out, as it makes contractions", f.name, x)
		all[x] = nil
	}
	kinds, more := make([]byte, 0, len(all)), []byte(nil)
	last := int64(0)
	for x, w := range all {
		if surrogate(rune(x)) {
			continue
		}
		kind, rest := byte(len(w)), w
		switch {
		case w == nil:
			kind = unknown
		case isImplicit(rune(x), w):
			kind, rest = implicit, w[:1]
		case len(w) > weightsMax:
			a.t.Fatalf("%U has %d weights", x, len(w))
		}
		kinds = append(kinds, kind)
		for _, one := range rest {
			more = binary.AppendVarint(more, int64(one)-last)
			last = int64(one)
		}
	}
	var file bytes.Buffer
	w, err := flate.NewWriter(&file, flate.BestCompression)
	if err == nil {
		_, err = w.Write(append(kinds, more...))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		a.t.Fatal(err)
	}
	name := "tables/" + f.name + ".bin"
	if before, err := os.ReadFile(name); err == nil && !bytes.Equal(before, file.Bytes()) {
		a.t.Fatalf("%s: the server's weights are others than those of the table: rows that it has placed would be elsewhere, so it stays; make a new fold", f.name)
	}
	if err := os.WriteFile(name, file.Bytes(), 0o644); err != nil {
		a.t.Fatal(err)
	}
	table, err := decode(flate.NewReader(&file))
	if err != nil {
		a.t.Fatal(err)
	}
	f.load = func() *weights { return table }
}

// cover gives characters of which each pair has one: what is no letter rather than a letter, then always the character that
// is in most of the pairs left.
func cover(pairs [][2]rune) (some []rune) {
	take := func(x rune) {
		some = append(some, x)
		pairs = slices.DeleteFunc(pairs, func(p [2]rune) bool { return p[0] == x || p[1] == x })
	}
	for _, p := range slices.Clone(pairs) {
		switch first, second := unicode.IsLetter(p[0]), unicode.IsLetter(p[1]); {
		case slices.Contains(some, p[0]) || slices.Contains(some, p[1]):
		case first && !second:
			take(p[1])
		case second && !first:
			take(p[0])
		}
	}
	for len(pairs) > 0 {
		count := map[rune]int{}
		for _, p := range pairs {
			count[p[0]]++
			count[p[1]]++
		}
		take(slices.MaxFunc(slices.Sorted(maps.Keys(count)), func(a, b rune) int { return count[a] - count[b] }))
	}
	return some
}

// everyCharacter asks for the weights of all code points one by one; nil for those that are not in the character set.
func (a *asked) everyCharacter(collation string) [][]uint16 {
	all := make([][]uint16, utf8.MaxRune+1)
	charset, _, _ := strings.Cut(collation, "_")
	var q strings.Builder
	for from := rune(0); from <= utf8.MaxRune; from += 1024 {
		q.Reset()
		q.WriteString("SELECT x, WEIGHT_STRING(CONVERT(c USING " + charset + ") COLLATE " + collation + "), CONVERT(CONVERT(c USING " + charset + ") USING utf8mb4) = c COLLATE utf8mb4_bin FROM (")
		between := ""
		for x := from; x < from+1024; x++ {
			if !surrogate(x) {
				fmt.Fprintf(&q, "%sSELECT %d x, CONVERT(X'%x' USING utf8mb4) c", between, x, string(x))
				between = " UNION ALL "
			}
		}
		if between == "" {
			continue
		}
		rows, err := a.db.Query(q.String() + ") every")
		if err != nil {
			a.t.Fatal(err)
		}
		for rows.Next() {
			var x rune
			var w sql.RawBytes
			var same bool
			if err := rows.Scan(&x, &w, &same); err != nil {
				a.t.Fatal(err)
			}
			if same && w != nil {
				all[x] = append([]uint16{}, cut(collation, string(w))...)
			}
		}
		if err := rows.Err(); err != nil {
			a.t.Fatal(err)
		}
	}
	return all
}

// contractions finds pairs of characters whose weights are not those of the one and then those of the other: all pairs of
// characters near each other, and all of combining marks with others. Ideographs are left out.
func (a *asked) contractions(collation string, all [][]uint16) (pairs [][2]rune) {
	var others, marks []rune
	for x, w := range all {
		if w == nil || len(w) == 0 && !unicode.Is(unicode.M, rune(x)) || isImplicit(rune(x), w) {
			continue
		}
		if x >= 0xac00 && x < 0xd7a4 || x > 0xffff && len(w) > 0 && w[0] == 0xfffd {
			continue
		}
		if others = append(others, rune(x)); unicode.Is(unicode.M, rune(x)) || x == 0xb7 || x == 0x387 {
			marks = append(marks, rune(x))
		}
	}
	var texts [][]rune
	size := 0
	flush := func() {
		var q []string
		for _, text := range texts {
			q = append(q, string(text))
		}
		for k, got := range a.weigh(collation, q...) {
			if want := joined(collation, texts[k], all); got == want {
				continue
			}
			for i := range len(texts[k]) - 1 {
				pairs = append(pairs, [2]rune(texts[k][i:i+2])) // to be looked at one by one
			}
		}
		texts, size = texts[:0], 0
	}
	add := func(y rune, xs []rune) {
		var text []rune
		for _, x := range xs {
			text = append(text, y, x)
		}
		text = append(text, y)
		texts = append(texts, text)
		if size += len(text); size > 100_000 {
			flush()
		}
	}
	for k, y := range others {
		for part := range slices.Chunk(others[max(0, k-100):min(len(others), k+100)], 100) {
			add(y, part)
		}
	}
	for _, y := range marks {
		for part := range slices.Chunk(others, 2000) {
			add(y, part)
		}
	}
	flush()
	var certain [][2]rune
	slices.SortFunc(pairs, func(a, b [2]rune) int { return int(a[0]-b[0])<<21 + int(a[1]-b[1]) })
	pairs = slices.Compact(pairs)
	for part := range slices.Chunk(pairs, 1000) {
		var q []string
		for _, p := range part {
			q = append(q, string(p[:]))
		}
		for k, got := range a.weigh(collation, q...) {
			if got != joined(collation, part[k][:], all) {
				certain = append(certain, part[k])
			}
		}
	}
	return certain
}

func isImplicit(x rune, w []uint16) bool {
	return len(w) == 2 && w[0] >= 0xfb00 && w[1] == 0x8000|uint16(x)&0x7fff
}

// joined is the weight string of characters by themselves.
func joined(collation string, text []rune, all [][]uint16) string {
	var b []byte
	for _, x := range text {
		for _, w := range all[x] {
			b = appendWeight(b, collation, w)
		}
	}
	return string(b)
}
