package session

import (
	"testing"

	"kingshard/mysql/sqltext"
)

// What a text tells of the use of a table is certain, or nothing.
func TestTableUse(t *testing.T) {
	m := sqltext.Mode{MariaDB: true}
	for text, want := range map[string]tableUse{
		"SELECT 1":                             usesNoTable,
		"SELECT (1), 'from t', `from`":         usesNoTable,
		"SELECT 1 -- from t":                   usesNoTable,
		"VALUES (1), (2)":                      usesNoTable,
		"DO SLEEP(0)":                          usesNoTable,
		"SET @a = 1":                           usesNoTable,
		"SELECT 1 FROM DUAL":                   mayUseTable,
		"SELECT TRIM(LEADING 'a' FROM 'ab')":   mayUseTable,
		"SELECT (SELECT 1 FROM t)":             mayUseTable,
		"SELECT (SELECT a FROM t) FROM u":      usesTable,
		"SELECT a FROM t":                      usesTable,
		"SELECT a FROM (SELECT 1) AS t":        usesTable,
		"WITH c AS (SELECT 1) SELECT * FROM c": mayUseTable,
		"DO (SELECT a FROM t)":                 mayUseTable,
		"SET @a = (SELECT a FROM t)":           mayUseTable,
		"INSERT INTO t VALUES (1)":             usesTable,
		"REPLACE INTO t VALUES (1)":            usesTable,
		"UPDATE t SET a = 1":                   usesTable,
		"DELETE FROM t":                        usesTable,
		"SHOW TABLES":                          mayUseTable,
		"CALL p()":                             mayUseTable,
	} {
		if got := tableUseOf(text, sqltext.Classify(text, m).Class, m); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
