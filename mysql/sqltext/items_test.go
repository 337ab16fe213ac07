package sqltext

import (
	"fmt"
	"testing"
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
