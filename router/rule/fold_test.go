package rule

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := mysqltest.StopShared(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// asciiTexts are texts that ascii_ci tells apart: all of two characters, doubled letters and groups of letters, of which some languages
// have ones that count as others, and what chance makes of them.
func asciiTexts() []string {
	const letters, grouped = "abcdefghijklmnopqrstuvwxyz", "cdgklnstyz"
	var all []string
	for a := ' '; a <= '~'; a++ {
		for b := ' '; b <= '~'; b++ {
			all = append(all, string([]rune{a, b}))
		}
	}
	for _, a := range letters {
		for _, b := range letters {
			x, y := string(a), string(b)
			all = append(all, x+x+y, x+y+x+y)
		}
	}
	for _, a := range grouped {
		for _, b := range grouped {
			for _, c := range grouped {
				x, y, z := string(a), string(b), string(c)
				all = append(all, x+y+z+x+y+z, x+x+y+z)
			}
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		text := ""
		for range 2 + r.IntN(5) {
			text += string(letters[r.IntN(len(letters))])
		}
		at := r.IntN(len(text))
		all = append(all, text, text[:at]+text[at:at+1]+text[at:])
	}
	for k := range all {
		all[k] = strings.ToLower(strings.TrimRight(all[k], " "))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestFollowsASCII asks servers which texts of ASCII are equal under each of their collations that ascii_ci follows.
func TestFollowsASCII(t *testing.T) {
	if testing.Short() {
		t.Skip("asks servers")
	}
	texts := asciiTexts()
	folded := foldedASCII(nil)
	for _, kind := range mysqltest.Kinds() {
		db, err := mysqltest.Shared(t, kind).DB("")
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		t.Cleanup(func() { _ = db.Close() })
		for _, q := range []string{
			"SET NAMES utf8mb4", "CREATE DATABASE IF NOT EXISTS folds", "CREATE TEMPORARY TABLE folds.texts (x VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)",
		} {
			if _, err := db.Exec(q); err != nil {
				t.Fatal(err)
			}
		}
		for part := range slices.Chunk(texts, 2000) {
			q := "INSERT INTO folds.texts VALUES "
			for k, text := range part {
				if k > 0 {
					q += ","
				}
				q += fmt.Sprintf("(X'%x')", text)
			}
			if _, err := db.Exec(q); err != nil {
				t.Fatal(err)
			}
		}
		followed, others := 0, 0
		for _, name := range collationsOf(t, db, kind) {
			if !Follows(folded, name) {
				others++
				continue
			}
			followed++
			if a, b := equalTexts(t, db, name); a != b {
				t.Errorf("%s: %q and %q are equal under %s", kind, a, b, name)
			}
		}
		t.Logf("%s: %d texts, %d collations followed, %d others", kind, len(texts), followed, others)
		if followed < 200 || others > 80 {
			t.Errorf("%s: %d collations followed, %d others", kind, followed, others)
		}
	}
}

// collationsOf lists a server's collations; of those that MariaDB has for several character sets, UTF-8's.
func collationsOf(t *testing.T, db *sql.DB, kind mysqltest.Kind) (names []string) {
	t.Helper()
	column := "collation_name"
	if kind == mysqltest.MariaDB {
		column = "full_collation_name"
	}
	rows, err := db.Query("SELECT " + column + " FROM information_schema.collation_character_set_applicability WHERE collation_name <> 'binary' AND (" + column +
		" NOT LIKE '%uca1400%' OR character_set_name = 'utf8mb4')")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

// equalTexts gives two of the texts that are equal under a collation, or none.
func equalTexts(t *testing.T, db *sql.DB, collation string) (a, b string) {
	t.Helper()
	charset, _, _ := strings.Cut(collation, "_")
	err := db.QueryRow(fmt.Sprintf("SELECT MIN(x), MAX(x) FROM (SELECT x, CONVERT(x USING %s) COLLATE %s AS k FROM folds.texts) pairs GROUP BY k HAVING MIN(x) <> MAX(x) LIMIT 1", charset, collation)).Scan(&a, &b)
	if err != nil && err != sql.ErrNoRows {
		t.Fatalf("%s: %v", collation, err)
	}
	return a, b
}
