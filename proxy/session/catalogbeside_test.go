package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// informationBeside are statements that name tables of information_schema, @, beside one of each kind, #.
var informationBeside = []string{
	"SELECT @.*, #.id FROM @ JOIN # ON #.id = 3 WHERE 1 = 0", "SELECT #.id FROM # WHERE EXISTS (SELECT 1 FROM @) ORDER BY id", "SELECT id FROM # WHERE id = 3 AND (SELECT COUNT(*) FROM @) > 0", "SELECT (SELECT COUNT(*) FROM #) FROM @ LIMIT 1", "SELECT COUNT(*) > 0 FROM @, #",
	"SELECT id FROM # UNION SELECT COUNT(*) > 0 FROM @ ORDER BY 1", "WITH x AS (SELECT COUNT(*) n FROM @) SELECT # .id, n > 0 FROM #, x ORDER BY 1", "SELECT x.id FROM (SELECT id FROM # WHERE EXISTS (SELECT 1 FROM @)) x ORDER BY 1",
	"UPDATE # SET name = (SELECT IF(COUNT(*) > 0, 'x', 'y') FROM @) WHERE id = 3", "UPDATE # SET d = 1 WHERE EXISTS (SELECT 1 FROM @)", "DELETE FROM # WHERE id > 100 AND EXISTS (SELECT 1 FROM @)",
	"INSERT INTO # (id, n, name) SELECT 50, COUNT(*) > 0, 'z' FROM @", "REPLACE INTO # (id, n, name) SELECT 51, COUNT(*) > 0, 'z' FROM @",
}

// TestInformationBesideRules: a statement that names tables of information_schema beside one with a rule gives the answer of one server, or is
// refused before a server sees it, but for those tables that are alike everywhere.
func TestInformationBesideRules(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c := namesRig(t, kind)
			refused, cases := 0, 0
			for _, table := range namedTables {
				for _, form := range informationBeside {
					for _, information := range []string{"tables", "COLUMNS", "statistics", "views", "routines", "triggers", "engines", "character_sets"} {
						sql := strings.ReplaceAll(forTable(form, table), "@.", information+".")
						sql = strings.ReplaceAll(sql, "@", "information_schema."+information)
						ruled := table != "p"
						alike := information == "engines" || information == "character_sets"
						want, err := one.Query(sql)
						if err != nil {
							t.Fatal(err)
						}
						got, err := c.Query(sql)
						if err != nil {
							t.Fatal(sql, err)
						}
						cases++
						switch {
						case got.Err != nil && got.Err.Code == 9012:
							refused++
							if alike && table == "p" || !ruled && strings.HasPrefix(sql, "SELECT") {
								t.Errorf("%s is refused: %v", sql, got.Err)
							}
							// A change of a reference table is planned for its one copy, and refused when it is to run on all.
							if _, err := c.Prepare(sql); err == nil && (!alike || table != "r") || err != nil && !strings.Contains(err.Error(), "9012") {
								t.Errorf("prepare %s: %v", sql, err)
							}
							if want.Err == nil && want.OK != nil {
								for _, x := range []*mysqltest.RawClient{one, c} {
									must(t, x, "DELETE FROM "+table+" WHERE id > 49")
									must(t, x, fmt.Sprintf("UPDATE %s SET name = 'c', d = 3 WHERE id = 3", table))
								}
							}
						case ruled && !alike:
							t.Errorf("%s is answered: %s", sql, metadataShown(got))
						case rowsOrError(want) != rowsOrError(got):
							t.Errorf("%s: %s instead of %s", sql, rowsOrError(got), rowsOrError(want))
						}
					}
				}
			}
			t.Log(cases, "cases,", refused, "refused")
		})
	}
}

// rowsOrError shows what an answer has beside its definitions.
func rowsOrError(r *mysqltest.RawResult) string {
	if r.Err != nil || r.OK != nil {
		return metadataShown(r)
	}
	return fmt.Sprint(r.Rows)
}

// Queries of information_schema that give no rows have the columns of one server.
func TestInformationWithoutRows(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c := namesRig(t, kind)
			for _, table := range []string{"TABLES", "COLUMNS", "STATISTICS", "KEY_COLUMN_USAGE", "TABLE_CONSTRAINTS", "REFERENTIAL_CONSTRAINTS", "PARTITIONS", "TRIGGERS", "CHECK_CONSTRAINTS"} {
				for _, form := range []string{"SELECT * FROM information_schema.%s LIMIT 0", "SELECT * FROM information_schema.%s t ORDER BY 1 LIMIT 0", "SELECT * FROM information_schema.%s WHERE 1 = 0", "SELECT * FROM information_schema.%s WHERE 1 = 0 LIMIT 5"} {
					sql := fmt.Sprintf(form, table)
					if strings.Contains(sql, "LIMIT 0") {
						compareMetadata(t, one, c, "", sql)
						continue
					}
					want, got := must(t, one, sql), must(t, c, sql)
					if w, g := definitionsShown(want.Columns), definitionsShown(got.Columns); w != g {
						t.Errorf("%s\none server\n%s\nproxy\n%s", sql, w, g)
					}
				}
			}
		})
	}
}
