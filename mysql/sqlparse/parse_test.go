package sqlparse

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
)

var mysql8 = sqltext.Mode{ServerVersion: 80400}

func watchedNames(names ...string) func(string) bool {
	return func(n string) bool {
		for _, name := range names {
			if strings.EqualFold(n, name) {
				return true
			}
		}
		return false
	}
}

// show prints the references with the text at their places.
func show(st *Statement) string {
	var b strings.Builder
	for _, t := range st.Tables {
		fmt.Fprintf(&b, "%s.%s as %q at %q", t.DB, t.Name, t.Alias, st.Text[t.At.Pos:t.At.End])
		for _, q := range t.Qualifiers {
			fmt.Fprintf(&b, " q %q@%d", st.Text[q.Pos:q.End], q.Pos)
		}
		b.WriteString("; ")
	}
	return b.String()
}

func TestReferences(t *testing.T) {
	for _, c := range [][2]string{
		{"select * from users where id = 5", `.users as "" at "users"; `},
		{"select users from users", `.users as "" at "users"; `},
		{"select users.id, u.x from `d`.users, users u where users.id=1", `d.users as "" at "` + "`d`.users" + `" q "users"@7 q "users"@51; .users as "u" at "users"; `},
		{"select d.users.* from d.users join t on d.users.a=t.a", `d.users as "" at "d.users" q "d.users"@40 q "d.users"@7; .t as "" at ""; `},
		{"insert into users(id) values (1)", `.users as "" at "users"; `},
		{"insert users values (1)", `.users as "" at "users"; `},
		{"update users set users.a=1 where users.id=2", `.users as "" at "users" q "users"@17 q "users"@33; `},
		{"delete from users where users.id=2", `.users as "" at "users" q "users"@24; `},
		{"delete u from users u join t on u.id=t.id", `.users as "u" at "users"; .t as "" at ""; `},
		{"select 'users', \"users\", users() from t", `.t as "" at ""; `},
		{"select (select max(id) from users) from users", `.users as "" at "users"; .users as "" at "users"; `},
		{"truncate users", `.users as "" at "users"; `},
		{"create index i on users(a)", `.users as "" at "users"; `},
		{"create table if not exists users (a int)", `.users as "" at "users"; `},
		{"alter table users add column users int", `.users as "" at "users"; `},
		{"with x as (select * from users) select * from x", `.users as "" at "users"; .x as "" at ""; `},
	} {
		st, err := Parse(c[0], mysql8, watchedNames("users"))
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		if got := show(st); got != c[1] {
			t.Errorf("%s:\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}

func TestParams(t *testing.T) {
	st, err := Parse("select * from users where a in (?, '?', ?) and `?` = ? limit ?", mysql8, watchedNames("users"))
	if err != nil {
		t.Fatal(err)
	}
	if len(st.Params) != 4 || st.Query.Limit.Count.Index != 3 || st.Query.Select.Where.Args[0].Args[3].Index != 1 {
		t.Errorf("%v %+v", st.Params, st.Query.Limit.Count)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		"select * from users where":         "it ends too early",
		"select * from users where a = (1":  "it ends too early",
		"select form users where":           "it ends too early",
		"select * from users wher a = ''":   `near "a = ''"`,
		"select * from users where a == ''": `near "= ''"`,
	} {
		if _, err := Parse(text, mysql8, watchedNames("users")); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, text := range []string{"select * from users where", "selec", "select 'a", "select /* x", "xa start 'x'"} {
		if st, err := Parse(text, mysql8, watchedNames("users")); err == nil {
			t.Errorf("%s: %+v", text, st)
		} else if strings.Contains(err.Error(), "ks_mark") {
			t.Errorf("%s: %v shows a marker", text, err)
		}
	}
}

func TestSelectClauses(t *testing.T) {
	text := "SELECT DISTINCT a, f(b, c) x FROM t USE INDEX FOR ORDER BY (i) WHERE a IN (SELECT 1 FROM t LIMIT 1) GROUP BY a, b desc WITH ROLLUP HAVING c>1 ORDER BY a DESC, f(x, y), b asc LIMIT 5, 6 FOR UPDATE ;"
	c, ok := SelectClauses(text, mysql8)
	if !ok {
		t.Fatal("not read")
	}
	at := func(s Span) string { return text[s.Pos:s.End] }
	var parts []string
	for _, list := range [][]Span{c.Fields, c.Group, c.Order, {c.Where, c.GroupBy, c.Having, c.OrderBy, c.Limit}} {
		for _, s := range list {
			parts = append(parts, at(s))
		}
	}
	got := strings.Join(parts, "|") + "|" + text[c.Tail:c.End]
	want := "a|f(b, c) x|a|b|a|f(x, y)|b|WHERE a IN (SELECT 1 FROM t LIMIT 1)|GROUP BY a, b desc WITH ROLLUP|HAVING c>1|ORDER BY a DESC, f(x, y), b asc|LIMIT 5, 6|FOR UPDATE"
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	for _, text := range []string{"(select 1)", "select 1 union select 2", "with x as (select 1) select 2", "values row(1)", "select 'a"} {
		if _, ok := SelectClauses(text, mysql8); ok {
			t.Errorf("%s was read", text)
		}
	}
}

func TestValuesRows(t *testing.T) {
	text := "insert into t (a, b) values (1, f(2, 3)), ('x)', (select 1)) on duplicate key update a = values(a)"
	rows, ok := ValuesRows(text, mysql8)
	if !ok || len(rows) != 2 {
		t.Fatal(rows, ok)
	}
	var got []string
	for _, r := range rows {
		got = append(got, text[r.Pos:r.End])
		for _, c := range r.Cells {
			got = append(got, text[c.Pos:c.End])
		}
	}
	if s := strings.Join(got, "|"); s != "(1, f(2, 3))|1|f(2, 3)|('x)', (select 1))|'x)'|(select 1)" {
		t.Error(s)
	}
}
