package sqlparse

import (
	"fmt"
	"testing"

	"kingshard/mysql/sqltext"
)

func TestFindChangeParts(t *testing.T) {
	for text, want := range map[string]string{
		"UPDATE t SET a = (SELECT 1), b = 2 WHERE c IN (SELECT d FROM u)":                  "[] [t] [(SELECT 1) 2] [WHERE c IN (SELECT d FROM u)] [] []",
		"UPDATE IGNORE t AS x JOIN u ON x.a = u.a SET x.b = u.b":                           "[] [t AS x JOIN u ON x.a = u.a] [u.b] [] [] [] ignore",
		"WITH c AS (SELECT 1 WHERE 2) UPDATE t SET a = 1 ORDER BY b LIMIT 3;":              "[WITH c AS (SELECT 1 WHERE 2)] [t] [1] [] [ORDER BY b] [LIMIT 3]",
		"WITH c AS (SELECT 1), d AS (SELECT 2) DELETE FROM t WHERE a IN (SELECT * FROM c)": "[WITH c AS (SELECT 1), d AS (SELECT 2)] [t] [] [WHERE a IN (SELECT * FROM c)] [] []",
		"DELETE QUICK FROM t WHERE a = 1 LIMIT 2":                                          "[] [t] [] [WHERE a = 1] [] [LIMIT 2]",
		"DELETE IGNORE t FROM t JOIN u USING (a) WHERE u.b = 1":                            "[] [t JOIN u USING (a)] [] [WHERE u.b = 1] [] [] ignore",
		"DELETE FROM t USING t JOIN u USING (a) WHERE u.b = 1":                             "[] [t JOIN u USING (a)] [] [WHERE u.b = 1] [] []",
		"DELETE FROM t USING (t JOIN u ON t.a = u.a) WHERE u.b = 1":                        "[] [(t JOIN u ON t.a = u.a)] [] [WHERE u.b = 1] [] []",
		"DELETE t.* FROM t, (SELECT a FROM u) v WHERE t.a = v.a":                           "[] [t, (SELECT a FROM u) v] [] [WHERE t.a = v.a] [] []",
		"SELECT 1":     "none",
		"DELETE t":     "none",
		"WITH c AS ()": "none",
		"UPDATE t":     "none",
	} {
		p, ok := FindChangeParts(text, sqltext.Mode{})
		at := func(s Span) string { return text[s.Pos:s.End] }
		var values []string
		for _, v := range p.Values {
			values = append(values, at(v))
		}
		got := "none"
		if ok {
			got = fmt.Sprintf("[%s] [%s] %v [%s] [%s] [%s]", at(p.With), at(p.Table), values, at(p.Where), at(p.OrderBy), at(p.Limit))
			if p.Ignore {
				got += " ignore"
			}
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}
