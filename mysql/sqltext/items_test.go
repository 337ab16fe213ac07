package sqltext

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// TestItems finds items; those whose name is their text for certain are marked.
func TestItems(t *testing.T) {
	for _, test := range []struct{ sql, want string }{
		{"SELECT a, b x, c AS y FROM t", "[a!.] [b x] [c AS y] "},
		{"SELECT DISTINCT USER() + 1, (USER()), USER() x, USER() 'y' FROM t", "[USER() + 1!] [(USER())!] [USER() x] [USER() 'y'] "},
		{"SELECT * FROM (SELECT USER(), t.a FROM t) x UNION ALL SELECT 1 LIMIT 2", "[*!.] [USER()!] [t.a!.] [1!] "},
		{"INSERT INTO t SELECT USER() ON DUPLICATE KEY UPDATE a = 1", "[USER()!] "},
		{"SELECT CASE USER() WHEN 'x' THEN 1 END, CASE a WHEN 1 THEN 2 END end, EXTRACT(DAY FROM d), USER() = t.a, USER() IS NULL, USER() COLLATE x, 'x' 'y'",
			"[CASE USER() WHEN 'x' THEN 1 END!] [CASE a WHEN 1 THEN 2 END end] [EXTRACT(DAY FROM d)!] [USER() = t.a!] [USER() IS NULL!] [USER() COLLATE x!] ['x' 'y'] "},
		{"WITH x AS (SELECT USER()) SELECT (SELECT CONNECTION_ID()), `a` `b`, NOT b, b.c.d, -1 FROM x WHERE a IN (SELECT b c)", "[USER()!] [CONNECTION_ID()!] [(SELECT CONNECTION_ID())!] [`a` `b`] [NOT b!] [b.c.d!.] [-1!] [b c] "},
		{"SELECT 1; SELECT 2 INTO @a", "[1!] [2!] "},
		{"UPDATE t SET a = (SELECT USER())", "[USER()!] "},
		{"SELECT a ), a * b, t.*", "[a!.] [a * b!] [t.*.] "},
		{"SELECT USER() offset, USER() FROM t", "[USER() offset] [USER()!] "},
		{"SELECT (SELECT USER() rows), USER() returning", "[USER() rows] [(SELECT USER() rows)!] [USER() returning] "},
		{"SELECT USER() EXCEPT SELECT USER() INTERSECT (SELECT USER())", "[USER()!] [USER()!] [USER()!] "},
		{"SELECT USER() OFFSET 1 ROWS", "[USER()!] "},
		{"SELECT CASE offset WHEN rows + 1 THEN 2 END, offset + USER(), t.offset + USER() FROM t", "[CASE offset WHEN rows + 1 THEN 2 END!] [offset + USER()!] [t.offset + USER()!] "},
		{"SELECT t.mod m, t.like FROM t", "[t.mod m] [t.like!.] "},
		{"SELECT t.from, t.select x, t.as + USER(), t.case FROM t", "[t.from!.] [t.select x] [t.as + USER()!] [t.case!.] "},
		{"SELECT USER() escape, USER() LIKE 'x' ESCAPE 'y'", "[USER() escape] [USER() LIKE 'x' ESCAPE 'y'] "},
	} {
		got := ""
		for _, item := range Items(test.sql, Mode{}) {
			mark := ""
			if item.Unnamed {
				mark = "!"
			}
			if item.Plain {
				mark += "."
			}
			got += fmt.Sprintf("[%s%s] ", test.sql[item.Pos:item.End], mark)
		}
		if got != test.want {
			t.Errorf("%s:\n%s\ninstead of\n%s", test.sql, got, test.want)
		}
	}
}

// TestItemsWords has every word that a server knows as an alias, and as a column's name: an item with an alias that the server reads is
// never one without, and the item behind is found.
func TestItemsWords(t *testing.T) {
	if testing.Short() {
		t.Skip("asks servers")
	}
	for _, kind := range mysqltest.Kinds() {
		db, err := mysqltest.Shared(t, kind).DB("")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		rows, err := db.Query("SELECT word FROM information_schema.keywords")
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{"minus": true, "offset": true, "rows": true, "window": true}
		for rows.Next() {
			var word string
			if err := rows.Scan(&word); err != nil {
				t.Fatal(err)
			}
			if word = strings.ToLower(word); isIdent(word[0]) {
				known[word] = true
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		read := 0
		for word := range known {
			for _, c := range []struct{ sql, item string }{
				{"SELECT MIN(u.a) %s, MAX(u.a) FROM (SELECT 1 a) u", "MIN(u.a) %s"},
				{"SELECT MAX(u.a), MIN(u.a) %s FROM (SELECT 1 a) u", "MIN(u.a) %s"},
				{"SELECT MAX(1), MIN(2) + 1 %s UNION SELECT 1, 2", "MIN(2) + 1 %s"},
				{"SELECT u.%s m, ABS(u.%s) FROM (SELECT 1 `%s`) u", "u.%s m"},
			} {
				sql, item := strings.ReplaceAll(c.sql, "%s", word), strings.ReplaceAll(c.item, "%s", word)
				if _, err := db.Exec(sql); err != nil {
					continue
				}
				read++
				aliased, behind := false, false
				for _, i := range Items(sql, Mode{}) {
					switch text := sql[i.Pos:i.End]; {
					case text == item:
						aliased = !i.Unnamed
					case strings.HasPrefix(text, "MAX("), strings.HasPrefix(text, "ABS("):
						behind = i.Unnamed
					}
				}
				if !aliased || !behind {
					t.Errorf("%s: %s: an alias is seen: %v; the other item: %v", kind, sql, aliased, behind)
				}
			}
		}
		t.Logf("%s: %d words, %d statements read", kind, len(known), read)
		if len(known) < 400 || read < 1000 {
			t.Errorf("%s: %d words, %d statements read", kind, len(known), read)
		}
	}
}
