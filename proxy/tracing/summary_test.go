package tracing

import (
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
)

func TestSummary(t *testing.T) {
	for text, want := range map[string]string{
		"select name from users where id = 42":                                                "SELECT users",
		"SELECT a.*, f(x, y) FROM shop.`orders` AS a JOIN b ON a.id = b.id, c WHERE 1":        "SELECT shop.orders b c",
		"SELECT EXTRACT(YEAR FROM made), TRIM('x' FROM y) FROM orders":                        "SELECT orders",
		"SELECT * FROM (SELECT id FROM a) AS t, b":                                            "SELECT SELECT a b",
		"INSERT INTO archive SELECT * FROM orders":                                            "INSERT archive SELECT orders",
		"INSERT IGNORE users (id, name) VALUES (1, 'x') ON DUPLICATE KEY UPDATE a = 1, b = 2": "INSERT users",
		"REPLACE INTO t SET a = 1, b = 2":                                                     "REPLACE t",
		"UPDATE a, b SET a.x = 1, b.y = REPLACE(b.y, 'p', 'q')":                               "UPDATE a b",
		"DELETE FROM users WHERE id IN (SELECT id FROM gone)":                                 "DELETE users SELECT gone",
		"WITH x AS (SELECT id FROM a) UPDATE b SET c = REPLACE(c, 1, 2)":                      "WITH SELECT a UPDATE b",
		"WITH x AS (SELECT 1) SELECT a, REPLACE(b, 'x', 'y') FROM x":                          "WITH SELECT SELECT x",
		"EXPLAIN UPDATE users SET a = 1":                                                      "EXPLAIN UPDATE users",
		"SELECT 1 FROM a FOR UPDATE":                                                          "SELECT a",
		"CREATE TABLE IF NOT EXISTS t (a INT, b INT) ENGINE=InnoDB":                           "CREATE TABLE t",
		"DROP TABLE a, b":                    "DROP TABLE a b",
		"ALTER TABLE t ADD x INT, ADD y INT": "ALTER TABLE t",
		"TRUNCATE t":                         "TRUNCATE t",
		"CALL p(1)":                          "CALL p",
		"COMMIT":                             "COMMIT",
		"SET autocommit = 0":                 "SET",
		"SELECT 'FROM secret'":               "SELECT",
		"":                                   "",
		"/*x*/ ":                             "",
		"SELECT 1; DROP TABLE x":             "SELECT",
	} {
		if got := Summary(text, sqltext.Mode{}); got != want {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}

// Any text gives a short summary in a short time, and none of its values.
func FuzzSummary(f *testing.F) {
	f.Add("SELECT 'canary' FROM a.b, c JOIN d")
	f.Add(strings.Repeat("(", 100) + "SELECT a FROM b" + strings.Repeat(")", 120))
	f.Add("a.b.c FROM .. . FROM `")
	f.Fuzz(func(t *testing.T, text string) {
		if got := Summary(text, sqltext.Mode{}); len(got) > summaryMax {
			t.Errorf("%d bytes", len(got))
		}
	})
}
