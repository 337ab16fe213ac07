package sqltext

import (
	"fmt"
	"testing"
)

func TestParseBlock(t *testing.T) {
	for text, want := range map[string]string{
		"BEGIN NOT ATOMIC SELECT 1; END":                                         "1 SELECT 1|",
		"begin not atomic\nUPDATE t SET a = ';' WHERE b;\n\nDELETE FROM t; end;": "2 UPDATE t SET a = ';' WHERE b|4 DELETE FROM t|",
		"BEGIN NOT ATOMIC SELECT CASE a WHEN 1 THEN 2 END FROM t; DO 1; END":     "1 SELECT CASE a WHEN 1 THEN 2 END FROM t|1 DO 1|",
		"BEGIN NOT ATOMIC (SELECT 1) UNION (SELECT 2); END":                      "1 (SELECT 1) UNION (SELECT 2)|",
		"BEGIN NOT ATOMIC END":                                                   "",
		"BEGIN NOT ATOMIC ; END":                                                 "",
		"BEGIN NOT ATOMIC SELECT 1 END":                                          "",
		"BEGIN NOT ATOMIC SELECT 1":                                              "",
		"BEGIN NOT ATOMIC SELECT 1;":                                             "",
		"BEGIN NOT ATOMIC SELECT 1; END x":                                       "",
		"x: BEGIN NOT ATOMIC SELECT 1; END":                                      "",
		"BEGIN NOT ATOMIC DECLARE v INT; SELECT 1; END":                          "",
		"BEGIN NOT ATOMIC IF 1 THEN SELECT 1; END IF; END":                       "",
		"BEGIN NOT ATOMIC SET @a = 1; END":                                       "",
		"BEGIN NOT ATOMIC COMMIT; END":                                           "",
		"BEGIN NOT ATOMIC BEGIN SELECT 1; END; END":                              "",
		"BEGIN NOT ATOMIC SELECT 1 INTO OUTFILE 'x'; END":                        "",
		"BEGIN NOT ATOMIC CALL p(); END":                                         "",
		"BEGIN NOT ATOMIC LOAD DATA LOCAL INFILE 'x' INTO TABLE t; END":          "",
		"BEGIN": "",
	} {
		list, ok := ParseBlock(text, Mode{MariaDB: true})
		got := ""
		for _, st := range list {
			got += fmt.Sprintf("%d %s|", st.Line, st.Text)
		}
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
