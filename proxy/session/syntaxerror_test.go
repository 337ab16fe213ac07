package session_test

import (
	"testing"
)

// faultyTexts are texts that the proxy reads and some server does not, with much of the text behind the place where the server stops.
// # stands for a table.
var faultyTexts = []string{
	"SELECT CAST(id AS YEAR) FROM # WHERE id = 1", "SELECT CAST(id AS YEAR), USER() FROM # WHERE id = 1", "SELECT #.j->'$.x' FROM # WHERE #.id = 1", "SELECT #.j->'$.x' FROM shop.# WHERE shop.#.id = 1", "SELECT id FROM # TABLESAMPLE (5) WHERE id = 1", "SELECT VALUES(n) FROM # WHERE id = 1",
	"SELECT VALUES(n), #.id, `#`.name, shop.`#`.n FROM `shop`.`#` JOIN #c ON #c.u = #.id WHERE #.id = 1 AND #.name <> 'a text that is long enough to reach beyond what is quoted'", "SELECT id\nFROM `#`\nWHERE id = 1 AND VALUES(n) = 1\nAND #.id = 1", "SELECT id FROM # WHERE id = 1 AND\n name IN (SELECT #.name FROM # EXCEPT ALL SELECT VALUES(n) FROM #)",
	"UPDATE # SET n = VALUES(n) WHERE #.id = 1", "DELETE FROM # WHERE id = 1 AND #.n = VALUES(n)", "INSERT INTO # (id, n) VALUES (90, VALUES(n))", "SELECT id FROM # WHERE id = 1 FOR SHARE OF # NOWAIT", "SELECT id FROM # WHERE id = 1 AND name MEMBER OF ('[1]') AND #.n = 1 AND #.id = 5", "SELECT id FROM #, LATERAL (SELECT #.id) x WHERE #.id = 1",
	"SELEC id FROM # WHERE id = 1", "SELECT id FROM # WHERE id = = 1", "SELECT id FROM # WHERE id = 1 AND name = 'x", "SELECT GROUP_CONCAT(VALUES(n)) FROM # ORDER BY #.id", "SELECT VALUES(n) FROM # ORDER BY #.id",
}

// TestSyntaxErrorsOfOneShard: a syntax error that a server finds quotes the client's own text, on every path.
func TestSyntaxErrorsOfOneShard(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c := namesRig(t, kind)
			errors := 0
			for _, table := range namedTables {
				for _, text := range faultyTexts {
					sql := forTable(text, table)
					for _, where := range []string{"", "again", "BEGIN"} { // the second time the text may run on a loop
						if where == "BEGIN" {
							must(t, one, where)
							must(t, c, where)
						}
						want, err := one.Query(sql)
						if err != nil {
							t.Fatal(err)
						}
						got, err := c.Query(sql)
						if err != nil {
							t.Fatal(sql, err)
						}
						if want.Err == nil || want.Err.Code != 1064 {
							must(t, one, "ROLLBACK")
							must(t, c, "ROLLBACK")
							must(t, one, "DELETE FROM "+table+" WHERE id = 90")
							must(t, c, "DELETE FROM "+table+" WHERE id = 90")
							continue
						}
						errors++
						if got.Err != nil && got.Err.Code == 9004 && where == "BEGIN" {
							must(t, one, "ROLLBACK")
							must(t, c, "ROLLBACK")
							continue // a change of a reference table, which is on both nodes
						}
						if w, g := metadataShown(want), metadataShown(got); w != g {
							t.Errorf("%s %s:\n%s instead of\n%s", where, sql, g, w)
						}
						if w, g := rowsOrError(must(t, one, "SHOW WARNINGS")), rowsOrError(must(t, c, "SHOW WARNINGS")); w != g {
							t.Errorf("%s SHOW WARNINGS behind %s:\n%s instead of\n%s", where, sql, g, w)
						}
						if where == "BEGIN" {
							must(t, one, "ROLLBACK")
							must(t, c, "ROLLBACK")
						}
					}
					_, werr := one.Prepare(sql)
					_, gerr := c.Prepare(sql)
					if werr != nil && (gerr == nil || werr.Error() != gerr.Error()) {
						t.Errorf("prepare %s:\n%v instead of\n%v", sql, gerr, werr)
					}
				}
			}
			if errors < 40 {
				t.Errorf("only %d errors", errors)
			}
		})
	}
}

// TestUnknownCollations: a character set or collation that no server has is told by the servers' own errors.
func TestUnknownCollations(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c := namesRig(t, kind)
			told := map[uint16]int{}
			for _, table := range namedTables {
				for _, text := range []string{
					"SELECT name COLLATE nosuch_ci FROM # WHERE id = 1", "SELECT name COLLATE utf8mb4_nosuch_ci FROM #", "SELECT id FROM # ORDER BY name COLLATE nosuch_bin",
					"SELECT CONVERT(name USING nosuch) FROM #", "SELECT CAST(name AS CHAR(9) CHARACTER SET nosuch) FROM # WHERE id = 1", "SELECT COUNT(*) FROM # GROUP BY name COLLATE nosuch_ci",
					"UPDATE # SET n = 1 WHERE name COLLATE nosuch_ci = 'y'", "DELETE FROM # WHERE name = CONVERT('x' USING nosuch)", "INSERT INTO # (id, name) VALUES (90, CONVERT('x' USING nosuch))",
				} {
					sql := forTable(text, table)
					want, err := one.Query(sql)
					if err != nil {
						t.Fatal(err)
					}
					got, err := c.Query(sql)
					if err != nil {
						t.Fatal(sql, err)
					}
					if w, g := metadataShown(want), metadataShown(got); w != g {
						t.Errorf("%s:\n%s instead of\n%s", sql, g, w)
					}
					told[want.Err.Code]++
					// A prepared statement is read at once.
					if _, err := c.Prepare(sql); err == nil || err.Error() != want.Err.Error() {
						t.Errorf("prepared %s: %v instead of %v", sql, err, want.Err)
					}
				}
			}
			if told[1273] == 0 || told[1115] == 0 {
				t.Errorf("errors are %v", told)
			}
		})
	}
}
