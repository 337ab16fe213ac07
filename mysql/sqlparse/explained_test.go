package sqlparse

import (
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
)

func TestExplained(t *testing.T) {
	for text, want := range map[string]string{
		"EXPLAIN SELECT 1":                                  "SELECT 1",
		"desc format=json select a from t":                  "select a from t",
		"EXPLAIN (SELECT 1) UNION ALL ((SELECT 2)) LIMIT 1": "(SELECT 1) UNION ALL ((SELECT 2)) LIMIT 1",
		"EXPLAIN ((SELECT 1))":                              "((SELECT 1))",
		"EXPLAIN /* a */ DELETE FROM t":                     "DELETE FROM t",
		"ANALYZE SELECT a FROM t":                           "SELECT a FROM t",
		"ANALYZE FORMAT=JSON UPDATE t SET a = 1":            "UPDATE t SET a = 1",
		"EXPLAIN FOR CONNECTION 5":                          "",
		"DESC t":                                            "",
	} {
		if got, ok := Explained(text, sqltext.Mode{}); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v, want %q", text, got, ok, want)
		}
	}
}

// MariaDB's ANALYZE of a statement, and any format, are read as EXPLAIN is, with the places of their own text.
func TestExplainForms(t *testing.T) {
	watched := func(name string) bool { return name == "t" }
	for _, text := range []string{"ANALYZE SELECT * FROM t WHERE a = ?", "analyze /* x */ format=json select 1 from `t`, u", "ANALYZE DELETE FROM t WHERE a = 1 RETURNING b"} {
		st, err := Parse(text, sqltext.Mode{MariaDB: true}, watched)
		if err != nil || st.Kind != Explain || st.Text != text || len(st.Tables) == 0 || strings.Trim(text[st.Tables[0].At.Pos:st.Tables[0].At.End], "`") != "t" {
			t.Errorf("%s: %+v, %v", text, st, err)
		}
		if st, err := Parse(text, sqltext.Mode{}, watched); err == nil {
			t.Errorf("MySQL: %s: %+v", text, st)
		}
	}
	for _, text := range []string{"EXPLAIN FORMAT=TREE SELECT * FROM t", "EXPLAIN ANALYZE FORMAT = tree SELECT * FROM t", "DESC format=traditional UPDATE t SET a = 1"} {
		if st, err := Parse(text, sqltext.Mode{}, watched); err != nil || st.Kind != Explain || st.Text != text || len(st.Tables) != 1 || text[st.Tables[0].At.Pos:st.Tables[0].At.End] != "t" {
			t.Errorf("%s: %+v, %v", text, st, err)
		}
	}
	if st, err := Parse("ANALYZE TABLE t", sqltext.Mode{MariaDB: true}, watched); err != nil || st.Kind != Maintain {
		t.Errorf("ANALYZE TABLE: %+v, %v", st, err)
	}
}
