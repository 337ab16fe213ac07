package sqlparse

import (
	"testing"

	"kingshard/mysql/sqltext"
)

func TestInsertQuery(t *testing.T) {
	for text, want := range map[string]string{
		"INSERT INTO t SELECT a FROM u":                                                         "SELECT a FROM u",
		"insert ignore t (a, `select`) select 1, 2;":                                            "select 1, 2",
		"REPLACE INTO d.t (a) (SELECT a FROM u ORDER BY a LIMIT 1)":                             "(SELECT a FROM u ORDER BY a LIMIT 1)",
		"INSERT INTO t (a) ((SELECT 1) UNION (SELECT 2)) ON DUPLICATE KEY UPDATE a = VALUES(a)": "((SELECT 1) UNION (SELECT 2))",
		"INSERT INTO t WITH c AS (SELECT 1) SELECT * FROM c RETURNING a":                        "WITH c AS (SELECT 1) SELECT * FROM c",
		"INSERT INTO t (a) TABLE u":                                                             "TABLE u",
		"INSERT INTO t SELECT x.a FROM u JOIN x ON duplicate = x.a":                             "SELECT x.a FROM u JOIN x ON duplicate = x.a",
		"INSERT INTO t VALUES ((SELECT 1))":                                                     "",
		"INSERT INTO t SET a = (SELECT 1)":                                                      "",
		"UPDATE t SET a = 1":                                                                    "",
	} {
		query, ok := InsertQuery(text, sqltext.Mode{})
		if got := text[query.Pos:query.End]; got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", text, got, ok)
		}
	}
}
