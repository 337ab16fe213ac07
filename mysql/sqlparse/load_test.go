package sqlparse

import (
	"fmt"
	"testing"

	"kingshard/mysql/sqltext"
)

func TestLoad(t *testing.T) {
	plain := `"\t" "" "\\" "" "\n" false`
	for _, c := range [][2]string{
		{"load data infile 'x' into table users", `.users as "" at "users"; false "" ` + plain + ` 0 "" [] `},
		{"LOAD DATA LOW_PRIORITY LOCAL INFILE 'x' REPLACE INTO TABLE d.`users` CHARACTER SET Latin1 (a, @b, `c d`);", "d.users as \"\" at \"d.`users`\"; true \"latin1\" " + plain + ` 0 "" [{a false} {b true} {c d false}] `},
		{"load data concurrent local infile 'x' ignore into table users partition (p0, p1) charset 'utf8mb4' columns terminated by ',' optionally enclosed by '\"' escaped by '' lines starting by 0x3e terminated by '\\r\\n' ignore 2 rows",
			`.users as "" at "users"; true "utf8mb4" "," "\"" "" ">" "\r\n" true 2 "ignore 2 rows" [] `},
		{"load data local infile 'x' into table users ignore 1 lines (a, users.b, @`x``y`) set users.c = concat(@a, ',', (1)), d.users.e := now(), f = default",
			`.users as "" at "users" q "users"@63 q "users"@85 q "d.users"@117; true "" ` + plain + ` 1 "ignore 1 lines" [{a false} {b false} {x` + "`" + `y true}] users.c=concat users.e=now .f= `},
		{"load data local infile 'x' into table users ()", `.users as "" at "users"; true "" ` + plain + ` 0 "" [] `},
		{"load data infile 'x' into table users set a = ?", "error"},
		{"load data infile 'x' into table users set a = 1, b", "error"},
		{"load data infile 'x' into table users (a", "error"},
		{"load data infile 'x' into table users (a b)", "error"},
		{"load data infile 'x' into table users fields", "error"},
		{"load data infile 'x' into table users lines", "error"},
		{"load data infile 'x' into table users fields optionally terminated by ','", "error"},
		{"load data infile 'x' into table users fields terminated by b", "error"},
		{"load data infile 'x' into table users ignore lines", "error"},
		{"load data infile 'x' into table users ignore 1", "error"},
		{"load data infile 'x' into table users partition (p", "error"},
		{"load data infile 'x' into table", "error"},
		{"load data infile 'x' into table users more", "error"},
		{"load data from s3 'x' into table users", "error"},
		{"load xml local infile 'x' into table users", "error"},
		{"load", "error"},
	} {
		got := "error"
		if st, err := Parse(c[0], mysql8, watchedNames("users")); err == nil {
			l := st.Load
			got = fmt.Sprintf("%s%v %q %q %q %q %q %q %v %d %q %v ", show(st), l.Local, l.Charset, l.FieldsTerminated, l.Enclosed, l.Escaped,
				l.LinesStarting, l.LinesTerminated, l.EscapedGiven, l.IgnoreLines, st.Text[l.Ignore.Pos:l.Ignore.End], l.Fields)
			for _, a := range l.Set {
				got += fmt.Sprintf("%s.%s=%s ", a.Table, a.Column, a.Expr.Name)
			}
		}
		if got != c[1] {
			t.Errorf("%s\n got %s\nwant %s", c[0], got, c[1])
		}
	}
	st, err := Parse(`load data infile 'x' into table users fields escaped by '\'`, sqltext.Mode{NoBackslashEscapes: true}, watchedNames("users"))
	if err != nil || st.Load.Escaped != `\` || !st.Load.EscapedGiven {
		t.Errorf("%+v, %v", st, err)
	}
}
