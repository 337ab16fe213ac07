package sqlparse

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
)

func TestKeyNames(t *testing.T) {
	for text, want := range map[string]string{
		"create table u (a int, constraint f foreign key (a) references v (a), constraint foreign key (a) references v (a), foreign key (a) references v (a))": "+foreign f",
		"create table u (a int constraint c check (a > 1), constraint `c 2` check (a > 2) not enforced, check (a > 3), key k (a), constraint q unique (a))":    "+check c, +check c 2",
		"create table u (a int, constraint f foreign key i (a) references v (a), constraint u primary key (a), foreign key (a) references w (a))":              "+foreign f",
		"alter table u add constraint u foreign key u (u) references v(u), drop foreign key w, drop constraint x, drop check y, drop index z, drop key k":      "+foreign u, -foreign w, -constraint x, -check y, -index z, -index k",
		"alter table u alter check c not enforced, alter constraint d enforced, alter index i invisible, rename index j to k, drop primary key":                "-check c, -constraint d, -index i, -index j",
		"alter table u add index i (a), add unique key j (a), add key using btree (a), add fulltext k (a), add column b int unique key comment 'x'":            "+index i, +index j",
		"alter table u add column a int constraint c check (a > 1), add b int, add constraint foreign key (a) references v (a), add primary key (a)":           "+check c",
		"create unique index i on u (a)": "+index i",
		"drop index i on u":              "-index i",
	} {
		checkKeyNames(t, text, sqltext.Mode{}, want)
	}
	for text, want := range map[string]string{
		"create table u (a int, foreign key i (a) references v (a), constraint f foreign key j (a) references v (a), constraint foreign key k (a) references v (a))": "+foreign i, +foreign f, +foreign k",
		"alter table if exists u drop foreign key if exists f, drop constraint if exists `g`, drop index if exists i, add column if not exists b int":                "-foreign f, -constraint g, -index i",
		"alter table u add constraint if not exists c check (if(a > 1, 2, 3)), add constraint f foreign key if not exists (a) references v (a)":                      "+check c, +foreign f",
		"alter table u add foreign key if not exists f (a) references v (a), add constraint foreign key if not exists g (a) references v (a)":                        "+foreign f, +foreign g",
		"drop index if exists i on u": "-index i",
	} {
		checkKeyNames(t, text, sqltext.Mode{MariaDB: true}, want)
	}
}

func checkKeyNames(t *testing.T, text string, m sqltext.Mode, want string) {
	t.Helper()
	st, err := Parse(text, m, watchedNames("u", "v"))
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	var found []string
	for _, n := range st.Definition.Keys {
		sign := "-"
		if n.Adds {
			sign = "+"
		}
		found = append(found, sign+[...]string{"foreign", "check", "constraint", "index"}[n.Kind]+" "+n.Name)
		if shown := strings.Trim(text[n.At.Pos:n.At.End], "`"); shown != n.Name {
			t.Errorf("%s: %s at %q", text, n.Name, shown)
		}
	}
	if got := strings.Join(found, ", "); got != want {
		t.Errorf("%s: %s\nwant %s", text, got, want)
	}
	for _, table := range st.Tables {
		if name := fmt.Sprint(table.Name); (name == "u" || name == "v") && strings.Trim(text[table.At.Pos:table.At.End], "`") != name {
			t.Errorf("%s: table %s at %q", text, name, text[table.At.Pos:table.At.End])
		}
	}
}
